package conversation

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A RequestShape is a request as hashes: what has to stay the same for the next one to go on from it. What
// clients change from request to request without meaning it is not in them: where they mark what to
// cache, and whether a text is a string or a list.
type RequestShape struct {
	System, Tools, Model uint64
	Messages             []uint64 // behind the system prompt
	lead                 int      // messages of the request that are the system prompt
}

// ShapeOf is the shape of a request.
func ShapeOf(seed maphash.Seed, messages []protocol.Message, b *RequestBody) RequestShape {
	s := RequestShape{System: hashRaw(seed, b.System), Tools: hashRaw(seed, b.Tools), Model: hashRaw(seed, b.Model)}
	lead := 0
	for lead < len(messages) && messages[lead].Role == protocol.System {
		lead++
	}
	if b.System == nil {
		s.lead = lead
		for i := range lead {
			s.System = bits.RotateLeft64(s.System, 7) ^ hashMessage(seed, &messages[i])
		}
	}
	s.Messages = make([]uint64, len(messages)-lead)
	for i := range s.Messages {
		s.Messages[i] = hashMessage(seed, &messages[lead+i])
	}
	return s
}

func hashMessage(seed maphash.Seed, m *protocol.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_ = h.WriteByte(byte(m.Role))
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != protocol.TextPart {
			_ = h.WriteByte(byte(p.Kind) + 1)
			_, _ = h.WriteString(p.ID + "\x00" + p.Name + "\x00")
		}
		_, _ = h.Write(p.Text)
		_, _ = h.Write(p.Args)
		if p.Kind == protocol.OtherPart {
			writeUnmarked(&h, p.Raw)
		}
	}
	return h.Sum64()
}

// hashRaw is the hash of a value, 0 of none.
func hashRaw(seed maphash.Seed, v protocol.Raw) uint64 {
	if !v.IsPresent() {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	writeUnmarked(&h, v)
	return h.Sum64()
}

var cacheMark = []byte(`"cache_control":{`)

// writeUnmarked writes a value without the marks of what to cache. Where spaces stand in them they
// count: one client writes them in one way.
func writeUnmarked(h *maphash.Hash, v []byte) {
	for {
		at := bytes.Index(v, cacheMark)
		if at < 0 {
			_, _ = h.Write(v)
			return
		}
		_, _ = h.Write(bytes.TrimSuffix(v[:at], []byte(",")))
		end := bytes.IndexByte(v[at:], '}')
		if end < 0 {
			return
		}
		v = bytes.TrimPrefix(v[at+end+1:], []byte(","))
	}
}

// A PrefixHashes is the hashes of a request's beginnings: Path[n] is that of the first n messages.
type PrefixHashes []uint64

// Prefixes is the way that the request's messages go.
func (s *RequestShape) Prefixes() PrefixHashes {
	p := make(PrefixHashes, len(s.Messages)+1)
	for i, m := range s.Messages {
		p[i+1] = bits.RotateLeft64(p[i]*0x9e3779b97f4a7c15, 29) ^ m
	}
	return p
}

// ChangeFrom is what the request changes against the one before it in its lane.
func (s *RequestShape) ChangeFrom(was *RequestShape) (c stream.RequestChange) {
	most := min(len(was.Messages), len(s.Messages))
	for c.Same < most && was.Messages[c.Same] == s.Messages[c.Same] {
		c.Same++
	}
	for i := c.Same; i < most; i++ {
		if was.Messages[i] != s.Messages[i] {
			c.Altered++
		}
	}
	c.Added, c.Removed = len(s.Messages)-most, len(was.Messages)-most
	c.Same += s.lead
	c.System, c.Tools, c.Model = was.System != s.System, was.Tools != s.Tools, was.Model != s.Model
	return c
}

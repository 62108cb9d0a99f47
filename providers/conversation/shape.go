package conversation

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A RequestShape is a request as hashes of the parts that must stay the same in the next request that
// continues it. It ignores what clients change without meaning: cache marks, and whether a text is a
// string or a list.
type RequestShape struct {
	System, Tools, Model uint64
	Messages             []uint64 // those after the system prompt
	lead                 int      // number of messages that are the system prompt
}

// ShapeOf returns the shape of a request.
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

// hashRaw returns the hash of a value, 0 for none.
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

// writeUnmarked hashes a value without its cache marks. Marks with spaces in them are not recognised: a
// client writes them in one way.
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

// PrefixHashes are the hashes of a request's beginnings: element n is that of the first n messages.
type PrefixHashes []uint64

// Prefixes returns the hashes of the beginnings of the messages.
func (s *RequestShape) Prefixes() PrefixHashes {
	p := make(PrefixHashes, len(s.Messages)+1)
	for i, m := range s.Messages {
		p[i+1] = bits.RotateLeft64(p[i]*0x9e3779b97f4a7c15, 29) ^ m
	}
	return p
}

// ChangeFrom returns the changes since the previous request of the conversation.
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

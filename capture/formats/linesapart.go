package formats

import (
	"bytes"
	"fmt"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// The chunks of some protocols do not name the response that they are of. What they say otherwise
// keeps two streams apart, or proves that what was taken for one is two: then that is said.

// chunkIdentity is what a chunk says that is not so of every stream. The zero value says nothing.
type chunkIdentity struct {
	model  uint64
	prompt int64         // tokens that were asked
	tokens int64         // that were answered so far: they do not become fewer
	more   bool          // it has a piece of an answer
	at     time.Time     // when it was made
	took   time.Duration // since it was asked, told at the end
}

func geminiApart(model, candidates, usage []byte) chunkIdentity {
	count := func(name string) int64 { return max(0, parseInt(json.Find(usage, name))) }
	return chunkIdentity{
		model: hashText(model), prompt: count("promptTokenCount"), tokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
		more: bytes.Contains(candidates, []byte(`"parts"`)),
	}
}

func ollamaApart(model, created, took []byte) chunkIdentity {
	return chunkIdentity{model: hashText(model), at: timestamp{text: created}.parse(), took: time.Duration(max(0, parseInt(took)))}
}

// add takes what a chunk of a stream says; at stays that of the first one.
func (a *chunkIdentity) add(b chunkIdentity) {
	if a.model == 0 {
		a.model = b.model
	}
	a.prompt, a.tokens = max(a.prompt, b.prompt), max(a.tokens, b.tokens)
	if a.at.IsZero() {
		a.at = b.at
	}
}

// conflicts reports whether a chunk says what none of the stream would.
func (a *chunkIdentity) conflicts(b chunkIdentity) bool {
	return a.model != 0 && b.model != 0 && a.model != b.model || a.prompt != 0 && b.prompt != 0 && a.prompt != b.prompt
}

// apartFrom reports whether a chunk cannot be of a stream, as far as its protocol names none.
func (x *logStream) apartFrom(f *payload) bool {
	if f.id != 0 || f.of != ofGemini && f.of != ofOllama || f.is != aChunk {
		return false
	}
	over := x.of == ofGemini && x.finished && f.identity.more // behind its end none has more to say
	return x.id != 0 || over || x.identity.conflicts(f.identity)
}

// finishedStream is the last stream that was over, of those whose chunks do not name them.
type finishedStream struct {
	on    *payloadPath
	keys  []correlationKey
	model uint64
	at    time.Time
	first int64 // number of its first line
}

// mixedSince is since which line a stream is proved to be of two, 0 where it is not: it has fewer
// tokens than before, or began before it was asked for, or another one ended since then.
func (s *openStreams) mixedSince(x *logStream, f *payload) int64 {
	const inexact = 20 * time.Millisecond // how well a program knows when it was asked
	if f.id != 0 || x.id != 0 || f.is != aChunk {
		return 0
	}
	if f.identity.tokens > 0 && f.identity.tokens < x.identity.tokens {
		return x.first
	}
	if f.of != ofOllama || !f.last || f.identity.at.IsZero() || f.identity.took == 0 {
		return 0
	}
	asked := f.identity.at.Add(-f.identity.took)
	last := s.ended
	s.ended = finishedStream{x.on, f.keys, f.identity.model, f.identity.at, x.first}
	switch {
	case !x.identity.at.IsZero() && x.identity.at.Before(asked.Add(-inexact)):
		return x.first
	case last.on == x.on && last.model == f.identity.model && asked.Add(inexact).Before(last.at) && !compareKeys(last.keys, f.keys).conflicts():
		return last.first
	}
	return 0
}

// reportMixed says that a stream has lines of others. Its chunks bring whole calls: those are as they
// came, whoever they are of.
func (s *openStreams) reportMixed(x *logStream, since int64) {
	if x.mixed || x.mute {
		return
	}
	x.mixed = true
	r := capture.Record{
		Exchange: x.number, At: x.at, Head: &capture.Head{Lacks: []capture.Lack{capture.Mixed}},
		Note: fmt.Sprintf("line %d: several streams arrived at once and nothing identifies their lines: the lines since line %d may belong to any of them", s.r.number-s.r.before, max(1, since-s.r.before)),
	}
	x.stands.Add(&r, capture.LineSpan{}, 0)
	s.r.recs = append(s.r.recs, r)
}

package replay

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Acceptance is whether the provider takes a request. It does not depend on the outcome: complete arguments
// may be refused, and altered ones may be taken.
type Acceptance struct {
	Verdict Verdict
	By      Basis // NoProof if nothing is proven
}

// Verdict is the known part of an Acceptance.
type Verdict uint8

// Verdicts.
const (
	Unproven Verdict = iota // no rule says, and it was not observed
	Accepted
	Refused

	NumVerdicts = iota
)

// String returns the name of the verdict.
func (v Verdict) String() string { return [NumVerdicts]string{"unknown", "accepted", "refused"}[v] }

// Basis is how a verdict is known.
type Basis uint8

// Bases of verdicts.
const (
	NoProof Basis = iota
	Rule          // by the target's rules: its documentation and its error messages
	Seen          // by a captured exchange
)

// String returns the name of the basis, "" for NoProof.
func (p Basis) String() string { return [...]string{"", "rule", "seen"}[p] }

// String returns the verdict and its basis, e.g. "refused rule".
func (a Acceptance) String() string {
	return strings.TrimRight(a.Verdict.String()+" "+a.By.String(), " ")
}

// Evidence is a captured request: how it carried the calls of a source, and whether the provider took it.
type Evidence struct {
	To      *protocol.Target
	Calls   []protocol.Part // as the request carried them
	Verdict Verdict
	Words   string // how it is known: the provider's error, if it refused
}

// WithEvidence returns the source with requests of a capture that carried its calls.
func (s *Source) WithEvidence(by []Evidence) *Source {
	out := *s
	out.evidence = by
	return &out
}

// covers reports whether the captured request carried the same calls as a preview.
func (w *Evidence) covers(p *Preview) bool {
	return w.To == p.To && slices.EqualFunc(w.Calls, p.Calls, func(was protocol.Part, c Sent) bool {
		return was.ID == c.ID && was.Name == c.Name && was.Form == c.Form && c.Args != nil && bytes.Equal(was.Args, c.Args)
	})
}

// acceptance decides whether the target takes the request. A lack of refusals proves nothing: the rules
// must cover everything that is sent.
func (c *previewBuilder) acceptance() Acceptance {
	switch {
	case c.Outcome >= Throws, len(c.Body)+len(c.Results) == 0:
		return Acceptance{} // nothing is sent, or the content is unknown
	}
	for i := range c.src.evidence {
		if w := &c.src.evidence[i]; w.covers(&c.Preview) {
			if c.Refused = ""; w.Verdict == Refused {
				c.Refused = w.Words
			}
			return Acceptance{w.Verdict, Seen}
		}
	}
	switch {
	case c.Refused != "":
		return Acceptance{Refused, Rule}
	case c.doubt:
		return Acceptance{}
	}
	return Acceptance{Accepted, Rule}
}

// checkArgs checks the arguments that would be sent against the target's rules. Every provider takes one
// object; few document what they do with other text.
func (c *previewBuilder) checkArgs(f *argsFacts, sent *Sent) {
	switch {
	case f.freeform && sent.Form == protocol.TextForm, isOneObject(sent.Args, f):
	case sent.Form != protocol.TextForm:
		sent.noteRefusal(c.To.Refusal.Args, sent.ID, sent.Name, "the arguments must be an object")
	case c.To.JSONOnly && !isJSON(sent.Args):
		sent.noteRefusal(c.To.Refusal.Args, sent.ID, sent.Name, "the arguments are not JSON")
	default:
		c.doubt = true
	}
}

// isOneObject reports whether the arguments that would be sent are one object. If the model wrote an object,
// they are JSON and are not parsed again.
func isOneObject(args []byte, f *argsFacts) bool {
	if f.syntax == stream.SyntaxObject {
		return protocol.Raw(bytes.TrimLeft(args, whitespace)).Kind() == '{'
	}
	return isObject(args)
}

func isJSON(text []byte) bool {
	s := syntaxOf(text)
	return s == stream.SyntaxObject || s == stream.SyntaxOther
}

package replay

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Acceptance is whether the provider takes what is sent. It is a fact beside the outcome: what
// arrives whole may be refused, and what was lost may be taken.
type Acceptance struct {
	Verdict Verdict
	By      Basis // none where nothing is proven
}

// Verdict is what is known of it.
type Verdict uint8

const (
	Unproven Verdict = iota // no rule says, and nobody has seen it
	Accepted
	Refused

	NumVerdicts = iota
)

func (v Verdict) String() string { return [NumVerdicts]string{"unknown", "accepted", "refused"}[v] }

// Basis is how that is known.
type Basis uint8

const (
	NoProof Basis = iota
	Rule          // the target's rules say so: those documented, and its own error messages
	Seen          // an exchange that was captured shows it
)

func (p Basis) String() string { return [...]string{"", "rule", "seen"}[p] }

func (a Acceptance) String() string {
	return strings.TrimRight(a.Verdict.String()+" "+a.By.String(), " ")
}

// A Evidence is a request that was captured: what it carried of the calls of a source, and whether the
// provider took it.
type Evidence struct {
	To      *protocol.Target
	Calls   []protocol.Part // as it carried them
	Verdict Verdict
	Words   string // how that is known: the provider's, where it refused
}

// WithEvidence is the source of which a capture shows what providers make of it.
func (s *Source) WithEvidence(by []Evidence) *Source {
	out := *s
	out.evidence = by
	return &out
}

// covers reports whether the witness carried what a preview would.
func (w *Evidence) covers(p *Preview) bool {
	return w.To == p.To && slices.EqualFunc(w.Calls, p.Calls, func(was protocol.Part, c Sent) bool {
		return was.ID == c.ID && was.Name == c.Name && was.Form == c.Form && c.Args != nil && bytes.Equal(was.Args, c.Args)
	})
}

// acceptance says whether the target takes what is sent. That nobody refuses it proves nothing: the
// rules must speak of all that is sent.
func (c *previewBuilder) acceptance() Acceptance {
	switch {
	case c.Outcome >= Throws, len(c.Body)+len(c.Results) == 0:
		return Acceptance{} // nothing is sent, or nobody knows what
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

// checkArgs holds arguments, as they would be sent, against the rules: one object is taken everywhere.
// What becomes of a text that is none, hardly a provider says.
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

// isOneObject reports whether arguments are one object as they would be sent. Where the model wrote
// one it is not read again: what is made of it is JSON.
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

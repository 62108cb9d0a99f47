// Package replay previews how tool calls are sent back: what a request to a provider would carry of
// them, what is lost on the way, and what a client has really sent.
//
//	turn, calls, history ─▶ Source ─▶ Preview(target, policy) ─▶ messages, outcome, losses
//	request's history ─▶ Observer ─▶ what became of each earlier call
//
// A target is where the history goes, a dialect.Target. A policy is how a client treats arguments
// on the way: a behaviour, or that of a client program. An outcome is one word for what became of a call's arguments. A loss is one named
// thing that is missing or changed.
//
// Previews are pure. A Source never changes, and may be previewed on any goroutine; an Observer
// belongs to one.
package replay

import (
	"toolscope/providers/protocol"
)

// Outcome is what becomes of a call's arguments, from best to worst.
type Outcome uint8

const (
	Verbatim     Outcome = iota // every byte as it was
	AssumedEmpty                // nothing, or null, became {}
	Parsed                      // a text became the object it holds, byte for byte
	Reformatted                 // the same value, written in another way, or nearly the same: see the losses
	Unwrapped                   // a string that held an object became the object
	Wrapped                     // put whole into a value of another shape
	Renamed                     // the call goes under another name
	AsText                      // a text tells of the call: the provider sees none
	Repaired                    // what a forgiving parser makes of it
	Emptied                     // replaced by {}
	Dropped                     // the call is left out
	Throws                      // the client fails: no request is sent
	Unknown                     // bytes of it were not seen: nobody can say

	NumOutcomes = iota
)

var outcomeWords = [...]string{
	"verbatim", "assumed empty", "parsed", "reformatted", "unwrapped", "wrapped", "renamed", "as text", "repaired", "emptied", "dropped", "throws", "unknown",
}

func (o Outcome) String() string { return outcomeWords[o] }

// A Preview is what a request would carry.
type Preview struct {
	To      *protocol.Target
	Policy  *Policy
	Outcome Outcome // the worst of the calls'
	Calls   []Sent
	Losses  []Loss // of the calls, and of what is about none

	Body    [][]byte // messages or items, each a JSON text; of a conversation, all of it
	Results [][]byte // what must follow the Body: the results of its calls

	Acceptance Acceptance
	Refused    string // the words of whoever would refuse it, as far as they are known; "" when nobody is known to
}

// Sent is one call in a Preview.
type Sent struct {
	Call     int // in the Source, from 1
	ID, Name string
	Form     protocol.ArgsForm
	Original []byte // the arguments as the model wrote them
	Args     []byte // as they would be sent: the text, or the object; nil when the call is not sent
	Outcome  Outcome
	Refused  string // why the call alone would be refused
	Encoded  string // says who encoded the arguments twice; "" when nobody did
}

// Preview is what a request to a provider would carry of a source, by a client with this policy. It
// is a pure function.
func (s *Source) Preview(to *protocol.Target, p *Policy) Preview {
	c := &previewBuilder{Preview: Preview{To: to, Policy: p}, src: s, ids: newIDs(to, p)}
	for _, other := range s.others {
		c.ids.reserve(other)
	}
	if !p.Knows(s.From, to) {
		c.Outcome, c.Refused = Unknown, p.Client.Title+" is not known to ask "+to.Title
		if p.Speaks(to) {
			c.Refused = p.Client.Title + " is not known to take the history of another protocol"
		}
		return c.Preview
	}
	c.same = s.From != nil && s.From.Protocol == to.Protocol
	messages := c.fitMessages()
	if c.unseen {
		c.Outcome = Unknown
		return c.Preview
	}
	if c.clientFails() {
		return c.Preview
	}
	messages = c.pairResults(messages)
	for i := range c.Calls {
		c.Outcome = max(c.Outcome, c.Calls[i].Outcome)
		if c.Refused == "" {
			c.Refused = c.Calls[i].Refused
		}
	}
	if p.refuses && c.Refused != "" {
		c.Outcome = Throws
	}
	if c.Outcome == Throws {
		return c.Preview
	}
	n := len(messages)
	if s.results && n > 0 && messages[n-1].Role == protocol.User {
		n--
		c.Results = to.Encode(messages[n:])
	}
	c.Body = to.Encode(messages[:n])
	c.Acceptance = c.acceptance()
	return c.Preview
}

// clientFails reports whether the client fails at a call: then no request is sent, and nothing else comes
// of it.
func (c *previewBuilder) clientFails() bool {
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Policy.way != nil && call.Outcome == Throws {
			c.Outcome, c.Refused = Throws, call.Refused
			return true
		}
	}
	return false
}

// previewBuilder makes a Preview.
type previewBuilder struct {
	Preview
	src    *Source
	same   bool // the target speaks the protocol the source came by
	ids    idMapper
	call   int    // of the source, being made
	before int    // how many calls of the source stand before the message being made
	shape  string // how the client writes the call being made, where its policy does not say so
	sent   []int  // numbers of the calls that are not left out

	cleaned *argsFacts // of the call's arguments as they are sent, when what the model wrote is not UTF-8

	textIDs []string // of the calls that the text of the turn being made tells of

	doubt     bool // something is sent of which no rule says whether it is taken
	unseen    bool // bytes of one of the calls were not seen
	unthought bool // the message being made loses reasoning that is the target's own
}

func (c *previewBuilder) addLoss(l Loss) {
	l.Call = c.call
	c.Losses = append(c.Losses, l)
}

// fitMessages fits every message to the target by itself. That calls and results belong together is
// checked afterwards.
func (c *previewBuilder) fitMessages() (out []protocol.Message) {
	number := 0
	for _, m := range c.src.Messages {
		made := protocol.Message{Role: m.Role}
		if m.Role != protocol.Assistant {
			c.textIDs = nil
		}
		if c.same {
			made.Raw = cleanRaw(m.Raw)
		}
		first := !c.src.later // no call of the turn was made yet
		for i := range m.Parts {
			p := m.Parts[i]
			c.call = 0
			if !c.same {
				p.Raw = nil
			}
			if p.Kind == protocol.CallPart {
				number++
				c.call = number
			}
			c.sanitise(&p)
			var keep bool
			switch p.Kind {
			case protocol.CallPart:
				keep = c.makeCall(&p, c.src.facts[number-1], m.Role, first)
				first = first && !keep
			case protocol.ResultPart:
				keep = c.makeResult(&p, m.Role)
			case protocol.ReasoningPart:
				keep = c.makeReasoning(&p)
			case protocol.TextPart:
				keep = c.makeText(&p)
			case protocol.OtherPart:
				if keep = c.same; !keep {
					c.addLoss(PartDropped.newLoss("a part that is neither text nor a call has no translation"))
				}
			}
			if keep {
				made.Parts = append(made.Parts, p)
			}
		}
		c.call = 0
		if c.unthought && countCalls(made) > 0 && c.Refused == "" {
			c.Refused = c.To.Refusal.NoReasoning
		}
		c.unthought = false
		if len(made.Parts) > 0 || len(m.Parts) == 0 && made.Raw != nil {
			out = append(out, made)
		}
	}
	if c.Policy.asText {
		return c.asText(out)
	}
	return out
}

func (c *previewBuilder) makeText(p *protocol.Part) bool {
	if p.Signature != "" && !c.same {
		c.addLoss(SignatureDropped.newLoss("the signature of a text is this provider's own"))
		p.Signature = ""
	}
	return len(p.Text) > 0 || p.Raw != nil
}

// makeReasoning keeps reasoning and its signature for the provider it came from. To others it goes
// as text or not at all.
func (c *previewBuilder) makeReasoning(p *protocol.Part) bool {
	rule := c.To.Reasoning
	switch {
	case c.Policy.asText:
		c.addLoss(ReasoningDropped.newLoss("reasoning is left out"))
		return false
	case c.same && (rule != protocol.SignedReasoning || p.Signature != ""):
		return true
	case p.SignatureOnly, len(p.Text) == 0:
		c.unthought = c.same
		c.addLoss(ReasoningDropped.newLoss("reasoning that only its own provider can read is left out"))
		return false
	}
	p.Raw, c.unthought = nil, c.same
	if p.Signature != "" {
		c.addLoss(SignatureDropped.newLoss("the signature of reasoning is good with its own provider only"))
		p.Signature, p.ID = "", ""
	}
	if rule == protocol.PlainReasoning {
		return true
	}
	if !c.Policy.reasoningAsText {
		c.addLoss(ReasoningDropped.newLoss("reasoning is left out"))
		return false
	}
	c.addLoss(ReasoningToText.newLoss("reasoning becomes text that the model takes for its answer"))
	p.Kind = protocol.TextPart
	return true
}

func (c *previewBuilder) makeResult(p *protocol.Part, role protocol.Role) bool {
	switch {
	case role == protocol.System:
		c.addLoss(OrphanResult.newLoss("a result among the instructions has no place: it is left out"))
		return false
	case p.RunByProvider:
		keep := c.same && !c.Policy.asText
		if !keep {
			c.addLoss(ServerToolDropped.newLoss("the result of a tool that the provider ran has no equivalent"))
		}
		return keep
	}
	if c.Policy.asText {
		return c.resultAsText(p)
	}
	old := p.ID
	call := c.ids.callOfResult(p.ID, p.Name)
	p.ID = call.id
	if p.Name == "" {
		p.Name = call.name
	}
	if call.tool != "" || !c.same {
		p.ToolKind = call.tool
	}
	if p.ID != old {
		p.Raw = nil
	}
	if p.Failed && !c.To.ErrorFlag {
		c.addLoss(ErrorFlagLoss.newLoss("the result is an error, and there is no field that says so"))
		p.Failed, p.Raw = false, nil
	}
	if p.Media > 0 && p.Raw == nil {
		c.addLoss(MediaResultLoss.newLoss("what the result holds beside text is left out"))
	}
	return true
}

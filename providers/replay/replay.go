// Package replay previews how tool calls are sent back to a provider, and which losses this causes. It also
// compares earlier calls with the history that a client actually sent.
//
//	turn, calls, history ─▶ Source ─▶ Preview(target, policy) ─▶ messages, outcome, losses
//	request's history ─▶ Observer ─▶ one Observation per earlier call
//
// A target is the destination of the history, a protocol.Target. A policy is a client's treatment of
// arguments: a behaviour, or the rule of a client program. An outcome is one word for the effect on a call's
// arguments. A loss is one named detail that is missing or changed.
//
// Previews are pure. A Source never changes, and can be previewed in any goroutine. An Observer is not safe
// for concurrent use.
package replay

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Outcome is the effect of a replay on a call's arguments.
type Outcome uint8

// Outcomes, from best to worst.
const (
	Verbatim     Outcome = iota // every byte is unchanged
	AssumedEmpty                // empty arguments, or null, became {}
	Parsed                      // a text became the object that it contains, byte for byte
	Reformatted                 // the same value in another form, or nearly the same: see the losses
	Unwrapped                   // a string that contained an object became the object
	Wrapped                     // put unchanged into another value
	Renamed                     // the call is sent under another name
	AsText                      // the call is sent as text: the provider sees no call
	Repaired                    // replaced with the result of a lenient parser
	Emptied                     // replaced with {}
	Dropped                     // the call is left out
	Throws                      // the client fails: no request is sent
	Unknown                     // unknown, e.g. because bytes of the call were not seen

	NumOutcomes = iota
)

var outcomeWords = [...]string{
	"verbatim", "assumed empty", "parsed", "reformatted", "unwrapped", "wrapped", "renamed", "as text", "repaired", "emptied", "dropped", "throws", "unknown",
}

// String returns the name of the outcome.
func (o Outcome) String() string { return outcomeWords[o] }

// A Preview is the content of a request, as it would be sent.
type Preview struct {
	To      *protocol.Target
	Policy  *Policy
	Outcome Outcome // the worst outcome of the calls
	Calls   []Sent
	Losses  []Loss // losses of the calls and of other parts

	Body    [][]byte // messages or items, each as JSON text; for a conversation, all its messages
	Results [][]byte // the results of the calls, which are sent after Body

	Acceptance Acceptance
	Refused    string // error message of the party that would refuse the request; "" if none is known
}

// Sent is one call in a Preview.
type Sent struct {
	Call     int // number of the call in the Source, from 1
	ID, Name string
	Form     protocol.ArgsForm
	Original []byte // the model's arguments
	Args     []byte // the arguments as they would be sent: the text or the object; nil if the call is not sent
	Outcome  Outcome
	Refused  string // reason why the call alone would be refused
	Encoded  string // which party double-encoded the arguments, in words; "" if they are not double-encoded
}

// Preview returns the content of the source as a client with this policy would send it to a provider. Preview is a
// pure function.
func (s *Source) Preview(to *protocol.Target, p *Policy) Preview {
	c := &previewBuilder{Preview: Preview{To: to, Policy: p}, src: s, ids: newIDs(s.From, to, p)}
	for _, other := range s.others {
		if made := c.ids.otherID(other.ID); other.ID != "" && made != "" { // without an id, it would get a unique id
			c.ids.taken[made] = other
		}
	}
	if !p.Knows(s.From, to) {
		c.Outcome, c.Refused = Unknown, p.Client.Title+" is not known to send requests to "+to.Title
		if p.Speaks(to) {
			c.Refused = p.Client.Title + " is not known to accept the history of another protocol"
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

// clientFails reports whether the client fails at a call and therefore sends no request. If it does, clientFails also
// sets the outcome of the preview.
func (c *previewBuilder) clientFails() bool {
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Policy.way != nil && call.Outcome == Throws {
			c.Outcome, c.Refused = Throws, call.Refused
			return true
		}
	}
	return false
}

// previewBuilder builds a Preview.
type previewBuilder struct {
	Preview
	src    *Source
	same   bool // the target uses the protocol of the source
	ids    idMapper
	call   int            // number of the current call in the source
	index  int            // index of the current call in its turn
	proven bool           // the client signs the current call with the target's sentinel if the call has no signature
	named  namedCall      // the client's id and name for the current call
	mates  []receivedCall // the calls of the current message
	shape  string         // form of the current call, if the policy doesn't determine it
	sent   []int          // numbers of the sent calls

	cleaned *argsFacts // facts about the arguments that are sent, if the model's arguments are not UTF-8

	textIDs []string         // ids of the calls in the current turn's text
	leftOut map[callKey]bool // calls that the client leaves out because the response was aborted

	doubt     bool // the content includes something that no rule of the target covers
	unseen    bool // bytes of a call were not seen
	unthought bool // the current message loses reasoning that comes from the target itself
}

// addLoss adds a loss for the current call.
func (c *previewBuilder) addLoss(l Loss) {
	l.Call = c.call
	c.Losses = append(c.Losses, l)
}

// fitMessages adapts each message to the target separately. Calls and results are paired later.
func (c *previewBuilder) fitMessages() (out []protocol.Message) {
	number, loop := 0, activeLoop(c.src.Messages)
	for n, m := range c.src.Messages {
		made := protocol.Message{Role: m.Role}
		if m.Role != protocol.Assistant {
			c.textIDs = nil
		}
		if c.same {
			made.Raw = cleanRaw(m.Raw)
		}
		if c.Policy.way != nil {
			c.mates = c.receiveAll(&m, number)
		}
		aborted := c.Policy.aborted == abortLeavesAll && m.Aborted
		first := c.src.earlier == 0 // no call of the turn has been sent yet
		c.index = c.src.earlier - 1
		for i := range m.Parts {
			p := m.Parts[i]
			c.call = 0
			if !c.same {
				p.Raw = nil
			}
			if p.Kind == protocol.CallPart {
				number++
				c.call = number
				c.index++
				c.proven = first && n >= loop
			}
			c.sanitise(&p)
			p.Aborted = p.Aborted || aborted && p.Kind == protocol.CallPart
			if aborted && p.Kind != protocol.CallPart || p.Kind == protocol.ResultPart && c.leftOut[keyOf(&p)] {
				continue // the client leaves the part out, together with the response or its call
			}
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
				if p.Signature != "" && !c.same {
					c.addLoss(SignatureDropped.newLoss("the signature of text is valid only for the provider that created it"))
					p.Signature = ""
				}
				keep = len(p.Text) > 0 || p.Raw != nil
			case protocol.OtherPart:
				if keep = c.same; !keep {
					c.addLoss(PartDropped.newLoss("the target has no equivalent for a part that is neither text nor a call"))
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

// activeLoop returns the index of the last message in which the user wrote text, or 0. Gemini CLI puts a sentinel
// only on calls after this message.
func activeLoop(messages []protocol.Message) int {
	for n, m := range slices.Backward(messages) {
		if m.Role == protocol.User && slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.TextPart && len(p.Text) > 0 }) {
			return n
		}
	}
	return 0
}

// makeReasoning adapts reasoning to the target. It returns false if the reasoning is left out. The provider of the
// reasoning receives it with its signature. Other providers receive it without the signature, as reasoning or as
// text, or not at all.
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
		c.addLoss(SignatureDropped.newLoss("the signature of reasoning is valid only for the provider that created it"))
		p.Signature, p.ID = "", ""
	}
	if rule == protocol.PlainReasoning {
		return true
	}
	if !c.Policy.reasoningAsText {
		c.addLoss(ReasoningDropped.newLoss("reasoning is left out"))
		return false
	}
	c.addLoss(ReasoningToText.newLoss("reasoning becomes text that the model reads as its response"))
	p.Kind = protocol.TextPart
	return true
}

// makeResult adapts a result to the target. It returns false if the result is left out.
func (c *previewBuilder) makeResult(p *protocol.Part, role protocol.Role) bool {
	switch {
	case role == protocol.System:
		c.addLoss(OrphanResult.newLoss("a system message can't contain a result: the result is left out"))
		return false
	case p.RunByProvider:
		keep := c.same && !c.Policy.asText
		if !keep {
			c.addLoss(ServerToolDropped.newLoss("the target has no equivalent for the result of a tool that the provider ran"))
		}
		return keep
	}
	if c.Policy.asText {
		if p.Failed {
			c.addLoss(ErrorFlagLoss.newLoss("the result is an error, but text has no field for errors"))
		}
		if p.Media > 0 {
			c.addLoss(MediaResultLoss.newLoss("the parts of the result that are not text are left out"))
		}
		return true // a result that is sent as text is never left out
	}
	if c.followsAbort(p) {
		p.Text, p.Failed, p.Raw = []byte(abortedResult), c.To.ErrorFlag, nil
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
		c.addLoss(ErrorFlagLoss.newLoss("the result is an error, but the target has no error field"))
		p.Failed, p.Raw = false, nil
	}
	if p.Media > 0 && p.Raw == nil {
		c.addLoss(MediaResultLoss.newLoss("the parts of the result that are not text are left out"))
	}
	return true
}

// A Scope is the part of a conversation that is sent back.
type Scope uint8

// Scopes.
const (
	OneCall           Scope = iota // one call
	WholeTurn                      // the turn: text, reasoning and calls
	WholeConversation              // the history in the turn's request, and the turn

	NumScopes = iota
)

// String returns the name of the scope.
func (s Scope) String() string { return [...]string{"call", "turn", "conversation"}[s] }

// SourceOfHistoryAndTurn returns the source for a history and the turn that followed it. The parameter before is the
// target of the history, and from is the target of the turn.
func SourceOfHistoryAndTurn(history []protocol.Message, before *protocol.Target, t *stream.Turn, from *protocol.Target) *Source {
	return SourceOfHistory(append(slices.Clip(history), Message(t, from)), before)
}

// NumCalls returns the number of calls in messages.
func NumCalls(messages []protocol.Message) (n int) {
	for _, m := range messages {
		for i := range m.Parts {
			if m.Parts[i].Kind == protocol.CallPart {
				n++
			}
		}
	}
	return n
}

// Acceptance describes whether the provider accepts a request. It doesn't depend on the outcome: the provider
// may refuse complete arguments, and may accept altered arguments.
type Acceptance struct {
	Verdict Verdict
	By      Basis // NoProof if nothing is proven
}

// Verdict says whether the provider accepts a request, as far as this is known.
type Verdict uint8

// Verdicts.
const (
	Unproven Verdict = iota // not covered by a rule and not observed
	Accepted
	Refused

	NumVerdicts = iota
)

// String returns the name of the verdict.
func (v Verdict) String() string { return [NumVerdicts]string{"unknown", "accepted", "refused"}[v] }

// Basis is the evidence for a verdict.
type Basis uint8

// The values of Basis.
const (
	NoProof Basis = iota
	Rule          // proven by the target's rules: its documentation and its error messages
	Seen          // proven by a captured exchange
)

// String returns the name of the basis, or "" for NoProof.
func (p Basis) String() string { return [...]string{"", "rule", "seen"}[p] }

// String returns the verdict and its basis, for example "refused rule".
func (a Acceptance) String() string {
	return strings.TrimRight(a.Verdict.String()+" "+a.By.String(), " ")
}

// Evidence is a captured request that contained the calls of a source, with the provider's verdict.
type Evidence struct {
	To      *protocol.Target
	Calls   []protocol.Part // the calls as the request contained them
	Verdict Verdict
	Words   string // the verdict in words: the provider's error, if it refused the request
}

// WithEvidence returns a copy of the source that includes captured requests with its calls.
func (s *Source) WithEvidence(by []Evidence) *Source {
	out := *s
	out.evidence = by
	return &out
}

// covers reports whether the captured request contained the same calls as a preview.
func (w *Evidence) covers(p *Preview) bool {
	return w.To == p.To && slices.EqualFunc(w.Calls, p.Calls, func(was protocol.Part, c Sent) bool {
		return was.ID == c.ID && was.Name == c.Name && was.Form == c.Form && c.Args != nil && bytes.Equal(was.Args, c.Args)
	})
}

// acceptance determines whether the target accepts the request. If the provider has already received a request with
// the same calls, the provider's verdict replaces that of the rules. A lack of refusals proves nothing: the rules
// must cover all content that is sent.
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

// checkArgs checks the arguments that would be sent against the target's rules. Every provider accepts one object.
// Few providers document how they treat other text.
func (c *previewBuilder) checkArgs(f *argsFacts, sent *Sent) {
	isObject := json.Value(bytes.TrimLeft(sent.Args, whitespace)).Kind() == '{'
	if f.syntax != json.SyntaxObject { // otherwise the arguments are JSON and don't need to be parsed again
		isObject = json.IsObject(sent.Args)
	}
	switch {
	case f.freeform && sent.Form == protocol.TextForm, isObject:
	case sent.Form != protocol.TextForm:
		sent.noteRefusal(c.To.Refusal.Args, sent.ID, sent.Name, "the arguments must be an object")
	case c.To.JSONOnly && !json.Valid(sent.Args):
		sent.noteRefusal(c.To.Refusal.Args, sent.ID, sent.Name, "the arguments are not JSON")
	default:
		c.doubt = true
	}
}

package replay

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// A Treatment says what a client did with a call that it sent back.
type Treatment string

// Treatments of calls.
const (
	Intact         Treatment = "intact"
	WasReformatted Treatment = "reformatted"          // the same value in another form, or rounded
	WasEmptied     Treatment = "emptied"              // {} instead of the model's arguments
	WasRepaired    Treatment = "repaired"             // an object instead of arguments that were not an object
	WasEncoded     Treatment = "double-encoded"       // a string instead of an object, or a string in a string
	WasWrapped     Treatment = "wrapped"              // an object that contains the original text
	WasAltered     Treatment = "altered"              // other arguments
	WasDropped     Treatment = "dropped"              // the turn is in the history, but the call is not
	WasOrphaned    Treatment = "orphaned"             // without a result, although the conversation continued
	WasMoved       Treatment = "moved"                // out of order, or separated from the other calls of its turn
	AsClientHasIt  Treatment = "as the client has it" // the model's arguments are known only from this request
)

// A Candidate is a turn whose calls may be in a request.
type Candidate struct {
	Turn      *stream.Turn
	Summary   *TurnSummary        // set if the content of the turn was dropped or evicted
	Reload    func() *stream.Turn // reads the turn again if Summary is set; nil if that is not possible
	Target    *protocol.Target    // the target for histories in its protocol; nil if there is none
	Position  Position            // position of its request
	Continues bool                // the request contains the id of this turn's response
}

// Ended reports whether the turn is complete. An incomplete turn can't be in a request.
func (c *Candidate) Ended() bool {
	if c.Summary != nil {
		return c.Summary.ended
	}
	return c.Turn.Closed()
}

// An Observation describes an earlier call as it appears in the history of one request.
type Observation struct {
	Call           *stream.Call // nil if its arguments were dropped or evicted
	Summary        *CallSummary // summary of the call, if Call is nil
	Treatment      Treatment
	ID             string      // the call's id in the request
	Result         stream.Code // stream.ResultOK or stream.ResultFailed; 0 if there is no result
	KeptByProvider bool        // the call is not in the history, because the provider keeps it
	Losses         []Loss

	of         *earlierCall
	turn       *Candidate
	to         *protocol.Target
	sent       *protocol.Part // nil if the call is not in the history
	resultPart *protocol.Part // the result; nil if there is none
	vague      bool           // the treatment is known only from hashes
}

// Ref returns a reference to the call.
func (o *Observation) Ref() stream.Ref { return o.of.ref }

// Part returns the call as a part of the request's history, or nil if the history doesn't contain it.
func (o *Observation) Part() *protocol.Part { return o.sent }

// LastReport returns the latest earlier report about the call.
func (o *Observation) LastReport() LastReport {
	if o.Summary != nil {
		return o.Summary.lastReport()
	}
	return lastReportOf(o.Call)
}

// WasFound reports whether an earlier request led to the same finding about the call.
func (o *Observation) WasFound(f stream.Finding) bool {
	if o.Summary != nil {
		return slices.Contains(o.Summary.found, f.Diagnosis)
	}
	return slices.ContainsFunc(o.Call.Findings, func(old stream.Finding) bool { return old.Diagnosis == f.Diagnosis })
}

// An Observer compares calls with later histories. It caches its verdicts, because each request in a conversation
// contains the same calls again. The zero value is ready to use. An Observer is not safe for concurrent use.
type Observer struct {
	judged, before map[stream.Ref]cachedVerdict
}

// Observe finds the calls of earlier turns in a request's history, and returns an Observation for each of them. It
// returns none for turns that are not in the history at all. Such turns belong to another conversation, or were
// removed on purpose.
func (by *Observer) Observe(history *History, turns []Candidate) (all []Observation) {
	m := matchTurns(by, history, turns)
	for i := range m.turns {
		t := &m.turns[i]
		first := len(all)
		for j := range t.calls {
			if o, ok := m.observeCall(&t.calls[j]); ok {
				all = append(all, o)
			}
		}
		if t.sure {
			m.checkOrder(all[first:])
			m.compareReasoning(t)
		}
	}
	return all
}

// observeCall returns the observation of one call. It returns false if there is none.
func (m *matcher) observeCall(c *earlierCall) (o Observation, ok bool) {
	o = Observation{Call: c.call, Summary: c.summary, of: c, turn: c.turn.Candidate, to: m.to}
	switch {
	case c.server, c.attempt, c.phase == stream.PhaseUnseen:
		return o, false
	case c.byItem:
		return o.markKept(m.orphanOf(c)), true
	case c.found < 0:
		return m.judgeMissing(o)
	}
	h := &m.entries[c.found]
	o.ID, o.sent = h.part.ID, h.part
	o.setVerdict(m.by.judgeCall(c, o.sent, m.to))
	if o.ID != c.id && c.id != "" {
		o.addLoss(IDRewritten.newLoss("the call's id became %s", quoteShort(o.ID)))
	}
	alone := !c.number && m.known[c.id] == 1 && len(m.withID[o.ID]) == 1
	if alone && o.isRenamed() {
		o.addLoss(NameRewritten.newLoss("the call to %s is sent under the name %s", quoteShort(c.name), quoteShort(o.sent.Name)))
	}
	if h.result != nil {
		o.setResult(h.result)
		if h.late && m.to.ResultsFollow {
			o.addLoss(AdjacencyFix.newLoss("the call's result doesn't directly follow the call"))
			o.lowerOutcome(WasMoved)
		}
	} else if !m.KeptByProvider && m.goesOn(h.message) {
		if l := m.orphanOf(c); l == nil {
			o.addLoss(OrphanCall.newLoss("the history has no result for the call, and the conversation continues"))
		} else {
			o.addLoss(OrphanCall.newLoss("the call's result still has the id %s", quoteShort(l.part.ID)))
		}
		o.lowerOutcome(WasOrphaned)
	}
	return o, true
}

// isRenamed reports whether the client sent the call with the model's arguments, but under another name. It reports
// false if the name may be another spelling of the model's. This is possible if the target is another, if a server or
// a namespace may be part of the name, if the call is of a special kind, or if the name was in doubt when it arrived.
func (o *Observation) isRenamed() bool {
	c, sent := o.of, o.sent
	switch {
	case o.turn.Target == nil, o.turn.Target.Protocol != o.to.Protocol, o.Treatment != Intact && o.Treatment != WasReformatted:
		return false
	case !c.plainName, sent.Name == "", sent.Name == c.name, addsPrefix(sent.Name, c.name), addsPrefix(c.name, sent.Name):
		return false
	}
	return sent.Namespace == "" && (sent.ToolKind == "function" || sent.ToolKind == "")
}

// hasPlainName reports whether a call has a name that a client can only send back unchanged.
func hasPlainName(c *stream.Call) bool {
	if c.Name == "" || c.Namespace != "" || c.Kind != "function" && c.Kind != "" {
		return false
	}
	return !slices.ContainsFunc(c.Findings, func(f stream.Finding) bool { return slices.Contains(nameDoubts, f.Code) })
}

// addsPrefix reports whether long is the name short after a prefix, for example mcp__files__read and read.
func addsPrefix(long, short string) bool {
	before, found := strings.CutSuffix(long, short)
	return found && before != "" && strings.ContainsRune("_.:/-", rune(before[len(before)-1]))
}

// nameDoubts lists the findings that a call has if several parts or readings of its name arrived.
var nameDoubts = []string{"NAME_CHANGED", "NAME_FRAGMENTED", "NAME_GLUED", "NAME_MARKUP", "NAME_MISSING"}

// markKept marks the call as kept unchanged by the provider. The parameter l is the call's result, or nil.
func (o Observation) markKept(l *orphan) Observation {
	o.Treatment, o.ID, o.KeptByProvider = Intact, o.of.id, true
	if l != nil {
		o.setResult(l.part)
	}
	return o
}

// FromLog corrects an observation from a log whose requests contain only new messages. In such a log, a missing call
// doesn't mean that the provider keeps the call.
func (o *Observation) FromLog() {
	if o.KeptByProvider {
		o.Treatment, o.KeptByProvider = AsClientHasIt, false
	}
}

// judgeMissing returns the observation of a call that is not in the history. It returns none if toolscope may have
// missed calls of the turn. If the provider keeps earlier messages, a result proves that it also keeps the call.
// Without a result, that is unknown.
func (m *matcher) judgeMissing(o Observation) (Observation, bool) {
	c, t := o.of, o.of.turn
	l := m.orphanOf(c)
	if m.KeptByProvider {
		return o.markKept(l), l != nil && (t.Continues || m.known[c.id] == 1)
	}
	if !t.sure || t.state.unseen || l == nil && t.chosenOther(c) {
		return o, false
	}
	o.Treatment = WasDropped
	if l != nil {
		o.setResult(l.part)
	} else if c.phase >= stream.PhaseAborted || t.state.aborted {
		return o, true // clients leave out the calls of an aborted or refused response
	}
	o.addLoss(CallDropped.newLoss("the call is not in the history: the model doesn't know about it"))
	if l != nil {
		o.addLoss(OrphanResult.newLoss("the call's result is in the history without a call"))
	}
	return o, true
}

// chosenOther reports whether the client probably used another choice of the turn than the one with call c. Another
// choice was probably used if one of its calls is in the history, or if it comes before the choice of c.
func (t *candidateTurn) chosenOther(c *earlierCall) bool {
	for i := range t.calls {
		if other := &t.calls[i]; other.choice != c.choice && (other.found >= 0 || c.choice > other.choice) {
			return true
		}
	}
	return false
}

// lowerOutcome sets the treatment of a call, if the value of its arguments did not change.
func (o *Observation) lowerOutcome(f Treatment) {
	if o.Treatment == Intact || o.Treatment == WasReformatted {
		o.Treatment = f
	}
}

// goesOn reports whether the history continues after a message.
func (m *matcher) goesOn(after int) bool {
	for i := after + 1; i < len(m.messages); i++ {
		if len(m.messages[i].Parts) > 0 && m.messages[i].Role != protocol.System {
			return true
		}
	}
	return false
}

func (o *Observation) addLoss(l Loss) { o.Losses = append(o.Losses, l) }

// checkOrder adds a loss for each call of a turn that is not where the model put it, relative to the turn's other
// calls.
func (m *matcher) checkOrder(seen []Observation) {
	last := -1
	for i := range seen {
		o := &seen[i]
		n := o.of.found
		if n < 0 {
			continue
		}
		switch {
		case n < last:
			o.addLoss(CallsReordered.newLoss("the call comes before a call that the model made earlier"))
			o.lowerOutcome(WasMoved)
		case last >= 0 && m.to.ResultsFollow && m.areSeparate(m.entries[last].message, m.entries[n].message):
			o.addLoss(ParallelSplit.newLoss("the model made the call together with another call, but the call is in a separate message"))
			o.lowerOutcome(WasMoved)
		}
		last = n
	}
}

// areSeparate reports whether the target treats two messages of the model as separate.
func (m *matcher) areSeparate(a, b int) bool {
	if a == b {
		return false
	}
	for i := a + 1; i < b; i++ {
		if m.messages[i].Role != protocol.Assistant {
			return true
		}
	}
	return !m.to.Merges
}

// Finding returns a finding about the worst loss. The result ok is false if all losses are below the severity Medium.
func (o *Observation) Finding() (f stream.Finding, ok bool) {
	worst := -1
	for i, l := range o.Losses {
		if l.Severity >= Medium && (worst < 0 || l.Severity > o.Losses[worst].Severity) {
			worst = i
		}
	}
	if worst < 0 {
		return f, false
	}
	l := o.Losses[worst]
	severity := stream.Warn
	if l.Severity == Critical {
		severity = stream.Error
	}
	found := l.Diagnosis.WithSeverity(severity).WithCause(stream.Client)
	f = found.Finding("a later request sent the call back %s: %s", stream.OwnFact(o.Treatment), l.message())
	switch {
	case o.Treatment == WasDropped:
		f = found.Finding("a later request left the call out: %s", l.message())
	case l.Kind == NameRewritten:
		f = found.Finding("a later request changed the tool's name: %s", l.message())
	}
	if names := o.MatchingPolicies(); names != "" {
		f.AppendMessage(" (policy %s)", stream.OwnFact(names))
	}
	if o.vague || o.Treatment == WasDropped && o.Summary != nil && o.of.reload() == nil {
		f.AppendMessage("; toolscope dropped the call's arguments (%s), so the details are unknown", stream.Own(count.Of(o.Summary.size, "byte")))
	}
	return f, true
}

// setResult sets the result of the call.
func (o *Observation) setResult(by *protocol.Part) {
	o.resultPart, o.Result = by, stream.ResultOK
	if by.Failed {
		o.Result = stream.ResultFailed
	}
}

// ResultPart returns the result as a part of the history, or nil if there is none.
func (o *Observation) ResultPart() *protocol.Part { return o.resultPart }

// ToolResult returns the tool's result in the history. If the result is a list of tools, as for a tool search, its
// text is the names of the tools, one per line.
func (o *Observation) ToolResult() (r stream.Result) {
	if o.resultPart == nil {
		return r
	}
	text, media := o.resultPart.Text, o.resultPart.Media
	for block := range o.resultPart.Raw.Get("content").Elements() {
		if name := block.Get("tool_name"); media > 0 && block.Get("type").Is("tool_reference") && name.IsString() {
			text, media = append(name.Append(slices.Clip(text)), '\n'), media-1
		}
	}
	return stream.ResultOf(text, media)
}

// Position is the place of a request in its conversation. It consists of hashes of those parts of the history that
// clients keep. A request continues another request if its history contains the other request's position (see Along).
// The zero value means that the request was not seen.
type Position struct {
	Begin uint64 // hash of the texts in the first user message that has text; 0 if unknown
	Calls uint64 // hash of the names of the calls so far
}

// Along yields the positions in a history, with the number of calls before each position. It yields a position for
// each call: that of the request whose response contained the call. The last position is that of the request itself.
func Along(history []protocol.Message) iter.Seq2[int, Position] {
	return func(yield func(int, Position) bool) {
		begin, calls, n := openingHash(history), noNames, 0
		for i := range history {
			for j := range history[i].Parts {
				if !isCall(&history[i], j) {
					continue
				}
				if !yield(n, Position{begin, calls}) {
					return
				}
				for _, c := range []byte(history[i].Parts[j].Name) {
					calls = (calls ^ uint64(c)) * fnvPrime
				}
				calls *= fnvPrime
				n++
			}
		}
		yield(n, Position{begin, calls})
	}
}

// isCall reports whether a part of a message is a call that the client must run.
func isCall(m *protocol.Message, part int) bool {
	return m.Role == protocol.Assistant && isClientCall(&m.Parts[part])
}

// openingHash returns a hash of all texts in the first user message that has text, or 0 if there is none. It includes
// all texts, because the first one may be a note that an agent adds to every conversation.
func openingHash(history []protocol.Message) uint64 {
	sum := fnv.New64a()
	said := false
	for i := range history {
		m := &history[i]
		if said && m.Role != protocol.System {
			break
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; m.Role == protocol.User && p.Kind == protocol.TextPart && len(p.Text) > 0 {
				_, _ = sum.Write(p.Text)
				said = true
			}
		}
	}
	if !said {
		return 0
	}
	return sum.Sum64()
}

// The hash of consecutive names is FNV-1a, with a zero byte after each name.
const (
	noNames  uint64 = 14695981039346656037
	fnvPrime uint64 = 1099511628211
)

// relation is the relation between the conversations of two requests.
type relation uint8

const (
	unknownKin relation = iota
	stranger
	kin
)

// kinOf compares the beginnings of two conversations.
func kinOf(a, b Position) relation {
	switch {
	case a.Begin == 0 || b.Begin == 0:
		return unknownKin
	case a.Begin == b.Begin:
		return kin
	}
	return stranger
}

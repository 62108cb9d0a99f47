package replay

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// TurnSummary contains the data about a turn that is kept after its content is evicted or dropped. The data is
// sufficient to find the turn's calls in a history, and to check whether they are intact.
type TurnSummary struct {
	calls      []CallSummary
	text       uint64
	long       bool
	signatures []uint64
	state      turnState
	ended      bool
}

// A CallSummary contains the data about a call that is kept with its turn's summary.
type CallSummary struct {
	callIdentity
	report *LastReport         // nil if there was no report
	found  []*stream.Diagnosis // diagnoses of its findings so far
	size   int                 // size of the arguments in bytes
	exact  uint64              // hash of the arguments
	value  valueHash           // hash of the arguments' value, for finding them in a history
	same   valueHash           // hash of the arguments; equal for texts that json.Same considers equal
	object bool                // the arguments are an object
	last   *cachedVerdict      // the latest verdict about the arguments, if it is cached
}

// LastReport is the latest report about a call.
type LastReport struct {
	ID        string // the call's id in the request
	Treatment Treatment
	Result    stream.Code
}

// lastReport returns the latest report about the call.
func (t *CallSummary) lastReport() LastReport {
	if t.report == nil {
		return LastReport{}
	}
	return *t.report
}

// lastReportOf returns the latest report about a call.
func lastReportOf(c *stream.Call) (t LastReport) {
	if n := len(c.SentBack); n > 0 {
		t = LastReport{c.SentBack[n-1].ID, Treatment(c.SentBack[n-1].Outcome), c.SentBack[n-1].ResultCode}
	}
	return t
}

// callIdentity contains the values that identify a call.
type callIdentity struct {
	ref            stream.Ref
	id, name, item string
	choice         int32
	server         bool
	attempt        bool
	plainName      bool // clients can send the name back only unchanged
	phase          stream.Phase
}

// turnState is the part of a turn's state that decides whether the turn must be in a history.
type turnState struct{ unseen, aborted bool }

func stateOf(t *stream.Turn) turnState {
	return turnState{t.HasGap(), t.Phase() == stream.TurnAborted || t.Phase() == stream.TurnRefused}
}

func calledOf(c *stream.Call) callIdentity {
	return callIdentity{
		ref: c.Ref(), id: c.ID, name: c.Name, item: c.Item, choice: c.Choice, server: c.RunByProvider, attempt: c.Discarded, phase: c.Phase(),
		plainName: hasPlainName(c),
	}
}

// Summarise returns the summary of a turn. The content of the turn must still be available.
func (by *Observer) Summarise(t *stream.Turn) *TurnSummary {
	r := &TurnSummary{state: stateOf(t), ended: t.Closed()}
	r.text, r.long = hashText(t.Text)
	for _, c := range t.Calls {
		r.calls = append(r.calls, by.summariseCall(c))
		r.addSignature(c.Signature)
	}
	for i := range t.Parts {
		r.addSignature(t.Parts[i].Signature)
	}
	return r
}

func (r *TurnSummary) addSignature(signature string) {
	if signature != "" {
		r.signatures = append(r.signatures, maphash.String(seed, signature))
	}
}

func (by *Observer) summariseCall(c *stream.Call) CallSummary {
	args := c.Args()
	t := CallSummary{
		callIdentity: calledOf(c), size: len(args), exact: maphash.Bytes(seed, args),
		object: c.Syntax() == json.SyntaxObject,
	}
	t.value, t.same = hashesOf(args)
	if told := lastReportOf(c); told != (LastReport{}) {
		t.report = &told
	}
	if j, ok := by.lastVerdict(t.ref); ok {
		t.last = &j
	}
	for i := range c.Findings {
		t.found = append(t.found, c.Findings[i].Base())
	}
	return t
}

// Report records a report about the call, and the finding if there is one.
func (t *CallSummary) Report(told LastReport, found stream.Finding) {
	if t.report = &told; found.Diagnosis != nil {
		t.found = append(t.found, found.Base())
	}
}

// CallName returns the name and the id of the turn's call with the given number. The result ok is false if
// there is none.
func (r *TurnSummary) CallName(call int32) (name, id string, ok bool) {
	if n := int(call) - 1; n >= 0 && n < len(r.calls) {
		return r.calls[n].name, r.calls[n].id, true
	}
	return "", "", false
}

// isIntact reports whether the sent arguments are the same bytes, or whether both are empty, null or {}.
func (t *CallSummary) isIntact(sent *protocol.Part, to *protocol.Target) bool {
	if sent.Form == protocol.TextForm && to.Form != protocol.TextForm {
		return false // a string instead of an object: the same bytes are another value
	}
	return t.isOf(sent.Args) || t.value == nothing && saysNothing(sent.Args)
}

// isOf reports whether the call has the given arguments.
func (t *CallSummary) isOf(args []byte) bool {
	return len(args) == t.size && maphash.Bytes(seed, args) == t.exact
}

// judgeArgs uses hashes to judge arguments that are not intact: they have either the same value or another one. An
// earlier report that was based on the full arguments stays valid if the hashes don't contradict it.
func (t *CallSummary) judgeArgs(sent *protocol.Part, to *protocol.Target) argsVerdict {
	if slices.Contains(hashesIn(sent, to), t.value) {
		return argsVerdict{treatment: t.reportedOr(WasReformatted, WasEncoded, WasWrapped), vague: true}
	}
	fate := t.reportedOr(WasAltered, WasRepaired)
	if saysNothing(sent.Args) {
		fate = t.reportedOr(fate, WasEmptied)
	}
	if fate != WasAltered || !t.object {
		return argsVerdict{treatment: fate, vague: true} // clients may have repaired the arguments, so they are not reported as altered
	}
	return argsVerdict{treatment: fate, loss: ArgsAltered.newLoss("the client sent arguments that the model didn't write"), vague: true}
}

// reportedOr returns the last reported treatment if it is in the list others, and otherwise the treatment fate.
// Hashes can't tell these treatments apart.
func (t *CallSummary) reportedOr(fate Treatment, others ...Treatment) Treatment {
	if slices.Contains(others, t.lastReport().Treatment) {
		return t.lastReport().Treatment
	}
	return fate
}

// hashText returns a hash of a turn's text. The result long is false if the text is too short to identify the
// turn.
func hashText(text []byte) (sum uint64, long bool) {
	text = bytes.TrimSpace(text)
	return maphash.Bytes(seed, text), len(text) >= minText
}

// A MatchKey is a hash of a value that a turn and a history can share: an id, a position, a text, or the content of a
// call. matchTurns uses only these values, so a turn that shares no key with a history would get no observation. Such
// a turn need not be passed to matchTurns. A MatchKey is valid only within one run of the program.
type MatchKey uint64

// A KeyKind is a kind of match keys. Most kinds are needed only for some histories. An index of turns can add such a
// kind when a history needs it for the first time.
type KeyKind struct {
	kind keyKindID
	ids  protocol.IDRule // for kind fitted
}

type keyKindID uint8

const (
	plain   keyKindID = iota // ids, items, positions and texts
	fitted                   // ids adapted to a target that doesn't accept the originals
	content                  // tools and arguments, in conversations with the same beginning
	alone                    // tools and arguments, if the beginning is unknown
)

// PlainKeys is the kind of keys that every history needs.
var PlainKeys = KeyKind{kind: plain}

// IDKey returns the match key for a call's id.
func IDKey(id string) MatchKey { return keyFor('i', 0, id) }

// SentIDKey returns the match key for the id that a call had in a request.
func SentIDKey(id string) MatchKey { return keyFor('s', 0, id) }

// ResponseKey returns the match key for a response's id.
func ResponseKey(id string) MatchKey { return keyFor('a', 0, id) }

func itemKey(id string) MatchKey   { return keyFor('o', 0, id) }
func textKey(text uint64) MatchKey { return keyFor('t', text, "") }

func placeKey(a Position) MatchKey {
	return keyFor('p', uint64(valueHash(a.Begin).combine(valueHash(a.Calls))), "")
}

func contentKey(begin uint64, tool string, v valueHash) MatchKey {
	return keyFor('c', uint64(valueHash(begin).combine(v)), tool)
}

// anyBegin replaces the beginning of a conversation in content keys that match every conversation.
const anyBegin = 1

func keyFor(kind valueHash, n uint64, text string) MatchKey {
	return MatchKey(kind.combine(valueHash(n)).combine(valueHash(maphash.String(seed, text))))
}

// Keys yields the turn's match keys of the given kind.
func (c *Candidate) Keys(s KeyKind) iter.Seq[MatchKey] {
	return func(yield func(MatchKey) bool) {
		for _, e := range c.earlierCalls() {
			for clue := range c.keysOf(&e, s) {
				if !yield(clue) {
					return
				}
			}
		}
		switch {
		case s.kind != plain:
		case c.Position.Begin != 0:
			yield(placeKey(c.Position))
		default:
			if text, long, _ := c.otherSigns(); long {
				yield(textKey(text))
			}
		}
	}
}

// keysOf yields the match keys of a call.
func (c *Candidate) keysOf(e *earlierCall, s KeyKind) iter.Seq[MatchKey] {
	return func(yield func(MatchKey) bool) {
		switch s.kind {
		case plain:
			for id := range plainSpellings(e.id, e.item) {
				if !yield(IDKey(id)) {
					return
				}
			}
			if e.item != "" {
				yield(itemKey(e.item))
			}
		case fitted:
			for id := range fittedSpellings(e.id, e.item, s.ids) {
				if !yield(IDKey(id)) {
					return
				}
			}
		case content:
			yield(contentKey(c.Position.Begin, e.name, e.argsHash()))
		case alone:
			yield(contentKey(anyBegin, e.name, e.argsHash()))
		}
	}
}

// A key that too many turns have proves nothing. Only the latest turns with such a key are candidates, and another
// key must identify them. Otherwise, the match would change with every new turn.
const (
	maxTurns        = 64 // maximum number of turns with the same key
	maxTurnsAtPlace = 16 // maximum number of turns at the same position: attempts, and parallel conversations
	maxTurnsWithID  = 2  // maximum number of turns with the same id, if the id is only a number
)

// TurnIndex finds turns by their match keys.
type TurnIndex interface {
	// IndexBy adds a kind of keys to the index.
	IndexBy(KeyKind)
	// Find looks up the latest turns with the key c, up to the limit most, and returns their number.
	Find(c MatchKey, most int) int
}

// noteCommon looks up a key, and records whether too many turns have it.
func (h *History) noteCommon(in TurnIndex, c MatchKey, most int) (found int) {
	if found = in.Find(c, most); found == most {
		if h.common == nil {
			h.common = map[MatchKey]bool{}
		}
		h.common[c] = true
	}
	return found
}

// Find looks up the turns that share a key with the history. If an id identifies a call, Find doesn't look up the
// call's content.
func (h *History) Find(in TurnIndex) {
	in.IndexBy(PlainKeys)
	in.IndexBy(KeyKind{fitted, h.to.IDs})
	told := map[string]bool{}
	for id, list := range h.withID {
		told[id] = h.searchID(id, h.entries[list[0]].part.Name, in) && len(list) == 1
	}
	for id, list := range h.orphans {
		h.searchID(id, list[0].part.Name, in)
	}
	for asked := range h.at {
		if asked.Begin != 0 {
			h.noteCommon(in, placeKey(asked), maxTurnsAtPlace)
		}
	}
	for id := range h.readItems() {
		h.noteCommon(in, itemKey(id), maxTurns)
	}
	for text := range h.readTexts() {
		h.noteCommon(in, textKey(text), maxTurns)
	}
	h.searchContents(told, in)
}

// searchID looks up an id, and reports whether the id identifies one turn.
func (h *History) searchID(id, tool string, in TurnIndex) bool {
	switch {
	case id == "":
		return false
	case isCounter(id, "") && isCounter(id, tool):
		h.noteCommon(in, IDKey(id), maxTurnsWithID)
		return false
	}
	return h.noteCommon(in, IDKey(id), maxTurns) == 1
}

// searchContents looks up the contents of the calls in the history. It skips the calls whose ids are in the map told,
// because these ids identify them.
func (h *History) searchContents(told map[string]bool, in TurnIndex) {
	begins, s := []uint64{h.Position.Begin, 0}, KeyKind{kind: content}
	if h.Position.Begin == 0 {
		begins, s = []uint64{anyBegin}, KeyKind{kind: alone}
	}
	asked := map[MatchKey]bool{}
	for n := range h.entries {
		p := h.entries[n].part
		if told[p.ID] {
			continue
		}
		for _, v := range h.hashesOf(n) {
			for _, begin := range begins {
				c := contentKey(begin, p.Name, v)
				if len(asked) == 0 {
					in.IndexBy(s)
				}
				if !asked[c] {
					h.noteCommon(in, c, maxTurns)
					asked[c] = true
				}
			}
		}
	}
}

package formats

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// chunkInfo holds the facts in a payload that help to distinguish streams. It is used only to assign payloads to
// streams. The protocols interpret the payloads.
type chunkInfo struct {
	is       payloadKind
	of       *marks.Protocol  // nil if several protocols have such payloads
	phase    marks.BlockPhase // the payload's effect on a content block
	weak     bool             // other data looks like this too, so the payload can continue a stream but not begin one
	begins   bool             // a response begins with the payload
	ends     bool             // a response ends, or may end, with the payload
	last     bool             // only the mark of a stream's end follows the payload
	many     bool             // the payload contains several chunks
	kind     []byte           // its type
	id       uint64           // hash of the response's id; 0 if unknown
	item     uint64           // hash of the item's id; 0 if unknown
	block    int64            // number of the content block; -1 if unknown
	number   int64            // the payload's position in the stream; -1 if unknown
	identity chunkIdentity    // other facts that differ between streams
}

// payloadKind is the kind of a payload.
type payloadKind int8

const (
	noPayload payloadKind = iota
	aChunk                // part of a stream
	aBody                 // a complete response
	aList                 // a list of chunks
	aRequest
	aMark     // the end of a stream
	anEvent   // a line with the name of an event
	eventText // text of an event stream
	aRest     // other text in the place of a payload
)

// payloadForm is the form that a stream's payloads have in a log. A gateway that logs both of its sides often writes
// them in different forms.
type payloadForm int8

const (
	anyForm  payloadForm = iota
	asObject             // JSON objects
	asEvents             // server-sent events
)

// formInLog returns the form of a payload.
func (f *payload) formInLog() payloadForm {
	switch {
	case f.weak || f.is == aRest || f.is == aMark || f.is == anEvent || f.is == noPayload:
		return anyForm
	case f.field, f.is == eventText && !opensObject(f.text):
		return asEvents
	}
	return asObject
}

// payloadRules are the marks of all protocols, prepared for reading payloads.
type payloadRules struct {
	from     *[]marks.Protocol
	types    map[string]typeMark
	prefixes []typeMark
	fields   map[string]*payloadField
	rules    []payloadRule
	identity map[*marks.Protocol]*identityRule
	eventIDs map[*marks.Protocol]*condition

	terminators                               [][]byte
	partTypes, partKeys, messageKeys, topKeys map[string]bool
	socketEnds                                map[string]bool
}

// typeMark is an event type, or a prefix of event types, with its protocol.
type typeMark struct {
	marks.Event
	of *marks.Protocol
}

// payloadField is a key that the rules use.
type payloadField struct {
	slot                            int
	isType, isID, isBlock, isNumber bool
	itemPath                        []string // path of the item's id in the value
	isItem                          bool
}

type payloadRule struct {
	marks.Rule
	of   *marks.Protocol
	need uint64 // slots of the keys that must be present, as bits
	when []condition
	ends *condition
}

type identityRule struct {
	model, prompt, content, made, took *condition
	tokens                             []*condition
}

// condition is a parsed condition of marks.Rule.
type condition struct {
	not   bool
	keys  []string // alternatives for the first key of the path
	slots []int    // slots of these keys
	path  []string // the other keys of the path
	op    string
	text  string
}

// maxSlots is the maximum number of keys in all rules.
const maxSlots = 64

// slotValues are the values of the keys that the rules use.
type slotValues [maxSlots][]byte

var preparedRules atomic.Pointer[payloadRules]

// currentRules returns the rules for the marks in use.
func currentRules() *payloadRules {
	all := marks.All()
	if t := preparedRules.Load(); t != nil && t.from == all {
		return t
	}
	t := newPayloadRules(all)
	preparedRules.Store(t)
	return t
}

func newPayloadRules(all *[]marks.Protocol) *payloadRules {
	t := &payloadRules{
		from: all, types: map[string]typeMark{}, fields: map[string]*payloadField{}, identity: map[*marks.Protocol]*identityRule{},
		eventIDs:  map[*marks.Protocol]*condition{},
		partTypes: map[string]bool{}, partKeys: map[string]bool{}, messageKeys: map[string]bool{}, topKeys: map[string]bool{},
		socketEnds: map[string]bool{},
	}
	var requests []payloadRule // tried after all others
	for i := range *all {
		of := &(*all)[i]
		for _, e := range of.Events {
			m := typeMark{e, of}
			if e.Common {
				m.of = nil
			}
			t.types[e.Type] = m
		}
		for _, prefix := range of.Prefixes {
			t.prefixes = append(t.prefixes, typeMark{marks.Event{Type: prefix}, of})
		}
		if of.Terminator != "" && !t.isTerminator(bytes.Equal, []byte(of.Terminator)) {
			t.terminators = append(t.terminators, []byte(of.Terminator))
		}
		t.addKeys(of)
		for _, r := range of.Rules {
			rule := payloadRule{Rule: r, of: of, when: t.parseConditions(r.When), ends: t.conditionOf(r.Ends)}
			for _, c := range rule.when {
				if !c.not && len(c.slots) == 1 {
					rule.need |= 1 << c.slots[0]
				}
			}
			if rule.Is == marks.Request {
				rule.of = nil
				requests = append(requests, rule)
			} else {
				t.rules = append(t.rules, rule)
			}
		}
		if d := of.Identity; d != nil {
			rule := &identityRule{
				model: t.conditionOf(d.Model), prompt: t.conditionOf(d.Prompt), content: t.conditionOf(d.Content), made: t.conditionOf(d.Made),
				took: t.conditionOf(d.Took),
			}
			for _, path := range d.Tokens {
				rule.tokens = append(rule.tokens, t.conditionOf(path))
			}
			t.identity[of] = rule
		}
	}
	t.rules = append(t.rules, requests...)
	return t
}

// addKeys adds the keys of a protocol.
func (t *payloadRules) addKeys(of *marks.Protocol) {
	for _, key := range of.TypeKeys {
		t.fieldOf(key).isType = true
	}
	for _, key := range of.IDKeys {
		t.fieldOf(key).isID = true
	}
	for _, key := range of.BlockKeys {
		t.fieldOf(key).isBlock = true
	}
	for _, key := range of.NumberKeys {
		t.fieldOf(key).isNumber = true
	}
	for _, path := range of.ItemKeys {
		keys := strings.Split(path, ".")
		f := t.fieldOf(keys[0])
		f.isItem, f.itemPath = true, keys[1:]
	}
	if of.EventID != "" {
		t.eventIDs[of] = t.conditionOf(of.EventID)
	}
	for set, words := range map[*map[string]bool][]string{
		&t.partTypes: of.PartTypes, &t.partKeys: of.PartKeys, &t.messageKeys: of.MessageKeys, &t.topKeys: of.TopKeys,
		&t.socketEnds: of.SocketEnds,
	} {
		for _, word := range words {
			(*set)[word] = true
		}
	}
}

// fieldOf returns the entry of a key, and adds it if necessary.
func (t *payloadRules) fieldOf(key string) *payloadField {
	f := t.fields[key]
	if f == nil {
		f = &payloadField{slot: len(t.fields)}
		t.fields[key] = f
	}
	return f
}

func (t *payloadRules) parseConditions(text string) (all []condition) {
	for _, one := range strings.Fields(text) {
		all = append(all, *t.conditionOf(one))
	}
	return all
}

// conditionOf parses a condition. It returns nil for "".
func (t *payloadRules) conditionOf(text string) *condition {
	if text == "" {
		return nil
	}
	c := parseCondition(text)
	for _, key := range c.keys {
		c.slots = append(c.slots, t.fieldOf(key).slot)
	}
	return c
}

func parseCondition(text string) *condition {
	c := new(condition)
	text, c.not = strings.CutPrefix(text, "!")
	if i := strings.IndexAny(text, ":=$~>"); i >= 0 {
		c.op, c.text, text = text[i:i+1], text[i+1:], text[:i]
		if c.op == "$" {
			c.text = c.text[len("="):]
		}
	}
	first, path, inside := strings.Cut(text, ".")
	if c.keys = strings.Split(first, "|"); inside {
		c.path = strings.Split(path, ".")
	}
	return c
}

// valueIn returns the value at the condition's path in an object, or nil if there is none. The path has no
// "*".
func (c *condition) valueIn(v *slotValues) []byte {
	if c == nil {
		return nil
	}
	var value []byte
	for _, slot := range c.slots {
		if value = v[slot]; value != nil {
			break
		}
	}
	return valueAt(value, c.path)
}

func valueAt(value []byte, path []string) []byte {
	for _, key := range path {
		if key == "0" {
			value = json.FirstElement(value)
		} else {
			value = json.Find(value, key)
		}
	}
	return value
}

// holds reports whether the condition holds for an object with these values.
func (c *condition) holds(v *slotValues) bool {
	return c != nil && c.acceptsValue(c.valueIn(v)) != c.not
}

func (c *condition) holdsAt(value []byte, path []string) bool {
	for i, key := range path {
		if key != "*" {
			value = valueAt(value, path[i:i+1])
			continue
		}
		for element := range json.Elements(value) {
			if c.holdsAt(element, path[i+1:]) {
				return true
			}
		}
		return false
	}
	return c.acceptsValue(value)
}

// acceptsValue reports whether a value satisfies the condition.
func (c *condition) acceptsValue(value []byte) bool {
	switch c.op {
	case "":
		return value != nil
	case ":":
		return len(value) > 0 && value[0] == c.text[0]
	case "~":
		return bytes.Contains(value, []byte(c.text))
	case ">":
		i := bytes.LastIndex(value, []byte(`"`+c.text+`"`))
		if i < 0 {
			return false
		}
		rest := bytes.TrimLeft(value[i+len(c.text)+2:], " :")
		return len(rest) > 0 && rest[0] == '"'
	}
	text, is := stringInside(value)
	return is && (string(text) == c.text || c.op == "$" && bytes.HasSuffix(text, []byte(c.text)))
}

// readInfo returns the facts in the fields of an object.
func (t *payloadRules) readInfo(all []json.FoundField) (s chunkInfo) {
	s.block, s.number = -1, -1
	var values slotValues
	var present uint64
	for _, m := range all {
		f := t.fields[string(m.Key)]
		if f == nil {
			continue
		}
		values[f.slot] = m.Value
		present |= 1 << f.slot
		switch {
		case f.isType:
			if text, is := stringInside(m.Value); is {
				s.kind = text
			}
		case f.isID:
			s.setResponseID(m.Value)
		case f.isItem:
			s.item = hashText(valueAt(m.Value, f.itemPath))
		case f.isBlock:
			s.block = parseInt(m.Value)
		case f.isNumber:
			s.number = parseInt(m.Value)
		}
	}
	if t.readKnownType(&s, &values) {
		return s
	}
	for i := range t.rules {
		r := &t.rules[i]
		if r.need&^present != 0 || r.NoID && (s.id != 0 || s.kind != nil) || !r.matches(all, &values) {
			continue
		}
		if r.Inner != "" {
			inner, _, _ := json.AppendFields(nil, values[t.fields[r.Inner].slot])
			return t.readInfo(inner)
		}
		s.is, s.of, s.weak = [...]payloadKind{marks.Nothing: noPayload, marks.Chunk: aChunk, marks.Body: aBody, marks.Request: aRequest}[r.Is], r.of, r.Weak
		if s.is == noPayload {
			s.of = nil
		}
		s.ends = r.ends.holds(&values)
		s.last = s.ends && r.Last
		if d := t.identity[s.of]; d != nil && s.is == aChunk {
			s.identity = d.readIdentity(&values)
		}
		return s
	}
	return s
}

func (r *payloadRule) matches(all []json.FoundField, values *slotValues) bool {
	for i := range r.when {
		if !r.when[i].holds(values) {
			return false
		}
	}
	for _, m := range all {
		if r.Only != nil && !containsText(r.Only, m.Key) {
			return false
		}
	}
	return true
}

func containsText(words []string, text []byte) bool {
	for _, word := range words {
		if string(text) == word {
			return true
		}
	}
	return false
}

// setResponseID sets the id of a response, unless it is empty.
func (s *chunkInfo) setResponseID(value []byte) {
	text, _ := stringInside(value)
	h := uint64(hashSeed)
	for _, part := range bytes.Split(text, []byte(" ")) { // some providers insert spaces
		h = hashOf(h, part)
	}
	if len(text) > 0 {
		s.id = h
	}
}

// readKnownType sets the facts that follow from a chunk's type. It reports whether the type is known.
func (t *payloadRules) readKnownType(s *chunkInfo, values *slotValues) bool {
	m, known := t.typeOf(s.kind)
	if !known {
		return false
	}
	s.is, s.of, s.begins, s.ends, s.last, s.weak, s.phase = aChunk, m.of, m.Begins, m.Ends, m.Last, m.Common, m.Block
	if path := t.eventIDs[m.of]; path != nil {
		if id := path.valueIn(values); id != nil || m.of.OnlyEventID {
			s.id = hashText(id)
		}
	}
	return true
}

// typeOf returns the mark of an event type. The result known is false if no protocol has it.
func (t *payloadRules) typeOf(kind []byte) (m typeMark, known bool) {
	if m, known = t.types[string(kind)]; known {
		return m, true
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(string(kind), p.Type) {
			return p, true
		}
	}
	return typeMark{}, false
}

// anyProtocol represents an unknown protocol.
var anyProtocol marks.Protocol

// traitsOf returns the marks of a protocol. If the protocol is nil, the marks are empty.
func traitsOf(of *marks.Protocol) *marks.Protocol {
	if of == nil {
		return &anyProtocol
	}
	return of
}

// isTerminator reports whether data matches a stream's terminator, according to a function such as bytes.HasPrefix.
func (t *payloadRules) isTerminator(is func(data, end []byte) bool, data []byte) bool {
	for _, end := range t.terminators {
		if is(data, end) {
			return true
		}
	}
	return false
}

// chunkIdentity holds facts in a chunk that differ between streams. In some protocols, the chunks don't name their
// response. For them, these facts keep two streams apart, or prove that lines assigned to one stream belong to two.
// The zero value has no facts.
type chunkIdentity struct {
	model  uint64
	prompt int64         // number of tokens in the request
	tokens int64         // number of tokens in the response so far, which never decreases
	more   bool          // the chunk has content
	at     time.Time     // when the chunk was created
	took   time.Duration // time since the request; known only at the end
}

func (d *identityRule) readIdentity(values *slotValues) (a chunkIdentity) {
	a.model, a.more = hashText(d.model.valueIn(values)), d.content.holds(values)
	a.prompt = max(0, parseInt(d.prompt.valueIn(values)))
	for _, path := range d.tokens {
		a.tokens += max(0, parseInt(path.valueIn(values)))
	}
	if d.made != nil {
		a.at = timestamp{text: d.made.valueIn(values)}.parse()
	}
	a.took = time.Duration(max(0, parseInt(d.took.valueIn(values))))
	return a
}

// add adds the facts of a later chunk of the stream. The field at keeps the time of the first chunk that has a time.
func (a *chunkIdentity) add(b chunkIdentity) {
	if a.model == 0 {
		a.model = b.model
	}
	a.prompt, a.tokens = max(a.prompt, b.prompt), max(a.tokens, b.tokens)
	if a.at.IsZero() {
		a.at = b.at
	}
}

// conflicts reports whether a chunk with the facts b can't belong to the stream.
func (a *chunkIdentity) conflicts(b chunkIdentity) bool {
	return a.model != 0 && b.model != 0 && a.model != b.model || a.prompt != 0 && b.prompt != 0 && a.prompt != b.prompt
}

// parseInt returns a number of at most 15 digits, or -1 for any other value.
func parseInt(value []byte) (n int64) {
	if len(value) == 0 || len(value) > 15 {
		return -1
	}
	for _, c := range value {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// hashText returns the hash of a JSON string, or 0 if the value is empty or not a string.
func hashText(value []byte) uint64 {
	text, is := stringInside(value)
	if !is || len(text) == 0 {
		return 0
	}
	return hashOf(hashSeed, text)
}

const hashSeed = 14695981039346656037

// hashOf continues a hash (FNV-1a). Names and values in logs are stored and compared as hashes.
func hashOf(h uint64, p []byte) uint64 {
	for _, c := range p {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// isContent reports whether an object is part of a conversation. Such an object contains text from a person or
// a tool, whatever the text looks like.
func (t *payloadRules) isContent(all []json.FoundField) bool {
	role, holds := false, false
	for _, m := range all {
		switch {
		case t.partKeys[string(m.Key)]:
			return true
		case t.messageKeys[string(m.Key)]:
			holds = true
		case string(m.Key) == "role":
			_, role = stringInside(m.Value)
		case string(m.Key) == "type":
			if text, _ := stringInside(m.Value); t.partTypes[string(text)] {
				return true
			}
		}
	}
	return role && holds
}

// isSession reports whether an object is a line of an agent's session. The messages in such a line are history, not
// responses in this log.
func isSession(all []json.FoundField) bool {
	kind, session, holds, stamp, rollout, payload := false, false, false, false, false, false
	word, numbered, folder := "", false, false
	for _, m := range all {
		switch string(m.Key) {
		case "event_id":
			numbered = true
		case "cwd":
			folder = true
		case "data":
			payload = opensObject(m.Value)
		case "type":
			kind = true
			text, _ := stringInside(m.Value)
			switch word = string(text); word {
			case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state": // types of Codex
				rollout = true
			}
		case "sessionId", "session_id", "sessionID", "parentUuid", "leafUuid", "projectHash", "parentId", "parent_tool_use_id":
			session = true
		case "payload":
			holds, payload = true, opensObject(m.Value)
		case "message", "event", "subtype", "messages", "summary", "toolCalls", "uuid", "state":
			holds = true
		case "timestamp":
			stamp = true
		}
	}
	of, _, dotted := strings.Cut(word, ".")
	ofCopilot := dotted && stamp && payload && slices.Contains([]string{"user", "assistant", "session", "tool", "model"}, of)
	ofRealtime := numbered && slices.Contains([]string{"session", "conversation", "input_audio_buffer"}, of)
	ofPi := word == "session" && stamp && folder
	return kind && session && holds || rollout && stamp && payload || ofCopilot || ofRealtime || ofPi
}

// isOwnText reports whether an object is part of a conversation or a session, so that payloads inside it are
// only text.
func (t *payloadRules) isOwnText(all []json.FoundField) bool {
	return t.isContent(all) || isSession(all)
}

// Marks returns the words that mark the beginning or the end of a response, for counting responses.
func Marks() (all []capture.ResponseMarker) {
	kinds := map[string]int{}
	for i, of := range *marks.All() {
		kind, known := kinds[of.Ending]
		if of.Ending == "" || !known {
			kind = i
		}
		if of.Ending != "" && !known {
			kinds[of.Ending] = kind
			all = append(all, capture.ResponseMarker{Word: of.Ending, Kind: kind, Ends: true})
		}
		for _, e := range of.Events {
			if e.Begins && !e.Common {
				all = append(all, capture.ResponseMarker{Word: e.Type, Kind: kind})
			}
		}
	}
	return all
}

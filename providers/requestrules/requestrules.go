// Package requestrules checks a request against the rules of its target. A rule is checked only if the
// target's data contains the rule, or the provider's message for breaking it. The package compares parts of
// the same request. The package replay compares a request with the responses before it.
package requestrules

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// A Breach is a rule that a request breaks, with all places where it breaks the rule.
type Breach struct {
	*stream.Diagnosis
	Rule  string // the rule's name in machine output
	Spots []Spot // in the order of the request
	Proof Proof  // evidence that is needed if no response shows a refusal
	what  string // description of the problem
}

// Of returns a breach at one place. Its message is the Words of the place.
func Of(d *stream.Diagnosis, rule string, proof Proof, at Spot) Breach {
	return Breach{Diagnosis: d, Rule: rule, Proof: proof, Spots: []Spot{at}}
}

// Proof is the evidence that a target refuses a request.
type Proof uint8

const (
	ByRequest Proof = iota // the request alone: no host can read it as intended
	ByHost                 // the rule is specific to the host, so the host must be known
	ByRefusal              // only a refusal is proof, because hosts of the same protocol differ
)

// A Spot is a place where a request breaks a rule: a message, a part, a declared tool, or a call outside the
// request.
type Spot struct {
	Message, Part int            // Part is -1 for the message itself, and Message is -1 for a declared tool
	Tool          string         // name of the declared tool
	ID            string         // id of the call; "" if it has none
	Words         stream.Message // words for the place in a message
	Call          stream.Ref     // the model's call, if it is not in the request
}

// NoMessage is the message index of a place that is not in a message of the request.
const NoMessage = -2

// A Request is a request to a target, as far as it is known.
type Request struct {
	Body     json.Value // the complete request; nil if it is unknown
	Messages []protocol.Message
	Target   *protocol.Target
	Tools    []protocol.Tool // tools that the request declares, as far as they were read
	Partial  bool            // the provider keeps earlier messages, so calls and results may be there
}

// Findings lists the findings that only this package makes.
var Findings = []*stream.Diagnosis{ResultTwice, IDIllegal, RequestIllegal}

// Findings about a request.
var (
	ResultTwice = &stream.Diagnosis{
		Code: "RESULT_TWICE", Severity: stream.Error, OtherSeverities: []stream.Severity{stream.Info, stream.Warn}, By: stream.Client,
		Verdict:      "two results",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The history has more than one result for a call. Anthropic, Bedrock and OpenAI refuse the request.",
		Advice:       "Keep only one result for each call. Look for code that adds a result when it resumes or repairs a history.",
	}
	IDIllegal = &stream.Diagnosis{
		Code: "ID_ILLEGAL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		Verdict:      "illegal id",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "A call or its result has no id, or the id is too long for the target or contains characters that the target doesn't accept. The target refuses the request.",
		Advice:       "Replace the id, in both the call and its result, with an id that the target accepts.",
	}
	RequestIllegal = &stream.Diagnosis{
		Code: "REQUEST_ILLEGAL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		Verdict:      "bad request",
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The messages of a request break a rule of its target, e.g. about the order of roles or about empty text. The target refuses the request.",
		Advice:       "Change the code that builds the request. The finding's message names the place in the request.",
	}
)

// Check returns the rules that the request breaks.
func Check(r *Request) []Breach {
	c := checker{Request: r}
	if !r.Partial && !c.refersToItems() {
		c.checkPairs()
		c.checkServerPairs()
	}
	c.checkCalls()
	c.checkTools()
	c.checkContents()
	c.checkCacheMarks()
	c.checkTrailingSpace()
	return c.breaches
}

// checker collects the breaches of one request.
type checker struct {
	*Request
	breaches []Breach
	doubled  map[string]bool // ids that several calls share
}

// addSpot adds a place to a breach. The parameter what describes the problem.
func (c *checker) addSpot(d *stream.Diagnosis, rule string, proof Proof, what string, at Spot) {
	i := slices.IndexFunc(c.breaches, func(b Breach) bool { return b.Rule == rule })
	if i < 0 {
		i = len(c.breaches)
		c.breaches = append(c.breaches, Breach{Diagnosis: d, Rule: rule, Proof: proof, what: what})
	}
	c.breaches[i].Spots = append(c.breaches[i].Spots, at)
}

// eachPart yields the parts of the messages with the numbers of their message and of themselves.
func (c *checker) eachPart(yield func(p *protocol.Part, at [2]int) bool) {
	for i := range c.Messages {
		for j := range c.Messages[i].Parts {
			if !yield(&c.Messages[i].Parts[j], [2]int{i, j}) {
				return
			}
		}
	}
}

// maxSpots is the maximum number of places that a message names.
const maxSpots = 2

// Message returns the message of the breach. The parameter at is the path of its first place in the request, or "" if
// the path is unknown.
func (b *Breach) Message(at string) stream.Message {
	var list stream.Message
	named := 0
	for _, at := range b.Spots {
		switch {
		case at.Words.Text == "" || named == maxSpots:
			continue
		case named == 0:
			list = at.Words
		default:
			list = stream.Messagef("%s, %s", list, at.Words)
		}
		named++
	}
	if others := len(b.Spots) - named; named > 0 && others > 0 {
		list = stream.Messagef("%s and %s", list, stream.Own(count.Of(others, "other")))
	}
	m := stream.Messagef("%s", stream.Own(b.what))
	switch {
	case b.what == "":
		m = list
	case list.Text != "":
		m = stream.Messagef("%s: %s", m, list)
	}
	if at != "" {
		m = stream.Messagef("%s (%s)", m, stream.Own(at))
	}
	return m
}

// spotOf returns the place of a part, with the part's id and tool as its words.
func spotOf(message, part int, p *protocol.Part) Spot {
	at := Spot{Message: message, Part: part, ID: p.ID}
	switch {
	case p.ID != "" && p.Name != "":
		at.Words = stream.Messagef("%s (%s)", stream.Clip([]byte(p.ID), 0, maxQuoted), stream.Fact(stream.Clip([]byte(p.Name), 0, maxQuoted)))
	case p.ID != "":
		at.Words = stream.Messagef("%s", stream.Clip([]byte(p.ID), 0, maxQuoted))
	default:
		at.Words = stream.Messagef("%s", stream.Fact(stream.Clip([]byte(p.Name), 0, maxQuoted)))
	}
	return at
}

// maxQuoted is the maximum number of bytes that a message quotes from an id or a name.
const maxQuoted = 80

// refersToItems reports whether the history refers to items that the provider keeps, or contains a compacted
// item. Both may contain calls and results.
func (c *checker) refersToItems() bool {
	if !c.Target.HasPreviousID {
		return false
	}
	for i := range c.Messages {
		for j := range c.Messages[i].Parts {
			p := &c.Messages[i].Parts[j]
			if kind := p.Raw.Get("type"); p.Kind == protocol.OtherPart && (kind.Is("item_reference") || kind.Is("compaction")) {
				return true
			}
		}
	}
	return false
}

// checkCalls checks the ids, names and arguments of calls, and the ids of items.
func (c *checker) checkCalls() {
	to := c.Target
	ids, items := map[string]bool{}, map[string]bool{}
	for i := range c.Messages {
		for j := range c.Messages[i].Parts {
			p := &c.Messages[i].Parts[j]
			if to.Refusal.SameItem != "" && p.Item != "" && (p.Kind == protocol.CallPart || p.Kind == protocol.ReasoningPart) {
				if items[p.Item] {
					at := Spot{Message: i, Part: j, ID: p.Item, Words: stream.Messagef("%s", p.Item)}
					c.addSpot(replay.IDCollision.Diagnosis, "item-unique", ByRequest, "the request has two items with the same id", at)
				}
				items[p.Item] = true
			}
			if p.Kind != protocol.CallPart || p.RunByProvider {
				continue
			}
			switch {
			case p.ID == "" && to.IDs.Required && needsID(p.Raw):
				c.addSpot(IDIllegal, IDPresent, ByHost, withoutID, spotOf(i, j, p))
			case ids[p.ID] && to.IDs.Unique && p.ID != "":
				c.addSpot(replay.IDCollision.Diagnosis, "id-unique", ByRequest, "the request has two calls with the same id", spotOf(i, j, p))
			case p.ID != "" && !to.IDs.Takes(p.ID):
				at := spotOf(i, j, p)
				at.Words = stream.Messagef("%s, %s long", at.Words, stream.Own(count.Of(len(p.ID), "byte")))
				c.addSpot(IDIllegal, "id-legal", ByHost, illegalID(to), at)
			}
			ids[p.ID] = true
			if p.Name != "" && !to.Names.Takes(p.Name) && to.Refusal.Name != "" {
				c.addSpot(replay.NameIllegal.Diagnosis, "name-legal", ByHost, "the request calls a tool whose name the target doesn't accept", spotOf(i, j, p))
			}
			c.checkArgs(i, j, p)
		}
	}
}

// IDPresent is the rule that a call and its result have an id.
const IDPresent = "id-present"

const withoutID = "a call or its result has no id"

// needsID reports whether a call refers to its result by an id. The calls of OpenAI's first API for functions don't.
func needsID(call json.Value) bool {
	kind := call.Get("type").Text()
	return kind == "tool_use" || kind == "function_call" || kind == "custom_tool_call" || call.Get("function").IsPresent() || call.Get("toolUse").IsPresent()
}

// illegalID describes how an id breaks the target's rule.
func illegalID(to *protocol.Target) string {
	size := count.Of(to.IDs.Max, "byte")
	switch {
	case to.IDs.Exact():
		return fmt.Sprintf("an id doesn't consist of exactly %d letters and digits", to.IDs.Max)
	case to.IDs.Class == "":
		return "an id has more than " + size
	}
	return "an id has more than " + size + ", or characters other than " + to.IDs.Class
}

// checkArgs checks that a call's arguments are an object or a string, as the target requires.
func (c *checker) checkArgs(i, j int, p *protocol.Part) {
	if c.Target.Refusal.ArgsObject != "" && p.Form == protocol.ObjectForm && json.Value(p.Args).Kind() == '{' && hasArguments(p.Raw) {
		c.addSpot(RequestIllegal, "arguments-string", ByHost, "the arguments are an object instead of a string", spotOf(i, j, p))
	}
	if c.Target.Form == protocol.TextForm && p.Form == protocol.TextForm && len(p.Args) > 0 && hasArguments(p.Raw) && !isObject(p.Args) {
		c.addSpot(RequestIllegal, "arguments-json", ByRefusal, "the arguments are not a JSON object", spotOf(i, j, p))
	}
	if c.Target.Form != protocol.ObjectForm || c.Target.Refusal.Args == "" || len(p.Args) == 0 {
		return
	}
	switch {
	case p.Form == protocol.TextForm:
		c.addSpot(replay.DoubleEncoded.Diagnosis, "arguments-object", ByRequest, "the arguments are a string instead of an object", spotOf(i, j, p))
	case json.Value(bytes.TrimSpace(p.Args)).Kind() != '{':
		c.addSpot(RequestIllegal, "arguments-object", ByRequest, "the arguments are not an object", spotOf(i, j, p))
	}
}

// isObject reports whether a text is one complete JSON object.
func isObject(text []byte) bool {
	var l json.Lexer
	l.Write(text)
	l.Close()
	return l.Syntax() == json.SyntaxObject
}

// hasArguments reports whether a call has the field arguments. The calls of OpenAI's own tools have other fields.
func hasArguments(call json.Value) bool {
	return call.Get("function").Get("arguments").IsPresent() || call.Get("type").Is("function_call") || call.Get("arguments").IsPresent() && !call.Get("type").IsPresent()
}

// checkTools checks the names of the declared tools.
func (c *checker) checkTools() {
	for i, t := range c.Tools {
		if c.Target.Refusal.Name == "" || t.Name == "" || !t.Declarable() || c.Target.Names.Takes(t.Name) {
			continue
		}
		at := Spot{Message: -1, Part: i, Tool: t.Name, Words: stream.Messagef("%s", stream.Fact(stream.Clip([]byte(t.Name), 0, maxQuoted)))}
		c.addSpot(replay.NameIllegal.Diagnosis, "tool-name-legal", ByHost, "the request declares a tool whose name the target doesn't accept", at)
	}
}

// checkContents checks the order, the texts and the reasoning of messages.
func (c *checker) checkContents() {
	before := protocol.System // role of the previous message; System at the beginning
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == protocol.System {
			continue
		}
		c.checkOrder(i, before)
		if c.Target.Refusal.UserAfterResult != "" && i > 0 && m.Role == protocol.User && !hasResults(m) && hasResults(&c.Messages[i-1]) {
			c.addSpot(RequestIllegal, "turn-order", ByHost, "a user message directly follows results", Spot{Message: i, Part: -1})
		}
		before = m.Role
		if c.Target.Refusal.Unsigned != "" && c.Target.Reasoning == protocol.SignedReasoning {
			c.checkSignatures(i)
		}
		if c.Target.Refusal.EmptyText != "" {
			c.checkTexts(i)
		}
		if c.Target.Refusal.LoneReasoning != "" {
			c.checkReasoning(i)
		}
	}
}

// checkOrder checks that a message of the model may follow a message with the given role. It doesn't report a call
// directly after another call: the missing or late result of the earlier call is the cause, and checkPairs reports
// it.
func (c *checker) checkOrder(i int, before protocol.Role) {
	m, to := &c.Messages[i], c.Target
	switch {
	case c.Partial || to.Refusal.Order == "" || m.Role != protocol.Assistant:
		return
	case before == protocol.System:
		c.addSpot(RequestIllegal, "turn-order", ByRequest, "the history must begin with a user message", Spot{Message: i, Part: -1})
	case hasCalls(m) && before == protocol.Assistant && !to.Merges && !hasCalls(&c.Messages[i-1]):
		c.addSpot(RequestIllegal, "turn-order", ByRequest, "a call must come directly after a user message or after results", Spot{Message: i, Part: -1})
	}
}

func hasCalls(m *protocol.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.CallPart })
}

// checkTexts checks the texts of a message. No text block may be empty, and a message must not consist of
// blank texts only. The content of a model message may be an empty string; the content of a user message may
// not.
func (c *checker) checkTexts(i int) {
	m := &c.Messages[i]
	blank := len(m.Parts) > 0
	for j := range m.Parts {
		p := &m.Parts[j]
		text := bytes.TrimSpace(p.Text)
		if p.Kind == protocol.TextPart && p.Raw != nil && len(p.Text) == 0 {
			c.addSpot(RequestIllegal, "content-empty", ByRequest, "a text block is empty", Spot{Message: i, Part: j})
			return
		}
		blank = blank && p.Kind == protocol.TextPart && len(text) == 0
	}
	switch {
	case blank:
		c.addSpot(RequestIllegal, "content-empty", ByRequest, "all text in a message is blank", Spot{Message: i, Part: -1})
	case len(m.Parts) == 0 && m.Role == protocol.User && m.Raw.Get("content").IsPresent():
		c.addSpot(RequestIllegal, "content-empty", ByRequest, "a user message has no content", Spot{Message: i, Part: -1})
	}
}

// checkSignatures checks that visible reasoning is signed. Hosts that never sign reasoning accept unsigned
// reasoning. Another signed part is evidence that the host signs reasoning.
func (c *checker) checkSignatures(i int) {
	for j := range c.Messages[i].Parts {
		p := &c.Messages[i].Parts[j]
		if p.Kind != protocol.ReasoningPart || p.Signature != "" {
			continue
		}
		proof := ByRefusal
		if c.hasSignature() {
			proof = ByHost
		}
		c.addSpot(replay.SignatureDropped.Diagnosis, "thinking-unsigned", proof, "a thinking block has no signature", Spot{Message: i, Part: j})
	}
}

// hasSignature reports whether the history has a signed part.
func (c *checker) hasSignature() bool {
	return slices.ContainsFunc(c.Messages, func(m protocol.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Signature != "" })
	})
}

// checkReasoning checks that reasoning with an item id is not the last part of its message.
func (c *checker) checkReasoning(i int) {
	parts := c.Messages[i].Parts
	n := len(parts) - 1
	if n < 0 || parts[n].Kind != protocol.ReasoningPart || parts[n].Item == "" {
		return
	}
	at := Spot{Message: i, Part: n, ID: parts[n].Item, Words: stream.Messagef("%s", parts[n].Item)}
	c.addSpot(RequestIllegal, "reasoning-alone", ByRequest, "a reasoning item is not followed by another item from the model", at)
}

// MaxCacheMarks is the maximum number of blocks that a request to Anthropic may mark for the cache, on any
// host.
const MaxCacheMarks = 4

// checkCacheMarks checks the number of blocks that the request marks for the cache, in the system prompt, the
// tools and the messages.
func (c *checker) checkCacheMarks() {
	if c.Target.Refusal.CacheMarks == "" || bytes.Count(c.Body, []byte(`"cache_control"`))+bytes.Count(c.Body, []byte(`"cachePoint"`)) <= MaxCacheMarks {
		return
	}
	marks := countMarks(c.Body.Get("system")) + countMarks(c.Body.Get("tools")) + countMarks(c.Body.Get("toolConfig").Get("tools"))
	at := NoMessage
	for i := range c.Messages {
		n := countMarks(c.Messages[i].Raw.Get("content"))
		if marks += n; n > 0 && marks > MaxCacheMarks && at < 0 {
			at = i
		}
	}
	if marks > MaxCacheMarks {
		words := stream.Messagef("%s", stream.Own(count.Of(marks, "block")))
		place := Spot{Message: at, Part: -1, Words: words}
		c.addSpot(RequestIllegal, "cache-marks", c.claudeProof(), "more than 4 blocks have cache_control", place)
	}
}

// claudeProof returns the evidence for a rule of Claude's models. In Bedrock's Converse, other models don't have the
// rule.
func (c *checker) claudeProof() Proof {
	if c.Target.Protocol == "bedrock" {
		return ByRefusal
	}
	return ByHost
}

// countMarks counts the blocks in a list that have a cache mark, including blocks within results.
func countMarks(blocks json.Value) (n int) {
	for block := range blocks.Elements() {
		if block.Get("cache_control").Kind() == '{' || block.Get("cachePoint").Kind() == '{' {
			n++
		}
		if block.Get("type").Is("tool_result") {
			n += countMarks(block.Get("content"))
		}
	}
	return n
}

// checkTrailingSpace checks that a last message by the model doesn't end with white space: the response continues
// such a message.
func (c *checker) checkTrailingSpace() {
	last := len(c.Messages) - 1
	if c.Target.Refusal.TrailingSpace == "" || last < 0 || c.Messages[last].Role != protocol.Assistant {
		return
	}
	parts := c.Messages[last].Parts
	if len(parts) == 0 {
		return
	}
	p := &parts[len(parts)-1]
	if text := p.Text; p.Kind == protocol.TextPart && len(text) > 0 && bytes.ContainsRune([]byte(" \t\r\n"), rune(text[len(text)-1])) {
		c.addSpot(RequestIllegal, "trailing-space", c.claudeProof(), "the model's last text ends with white space", Spot{Message: last, Part: len(parts) - 1})
	}
}

func hasResults(m *protocol.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.ResultPart })
}

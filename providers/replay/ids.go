package replay

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// idMapper adapts the ids of calls to a target. It keeps each new id, so that the call's result gets the same id.
type idMapper struct {
	rule       protocol.IDRule
	first      bool
	joins      bool // call ids are joined with item ids
	none       bool // no ids are sent
	strict     bool
	keepJoined bool                   // a joined id is adapted as a whole
	made       map[string]sentCallRef // sent calls, by the id in the source
	taken      map[string]UnsentCall  // the latest call with each new id
	noID       []sentCallRef          // calls without an id, in order
	done       []bool                 // whether the result was seen, by index in noID
	seen       map[string]bool        // ids of earlier calls
	client     bool                   // the preview follows a client's rule
	sends      idRule                 // the client's rule; nil if the client sends ids and names unchanged
	from, to   string                 // protocols of the source and the target
	next       map[string][]int       // indexes in noID of calls without a result, by name; "" lists all of them
}

// sentCallRef contains the data of a sent call that the call's result needs.
type sentCallRef struct{ id, name, tool string }

// newIDs returns an idMapper for a target and a policy.
func newIDs(from, to *protocol.Target, p *Policy) idMapper {
	joins := slices.Contains(p.joins, to.Protocol)
	protocol := ""
	if from != nil {
		protocol = from.Protocol
	}
	return idMapper{
		client: p.way != nil, sends: p.names, from: protocol, to: to.Protocol,
		rule: to.IDs, first: p.firstOfID, strict: p.refuses, joins: joins, keepJoined: joins, none: slices.Contains(p.idless, to.Protocol),
		seen: map[string]bool{}, made: map[string]sentCallRef{}, taken: map[string]UnsentCall{}, next: map[string][]int{},
	}
}

// assignID returns the id with which call number n is sent. It also returns the losses.
func (x *idMapper) assignID(n int, p *protocol.Part, named namedCall) (made string, losses []Loss) {
	id := p.ID
	if x.client {
		made, losses = x.clientID(n, x.joinedID(p), named)
	} else {
		made, losses = x.fitID(n, x.joinedID(p))
	}
	call := sentCallRef{made, p.Name, p.ToolKind}
	if id != "" {
		x.made[id] = call
	}
	if made == "" {
		return made, losses
	}
	if before, used := x.taken[made]; used {
		losses = append(losses, before.collision(id, made))
	}
	x.taken[made] = UnsentCall{ID: id}
	if id == "" {
		x.next[p.Name] = append(x.next[p.Name], len(x.noID))
		if p.Name != "" {
			x.next[""] = append(x.next[""], len(x.noID))
		}
		x.noID, x.done = append(x.noID, call), append(x.done, false)
	}
	return made, losses
}

// collision returns the loss for a call that gets the same new id as n.
func (n UnsentCall) collision(id, made string) (l Loss) {
	who := n.who
	if who == "" {
		who = "an earlier call"
	}
	if l = IDCollision.newLoss("%s also has the id %s: it is unclear which call a result belongs to", stream.Own(who), quoteShort(id)); n.ID != id || id == "" {
		l = IDCollision.newLoss("%s and %s both become %s: it is unclear which call a result belongs to", quoteShort(n.ID), quoteShort(id), quoteShort(made))
	}
	l.Other = n.who
	return l
}

// joinedID returns the id to adapt: the call's id, joined with the item's id if the client joins them.
func (x *idMapper) joinedID(p *protocol.Part) string {
	if x.joins && p.ID != "" && p.Item != "" {
		return p.ID + "|" + p.Item
	}
	return p.ID
}

// fitID adapts the id of call number n to the target's rule for ids.
func (x *idMapper) fitID(n int, id string) (string, []Loss) {
	call, item, _ := strings.Cut(id, "|") // for OpenAI's Responses, some clients join the ids of the call and the item
	switch {
	case x.none && id != "":
		return "", []Loss{IDRewritten.newLoss("the id %s is left out: a result refers to its call by name", quoteShort(id))}
	case x.rule.Takes(id), x.strict:
		return id, nil
	case call != "" && item != "" && !x.first && !x.keepJoined:
		made, losses := x.fitID(n, call) // without the item's id, because results refer to the call by this id
		losses = slices.DeleteFunc(losses, func(l Loss) bool { return l.Kind == IDRewritten })
		split := IDRewritten.newLoss("%s becomes %s: the item's id after the | is left out", quoteShort(id), quoteShort(made))
		return made, append([]Loss{split}, losses...)
	case id == "":
		made := fmt.Sprintf("call_%d", n)
		if !x.rule.Takes(made) {
			made = digestID(made, x.rule)
		}
		return made, []Loss{IDRewritten.newLoss("the call has no id and gets the id %s", stream.Own(made))}
	case x.rule.Exact():
		made := digestID(id, x.rule)
		if x.first {
			made = firstOf(id, x.rule)
		}
		return made, []Loss{IDRewritten.newLoss("%s becomes %s: the target's ids consist of %d letters and digits", quoteShort(id), made, x.rule.Max)}
	}
	var losses []Loss
	made := strings.Map(func(r rune) rune {
		if r < 0x80 && (x.rule.Class == "" || protocol.InClass(x.rule.Class, byte(r))) {
			return r
		}
		return '_'
	}, id)
	if x.rule.Class == "" {
		made = id
	}
	if made != id {
		losses = append(losses, IDRewritten.newLoss("%s becomes %s: the target doesn't accept some of the characters in ids", quoteShort(id), quoteShort(made)))
	}
	if most := x.rule.Max; most > 0 && len(made) > most {
		for !utf8.RuneStart(made[most]) {
			most-- // don't cut a character in half
		}
		losses = append(losses, IDTruncated.newLoss("the id is shortened from %d to %d bytes", len(made), most))
		made = made[:most]
	}
	if x.rule.Trim != "" {
		made = strings.TrimRight(made, x.rule.Trim)
	}
	return made, losses
}

// callOfResult returns the call that a result belongs to. It is the call with the result's id in the source. If the
// result has no id, it is the tool's first call without an id that has no result yet.
func (x *idMapper) callOfResult(id, name string) sentCallRef {
	if id == "" {
		for list := x.next[name]; len(list) > 0; list = x.next[name] {
			n := list[0]
			if x.next[name] = list[1:]; !x.done[n] {
				x.done[n] = true
				return x.noID[n]
			}
		}
	}
	if call, ok := x.made[id]; ok {
		return call
	}
	return sentCallRef{id: x.otherID(id)}
}

// otherID returns the id that a call would get if it were sent.
func (x *idMapper) otherID(id string) (made string) {
	if x.client {
		named := x.nameOf(&protocol.Part{ID: id}, false)
		made, _ = x.clientID(0, id, named)
	} else {
		made, _ = x.fitID(0, id)
	}
	return made
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// digestID returns an id made from a hash of id. It has the length that the rule requires.
func digestID(id string, rule protocol.IDRule) string {
	sum := sha256.Sum256([]byte(id))
	n := new(big.Int).SetBytes(sum[:])
	base, digit := big.NewInt(int64(len(alphanumerics))), new(big.Int)
	b := make([]byte, rule.Max)
	for i := range b {
		n.DivMod(n, base, digit)
		b[i] = alphanumerics[digit.Int64()]
	}
	return string(b)
}

// firstOf adapts an id in the same way as some clients. It keeps the first characters of the id that the rule allows,
// up to the maximum length. If too few characters remain, it returns the result of digestID.
func firstOf(id string, rule protocol.IDRule) string {
	var b []byte
	for i := 0; i < len(id) && len(b) < rule.Max; i++ {
		if protocol.InClass(rule.Class, id[i]) {
			b = append(b, id[i])
		}
	}
	if len(b) < rule.Min {
		return digestID(id, rule)
	}
	return string(b)
}

// idSpellings yields the forms in which clients send a call's id to a target with a rule for ids: the unchanged id,
// the id joined with the item's id, and both of these adapted to the rule.
func idSpellings(id, item string, rule protocol.IDRule) iter.Seq[string] {
	return func(yield func(string) bool) {
		for plain := range plainSpellings(id, item) {
			if !yield(plain) {
				return
			}
		}
		for fitted := range fittedSpellings(id, item, rule) {
			if !yield(fitted) {
				return
			}
		}
	}
}

// plainSpellings yields the forms that are not adapted to a rule.
func plainSpellings(id, item string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if id != "" && yield(id) && item != "" {
			yield(id + "|" + item)
		}
	}
}

// fittedSpellings yields the forms that are adapted to a rule.
func fittedSpellings(id, item string, rule protocol.IDRule) iter.Seq[string] {
	return func(yield func(string) bool) {
		for plain := range plainSpellings(id, item) {
			if rule.Takes(plain) {
				continue
			}
			for _, first := range []bool{false, true} {
				x := idMapper{rule: rule, first: first, keepJoined: true}
				if made, _ := x.fitID(0, plain); !yield(made) {
					return
				}
			}
		}
	}
}

// isCounter reports whether an id is only a number, perhaps together with a word of the protocol. Other turns may
// have the same id, so it doesn't identify a call.
func isCounter(id, tool string) bool {
	if tool != "" {
		id = strings.ReplaceAll(id, tool, "_")
	}
	for piece := range strings.FieldsFuncSeq(id, func(r rune) bool { return !isDigit(r) && !isSmall(r) && !isCapital(r) }) {
		if isRandom(piece) {
			return false
		}
	}
	return true
}

func isDigit(r rune) bool   { return r >= '0' && r <= '9' }
func isSmall(r rune) bool   { return r >= 'a' && r <= 'z' }
func isCapital(r rune) bool { return r >= 'A' && r <= 'Z' }

// isRandom reports whether a piece of an id looks random. Words, a short number, and a word with a short number
// don't.
func isRandom(piece string) bool {
	word := strings.TrimRightFunc(piece, isDigit)
	number := len(piece) - len(word)
	switch {
	case len(piece) < 6:
		return false
	case strings.ContainsFunc(word, isDigit), word == "" && number >= 10, word != "" && number >= 6:
		return true
	}
	return strings.ContainsFunc(word, isSmall) && !isWords(word)
}

// isWords reports whether s consists of words in camel case, in which a lower-case letter follows each capital.
func isWords(s string) bool {
	for i := range len(s) {
		if isCapital(rune(s[i])) && (i+1 == len(s) || isCapital(rune(s[i+1]))) {
			return false
		}
	}
	return true
}

// An idRule predicts the id and the name that a client sends for a call. A client without a rule sends both
// unchanged.
type idRule func(c namedCall, to string) namedCall

// namedCall is a call with the id and the name that a client uses for it.
type namedCall struct {
	from           string // protocol of the source; "" if unknown
	id, item, name string
	again          bool // an earlier call has the same id
	shared         bool // another call of the message has the same id

	random  bool   // the client generates an id, which can't be predicted
	unknown bool   // the client's behaviour is unknown
	leftOut bool   // the call is left out
	throws  string // reason why the client sends no request
}

// nameCall sets the id, the item and the name that the policy's client sends for a call. It returns false if the
// client doesn't send the call. A special item of the protocol is sent unchanged.
func (c *previewBuilder) nameCall(p *protocol.Part, sent *Sent) bool {
	if c.isNative(p) {
		c.named = namedCall{id: p.ID, item: p.Item, name: p.Name}
		return true
	}
	same := 0
	for _, mate := range c.mates {
		if mate.id == p.ID {
			same++
		}
	}
	n := c.ids.nameOf(p, same > 1)
	c.ids.seen[p.ID] = true
	switch {
	case n.leftOut:
		sent.Outcome = Dropped
	case n.unknown:
		sent.Outcome = Unknown
	case n.throws != "":
		sent.Outcome = Throws
		sent.noteRefusal("", sent.ID, sent.Name, c.Policy.Client.Title+" sends no request: "+n.throws)
	default:
		c.named = n
		return true
	}
	return false
}

// nameOf applies the client's rule to a call.
func (x *idMapper) nameOf(p *protocol.Part, shared bool) namedCall {
	n := namedCall{from: x.from, id: p.ID, item: p.Item, name: p.Name, again: x.seen[p.ID], shared: shared}
	if x.sends != nil {
		n = x.sends(n, x.to)
	}
	return n
}

// clientID returns the id that a client sends for call number n. It also returns the losses.
func (x *idMapper) clientID(n int, id string, sent namedCall) (string, []Loss) {
	switch {
	case x.none && id != "":
		return x.fitID(n, id)
	case x.none:
		return "", nil
	case sent.random:
		made := fmt.Sprintf("made_%d", n)
		if made == id {
			made += "_"
		}
		return made, []Loss{IDRewritten.newLoss("the client creates an id for the call; the preview shows %s in its place", stream.Own(made))}
	case sent.id == id:
		return id, nil
	case strings.HasPrefix(id, sent.id):
		return sent.id, []Loss{IDTruncated.newLoss("the id is shortened from %d to %d bytes", len(id), len(sent.id))}
	}
	return sent.id, []Loss{IDRewritten.newLoss("%s becomes %s", quoteShort(id), quoteShort(sent.id))}
}

// aiSDKNames applies the rule of the AI SDK. It makes up an id if Chat Completions or Gemini sends none, or if Chat
// Completions repeats one. For Bedrock, it removes all characters from names except letters, digits, _ and -.
func aiSDKNames(c namedCall, to string) namedCall {
	switch {
	case c.from == chat && c.name == "":
		c.throws = "the client rejects a call without a name"
	case c.id == "" && (c.from == chat || c.from == gemini), c.again && c.from == chat:
		c.random = true
	}
	if to == bedrock {
		if c.name = keepClass(c.name, "a-zA-Z0-9_-", ""); c.name == "" {
			c.name = "_"
		}
	}
	return c
}

// aiSDKPageNames applies the rule of useChat, which keeps only one part for each id.
func aiSDKPageNames(c namedCall, to string) namedCall {
	c = aiSDKNames(c, to)
	c.unknown = c.shared && c.from != chat // the later call replaces the earlier one
	return c
}

// mastraNames applies the rule of Mastra, which keeps only one call for each id and replaces names with unusual
// characters.
func mastraNames(c namedCall, to string) namedCall {
	c = aiSDKNames(c, to)
	switch {
	case c.shared && !c.random:
		c.unknown = true
	case c.id == "" && !c.random && c.from != gemini:
		c.leftOut = true
	}
	if c.name == "" || keepClass(c.name, "a-zA-Z0-9_-", "") != c.name {
		c.name = "unknown_tool"
	}
	return c
}

// agentsNames applies the rule of OpenAI Agents JS.
func agentsNames(c namedCall, _ string) namedCall {
	switch {
	case c.id == "":
		c.throws = "the client rejects a call without an id"
	case c.shared:
		c.throws = "the client rejects two calls with the same id"
	}
	return c
}

// openAIJSNames applies the rule of OpenAI's SDK. The SDK assembles a streamed response of the Responses API only if
// its calls have different ids.
func openAIJSNames(c namedCall, to string) namedCall {
	if c.shared && to == responses {
		c.throws = "the client rejects two calls with the same id"
	}
	return c
}

// llamaIndexTSNames applies the rule of LlamaIndex TS, which keeps only one call for each id.
func llamaIndexTSNames(c namedCall, _ string) namedCall {
	c.unknown = c.shared
	if c.id == "" {
		c.throws = "the client waits for the result of a call that has no id"
	}
	return c
}

// langChainNames applies the rule of LangChain JS. It makes up an id for each call from Ollama, and for each call
// from Gemini that has none.
func langChainNames(c namedCall, to string) namedCall {
	c.random = c.from == ollama || c.from == gemini && c.id == ""
	c.unknown = c.shared && (c.from == gemini || c.from == messages && to == messages) // the client confuses calls with the same id
	return c
}

// keepClass replaces all characters of a text that are not in a class.
func keepClass(text, class, by string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < 0x80 && protocol.InClass(class, byte(unit)) {
			b.WriteByte(byte(unit))
		} else {
			b.WriteString(by)
		}
	}
	return b.String()
}

// piNames applies the rule of pi, which makes new ids for a history from another protocol. It joins the ids of a call
// and its item with a | between them.
func piNames(c namedCall, to string) namedCall {
	whole := c.id
	if c.from == responses && c.item != "" {
		whole += "|" + c.item
	}
	clean := func(id string) string { return keepClass(id, "a-zA-Z0-9_-", "_") }
	id, item, joined := strings.Cut(whole, "|")
	switch {
	case c.from == chat && c.shared:
		c.unknown = true // pi joins calls in a turn that have the same id
		return c
	case c.from == gemini && (c.id == "" || c.again) && to != gemini:
		c.random = true
		return c
	case to == responses && joined && c.from == to:
		c.id, c.item = id, item
		if second, _, more := strings.Cut(item, "|"); more {
			c.item = second
		}
		return c
	case c.from == to, to == gemini:
		return c
	case to == chat && joined:
		if c.id = clean(id); item != "" {
			c.id += "_" + clean(item)
		}
		if len(c.id) > 40 {
			hash := shortHash(whole)
			hash = hash[:min(8, len(hash))]
			c.id = clean(id)
			c.id = c.id[:min(len(c.id), 40-len(hash)-1)] + "_" + hash
		}
	case to == chat:
		c.id = js.UTF16Prefix(c.id, 40)
	case to == responses:
		c.id = strings.TrimRight(cutTo(clean(id), 64), "_")
		if joined {
			c.item = cutTo("fc_"+shortHash(item), 64)
		}
	default:
		c.id = cutTo(clean(whole), 64)
	}
	return c
}

func cutTo(text string, most int) string { return text[:min(len(text), most)] }

// shortHash returns the hash that pi uses in ids: two 32-bit numbers in base 36.
func shortHash(text string) string {
	const a, b, c, d = 2654435761, 1597334677, 2246822507, 3266489909
	h1, h2 := uint32(0xdeadbeef), uint32(0x41c6ce57)
	for _, unit := range utf16.Encode([]rune(text)) {
		h1, h2 = (h1^uint32(unit))*a, (h2^uint32(unit))*b
	}
	mix := func(h uint32, shift int) uint32 { return h ^ h>>shift }
	h1 = mix(h1, 16)*c ^ mix(h2, 13)*d
	h2 = mix(h2, 16)*c ^ mix(h1, 13)*d
	return strconv.FormatUint(uint64(h2), 36) + strconv.FormatUint(uint64(h1), 36)
}

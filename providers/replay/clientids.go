package replay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

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

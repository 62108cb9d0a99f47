package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// makeCall adapts a call to the target. It returns false if the call is left out, if the client throws an error, or
// if the arguments are unknown. The parameter first is true for the first call of its message.
func (c *previewBuilder) makeCall(p *protocol.Part, f *argsFacts, role protocol.Role, first bool) bool {
	sent := Sent{Call: c.call, ID: p.ID, Name: p.Name, Original: f.raw, Form: c.To.Form}
	switch {
	case p.RunByProvider && (!c.same || c.Policy.asText):
		return c.leaveOut(sent, ServerToolDropped.newLoss("the target has no equivalent for a tool that the provider runs: the call is left out"))
	case role != protocol.Assistant:
		return c.leaveOut(sent, CallDropped.newLoss("the target has no equivalent for a call that the model didn't make: the call is left out"))
	case p.Unseen:
		return c.markUnknown(sent, ArgsUnseen.newLoss("toolscope missed bytes of the call: the arguments to send are unknown"))
	}
	if c.followsAbort(p) && c.Policy.aborted != abortEmpties {
		return c.leaveAborted(p, sent)
	}
	if c.Policy.asText {
		return c.callAsText(p, f, sent)
	}
	was := *p
	c.shape = ""
	var args []byte
	if !c.followsAbort(p) {
		args = c.sentArgs(p, f, &sent)
	} else if c.nameCall(p, &sent) {
		args, sent.Outcome = []byte("{}"), Emptied
		c.addLossAt(span{0, len(f.raw)}, ArgsEmptied.newLoss("the response was aborted: %s sends {} and the result %q", stream.Own(c.Policy.Client.Title), stream.Own(abortedResult)))
	}
	switch sent.Outcome {
	case Throws:
		c.Calls = append(c.Calls, sent)
		return false
	case Unknown:
		return c.markUnknown(sent, ArgsUnknown.newLoss("it is unknown how %s treats these arguments", stream.Own(c.Policy.Client.Title)))
	case Dropped:
		return c.leaveOut(sent, CallDropped.newLoss("the call is not in the history: the model doesn't know about it"))
	}
	p.Args, p.Form, sent.Args = args, sent.Form, args
	if !c.isNative(p) && !p.RunByProvider {
		c.checkArgs(f, &sent)
	}
	if f.syntax == json.SyntaxDouble && !c.Policy.again && json.Value(bytes.TrimSpace(args)).IsString() {
		sent.Encoded = encoderWords(p.Author) + " encoded the arguments twice: the client sends that string"
	}
	c.dropUnsupported(p)
	c.fitID(p, &sent)
	c.keepSignature(p, &sent, first)
	if !sameCall(p, &was) {
		p.Raw = nil
	}
	if raw := c.fillTemplate(p); raw != nil {
		p.Raw = raw
	}
	sent.ID, sent.Name = p.ID, p.Name
	if c.Policy.refuses && sent.Refused != "" {
		sent.Outcome = Throws
	}
	c.Calls = append(c.Calls, sent)
	c.sent = append(c.sent, c.call)
	return true
}

// abortedResult is the result that opencode sends for a call whose response was aborted.
const abortedResult = "Tool execution aborted"

// followsAbort reports whether the policy has a rule for aborted responses that applies to a call or its result. A
// behaviour has no such rule.
func (c *previewBuilder) followsAbort(p *protocol.Part) bool {
	return p.Aborted && c.Policy.Client != nil
}

// leaveAborted leaves out a call whose response was aborted, or marks the preview as unknown. It always returns
// false, because the call is not sent.
func (c *previewBuilder) leaveAborted(p *protocol.Part, sent Sent) bool {
	title := stream.Own(c.Policy.Client.Title)
	if c.Policy.aborted == abortUnknown {
		return c.markUnknown(sent, ArgsUnknown.newLoss("it is unknown how %s treats a call whose response was aborted", title))
	}
	if c.leftOut == nil {
		c.leftOut = map[callKey]bool{}
	}
	c.leftOut[keyOf(p)] = true
	what := "the call"
	if c.Policy.aborted == abortLeavesAll {
		what = "the whole response"
	}
	return c.leaveOut(sent, CallDropped.newLoss("the response was aborted: %s leaves out %s", title, stream.Own(what)))
}

// leaveOut leaves the current call out. The loss why becomes the only loss of the call, because earlier losses no
// longer apply. The result is always false, because the call is not sent.
func (c *previewBuilder) leaveOut(sent Sent, why Loss) bool {
	c.retractLosses(func(Loss) bool { return true })
	sent.Outcome = Dropped
	why.End = len(sent.Original)
	c.addLoss(why)
	c.Calls = append(c.Calls, sent)
	return false
}

// markUnknown marks the preview as unknown. The loss l contains the reason. The result is always false, because the
// call is not sent.
func (c *previewBuilder) markUnknown(sent Sent, l Loss) bool {
	c.unseen = true
	sent.Outcome = Unknown
	l.End = len(sent.Original)
	c.addLoss(l)
	c.Calls = append(c.Calls, sent)
	return false
}

// retractLosses removes losses of the current call: those for which the predicate returns true.
func (c *previewBuilder) retractLosses(which func(Loss) bool) {
	n := len(c.Losses)
	for n > 0 && c.Losses[n-1].Call == c.call {
		n--
	}
	c.Losses = c.Losses[:n+len(slices.DeleteFunc(c.Losses[n:], which))]
}

// sameCall reports whether two parts are written as the same call.
func sameCall(a, b *protocol.Part) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Item == b.Item && a.ToolKind == b.ToolKind && a.Signature == b.Signature && a.Form == b.Form &&
		string(a.Args) == string(b.Args)
}

// dropUnsupported removes values for which the target has no field, and adds a loss for each.
func (c *previewBuilder) dropUnsupported(p *protocol.Part) {
	if c.same {
		return
	}
	if p.ToolKind != "function" && p.ToolKind != "custom" {
		c.addLoss(KindLost.newLoss("a call of kind %s is sent as a function call", stream.Fact(p.ToolKind)))
		p.ToolKind = "function"
	}
	if p.Parent != "" {
		c.addLoss(CallerDropped.newLoss("the id of the code that made the call is left out"))
		p.Parent = ""
	}
	if p.Namespace != "" {
		c.addLoss(NamespaceDropped.newLoss("the tool's namespace %s is left out", stream.Fact(quoteShort(p.Namespace))))
		p.Namespace = ""
	}
	if p.Item != "" && !c.ids.joins {
		c.addLoss(ItemIDDropped.newLoss("the item's id %s is left out", quoteShort(p.Item)))
		p.Item = ""
	}
}

// fitID sets an id that the target accepts. It adds a refusal for an id or a name that the target doesn't
// accept.
func (c *previewBuilder) fitID(p *protocol.Part, sent *Sent) {
	if p.RunByProvider {
		return // the provider made both the id and the name by its own rules
	}
	old := p.ID
	made, losses := c.ids.assignID(c.call, p, c.named)
	if c.ids.client && c.named.item != "" && (c.same || c.ids.sends != nil && c.To.Protocol == responses) {
		p.Item = c.named.item
	}
	for _, l := range losses {
		c.addLoss(l)
		if l.Kind != IDCollision {
			continue
		}
		if c.doubt = true; c.To.IDs.Unique {
			sent.noteRefusal(c.To.Refusal.SameID, made, p.Name, "two calls have the same id")
		}
	}
	p.ID = made
	if !c.To.IDs.Takes(made) {
		words := c.To.Refusal.ID
		if most := c.To.IDs.Max; most > 0 && len(made) > most && c.To.Refusal.LongID != "" {
			words = c.To.Refusal.LongID
		}
		sent.noteRefusal(words, old, p.Name, "the target doesn't accept this id")
	}
	if !c.To.Names.Takes(p.Name) {
		c.addLoss(NameIllegal.newLoss("the target doesn't accept the tool name %s: %s", quoteShort(p.Name), stream.Own(nameWords(c.To.Names))))
		sent.noteRefusal(c.To.Refusal.Name, made, p.Name, "the target doesn't accept this name")
	}
}

// nameWords describes a rule for tool names.
func nameWords(r protocol.NameRule) string {
	if r.Class == "" {
		return "the name must not be empty"
	}
	if r.Max == 0 {
		return fmt.Sprintf("the name must contain only characters from [%s]", r.Class)
	}
	return fmt.Sprintf("the name must have 1 to %d characters from [%s]", r.Max, r.Class)
}

// keepSignature keeps the call's signature if the target can use it. If the first call of a message needs a
// signature and has none, keepSignature adds a sentinel or records a refusal.
func (c *previewBuilder) keepSignature(p *protocol.Part, sent *Sent, first bool) {
	switch {
	case p.Signature == "":
	case c.Policy.unsigned:
		c.addLoss(SignatureDropped.newLoss("%s has no field for the call's signature", stream.Own(c.Policy.Client.Title)))
		p.Signature = ""
	case !c.same || !c.To.HasSignatures && c.To != c.src.From:
		c.addLoss(SignatureDropped.newLoss("the call's signature is valid only for the provider that created it"))
		p.Signature = ""
	}
	if !c.To.HasSignatures || p.Signature != "" || !first {
		return
	}
	switch {
	case c.same && c.src.split && c.src.behind[c.call-1]:
		sent.noteRefusal(c.To.Refusal.Unsigned, p.ID, p.Name, "only the first call of a turn is signed: if another call is sent alone, it has no signature")
	case !c.same && c.To.Sentinel != "" && c.Policy.way == nil:
		c.addLoss(SignatureSentinel.newLoss("the call is not signed: the client sends a fixed word as the signature, which turns off the check"))
		p.Signature = c.To.Sentinel
	}
}

// noteRefusal records that the call would be refused. Only the first refusal is kept.
func (s *Sent) noteRefusal(words, id, name, ours string) {
	if s.Refused == "" {
		s.Refused = refusalText(words, id, name, ours)
	}
}

// refusalText returns the provider's error message for a call. If the message is not known, it returns toolscope's
// own words.
func refusalText(words, id, name, ours string) string {
	if words == "" {
		return ours
	}
	return protocol.FillRefusal(words, id, name)
}

// callTemplates contains the forms in which a client writes calls, where they differ from the usual form. A template
// has the fields in the client's order, with capitalised words in place of the values. The key is either the target's
// protocol or the protocols of the source and the target, as "from>to". Fields without a value are omitted.
type callTemplates map[string]string

// fillTemplate returns the call as the policy's client writes it, or nil if the client writes it in the usual form.
func (c *previewBuilder) fillTemplate(p *protocol.Part) json.Value {
	from := ""
	if c.src.From != nil {
		from = c.src.From.Protocol
	}
	shape := c.shape
	if shape == "" {
		shape = c.Policy.shapes[c.To.Protocol]
		if between, ok := c.Policy.shapes[from+">"+c.To.Protocol]; ok {
			shape = between
		}
	}
	empty := p.ID == "" && c.ids.client && !c.ids.none && from != gemini
	if shape == "" && empty {
		shape = usualShapes[c.To.Protocol]
	}
	if shape == "" || p.RunByProvider || p.ToolKind != "function" {
		return nil
	}
	args := string(p.Args)
	if c.To.Form == protocol.TextForm {
		args = quoteJSON(args)
	}
	for _, member := range [...]struct{ name, word, value string }{
		{"id", "ID", p.ID}, {"id", "ITEM", p.Item}, {"args", "ARGS", args}, {"call_id", "ID", p.ID},
	} {
		if member.value == "" && !(empty && member.word == "ID") {
			shape = strings.Replace(shape, `"`+member.name+`":`+member.word+`,`, "", 1)
		}
	}
	proof := p.Signature
	if proof == "" && c.proven {
		proof = c.To.Sentinel
	}
	for word, value := range map[string]string{"SIGNATURE": p.Signature, "PROOF": proof} {
		if value == "" {
			shape = strings.Replace(shape, `,"thoughtSignature":`+word, "", 1)
		}
	}
	return json.Value(strings.NewReplacer("SIGNATURE", quoteJSON(p.Signature), "PROOF", quoteJSON(proof), "INDEX", strconv.Itoa(c.index), "ID", quoteJSON(p.ID), "ITEM", quoteJSON(p.Item), "NAME", quoteJSON(p.Name), "ARGS", args).Replace(shape))
}

// quoteJSON returns text as a JSON string.
func quoteJSON(text string) string { return string(json.AppendQuoted(nil, []byte(text))) }

// Templates of calls.
const (
	nameFirst      = `{"type":"function_call","name":NAME,"call_id":ID,"arguments":ARGS}`
	plainResponses = `{"type":"function_call","call_id":ID,"name":NAME,"arguments":ARGS}`
	argsFirst      = `{"functionCall":{"args":ARGS,"name":NAME},"thoughtSignature":SIGNATURE}`
	argsFirstID    = `{"functionCall":{"args":ARGS,"id":ID,"name":NAME},"thoughtSignature":SIGNATURE}`
	signed         = `{"functionCall":{"id":ID,"args":ARGS,"name":NAME},"thoughtSignature":PROOF}`
	noID           = `{"functionCall":{"name":NAME,"args":ARGS},"thoughtSignature":SIGNATURE}`
	chatAsItCame   = `{"index":INDEX,"id":ID,"type":"function","function":{"name":NAME,"arguments":ARGS}}`
	typeFirst      = `{"type":"function","id":ID,"function":{"name":NAME,"arguments":ARGS}}`
	withID         = `{"functionCall":{"id":ID,"name":NAME,"args":ARGS},"thoughtSignature":SIGNATURE}`
)

// Templates of clients.
var (
	usualShapes = callTemplates{ // for a call without an id: clients send an empty id
		chat: `{"id":ID,"type":"function","function":{"name":NAME,"arguments":ARGS}}`, responses: `{"type":"function_call","id":ITEM,"call_id":ID,"name":NAME,"arguments":ARGS}`, gemini: withID,
		ollama: `{"id":ID,"function":{"name":NAME,"arguments":ARGS}}`,
	}
	codexShapes     = callTemplates{responses: `{"type":"function_call","status":"completed","id":ITEM,"name":NAME,"arguments":ARGS,"call_id":ID}`}
	aiSDKShapes     = callTemplates{responses: plainResponses, gemini: withID}
	langChainShapes = callTemplates{
		responses:                   `{"type":"function_call","name":NAME,"arguments":ARGS,"call_id":ID}`,
		responses + ">" + responses: `{"id":ITEM,"type":"function_call","status":"completed","call_id":ID,"name":NAME,"arguments":ARGS}`,
		gemini:                      noID,
		ollama:                      `{"id":ID,"type":"function","function":{"name":NAME,"arguments":ARGS}}`,
	}
	agentsShapes = callTemplates{
		responses:                   nameFirst,
		responses + ">" + responses: `{"id":ITEM,"type":"function_call","name":NAME,"call_id":ID,"arguments":ARGS,"status":"completed"}`,
	}
	openAIShapes = callTemplates{
		responses: `{"id":ITEM,"type":"function_call","status":"completed","call_id":ID,"name":NAME,"arguments":ARGS,"parsed_arguments":null}`,
	}
)

// sanitise replaces bytes in a part that are not UTF-8, because a request must be UTF-8. It leaves the arguments of a
// call to sentArgs.
func (c *previewBuilder) sanitise(p *protocol.Part) {
	if p.Kind != protocol.CallPart && !utf8.Valid(p.Text) {
		if text := json.ReplaceNonUTF8(p.Text); string(text) != string(p.Text) {
			c.addLoss(UnicodeSanitized.newLoss("bytes of %s that are not UTF-8 become U+FFFD", stream.Own(partWords[p.Kind])))
			p.Text = text
		}
	}
	lost := ""
	for _, field := range [...]struct {
		word string
		text *string
	}{
		{"id", &p.ID}, {"item's id", &p.Item}, {"tool's name", &p.Name}, {"namespace", &p.Namespace}, {"kind", &p.ToolKind},
		{"caller's id", &p.Parent}, {"server's name", &p.MCPServer}, {"signature", &p.Signature},
	} {
		if utf8.ValidString(*field.text) {
			continue
		}
		if text := string(json.ReplaceNonUTF8([]byte(*field.text))); text != *field.text {
			*field.text, lost = text, field.word
		}
	}
	if lost != "" {
		c.addLoss(UnicodeSanitized.newLoss("bytes of the %s that are not UTF-8 become U+FFFD", stream.Own(lost)))
	}
	p.Raw = cleanRaw(p.Raw)
}

var partWords = [...]string{"a text", "reasoning", "a call", "a result", "a part"}

// cleanRaw returns a JSON text as UTF-8. Only the strings of a JSON text can contain bytes that are not
// UTF-8.
func cleanRaw(raw json.Value) json.Value {
	if utf8.Valid(raw) {
		return raw
	}
	return json.ReplaceInvalid(raw)
}

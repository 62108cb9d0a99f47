package providers

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// refusalCodes lists the codes with which providers refuse a request in a response with an HTTP status below
// 400.
var refusalCodes = []string{
	"invalid_request_error", "INVALID_ARGUMENT", "validationException", "ValidationException", "context_length_exceeded", "request_too_large", "invalid_prompt",
	"1004", "1008", "1026", "2013", "2049", // MiniMax: no key, no credit, a filter, wrong parameters, a wrong key
}

// refusalOf returns the reason and the place of a refusal, or nil if the error of the turn doesn't refuse the
// request.
func (x *Exchange) refusalOf(said *stream.FailureInfo, words string, turn int32) *stream.Refusal {
	status := x.statusOf(words)
	switch {
	case said.By != 0 && said.By != stream.Provider, x.AnsweredHere, isFromGateway(x.Head, &x.Response), x.discardsOutput(said):
		return nil
	case isRefusalStatus(status), status == 500 && x.past.hasWords(words):
	case status < 400 && (slices.Contains(refusalCodes, said.Code) || isRefusalStatus(statusInCode(said.Code))) && !x.hasContent(turn),
		status == 0 && x.past.check.session != nil && x.past.hasWords(words), status == 0 && sessionOf(x.Head) != nil && slices.Contains(refusalCodes, typeInWords(words)):
		status = 0
	default:
		return nil
	}
	r := &stream.Refusal{Status: status, Type: said.Code, Reason: reasonOf(cmp.Or(status, statusInCode(said.Code)), said.Code, words), Found: stream.FoundNowhere}
	inner := words
	response := x.Response.Bytes(0, min(x.Response.Size(), maxErrorBody))
	inner, r.Via = unwrapError(words, response)
	if x.gap.requestBytes == 0 && !isWebSocket(x.Head) { // the request is one body without a gap
		x.past.locateRefusal(r, inner, json.Value(response).Get("error").Get("param").Text())
	}
	return r
}

// isRefusalStatus reports whether an HTTP status says that the request is wrong.
func isRefusalStatus(status int) bool {
	return status >= 400 && status < 500 && !slices.Contains(refusedForNow, status)
}

// statusInCode returns the HTTP status that is the code of an error, or 0: gateways such as OpenRouter put the status
// of their upstream there, because their own response has begun with 200.
func statusInCode(code string) int {
	if status, err := strconv.Atoi(code); err == nil && len(code) == 3 {
		return status
	}
	return 0
}

// typeInWords returns the type, or Google's status, of an error that the words of another error contain as JSON, or "".
func typeInWords(words string) string {
	i := strings.IndexByte(words, '{')
	if i < 0 || errorMessage(json.Value(words[i:])) == "" {
		return ""
	}
	err := json.Value(words[i:]).Get("error")
	return cmp.Or(err.Get("type").Text(), err.Get("status").Text())
}

// discardsOutput reports whether the error is about the model's output, not about the request: Groq answers with status
// 400 if it can't read the call that the model wrote, or if the call doesn't fit the request's tools.
func (x *Exchange) discardsOutput(said *stream.FailureInfo) bool {
	return said.Code == "tool_use_failed" || x.Head.Status >= 400 && bytes.Contains(x.Response.Bytes(0, min(x.Response.Size(), maxErrorBody)), []byte(`"failed_generation"`))
}

// maxErrorBody is the maximum number of bytes of an error that are searched for another error.
const maxErrorBody = 64 << 10

// hasContent reports whether the response contains output of the model. On a WebSocket, only the given turn counts.
func (x *Exchange) hasContent(turn int32) bool {
	return slices.ContainsFunc(x.turns, func(n int32) bool {
		t := x.in.Session().Turn(n)
		return t != nil && (n == turn || !isWebSocket(x.Head)) && (len(t.Calls) > 0 || len(t.Text) > 0 || len(t.Thinking) > 0)
	})
}

// hasWords reports whether an error contains words with which providers refuse one of the request's breaches. Such words
// count more than the status 500, with which llama.cpp refuses broken arguments in the history.
func (h *history) hasWords(words string) bool {
	return slices.ContainsFunc(h.check.breaches, func(b requestBreach) bool { return hasRuleWords(&b, words) })
}

// hasRuleWords reports whether an error contains words with which providers refuse the breach.
func hasRuleWords(b *requestBreach, words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc(ruleWords[b.Rule], func(s string) bool { return strings.Contains(words, s) })
}

// maxErrorDepth is the maximum number of nested errors that are unwrapped.
const maxErrorDepth = 3

// unwrapError returns the innermost error of an error that contains other errors as JSON texts. It also
// returns the programs that passed the error on. The parameter body is the beginning of the response.
func unwrapError(words string, body []byte) (inner string, via []string) {
	if raw := json.Value(body).Get("error").Get("metadata").Get("raw"); raw.HasText() {
		words, via = raw.Text(), append(via, "openrouter")
	}
	for range maxErrorDepth {
		if strings.Contains(words, "litellm.") && !slices.Contains(via, "litellm") {
			via = append(via, "litellm")
		}
		i := strings.IndexByte(words, '{')
		if i < 0 {
			break
		}
		message := errorMessage(json.Value(words[i:]))
		if message == "" {
			break
		}
		words = message
	}
	return words, via
}

// errorMessage returns the message of an error in JSON, or "" if there is none.
func errorMessage(v json.Value) string {
	s := json.Scan(v)
	if s.Kind() != '{' {
		return ""
	}
	v = s.Value()
	of := v.Get("error")
	for _, text := range []json.Value{of.Get("message"), v.Get("message"), v.Get("detail"), of} {
		if text.HasText() {
			return text.Text()
		}
	}
	return ""
}

var (
	placeWords    = lazyregexp.New(`\b(messages|input|contents|tools|toolConfig\.tools|system|function_declarations|functionDeclarations)(\.?\[\d+\]|\.\d+\b)(\.\d+|\.?\[\d+\]|\.[A-Za-z_]+)*`)
	locationWords = lazyregexp.New(`'body', '(?:messages|input|tools)', \d+(?:, (?:'[^']*'|\d+))*`)
	placeSteps    = lazyregexp.New(`\d+|[A-Za-z_]+`)
	indexWords    = lazyregexp.New(`(?:message|at) index (\d+)`)
	positionWords = lazyregexp.New("`?(?:default_api:)?([A-Za-z0-9_.:-]+)`? ?(?:, position (\\d+)|in the (\\d+)\\. content block)")
	refusalIDs    = lazyregexp.New(`\b(?:toolu|tooluse|srvtoolu|call|chatcmpl-tool|fc|ctc|rs|msg)[_-][A-Za-z0-9_-]{4,}|functions\.[A-Za-z0-9_-]+:\d+`)
)

// locateRefusal finds the place in the request that an error refers to, and the breach that the error confirms. The
// parameter param is OpenAI's name of the place, which the error's message often omits.
func (h *history) locateRefusal(r *stream.Refusal, words, param string) {
	body := json.Value(h.x.RequestBody())
	var value json.Value
	said := cmp.Or(placeWords().FindString(words), strings.TrimPrefix(locationWords().FindString(words), "'body', "), placeWords().FindString(param))
	if h.x.Head.Incremental {
		r.Said = said
	} else if said != "" {
		r.Said = said
		value, r.Found = resolvePlace(body, said, words)
	} else if m := indexWords().FindStringSubmatch(words); m != nil {
		r.Said = m[0]
		value, r.Found = resolvePlace(body, "messages."+m[1], "") // "thinking is enabled" is not the kind of the place
	} else if m := positionWords().FindStringSubmatch(words); m != nil {
		r.Said = m[0]
		value, r.Found = resolvePosition(body, m[1], m[2]+m[3])
	}
	var elsewhere stream.Message // a call of an earlier response that the error names, and that the request lacks
	for _, id := range refusalIDs().FindAllString(words, -1) {
		if id == "call_id" || strings.HasPrefix(id, "call_id_") || slices.Contains(r.IDs, id) {
			continue
		}
		if at := valueWithID(body, id); at != nil {
			r.IDs = append(r.IDs, id)
			if value == nil {
				value, r.Found = at, stream.FoundByID
			}
		} else if t, c := h.x.in.callWithID(id); c != nil && elsewhere.Text == "" {
			elsewhere = stream.Messagef("the request has neither the call %s (%s) of turn %d nor its result", stream.Fact(id), stream.Fact(c.Name), t.Number+1)
		}
	}
	start, end := 0, 0
	if h.x.Head.Incremental && value != nil { // the request is incomplete, so paths in it have no meaning
		r.Place = placeMessage("", value)
	} else if value != nil {
		start = cap(body) - cap(value)
		end = start + len(value)
		r.Path = json.PathAt(body, start, end)
		r.Place = placeMessage(r.Path, value)
	} else if r.Said != "" && !h.x.Head.Incremental {
		r.Found, r.Place = stream.FoundNowhere, stream.Messagef("the error names a place that is not in the request as it was sent")
		if said != "" && !strings.HasPrefix(said, "function") && placeIn(body, placeSteps().FindAllString(said, -1)) != nil {
			r.Place = stream.Messagef("the error names a place where the request as it was sent has something else")
		}
	}
	if r.Place.Text == "" {
		r.Place = elsewhere
	}
	best := 0
	for i := range h.check.breaches {
		b := &h.check.breaches[i]
		b.fits = fitOf(b, r, words, start, end)
		if b.fits > best {
			best, r.Fits = b.fits, b.Code
		}
	}
}

// callWithID returns the latest call with an id, and its turn. Both are nil if there is none.
func (in *Inspector) callWithID(id string) (*stream.Turn, *stream.Call) {
	for _, t := range slices.Backward(in.Session().Turns) {
		for _, c := range t.Calls {
			if c.ID == id || c.Item == id {
				return t, c
			}
		}
	}
	return nil, nil
}

// placeMessage describes a place by its path, and by the kind, id and name of the block there.
func placeMessage(path string, v json.Value) stream.Message {
	m := stream.Messagef("%s", stream.Own(path))
	for _, key := range []string{"functionCall", "functionResponse", "function", "toolUse", "toolResult"} {
		if inner := v.Get(key); inner.Kind() == '{' {
			v = inner
		}
	}
	for _, key := range []string{"type", "id", "tool_use_id", "call_id", "tool_call_id", "toolUseId", "name"} {
		if text := v.Get(key).Text(); text != "" && (key != "type" || text != "function") {
			word := stream.Messagef("%s", stream.Clip([]byte(text), 0, maxPlaceText))
			if m.Text != "" {
				word = stream.Messagef("%s %s", m, word)
			}
			m = word
		}
	}
	return m
}

// maxPlaceText is the maximum number of bytes that are quoted from an id or a name.
const maxPlaceText = 80

// blockKinds lists kinds of blocks that an error may mention.
var blockKinds = []string{"thinking", "tool_use", "tool_result", "toolUse", "toolResult"}

// resolvePlace returns the value at a place that an error refers to. The place is in the request as sent, or
// in the request after consecutive messages of the same role are joined. The value must be of a kind that the
// error mentions.
func resolvePlace(body json.Value, said, words string) (value json.Value, found string) {
	steps := placeSteps().FindAllString(said, -1)
	if strings.HasPrefix(steps[0], "function") {
		return declarationAt(body, steps)
	}
	if value = placeIn(body, steps); value != nil && hasNamedKind(value, words) {
		return value, stream.FoundAsSent
	}
	if steps[0] != "messages" || len(steps) < 2 || slices.Contains(steps, "member") {
		return nil, stream.FoundNowhere
	}
	if value = joinedAt(body.Get("messages"), steps[1:]); value != nil && hasNamedKind(value, words) {
		return value, stream.FoundJoined
	}
	return nil, stream.FoundNowhere
}

// placeIn returns the value at a place in the request as sent, or nil if the request doesn't contain the place.
func placeIn(body json.Value, steps []string) json.Value {
	return followSteps(body.Get(steps[0]), steps[1:])
}

// declarationAt returns the function declaration with the given number. The declarations of all tools are
// counted together.
func declarationAt(body json.Value, steps []string) (value json.Value, found string) {
	n, err := strconv.Atoi(steps[1])
	for tool := range body.Get("tools").Elements() {
		for _, key := range []string{"functionDeclarations", "function_declarations"} {
			for of := range tool.Get(key).Elements() {
				if n--; n == -1 && err == nil {
					return of, stream.FoundAsSent
				}
			}
		}
	}
	return nil, stream.FoundNowhere
}

// otherCase maps a key in snake case or camel case to its spelling in the other case. A request may use either.
var otherCase = map[string]string{"function_declarations": "functionDeclarations", "functionDeclarations": "function_declarations"}

// followSteps follows steps from a value. It skips names that the value doesn't contain, because providers
// add the names of types. It stops at a block of a message. A place that is a list is the object that contains the
// list. It returns nil if an element doesn't exist.
func followSteps(v json.Value, steps []string) json.Value {
	var object json.Value // the last object on the way
	for i, step := range steps {
		n, err := strconv.Atoi(step)
		switch {
		case err != nil && v.Kind() == '{':
			next := v.Get(step)
			if next == nil {
				next = v.Get(otherCase[step])
			}
			if k := next.Kind(); k == '[' || k == '{' && !isBlock(v) {
				object, v = v, next
			}
		case err == nil && v.Kind() == '[':
			if i+1 < len(steps) && steps[i+1] == "member" { // AWS counts the members of lists from 1
				n--
			}
			if v = elementAt(v, n); v == nil || n < 0 {
				return nil
			}
		case err == nil && i > 0 && n > 0:
			return nil // the step is an index, but the value is not a list
		}
	}
	if v.Kind() == '[' {
		return object
	}
	return v
}

// isBlock reports whether an object is a block of a message or a declared tool. Inside such an object,
// followSteps follows only the names of lists.
func isBlock(v json.Value) bool {
	return v.Get("type").IsString() || v.Get("name").IsString() || v.Get("toolUse").IsPresent() || v.Get("toolResult").IsPresent()
}

func elementAt(list json.Value, n int) (value json.Value) {
	for v := range list.Elements() {
		if n--; n < 0 {
			return v
		}
	}
	return nil
}

// joinedAt follows steps with the numbering of a provider that joins consecutive messages of the same role.
func joinedAt(messages json.Value, steps []string) json.Value {
	n, err := strconv.Atoi(steps[0])
	block := -1
	for _, step := range steps[1:] {
		if k, err := strconv.Atoi(step); err == nil {
			block = k
			break
		}
	}
	if err != nil {
		return nil
	}
	role, at := "", -1
	for m := range messages.Elements() {
		if of := m.Get("role").Text(); of != role {
			role = of
			at++
		}
		if at != n {
			continue
		}
		if block < 0 {
			return m
		}
		if content := m.Get("content"); content.IsString() {
			block--
		} else {
			for v := range content.Elements() {
				if block--; block < 0 {
					return v
				}
			}
		}
		if block < 0 {
			return m
		}
	}
	return nil
}

// kindPhrases maps phrases in errors to the kind of the place. Such an error also mentions other kinds.
var kindPhrases = []struct{ phrase, kind string }{
	{"found in `tool_result` blocks", "tool_result"},
	{"multiple `tool_result` blocks", "tool_result"},
	{"`tool_use` ids were found", "tool_use"},
}

// hasNamedKind reports whether a value is or contains a block of a kind that an error mentions, or a block of
// the kind that the provider found instead. It returns true if the error mentions no kind.
func hasNamedKind(v json.Value, words string) bool {
	for _, p := range kindPhrases {
		if strings.Contains(words, p.phrase) {
			return hasKind(v, p.kind)
		}
	}
	named := false
	kind := v.Get("type").Text()
	if kind != "" && (strings.Contains(words, "found `"+kind+"`") || strings.Contains(words, "Input tag '"+kind+"'")) {
		return true
	}
	for _, kind := range blockKinds {
		if !namesKind(words, kind) {
			continue
		}
		if named = true; hasKind(v, kind) {
			return true
		}
	}
	return !named
}

// namesKind reports whether words contain the name of a kind of block. The name may be the end of a longer name only in
// redacted_thinking: web_search_tool_result is another kind.
func namesKind(words, kind string) bool {
	for {
		before, after, found := strings.Cut(words, kind)
		if !found {
			return false
		}
		if last := before[max(0, len(before)-1):]; last != "_" || strings.HasSuffix(before, "redacted_") {
			return true
		}
		words = after
	}
}

// hasKind reports whether a value is a block of a kind, or a message that contains such a block.
func hasKind(v json.Value, kind string) bool {
	if isOfKind(v, kind) {
		return true
	}
	for block := range v.Get("content").Elements() {
		if !v.Get("type").IsString() && isOfKind(block, kind) {
			return true
		}
	}
	return false
}

// isOfKind reports whether a block is of a kind. Blocks of Bedrock's Converse have a field with the name of their kind.
func isOfKind(block json.Value, kind string) bool {
	if other := converseKinds[kind]; other != "" && block.Get(other).IsPresent() {
		return true
	}
	of := block.Get("type").Text()
	return of == kind || of == "redacted_"+kind || block.Get(kind).IsPresent()
}

// converseKinds maps kinds of blocks to the fields that Bedrock's Converse has for them. Converse quotes errors of
// Anthropic, which use Anthropic's names.
var converseKinds = map[string]string{"tool_use": "toolUse", "tool_result": "toolResult", "thinking": "reasoningContent"}

// resolvePosition returns the part with a call of a tool, in the content at a position. The error misses the call's
// signature, so a call without one takes precedence. Positions may count from 1 or from 0, so the result is nil unless
// exactly one of the two contents has such a call.
func resolvePosition(body json.Value, name, position string) (value json.Value, found string) {
	n, _ := strconv.Atoi(position)
	fits := 0
	for _, at := range []int{n - 1, n} {
		var first, unsigned json.Value
		for call, signed := range callsInContent(body, at) {
			if !call.Get("functionCall").Get("name").Is(name) && !call.Get("function").Get("name").Is(name) {
				continue
			}
			if first == nil {
				first = call
			}
			if unsigned == nil && !signed {
				unsigned = call
			}
		}
		if first == nil {
			continue
		}
		if fits++; unsigned != nil {
			first = unsigned
		}
		value = first
	}
	if fits != 1 {
		return nil, stream.FoundNowhere
	}
	return value, stream.FoundAsSent
}

// callsInContent yields the calls in the content with the given number, and whether each call has a signature. In a
// request of Chat Completions, the contents are those that Google's endpoint makes of the messages: it takes system
// messages out, and joins the results of a turn.
func callsInContent(body json.Value, at int) iter.Seq2[json.Value, bool] {
	return func(yield func(call json.Value, signed bool) bool) {
		if at < 0 {
			return
		}
		for part := range elementAt(body.Get("contents"), at).Get("parts").Elements() {
			if !yield(part, part.Get("thoughtSignature").HasText()) {
				return
			}
		}
		role := ""
		for m := range body.Get("messages").Elements() {
			before := role
			if role = m.Get("role").Text(); role == "system" || role == "developer" || role == "tool" && before == "tool" {
				continue
			}
			if at--; at >= 0 {
				continue
			}
			for call := range m.Get("tool_calls").Elements() {
				if !yield(call, call.Get("extra_content").Get("google").Get("thought_signature").HasText()) {
					return
				}
			}
			return
		}
	}
}

// valueWithID returns the object with the given id in the request, or nil.
func valueWithID(body json.Value, id string) json.Value {
	quoted := json.AppendQuoted(nil, []byte(id))
	at := bytes.Index(body, quoted)
	if at < 0 {
		return nil
	}
	value, base := body, 0
	var object json.Value
	for {
		_, inner, offset := json.ChildAt(value, at-base, at-base+len(quoted))
		if inner == nil || inner.Kind() != '{' && inner.Kind() != '[' {
			return object
		}
		if value, base = inner, base+offset; value.Kind() == '{' && (object == nil || value.Get("id") != nil || value.Get("type") != nil) {
			object = value
		}
	}
}

// fitOf grades how well an error matches a breach. 0 means that it doesn't match.
func fitOf(b *requestBreach, r *stream.Refusal, words string, start, end int) (points int) {
	if hasRuleWords(b, words) {
		points += 2
		if slices.ContainsFunc(ruleFields[b.Rule], func(field string) bool { return strings.HasSuffix(r.Said, field) }) {
			points++
		}
	} else if b.Proof == requestrules.ByRefusal {
		return 0
	}
	if end > 0 && b.end > 0 && (start <= b.start && b.end <= end || b.start <= start && end <= b.end) {
		points += 2
	}
	if slices.ContainsFunc(b.Spots, func(at requestrules.Spot) bool { return at.ID != "" && slices.Contains(r.IDs, at.ID) }) {
		points++
	}
	return points
}

// ruleFields lists, for each rule about a field, the possible ends of the places that errors about this rule mention.
// The words of such errors are the same for several fields.
var ruleFields = map[string][]string{
	"id-legal":        {".id", ".call_id", ".toolUseId"},
	"id-present":      {".id", ".call_id", ".tool_call_id", ".tool_use_id", ".toolUseId"},
	"name-legal":      {".name"},
	"tool-name-legal": {".name"},
}

// ruleWords lists, for each rule, lower-case words in errors with which providers refuse a request that breaks the
// rule.
var ruleWords = map[string][]string{
	"call-answered":                 {"without `tool_result`", "must be followed by", "did not have response messages", "no tool output found", "expected toolresult", "not the same number", "number of function response", "function call turn", "tool use concurrency issues"},
	"result-has-call":               {"unexpected `tool_use_id`", "must be a response to", "no tool call found", "exceeds the number of tooluse", "tool_call_id", "function call turn", "not the same number", "tool result's tool id", "does not follow tool call", "unexpected role 'tool'"},
	requestrules.ServerCallAnswered: {"was found without a corresponding"},
	"server-result-has-call":        {"unexpected `tool_use_id`", "must have a corresponding"},
	"result-once":                   {"single result", "number of function response", "found multiple", "unexpected `tool_use_id`", "must be a response to", "exceeds the number of tooluse"},
	"result-follows":                {"without `tool_result`", "unexpected `tool_use_id`", "must be followed by", "expected toolresult", "at the beginning of this message", "function call turn", "does not follow tool call", "unexpected role 'tool'"},
	"id-unique":                     {"must be unique", "duplicate"},
	"item-unique":                   {"duplicate"},
	"id-legal":                      {"too long", "max_length", "should match pattern", "length of 9", "length less than or equal to", "regular expression pattern"},
	"id-present":                    {"empty string", "tool_call_id", "should match pattern", "missing required parameter", "field required", "length greater than or equal to"},
	"name-legal":                    {"match pattern", "matches the pattern", "regular expression pattern", "function name"},
	"tool-name-legal":               {"match pattern", "matches the pattern", "regular expression pattern", "function name"},
	"arguments-object":              {"valid dictionary", "json object", "google.protobuf.struct"},
	"arguments-string":              {"expected a string, but got an object", "valid string"},
	"arguments-json": {
		"expecting value: line", "delimiter: line", "expecting property name", "unterminated string starting", "invalid \\escape", "extra data: line", "invalid control character at",
		"must be in json format", "can only get item pairs from a mapping", "has no attribute 'items'", "arguments as json", "invalid json in tool call",
	},
	"reasoning-alone":   {"required following item"},
	"reasoning-kept":    {"expected `thinking`", "'reasoning' item", "must be passed back", "reasoning_content", "cannot be modified"},
	"reasoning-same":    {"cannot be modified", "could not be verified", "signature"},
	"reasoning-item":    {"could not be verified", "target item id"},
	"signature-kept":    {"signature"},
	"turn-order":        {"comes immediately after", "first message must", "unexpected role", "must alternate"},
	"cache-marks":       {"blocks with cache_control"},
	"trailing-space":    {"trailing whitespace"},
	"content-empty":     {"non-empty", "non-whitespace", "is blank", "is empty"},
	"thinking-unsigned": {"signature"},
}

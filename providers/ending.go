package providers

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// checkStatus reports an HTTP error if no turn has an error from the body. The body may be empty, or a gateway's page.
// It also reports a page or an empty body in place of a model's response.
func (x *Exchange) checkStatus() {
	page, empty := isPage(x.Head, &x.Response), isEmptyResponse(x)
	if x.Head.Status < 400 && !page && !empty || x.AnsweredHere || x.Protocol == &plainHTTP {
		return
	}
	for _, number := range x.turns {
		if t := x.in.Session().Turn(number); t.Failure != "" {
			return
		}
	}
	if x.decoder == nil {
		x.setProtocol(&emptyProtocol, "no body")
	}
	body := x.Response.Bytes(0, x.Response.Size())
	why := errorWords(body)
	switch {
	case empty && len(body) > 0:
		why = fmt.Sprintf("HTTP status %d, without a response in the body", x.Head.Status)
	case empty:
		why = fmt.Sprintf("HTTP status %d, with an empty body", x.Head.Status)
	case page && x.Head.Status < 300:
		why = fmt.Sprintf("HTTP status %d, with a page instead of a response, because the address may be wrong: %s", x.Head.Status, pageWords(body))
	case page:
		why = fmt.Sprintf("HTTP status %d, with a page instead of a response: %s", x.Head.Status, pageWords(body))
	case x.gap.missed > 0:
		why = fmt.Sprintf("HTTP status %d; toolscope missed bytes of the body", x.Head.Status)
	case why == "" && isFromGateway(x.Head, &x.Response) && len(bytes.TrimSpace(body)) > 0:
		why = fmt.Sprintf("HTTP status %d: %s", x.Head.Status, pageWords(body))
	case why == "":
		why = fmt.Sprintf("HTTP status %d, without a reason", x.Head.Status)
	}
	x.emit(stream.Event{Kind: stream.Failure, Turn: x.lastTurn(), Text: why, What: &stream.FailureInfo{Code: cmp.Or(json.Value(body).Get("error").Get("type").Text(), awsErrorType(x.Head), fmt.Sprint(x.Head.Status))}})
}

// isEmptyResponse reports whether a request for a model got a complete response without content. It doesn't judge
// other programs' files, which may lack the body.
func isEmptyResponse(x *Exchange) bool {
	return len(x.turns) == 0 && x.Head.Status/100 == 2 && x.Head.Method == "POST" && x.Head.Wrappers == "" &&
		!x.cutShort() && x.EndReason == "" && x.gap.missed == 0 && !x.gap.undecoded &&
		(IsModelPath(x.Path()) || LooksLike(x.RequestBody()) == LooksLikeRequest)
}

// awsErrorType returns the type of an error of AWS, which is in a header, or "".
func awsErrorType(head *stream.Head) string {
	kind, _, _ := strings.Cut(strings.Join(head.Header["X-Amzn-Errortype"], ""), ":")
	return kind
}

// refusedForNow lists the status codes with which a server refuses a correct request for a while: a timeout,
// a failed dependency, such as Bedrock's model (ModelErrorException), a request that came too early, too many
// requests, or Groq's flex tier without capacity.
var refusedForNow = []int{408, 424, 425, 429, 498}

// isPage reports whether the response is an HTML page in place of a model's response. With a status below 300, the
// path must be that of a model.
func isPage(head *stream.Head, response *stream.Wire) bool {
	status := head.Status
	if status < 200 || status/100 == 3 || !beginsPage(response.Bytes(0, min(response.Size(), maxPageStart))) {
		return false
	}
	_, path := splitURL(head.URL)
	return status >= 400 || IsModelPath(path)
}

const (
	maxPageStart = 64  // number of bytes that show whether a body is a page
	maxPageWords = 200 // maximum number of bytes that a message quotes from a page's text
)

var (
	pageStart = lazyregexp.New(`(?i)^\s*<(!doctype html|html|head|body|center|h1)\b`)
	pageTags  = lazyregexp.New(`(?is)<(script|style)\b.*?</(script|style)>|<!--.*?-->|<[^>]*>`)
)

func beginsPage(body []byte) bool { return pageStart().Match(bytes.TrimPrefix(body, []byte(bom))) }

// pageWords returns the text of a page. A text that occurs more than once in the page, such as its title, is
// included once.
func pageWords(body []byte) string {
	var words []string
	for _, part := range pageTags().Split(string(body), -1) {
		part = strings.Join(strings.Fields(html.UnescapeString(part)), " ")
		if part != "" && !slices.Contains(words, part) {
			words = append(words, part)
		}
	}
	text := strings.Join(words, ", ")
	if len(text) > maxPageWords {
		text = strings.ToValidUTF8(text[:maxPageWords], "") + "…"
	}
	return text
}

// reportUnanswered reports the reason why an exchange ended before it had a turn, if the reason is known.
func (x *Exchange) reportUnanswered() {
	if x.EndReason == "" || len(x.turns) > 0 {
		return
	}
	if x.decoder == nil {
		x.setProtocol(&emptyProtocol, "no answer")
	}
	turn := x.lastTurn()
	switch x.by {
	case stream.Client: // the client disconnected, so it doesn't miss the response
	case 0: // toolscope determined the reason; no provider sent it
		x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: x.EndReason, What: &stream.FailureInfo{By: stream.Network}})
	default:
		x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: x.EndReason, What: &stream.FailureInfo{By: x.by}})
	}
	if x.by != 0 {
		x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut, Text: x.EndReason})
	}
}

// reportOwn reports that toolscope answered in place of the provider, with the reason. It does nothing if the
// provider answered.
func (x *Exchange) reportOwn() {
	if !x.AnsweredHere {
		return
	}
	if x.decoder == nil {
		x.setProtocol(&emptyProtocol, "no answer")
	}
	failed := &stream.FailureInfo{Code: fmt.Sprint(x.Head.Status), By: x.by}
	if x.by == 0 {
		failed.By = stream.Toolscope
	}
	why := x.EndReason
	if why == "" { // captures by early versions have the reason only in the response
		why = strings.TrimPrefix(strings.TrimSpace(string(x.Response.Bytes(0, x.Response.Size()))), "toolscope proxy: ")
	}
	turn := x.lastTurn()
	x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: why, What: failed})
	x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut})
}

// cutShort reports whether a party other than the provider ended the response.
func (e *exchangeEnd) cutShort() bool { return e.by > stream.Provider }

// handleEnding emits the events that the decoder makes at the end. If a party other than the provider ended the
// response, missing parts are not findings. If the response has only a few frames, an unknown protocol is not a
// finding either. Neither is the unknown form of an HTTP error.
func (x *Exchange) handleEnding(e stream.Event) {
	if e.Kind == stream.Found && x.Head.Status >= 400 && stream.PayloadOf[stream.Finding](e).Diagnosis == protocolUnknown {
		return
	}
	if e.Kind == stream.Found && x.cutShort() {
		d := stream.PayloadOf[stream.Finding](e).Diagnosis
		if d != protocolUndecoded && (d != protocolUnknown || x.waiting < maxUnclaimed) {
			return
		}
	}
	x.handleEvent(e)
}

// closeOpen ends the turns that the decoder leaves open, if toolscope missed bytes or a party other than the
// provider ended the response.
func (x *Exchange) closeOpen() {
	if x.gap.missed == 0 && !x.cutShort() {
		return
	}
	for _, turn := range x.openTurns() {
		x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut})
	}
}

// plainHTTP is the decoder of an exchange without a model, for other requests of the client. Its bodies are shown but
// not interpreted.
var plainHTTP = protocol.Protocol{
	Name:  "http",
	Title: "plain HTTP",
	New:   func(o *protocol.Out) protocol.Decoder { return plainDecoder{o.OpenSilently()} },
}

type plainDecoder struct{ turn *protocol.Turn }

func (d plainDecoder) Frame(stream.Frame) error {
	d.turn.Unknown("")
	return nil
}

// Close leaves the turn open. The exchange ends the turn when the HTTP response ends.
func (plainDecoder) Close() {}

// isPlain reports whether no model is involved. The path shows this, or the server sent the client to another address
// or refused a WebSocket.
func (x *Exchange) isPlain() bool {
	if x.in.forcedFor(x.Number) != nil {
		return false
	}
	return x.requests.path != "" || x.Head.Status/100 == 3 || x.requests.upgrades && slices.Contains(noWebSocket, x.Head.Status)
}

// noWebSocket lists the status codes with which servers without WebSockets answer.
var noWebSocket = []int{404, 405, 426, 501}

// AsksNothing reports whether the request contains no input for a model: it is a GET or DELETE, and doesn't
// open a WebSocket.
func (x *Exchange) AsksNothing() bool {
	return (x.Head.Method == "GET" || x.Head.Method == "DELETE") && !x.requests.upgrades && x.in.forcedFor(x.Number) == nil
}

// promptKeys are the keys of the fields that contain the input for a model, in providers' and applications' requests.
var promptKeys = map[string]bool{
	"messages": true, "message": true, "input": true, "inputs": true, "prompt": true, "prompts": true, "contents": true, "content": true,
	"text": true, "query": true, "question": true, "instructions": true, "system": true, "conversation": true, "history": true,
	"chat": true, "request": true, "body": true, "data": true, "payload": true, "params": true, "args": true, "arguments": true,
	"model": true, "modelId": true, "tools": true, "stream": true,
}

// hasNoPrompt reports whether the body of the request is an object without a field for a model, and the response is a
// single frame of no event stream.
func hasNoPrompt(x *Exchange) bool {
	if x.Framing == "SSE" || len(x.pending) != 1 || x.Head.Status >= 400 || x.in.forcedFor(x.Number) != nil {
		return false
	}
	s := json.Scan(x.Request.Bytes(0, x.Request.Size()))
	if s.Kind() != '{' {
		return false
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if promptKeys[string(s.Key())] {
			return false
		}
	}
	return s.End() == nil
}

// endPlain ends the turn of an exchange without a model.
func (x *Exchange) endPlain() {
	if x.decoder == nil && x.EndReason == "" && x.Head.Status != 0 && !x.AnsweredHere && (x.isPlain() || x.AsksNothing() && x.Head.Status < 400) {
		x.setProtocol(&plainHTTP, "method and path")
	}
	if x.Protocol != &plainHTTP {
		return
	}
	turn, code := x.lastTurn(), stream.FinishDone
	if x.Head.Status >= 400 {
		code = stream.FinishRefused
	}
	if x.Head.Status != 0 {
		x.emit(stream.Event{Kind: stream.Finish, Turn: turn, Slot: stream.AllChoices, Text: strconv.Itoa(x.Head.Status), Code: code})
	}
	end := stream.Event{Kind: stream.TurnClose, Turn: turn}
	if x.EndReason != "" || x.cutShort() {
		end.Code, end.Text = stream.CloseCut, x.EndReason
	}
	x.emit(end)
}

// gateways lists programs and services that respond in place of a provider that they can't reach. A gateway is
// recognised by a header, or by lower-case words in its page.
var gateways = []struct{ name, header, value, words string }{
	{"Cloudflare", "Cf-Ray", "", "cloudflare"},
	{"Cloudflare", "Server", "cloudflare", "error code: 52"},
	{"openresty", "Server", "openresty", "openresty"},
	{"nginx", "Server", "nginx", "nginx"},
	{"envoy", "Server", "envoy", "upstream connect error or disconnect/reset before headers"},
	{"AWS ELB", "Server", "awselb", ""},
	{"Caddy", "Server", "caddy", ""},
	{"Traefik", "Server", "traefik", ""},
	{"Vercel", "X-Vercel-Error", "", ""},
	{"Azure Application Gateway", "Server", "microsoft-azure-application-gateway", "microsoft-azure-application-gateway"},
}

// gatewayName returns the gateway that sent the response, or "" if nothing identifies it.
func gatewayName(head *stream.Head, response *stream.Wire) string {
	body := bytes.ToLower(response.Bytes(0, min(response.Size(), maxErrorBody)))
	for _, g := range gateways {
		if g.words != "" && bytes.Contains(body, []byte(g.words)) {
			return g.name
		}
	}
	for _, g := range gateways {
		for _, value := range head.Header[g.header] {
			if strings.HasPrefix(strings.ToLower(value), g.value) {
				return g.name
			}
		}
	}
	return ""
}

// isFromGateway reports whether a gateway sent the response. Such a response is an HTML page, or an error
// without JSON whose status means that the provider was not reached.
func isFromGateway(head *stream.Head, response *stream.Wire) bool {
	if isPage(head, response) {
		return true
	}
	status := head.Status
	body := json.Value(response.Bytes(0, min(response.Size(), maxPageStart)))
	isUnreached := status == 502 || status == 504 || status >= 520 && status <= 527 || status == 503 && upstreamError().Match(body)
	return isUnreached && body.Kind() != '{' && body.Kind() != '[' && gatewayName(head, response) != ""
}

var upstreamError = lazyregexp.New(`(?i)^\s*upstream connect error`)

// refusalReasons lists reasons for the refusal of a request. The status, the code or words in the error show
// the reason.
var refusalReasons = []struct {
	words  string
	status []int
	codes  []string
}{
	{"no credit", []int{402}, []string{"insufficient_quota", "credit balance is too low", "insufficient balance"}},
	{"a filter stopped the prompt", nil, []string{"ResponsibleAIPolicyViolation", "content management policy", "requires moderation and your input was flagged"}},
	{"the key or its permissions", []int{401, 403}, []string{"login fail: ", "invalid api key"}},
	{"the provider doesn't keep this item", nil, []string{"previous_response_not_found", "Item with id '", "Previous response with id '"}},
	{"no endpoint for the model fits the request", nil, []string{"No endpoints found that ", "No endpoints found matching ", "No allowed providers are available"}},
	{"no such model or path", []int{404}, []string{"model_not_found"}},
}

// reasonOf returns the reason for a refusal, or "" if only the error itself explains it.
func reasonOf(status int, code, words string) string {
	for _, r := range refusalReasons {
		if slices.ContainsFunc(r.codes, func(s string) bool { return code == s || strings.Contains(words, s) }) {
			return r.words
		}
	}
	for _, r := range refusalReasons {
		if slices.Contains(r.status, status) {
			return r.words
		}
	}
	return ""
}

// lostConnection matches agents' messages about a broken connection. Such messages never come from a
// provider.
var lostConnection = lazyregexp.New(`(?i)^(?:terminated|fetch failed|network error)\b|\bconnection (?:(?:was )?closed|error|reset|lost|refused|timed out)\b|\brequest timed out\b|` +
	`\bsocket hang up\b|\bstream disconnected\b|\bstream idle timeout\b|\bresponse stopped arriving\b|\bSSE read timed out\b|\bE(?:CONNRESET|CONNREFUSED|TIMEDOUT|NOTFOUND|PIPE)\b|\bunable to connect\b`)

// abortedRequest matches the messages of agents and of fetch about a request that the agent itself aborted.
var abortedRequest = lazyregexp.New(`(?i)^(?:API Error: |AbortError: )?(?:The |This )?(?:request|operation|user) (?:was )?aborted(?: a request)?\.?$`)

// statusWords matches a status at the beginning of an agent's message about an error.
var statusWords = lazyregexp.New(`^\[?(?:API Error: |Error: |unexpected status |HTTP (?:status )?)?([45]\d\d)\b`)

// statusOf returns the status of the response. In a session file, an error may contain the status only in its words.
func (x *Exchange) statusOf(words string) int {
	m := statusWords().FindStringSubmatch(words)
	if x.Head.Status != 0 || m == nil || sessionOf(x.Head) == nil {
		return x.Head.Status
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

// causeOfFailure adds the party at fault to the error of a turn. With a status from 400 to 499, the request is at
// fault, unless the provider only refuses it for now, or refuses the model's output. HTML never comes from a provider.
func (x *Exchange) causeOfFailure(said stream.FailureInfo, words string, turn int32) *stream.FailureInfo {
	if said.By == 0 && x.Head.Status >= 400 {
		said.Code = cmp.Or(said.Code, awsErrorType(x.Head))
	}
	if status := x.statusOf(words); said.By == 0 && status == 0 && sessionOf(x.Head) != nil {
		switch {
		case abortedRequest().MatchString(words):
			said.By, said.Code = stream.Client, ""
		case lostConnection().MatchString(words):
			said.By, said.Code = stream.Network, ""
		}
	}
	said.Refusal = x.refusalOf(&said, words, turn)
	repeats := stream.Party(0) // the party that used a refused id for two calls
	if said.Refusal != nil {
		repeats = x.in.causeOfRepeatedID(words)
	}
	switch status := x.statusOf(words); {
	case said.By != 0 || said.Cause != 0 || x.AnsweredHere:
	case isFromGateway(x.Head, &x.Response):
		said.Cause, said.Gateway = stream.Gateway, gatewayName(x.Head, &x.Response)
	case repeats != 0:
		said.Cause = repeats
	case x.discardsOutput(&said):
	case isRefusalStatus(status), said.Code == "insufficient_quota":
		said.Cause = stream.Client
	}
	return &said
}

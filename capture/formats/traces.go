package formats

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// claudeTrace reads the logs of claude-trace, with one line for each request and its response. A stream is text in
// body_raw, but some versions have the stream's events instead. A complete body was parsed and encoded again.
var claudeTrace = capture.Format{
	Name:  "claude-trace",
	Title: "logs from claude-trace",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffPair(first, whole, "url", "it has a request with a timestamp and a URL, as claude-trace writes it")
	},
	New: func(in *capture.Input) capture.Reader { return newEntries(in, "line", readClaudeTrace, []string{}) },
}

// claudeTap reads the logs of claude-tap. These have the events of a stream or the messages of a WebSocket and, in
// both cases, the assembled response.
var claudeTap = capture.Format{
	Name:  "claude-tap",
	Title: "traces from claude-tap",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffPair(first, whole, "path", "it has a request with a method and a path, as claude-tap writes it")
	},
	New: func(in *capture.Input) capture.Reader { return newEntries(in, "line", readClaudeTap, []string{}) },
}

// tapKeys are the keys that a line of claude-tap may have before the request.
var tapKeys = map[string]bool{
	"timestamp": true, "request_id": true, "id": true, "turn": true, "duration_ms": true, "transport": true,
	"upstream_base_url": true, "capture": true, "session_id": true,
}

// sniffPair detects an object with a request that has a method, and headers or a timestamp. The request must also
// have the field named by member, which identifies the program.
func sniffPair(first []byte, whole bool, member, why string) capture.SniffResult {
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch {
		case member == "path" && tapKeys[key]:
			return sniffMaybe(false)
		case key != "request" || value[0] != '{':
			return capture.SniffResult{}
		}
		seen := map[string]bool{}
		for key := range json.Members(value) {
			seen[key] = true
		}
		if seen["method"] && seen[member] && (seen["headers"] || seen["timestamp"]) {
			return capture.SniffResult{Is: capture.Yes, Why: why}
		}
		if isWhole(value) {
			return capture.SniffResult{}
		}
		return sniffMaybe(false)
	})
}

func readClaudeTrace(r *valuesReader, object []byte, cut bool) {
	line := fileValue{raw: object}
	request, response := line.get("request"), line.get("response")
	if !request.isMapping() {
		r.noteUnexpected("no request")
		return
	}
	x := recordedExchange{layers: []string{"claude-trace"}, cut: cut || !response.isMapping()}
	x.method, x.url = request.get("method").asText(), request.get("url").asText()
	x.requestHeader, x.began = partHeader(request.get("headers")), parseClock(request.get("timestamp"))
	x.request = loggedBody(request.get("body"), cut && !response.isPresent())
	x.status = int(parseNumber(response.get("status_code").raw))
	x.responseHeader, x.ended = withoutCoding(partHeader(response.get("headers"))), parseClock(response.get("timestamp"))
	if raw := response.get("body_raw"); raw.isPresent() && !raw.isNull() {
		x.response = raw.asBytes()
		x.addLack(capture.NoTimes)
	} else if events := response.get("events"); events.isSequence() {
		x.setEvents(events, cut)
	} else if response.isMapping() {
		x.setResponse(response.get("body"), cut)
	}
	r.writeExchange(&x)
	if !response.isMapping() {
		r.addNote(false, "line %d: the log has no response to this request", r.n)
	}
}

func readClaudeTap(r *valuesReader, object []byte, cut bool) {
	line := fileValue{raw: object}
	request, response := line.get("request"), line.get("response")
	if !request.isMapping() {
		r.noteUnexpected("no request")
		return
	}
	x := recordedExchange{layers: []string{"claude-tap"}, cut: cut || !response.isMapping()}
	x.method = request.get("method").asText()
	x.url = strings.TrimSuffix(line.get("upstream_base_url").asText(), "/") + request.get("path").asText()
	x.requestHeader = partHeader(request.get("headers"))
	x.ended = parseClock(line.get("timestamp"))
	if took := parseNumber(line.get("duration_ms").raw); took > 0 && !x.ended.IsZero() {
		x.began = x.ended.Add(-time.Duration(took * float64(time.Millisecond)))
	}
	x.status = int(parseNumber(response.get("status").raw))
	x.responseHeader = withoutCoding(partHeader(response.get("headers")))
	x.request = loggedBody(request.get("body"), cut && !response.isPresent())
	switch {
	case response.get("ws_events").isSequence():
		x.setMessages(request, response, cut)
	case response.get("sse_events").isSequence():
		x.setEvents(response.get("sse_events"), cut)
	case response.isMapping() && !cut: // the events may follow the assembled response
		x.setResponse(response.get("body"), cut)
	}
	r.writeExchange(&x)
	if !response.isMapping() {
		r.addNote(false, "line %d: the trace has no response to this request", r.n)
	}
}

// loggedBody returns a body as it was logged. A JSON body is a value in the log. loggedBody returns nil if the body
// is cut off.
func loggedBody(body fileValue, cut bool) []byte {
	if body.isNull() || cut && !isWhole(body.raw) {
		return nil
	}
	return body.asBytes()
}

// setResponse reads a response that was not a stream, or that was assembled from one.
func (x *recordedExchange) setResponse(body fileValue, cut bool) {
	x.response = loggedBody(body, cut)
	switch {
	case len(x.response) == 0:
		x.addLack(capture.NoBody)
		return
	case body.isMapping():
		x.addLack(capture.Reencoded)
	}
	x.addLack(capture.NoTimes)
}

// setEvents reads a stream whose events were logged.
func (x *recordedExchange) setEvents(list fileValue, cut bool) {
	timed := false
	list.eachChild(func(_ string, e fileValue) {
		if cut && !isWhole(e.raw) {
			return
		}
		data := e.get("data")
		if !e.get("data").isPresent() {
			data = e
		}
		at := parseClock(e.get("timestamp", "time"))
		timed = timed || !at.IsZero()
		x.pieces = append(x.pieces, timedBytes{at: at, data: sseEvent(e.get("event", "eventName").asText(), "", data.asBytes())})
	})
	if !timed {
		x.addLack(capture.NoTimes)
	}
}

// setMessages reads the messages of a WebSocket. The order of the two sides' messages is unknown. Each message from
// the client is therefore put before its response, and a response ends with the last event that the client waits for.
func (x *recordedExchange) setMessages(request, response fileValue, cut bool) {
	x.request, x.status = nil, 101
	x.addLack(capture.NoTimes)
	var asked [][]byte
	request.get("ws_events").eachChild(func(_ string, m fileValue) { asked = append(asked, m.raw) })
	if len(asked) == 0 && request.get("body").isMapping() {
		asked = append(asked, request.get("body").raw)
	}
	ask := func(n int) {
		for ; n > 0 && len(asked) > 0; n-- {
			x.pieces = append(x.pieces, timedBytes{side: capture.Request, data: asked[0]})
			asked = asked[1:]
		}
	}
	ask(1)
	rules := currentRules()
	response.get("ws_events").eachChild(func(_ string, m fileValue) {
		if cut && !isWhole(m.raw) {
			return
		}
		x.pieces = append(x.pieces, timedBytes{data: m.raw})
		if kind := m.get("type").asText(); rules.socketEnds[kind] || rules.types[kind].Last {
			ask(1)
		}
	})
	ask(len(asked))
}

// parseClock reads a time: seconds or milliseconds since 1970, or text.
func parseClock(p fileValue) time.Time {
	if len(p.raw) > 0 && p.raw[0] == '"' {
		return parseISOTime(p.asText())
	}
	n := parseNumber(p.raw)
	if n > 1e11 {
		n /= 1000
	}
	return unixTime(n)
}

// interceptor reads the logs of llm-interceptor. There is one line for a request, one for each event of its stream,
// and one for the end. The times are those at which the lines were written, after the response ended.
var interceptor = capture.Format{
	Name:  "llm-interceptor",
	Title: "captures from llm-interceptor",
	Sniff: sniffInterceptor,
	New: func(in *capture.Input) capture.Reader {
		log := &interceptorLog{open: map[string]int{}, headWritten: map[int]bool{}}
		r := newValues(in, "line", log.readLine, []string{})
		r.done = log.endOpen
		return r
	},
}

func sniffInterceptor(first []byte, whole bool) capture.SniffResult {
	kind, seen := "", map[string]bool{}
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		if key == "type" {
			text, _ := json.Text(value)
			kind = string(text)
		}
		seen[key] = true
		switch {
		case key == "body" || key == "content" || len(seen) > 8:
		case kind == "request" && seen["id"] && seen["method"] && seen["url"] && seen["timestamp"],
			kind == "response_chunk" && seen["request_id"] && seen["chunk_index"],
			kind == "response_meta" && seen["request_id"] && seen["total_chunks"],
			kind == "response" && seen["request_id"] && seen["status_code"]:
			return capture.SniffResult{Is: capture.Yes, Why: "its lines have the type " + kind + " and the id of a request"}
		default:
			return sniffMaybe(false)
		}
		return capture.SniffResult{}
	})
}

// interceptorLog holds the open requests.
type interceptorLog struct {
	open        map[string]int // exchanges by the id of their request
	headWritten map[int]bool   // exchanges whose response has begun
}

func (l *interceptorLog) readLine(r *valuesReader, object []byte, cut bool) {
	if cut {
		return
	}
	line := fileValue{raw: object}
	switch kind := line.get("type").asText(); kind {
	case "request":
		n := r.in.NextExchange()
		l.open[line.get("id").asText()] = n
		head := r.in.NewHead([]string{"llm-interceptor"}, capture.LateTimes)
		head.Method, head.URL = line.get("method").asText(), line.get("url").asText()
		head.Header, head.Start = partHeader(line.get("headers")), parseClock(line.get("timestamp"))
		r.writeFor(n, capture.Record{Side: capture.Request, At: l.timeOf(r, line), Head: head, Data: loggedBody(line.get("body"), false)})
	case "response_chunk", "response", "response_meta":
		l.continueExchange(r, line, kind)
	default:
		r.noteUnexpected("an unknown type")
	}
}

func (l *interceptorLog) timeOf(r *valuesReader, line fileValue) time.Duration {
	return r.in.RecordTime(parseClock(line.get("timestamp")))
}

// continueExchange adds a line of a response to its exchange, and ends the exchange after the last line. The line of
// the request might be missing from the log.
func (l *interceptorLog) continueExchange(r *valuesReader, line fileValue, kind string) {
	id := line.get("request_id").asText()
	n, known := l.open[id]
	if !known {
		n = r.in.NextExchange()
		l.open[id] = n
		r.writeFor(n, capture.Record{Side: capture.Request, At: capture.NoTime, Head: r.in.NewHead([]string{"llm-interceptor"}, capture.LateTimes)})
	}
	if status := int(parseNumber(line.get("status_code").raw)); status != 0 && !l.headWritten[n] {
		l.headWritten[n] = true
		r.writeFor(n, capture.Record{At: l.timeOf(r, line), Head: &capture.Head{Status: status, Header: withoutCoding(partHeader(line.get("headers")))}})
	}
	switch kind {
	case "response_chunk":
		r.writeFor(n, capture.Record{At: l.timeOf(r, line), Data: chunkEvent(line.get("content"))})
		return
	case "response":
		if body := loggedBody(line.get("body"), false); len(body) > 0 {
			r.writeFor(n, capture.Record{At: l.timeOf(r, line), Data: body})
		}
	}
	end := capture.Record{At: l.timeOf(r, line), End: capture.EndEOF}
	if why := line.get("error"); why.isPresent() && !why.isNull() {
		end.End, end.Why = capture.EndCut, why.asText()
	}
	r.writeFor(n, end)
	delete(l.open, id)
	delete(l.headWritten, n)
}

// chunkEvent returns the event that a chunk was parsed from.
func chunkEvent(content fileValue) []byte {
	if done := content.get("done"); string(done.raw) == "true" {
		return sseEvent("", "", bytes.Join(currentRules().terminators, nil))
	}
	if raw := content.get("raw"); len(raw.raw) > 0 && raw.raw[0] == '"' {
		content = raw
	}
	return sseEvent(content.get("_event_type").asText(), "", content.asBytes())
}

// endOpen ends the open exchanges.
func (l *interceptorLog) endOpen(r *valuesReader) {
	for _, n := range slices.Sorted(maps.Values(l.open)) {
		r.writeFor(n, capture.Record{At: capture.NoTime, End: capture.EndCut})
	}
	if n := len(l.open); n > 0 {
		r.addNote(false, "%s without an end in the log", count.Of(n, "request"))
	}
}

// liteLLM reads the StandardLoggingPayload that LiteLLM passes to its callbacks. There is one object for each
// request, in a separate file, on a line, or in an array. The request and the response use the protocol that LiteLLM
// offers, which is mostly Chat Completions.
var liteLLM = capture.Format{
	Name:  "litellm payload",
	Title: "LiteLLM: StandardLoggingPayload, JSON or JSONL",
	Sniff: sniffLiteLLM,
	New: func(in *capture.Input) capture.Reader {
		l := &liteLLMLog{in: in}
		return &jsonValues{jsonDocument: jsonDocument{entryReader: entryReader{in: in, book: l}, found: l.takeValue, decided: true, one: true}}
	},
}

func sniffLiteLLM(first []byte, whole bool) capture.SniffResult {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) > 0 && p[0] == '[' {
		p = afterSpace(p[1:])
	}
	s := sniffAny(p, whole, "call_type", "startTime", "model_parameters", "response_cost", "completionStartTime", "hidden_params", "custom_llm_provider", "trace_id")
	s.Why = "it has call_type and startTime, as LiteLLM logs them"
	return s
}

// liteLLMLog reads payloads.
type liteLLMLog struct{ in *capture.Input }

func (l *liteLLMLog) takeValue(recs []capture.Record, _ int, value []byte) []capture.Record {
	return l.entry(recs, value)
}

func (l *liteLLMLog) close(recs []capture.Record) []capture.Record { return recs }

func (l *liteLLMLog) entry(recs []capture.Record, payload []byte) []capture.Record {
	if inner := json.Find(payload, "standard_logging_object"); inner != nil {
		payload = inner
	}
	f := json.Pick(payload, "call_type", "status", "startTime", "endTime", "completionStartTime", "api_base", "response", "error_str", "error_information", "messages", "stream")
	if f[0] == nil || f[2] == nil {
		return recs
	}
	n := l.in.NextExchange()
	began, ended, first := parseLogTime(f[2]), parseLogTime(f[3]), parseLogTime(f[4])
	head := l.in.NewHead([]string{"litellm payload"}, capture.NoDeltas)
	head.URL, head.Start = string(textOr(f[5])), began
	recs = append(recs, capture.Record{Exchange: n, Side: capture.Request, At: l.in.RecordTime(began), Head: head, Data: liteLLMRequest(payload, f[9])})
	answer := &capture.Head{Start: first}
	body := f[6]
	if kindOf(body) == '"' { // LiteLLM has an option to log the body as text
		body, _ = json.Text(body)
	}
	if hasText(f[1], "failure") {
		body = liteLLMFailure(f[7], f[8])
		answer.Status = int(parseNumber(textOr(json.Pick(f[8], "error_code")[0])))
	}
	recs = append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(first), Head: answer})
	if len(body) > 0 {
		recs = append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(ended), Data: body})
	}
	return append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(ended), End: capture.EndEOF})
}

// textOr returns the text of a string, or the value itself.
func textOr(value []byte) []byte {
	if text, ok := json.Text(value); ok {
		return text
	}
	return value
}

// liteLLMRequest returns the request: the model, the messages, and the parameters as they are.
func liteLLMRequest(payload, messages []byte) []byte {
	f := json.Pick(payload, "model", "model_parameters")
	members := []member{{"model", f[0]}}
	switch kindOf(messages) {
	case '[':
		members = append(members, member{"messages", messages})
	case '"':
		members = append(members, member{"input", messages})
	case '{':
		for k, v := range json.Members(messages) {
			members = append(members, member{k, v})
		}
	}
	for k, v := range json.Members(f[1]) {
		members = append(members, member{k, nilIfNull(v)})
	}
	return objectOf(members...)
}

func liteLLMFailure(text, information []byte) []byte {
	f := json.Pick(information, "error_class", "error_code", "error_message")
	if nonEmptyText(text) == nil {
		text = f[2]
	}
	if nonEmptyText(text) == nil {
		text = f[0]
	}
	return objectOf(member{"error", objectOf(member{"message", text}, member{"type", f[0]}, member{"code", f[1]})})
}

// geminiAnswers reads the model responses that Gemini CLI records for replay in tests. Each line is a request to the
// model's API with its response: an object or, for a stream, the list of its objects.
var geminiAnswers = capture.Format{
	Name:  "gemini-cli responses",
	Title: "model responses recorded by Gemini CLI",
	Sniff: sniffGeminiAnswers,
	New:   func(in *capture.Input) capture.Reader { return newEntries(in, "line", readGeminiAnswer, []string{}) },
}

// geminiMethods are the methods of the API that Gemini CLI calls.
var geminiMethods = map[string]bool{"generateContent": true, "generateContentStream": true, "countTokens": true, "embedContent": true}

func sniffGeminiAnswers(first []byte, whole bool) capture.SniffResult {
	known := false
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch {
		case key == "method" && !known:
			text, ok := json.Text(value)
			if known = ok && geminiMethods[string(text)]; known || !ok && len(value) < 32 {
				return sniffMaybe(false)
			}
		case key == "response" && known:
			return capture.SniffResult{Is: capture.Yes, Why: "it has a Gemini API method and a response"}
		}
		return capture.SniffResult{}
	})
}

func readGeminiAnswer(r *valuesReader, object []byte, cut bool) {
	line := fileValue{raw: object}
	method, response := line.get("method").asText(), line.get("response")
	if cut || !response.isMapping() && !response.isSequence() {
		r.noteUnexpected("no response")
		return
	}
	if method == "generateContentStream" {
		method = "streamGenerateContent"
	}
	x := recordedExchange{layers: []string{"gemini-cli responses"}, method: "POST", url: ":" + method, response: response.raw}
	x.addLack(capture.NoTimes)
	r.writeExchange(&x)
}

// devTools reads the database of the AI SDK's DevTools. Requests, responses and chunks of a step are JSON in strings.
// The SDK itself writes the other fields of a step, and the response of a streamed step.
var devTools = capture.Format{
	Name:  "ai-sdk devtools",
	Title: "generations.json of the AI SDK's DevTools",
	Sniff: sniffDevTools,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "step", readStep, []string{"steps", "*"})
	},
}

func sniffDevTools(first []byte, whole bool) capture.SniffResult {
	runs := false
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch {
		case key == "runs" && value[0] == '[':
			runs = true
			return sniffMaybe(false)
		case key == "steps" && value[0] == '[':
			for step := range json.Elements(value) {
				if json.Find(step, "run_id") != nil {
					return capture.SniffResult{Is: capture.Yes, Why: "it has runs and steps, as the AI SDK's DevTools write them"}
				}
			}
			if !runs || !isWhole(value) {
				return sniffMaybe(false)
			}
			return capture.SniffResult{Is: capture.Yes, Why: "it has runs and steps, as the AI SDK's DevTools write them"}
		}
		return capture.SniffResult{}
	})
}

func readStep(r *valuesReader, object []byte, cut bool) {
	step := fileValue{raw: object}
	if cut || !step.get("run_id").isPresent() {
		r.noteUnexpected("no run_id, or no end")
		return
	}
	x := recordedExchange{layers: []string{"ai-sdk devtools"}}
	x.began = parseClock(step.get("started_at"))
	x.ended = addMillis(x.began, parseNumber(step.get("duration_ms").raw))
	if request := inString(inString(step.get("raw_request"))); !request.isNull() {
		x.request = request.asBytes()
	}
	chunks, response := inString(step.get("raw_chunks")), inString(step.get("raw_response"))
	switch {
	case chunks.isSequence() && string(chunks.raw) != "[]":
		x.addLack(capture.NoTimes)
		chunks.eachChild(func(_ string, chunk fileValue) {
			x.pieces = append(x.pieces, timedBytes{data: append(chunk.asBytes(), '\n')})
		})
	case response.isMapping():
		x.response = response.raw
		x.addLack(capture.NoTimes)
		x.addLack(capture.Reencoded)
	default:
		x.addLack(capture.NoBody)
	}
	if why := step.get("error").asText(); why != "" {
		if x.cut, x.why = true, why; why == "Request aborted" {
			x.by = capture.Client
		}
	}
	r.writeExchange(&x)
}

// inString returns the JSON in a string, or the value itself if it is not a string.
func inString(p fileValue) fileValue {
	if text, ok := json.Text(p.raw); ok {
		return fileValue{raw: afterSpace(text)}
	}
	return p
}

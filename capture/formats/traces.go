package formats

import (
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// claudeTrace reads the logs of claude-trace, a line for each request and its response. A stream is
// kept as text in body_raw, or by some versions as events; a whole body was parsed and written
// anew.
var claudeTrace = capture.Format{
	Name:  "claude-trace",
	Title: "logs of claude-trace",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffPair(first, whole, "url", "it has a request with a timestamp and a URL, as claude-trace writes it")
	},
	New: func(in *capture.Input) capture.Reader { return newEntries(in, "line", readClaudeTrace, []string{}) },
}

// claudeTap reads the logs of claude-tap: of a stream the events, of a WebSocket the messages of
// either side, and for all of them the answer put together.
var claudeTap = capture.Format{
	Name:  "claude-tap",
	Title: "traces of claude-tap",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffPair(first, whole, "path", "it has a request with a method and a path, as claude-tap writes it")
	},
	New: func(in *capture.Input) capture.Reader { return newEntries(in, "line", readClaudeTap, []string{}) },
}

// tapKeys are what a line of claude-tap may have before its request.
var tapKeys = map[string]bool{
	"timestamp": true, "request_id": true, "id": true, "turn": true, "duration_ms": true, "transport": true,
	"upstream_base_url": true, "capture": true, "session_id": true,
}

// sniffPair tells an object that has a request with a method, and with one other member that says
// who wrote it.
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
	case response.isMapping() && !cut: // behind the answer put together its events may stand
		x.setResponse(response.get("body"), cut)
	}
	r.writeExchange(&x)
	if !response.isMapping() {
		r.addNote(false, "line %d: the trace has no response to this request", r.n)
	}
}

// loggedBody is a body that was parsed where it was JSON; of one that is cut there is nothing.
func loggedBody(body fileValue, cut bool) []byte {
	if body.isNull() || cut && !isWhole(body.raw) {
		return nil
	}
	return body.asBytes()
}

// setResponse takes an answer that did not come as a stream, or was put together.
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

// setEvents takes a stream that was kept as its events.
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

// setMessages takes the messages of a WebSocket. In which order those of the two sides came is not kept:
// each of the client's stands before the answers to it, which end with what the client waits for.
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
	response.get("ws_events").eachChild(func(_ string, m fileValue) {
		if cut && !isWhole(m.raw) {
			return
		}
		x.pieces = append(x.pieces, timedBytes{data: m.raw})
		switch m.get("type").asText() {
		case "response.completed", "response.failed", "response.incomplete", "response.done", "error":
			ask(1)
		}
	})
	ask(len(asked))
}

// parseClock is a time as seconds or milliseconds since 1970, or as text.
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

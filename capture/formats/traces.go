package formats

import (
	"strings"
	"time"

	"toolscope/capture"
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
			return maybe(false)
		case key != "request" || value[0] != '{':
			return capture.SniffResult{}
		}
		seen := map[string]bool{}
		for key := range Members(value) {
			seen[key] = true
		}
		if seen["method"] && seen[member] && (seen["headers"] || seen["timestamp"]) {
			return capture.SniffResult{Is: capture.Yes, Why: why}
		}
		if isWhole(value) {
			return capture.SniffResult{}
		}
		return maybe(false)
	})
}

func readClaudeTrace(r *valuesReader, object []byte, cut bool) {
	line := part{raw: object}
	request, response := line.get("request"), line.get("response")
	if !request.isMapping() {
		r.lacking("no request")
		return
	}
	x := exchange{layers: []string{"claude-trace"}, cut: cut || !response.isMapping()}
	x.method, x.url = request.get("method").text(), request.get("url").text()
	x.asked, x.began = partHeader(request.get("headers")), clock(request.get("timestamp"))
	x.request = loggedBody(request.get("body"), cut && !response.is())
	x.status = int(number(response.get("status_code").raw))
	x.answered, x.ended = decoded(partHeader(response.get("headers"))), clock(response.get("timestamp"))
	if raw := response.get("body_raw"); raw.is() && !raw.isNull() {
		x.response = raw.bytes()
		x.lack(capture.NoTimes)
	} else if events := response.get("events"); events.isSequence() {
		x.events(events, cut)
	} else if response.isMapping() {
		x.whole(response.get("body"), cut)
	}
	r.exchange(&x)
	if !response.isMapping() {
		r.note(false, "line %d: the log has no answer to this request", r.n)
	}
}

func readClaudeTap(r *valuesReader, object []byte, cut bool) {
	line := part{raw: object}
	request, response := line.get("request"), line.get("response")
	if !request.isMapping() {
		r.lacking("no request")
		return
	}
	x := exchange{layers: []string{"claude-tap"}, cut: cut || !response.isMapping()}
	x.method = request.get("method").text()
	x.url = strings.TrimSuffix(line.get("upstream_base_url").text(), "/") + request.get("path").text()
	x.asked = partHeader(request.get("headers"))
	x.ended = clock(line.get("timestamp"))
	if took := number(line.get("duration_ms").raw); took > 0 && !x.ended.IsZero() {
		x.began = x.ended.Add(-time.Duration(took * float64(time.Millisecond)))
	}
	x.status = int(number(response.get("status").raw))
	x.answered = decoded(partHeader(response.get("headers")))
	x.request = loggedBody(request.get("body"), cut && !response.is())
	switch {
	case response.get("ws_events").isSequence():
		x.socket(request, response, cut)
	case response.get("sse_events").isSequence():
		x.events(response.get("sse_events"), cut)
	case response.isMapping() && !cut: // behind the answer put together its events may stand
		x.whole(response.get("body"), cut)
	}
	r.exchange(&x)
	if !response.isMapping() {
		r.note(false, "line %d: the trace has no answer to this request", r.n)
	}
}

// loggedBody is a body that was parsed where it was JSON; of one that is cut there is nothing.
func loggedBody(body part, cut bool) []byte {
	if body.isNull() || cut && !isWhole(body.raw) {
		return nil
	}
	return body.bytes()
}

// whole takes an answer that did not come as a stream, or was put together.
func (x *exchange) whole(body part, cut bool) {
	x.response = loggedBody(body, cut)
	switch {
	case len(x.response) == 0:
		x.lack(capture.NoBody)
		return
	case body.isMapping():
		x.lack(capture.Reencoded)
	}
	x.lack(capture.NoTimes)
}

// events takes a stream that was kept as its events.
func (x *exchange) events(list part, cut bool) {
	timed := false
	list.each(func(_ string, e part) {
		if cut && !isWhole(e.raw) {
			return
		}
		data := e.get("data")
		if !e.get("data").is() {
			data = e
		}
		at := clock(e.get("timestamp", "time"))
		timed = timed || !at.IsZero()
		x.pieces = append(x.pieces, piece{at: at, data: sseEvent(e.get("event", "eventName").text(), "", data.bytes())})
	})
	if !timed {
		x.lack(capture.NoTimes)
	}
}

// socket takes the messages of a WebSocket. In which order those of the two sides came is not kept:
// each of the client's stands before the answers to it, which end with what the client waits for.
func (x *exchange) socket(request, response part, cut bool) {
	x.request, x.status = nil, 101
	x.lack(capture.NoTimes)
	var asked [][]byte
	request.get("ws_events").each(func(_ string, m part) { asked = append(asked, m.raw) })
	if len(asked) == 0 && request.get("body").isMapping() {
		asked = append(asked, request.get("body").raw)
	}
	ask := func(n int) {
		for ; n > 0 && len(asked) > 0; n-- {
			x.pieces = append(x.pieces, piece{side: capture.Request, data: asked[0]})
			asked = asked[1:]
		}
	}
	ask(1)
	response.get("ws_events").each(func(_ string, m part) {
		if cut && !isWhole(m.raw) {
			return
		}
		x.pieces = append(x.pieces, piece{data: m.raw})
		switch m.get("type").text() {
		case "response.completed", "response.failed", "response.incomplete", "response.done", "error":
			ask(1)
		}
	})
	ask(len(asked))
}

// clock is a time as seconds or milliseconds since 1970, or as text.
func clock(p part) time.Time {
	if len(p.raw) > 0 && p.raw[0] == '"' {
		return stamp(p.text())
	}
	n := number(p.raw)
	if n > 1e11 {
		n /= 1000
	}
	return seconds(n)
}

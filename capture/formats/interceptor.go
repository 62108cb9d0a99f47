package formats

import (
	"maps"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// interceptor reads the logs of llm-interceptor: a line for a request, for each event of its
// stream, and for the end. The times are of writing the lines, which is done after the answer has
// ended.
var interceptor = capture.Format{
	Name:  "llm-interceptor",
	Title: "captures of llm-interceptor",
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

// interceptorLog is the requests that are not answered yet.
type interceptorLog struct {
	open        map[string]int // the exchange, by the id of its request
	headWritten map[int]bool   // its response has begun
}

func (l *interceptorLog) readLine(r *valuesReader, object []byte, cut bool) {
	if cut {
		return
	}
	line := fileValue{raw: object}
	switch kind := line.get("type").asText(); kind {
	case "request":
		l.beginExchange(r, line)
	case "response_chunk", "response", "response_meta":
		l.continueExchange(r, line, kind)
	default:
		r.noteUnexpected("an unknown type")
	}
}

// beginExchange begins an exchange.
func (l *interceptorLog) beginExchange(r *valuesReader, line fileValue) {
	n := r.in.NextExchange()
	l.open[line.get("id").asText()] = n
	head := r.in.NewHead([]string{"llm-interceptor"}, capture.LateTimes)
	head.Method, head.URL = line.get("method").asText(), line.get("url").asText()
	head.Header, head.Start = partHeader(line.get("headers")), parseClock(line.get("timestamp"))
	r.writeFor(n, capture.Record{Side: capture.Request, At: l.timeOf(r, line), Head: head, Data: loggedBody(line.get("body"), false)})
}

func (l *interceptorLog) timeOf(r *valuesReader, line fileValue) time.Duration {
	return r.in.RecordTime(parseClock(line.get("timestamp")))
}

// continueExchange goes on with an exchange, or with one whose request the log does not have.
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

// chunkEvent is the event that a chunk was parsed from.
func chunkEvent(content fileValue) []byte {
	if done := content.get("done"); string(done.raw) == "true" {
		return sseEvent("", "", []byte("[DONE]"))
	}
	if raw := content.get("raw"); len(raw.raw) > 0 && raw.raw[0] == '"' {
		content = raw
	}
	return sseEvent(content.get("_event_type").asText(), "", content.asBytes())
}

// endOpen ends what the log does not.
func (l *interceptorLog) endOpen(r *valuesReader) {
	for _, n := range slices.Sorted(maps.Values(l.open)) {
		r.writeFor(n, capture.Record{At: capture.NoTime, End: capture.EndCut})
	}
	if n := len(l.open); n > 0 {
		r.addNote(false, "%s without an end in the log", count.Of(n, "request"))
	}
}

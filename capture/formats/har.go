package formats

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"toolscope/capture"
	"toolscope/stream/json"
)

// har reads HTTP Archives (HAR 1.2), entry by entry. Writers add to the specification:
//
//	_webSocketMessages     Chrome, Firefox, mitmproxy: type "send" or "receive", time in seconds, opcode, data
//	_eventSourceMessages   Chrome: time in seconds, eventName, eventId, data
//	_requestBodyStatus, _responseBodyStatus, _content   HTTP Toolkit: bodies dropped or not text
//	_error, _fetchedVia…   Chrome: why there is no response
var har = capture.Format{
	Name:  "har",
	Title: "HTTP Archive, saved by browsers and proxies",
	Sniff: sniffHAR,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "entry", readHAR, []string{"log", "entries", "*"})
	},
}

// harKeys are the possible first keys of the object "log" of an archive.
var harKeys = map[string]bool{"version": true, "creator": true, "browser": true, "pages": true, "entries": true, "comment": true}

func sniffHAR(first []byte, whole bool) capture.SniffResult {
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		if key != "log" || value[0] != '{' {
			return capture.SniffResult{}
		}
		for key := range json.Members(value) {
			if harKeys[key] {
				return capture.SniffResult{Is: capture.Yes, Why: `it begins with {"log":{"` + key + `"`}
			}
			return capture.SniffResult{}
		}
		return sniffMaybe(false)
	})
}

func readHAR(r *valuesReader, raw []byte, cut bool) {
	x := recordedExchange{layers: []string{"har"}}
	e := harEntry{x: &x, cut: cut, total: -1}
	json.EachMember(raw, e.readMember)
	if x.method == "" && x.url == "" && x.status == 0 {
		r.noteUnexpected("neither a request nor a response")
		return
	}
	e.finishExchange()
	if x.status == 0 && r.in.GuessPayload(x.request) != capture.Ask { // without a response, keep the reason only for a request to a model
		x.why = ""
	}
	r.writeExchange(&x)
}

// harEntry is the entry that readHAR is reading.
type harEntry struct {
	x       *recordedExchange
	cut     bool    // the file ends inside the entry
	sizes   bool    // the archive says that the response's body has bytes
	body    bool    // the archive has the bytes of the response's body
	wait    float64 // milliseconds before the response began
	total   float64 // milliseconds until the response ended; -1 if unknown
	sockets []byte  // _webSocketMessages
	events  []byte  // _eventSourceMessages
}

func (e *harEntry) readMember(key string, rest []byte) int {
	switch key {
	case "request":
		return json.EachMember(rest, e.readRequest)
	case "response":
		return json.EachMember(rest, e.readResponse)
	}
	value := rest[:json.ValueEnd(rest)]
	switch key {
	case "startedDateTime":
		e.x.began = parseISOTime(string(e.readText(value)))
	case "time":
		e.total = parseNumber(value)
	case "timings":
		// Add up the times before the response in milliseconds. -1 means that a time doesn't apply. The time for TLS is
		// part of the time to connect.
		for key, v := range json.Members(value) {
			switch key {
			case "blocked", "dns", "connect", "send", "wait":
				e.wait += max(0, parseNumber(v))
			}
		}
	case "_webSocketMessages":
		e.sockets = value
	case "_eventSourceMessages":
		e.events = value
	}
	return len(value)
}

func (e *harEntry) readRequest(key string, rest []byte) int {
	if key == "postData" || key == "_content" {
		body, _, n := e.readContent(rest)
		if len(body) > 0 {
			e.x.request = body
		}
		return n
	}
	value := rest[:json.ValueEnd(rest)]
	switch key {
	case "method":
		e.x.method = string(e.readText(value))
	case "url":
		e.x.url = string(e.readText(value))
	case "headers":
		e.x.requestHeader = withoutCoding(harHeader(value))
	}
	return len(value)
}

func (e *harEntry) readResponse(key string, rest []byte) int {
	if key == "content" || key == "_content" {
		body, size, n := e.readContent(rest)
		if len(body) > 0 {
			e.x.response, e.body = body, true
		}
		e.sizes = e.sizes || size > 0
		return n
	}
	value := rest[:json.ValueEnd(rest)]
	switch key {
	case "status":
		e.x.status = int(parseNumber(value))
	case "headers":
		e.x.responseHeader = withoutCoding(harHeader(value))
	case "bodySize":
		e.sizes = e.sizes || parseNumber(value) > 0
	case "_error", "_failure":
		e.x.why = string(e.readText(value))
	}
	return len(value)
}

// readContent reads a body, which is text, or base64 if the encoding says so. It returns the body, its stated size,
// and the length of the object.
func (e *harEntry) readContent(object []byte) (body []byte, size float64, n int) {
	var text []byte
	encoding, known := "", false
	n = json.EachMember(object, func(key string, rest []byte) int {
		value := rest[:json.ValueEnd(rest)]
		switch key {
		case "text":
			text = e.readText(value)
		case "size":
			size = parseNumber(value)
		case "encoding":
			var read []byte
			read, known = json.Text(value)
			encoding = string(read)
		}
		return len(value)
	})
	switch {
	case e.cut && !known && len(bytes.Trim(text, base64Digits)) == 0:
		return nil, size, n // the encoding is cut off
	case encoding != "base64":
		return text, size, n
	}
	body, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(text), "="))
	if err != nil && !e.cut {
		return text, size, n
	}
	return body, size, n
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// readText returns the text of a string. If the file ends inside the string, it returns the text up to the end.
func (e *harEntry) readText(value []byte) []byte {
	if text, ok := json.Text(value); ok || !e.cut || len(value) < 2 || value[0] != '"' {
		return text
	}
	e.x.cut = true
	return json.PartOfText(value)
}

// finishExchange sets the facts that depend on the complete entry. If the archive has no times for the response, they
// remain unknown.
func (e *harEntry) finishExchange() {
	x := e.x
	if e.total >= 0 || e.wait > 0 {
		x.first = addMillis(x.began, e.wait)
	}
	if e.total >= 0 {
		x.ended = addMillis(x.began, max(e.total, e.wait))
	}
	x.cut = x.cut || e.cut || x.status == 0
	if strings.Contains(x.why, "ABORTED") || strings.Contains(x.why, "BLOCKED_BY_CLIENT") {
		x.by = capture.Client
	}
	switch {
	case len(e.sockets) > 0 && e.sockets[0] == '[':
		e.readMessages()
	case !e.body && len(e.events) > 0 && e.events[0] == '[':
		// The archive lacks the text of the stream. Rebuild it from the events.
		for m := range json.Elements(e.events) {
			if !isWhole(m) {
				break
			}
			p := timedBytes{at: unixTime(parseNumber(json.Find(m, "time")))}
			p.data = sseEvent(json.FindText(m, "eventName"), json.FindText(m, "eventId"), e.readText(json.Find(m, "data")))
			e.x.pieces = append(e.x.pieces, p)
		}
	case e.body:
		x.addLack(capture.NoTimes)
	case e.sizes || x.status == 200 && strings.HasPrefix(x.responseHeader.Get("Content-Type"), "text/event-stream"):
		x.addLack(capture.NoBody)
	}
	if e.cut {
		x.why = "the file ends inside this entry"
	}
}

// readMessages reads the messages of a WebSocket. They prove that the handshake succeeded, whatever status the
// archive has.
func (e *harEntry) readMessages() {
	x := e.x
	x.status, x.response = http.StatusSwitchingProtocols, nil
	for m := range json.Elements(e.sockets) {
		if !isWhole(m) {
			break
		}
		opcode := parseNumber(json.Find(m, "opcode"))
		if opcode > 2 { // control messages
			continue
		}
		p := timedBytes{at: unixTime(parseNumber(json.Find(m, "time"))), data: e.readText(json.Find(m, "data"))}
		if json.FindText(m, "type") == "send" {
			p.side = capture.Request
		}
		if opcode == 2 {
			if bin, err := base64.StdEncoding.DecodeString(string(p.data)); err == nil {
				p.data = bin
			}
		}
		if len(p.data) > 0 {
			x.pieces = append(x.pieces, p)
		}
	}
}

// harHeader reads a header, which consists of objects with a name and a value, or of pairs as Slack writes them.
func harHeader(list []byte) http.Header {
	h := http.Header{}
	for field := range json.Elements(list) {
		name, value := json.FindText(field, "name"), json.FindText(field, "value")
		if field[0] == '[' {
			name, value = stringPair(field)
		}
		if name != "" && name[0] != ':' { // HTTP/2 pseudo-headers aren't part of the header
			h.Add(name, value)
		}
	}
	return h
}

// stringPair returns the first two strings of an array.
func stringPair(array []byte) (name, value string) {
	n := 0
	for e := range json.Elements(array) {
		text, _ := json.Text(e)
		switch n++; n {
		case 1:
			name = string(text)
		case 2:
			value = string(text)
		}
	}
	return name, value
}

// parseNumber returns the number in a JSON number or string, or 0 for any other value.
func parseNumber(value []byte) float64 {
	f, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64)
	if err != nil {
		return 0
	}
	return f
}

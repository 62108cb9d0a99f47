package formats

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"toolscope/capture"
	"toolscope/stream/jsonbytes"
)

// har reads HTTP Archives (HAR 1.2), entry by entry. Besides what the specification has, writers
// add:
//
//	_webSocketMessages     Chrome, Firefox, mitmproxy: type "send" or "receive", time in seconds, opcode, data
//	_eventSourceMessages   Chrome: time in seconds, eventName, eventId, data
//	_requestBodyStatus, _responseBodyStatus, _content   HTTP Toolkit: bodies dropped or not text
//	_error, _fetchedVia…   Chrome: why there is no answer
var har = capture.Format{
	Name:  "har",
	Title: "HTTP Archive, as browsers and proxies save it",
	Sniff: sniffHAR,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "entry", readHAR, []string{"log", "entries", "*"})
	},
}

// harKeys are what the object "log" of an archive begins with.
var harKeys = map[string]bool{"version": true, "creator": true, "browser": true, "pages": true, "entries": true, "comment": true}

func sniffHAR(first []byte, whole bool) capture.SniffResult {
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		if key != "log" || value[0] != '{' {
			return capture.SniffResult{}
		}
		for key := range Members(value) {
			if harKeys[key] {
				return capture.SniffResult{Is: capture.Yes, Why: `it begins with {"log":{"` + key + `"`}
			}
			return capture.SniffResult{}
		}
		return maybe(false)
	})
}

func readHAR(r *valuesReader, raw []byte, cut bool) {
	x := exchange{layers: []string{"har"}}
	e := harEntry{x: &x, cut: cut}
	eachMember(raw, e.member)
	if x.method == "" && x.url == "" && x.status == 0 {
		r.lacking("neither a request nor a response")
		return
	}
	e.finish()
	if x.status == 0 && r.in.GuessPayload(x.request) != capture.Ask { // what a page asks and never gets is no news
		x.why = ""
	}
	r.exchange(&x)
}

// harEntry reads one entry.
type harEntry struct {
	x       *exchange
	cut     bool // the file ends inside it
	sizes   bool // the answer had bytes
	body    bool // and they are there
	wait    float64
	total   float64
	sockets []byte // _webSocketMessages
	events  []byte // _eventSourceMessages
}

func (e *harEntry) member(key string, rest []byte) int {
	switch key {
	case "request":
		return eachMember(rest, e.request)
	case "response":
		return eachMember(rest, e.response)
	}
	value := rest[:jsonbytes.ValueEnd(rest)]
	switch key {
	case "startedDateTime":
		e.x.began = stamp(string(e.text(value)))
	case "time":
		e.total = number(value)
	case "timings":
		e.timings(value)
	case "_webSocketMessages":
		e.sockets = value
	case "_eventSourceMessages":
		e.events = value
	}
	return len(value)
}

// timings are in milliseconds; -1 is what does not apply. The time of TLS is part of that of
// connecting.
func (e *harEntry) timings(value []byte) {
	for key, v := range Members(value) {
		switch key {
		case "blocked", "dns", "connect", "send", "wait":
			e.wait += max(0, number(v))
		}
	}
}

func (e *harEntry) request(key string, rest []byte) int {
	if key == "postData" || key == "_content" {
		body, _, n := e.content(rest)
		if len(body) > 0 {
			e.x.request = body
		}
		return n
	}
	value := rest[:jsonbytes.ValueEnd(rest)]
	switch key {
	case "method":
		e.x.method = string(e.text(value))
	case "url":
		e.x.url = string(e.text(value))
	case "headers":
		e.x.asked = decoded(harHeader(value))
	}
	return len(value)
}

func (e *harEntry) response(key string, rest []byte) int {
	if key == "content" || key == "_content" {
		body, size, n := e.content(rest)
		if len(body) > 0 {
			e.x.response, e.body = body, true
		}
		e.sizes = e.sizes || size > 0
		return n
	}
	value := rest[:jsonbytes.ValueEnd(rest)]
	switch key {
	case "status":
		e.x.status = int(number(value))
	case "headers":
		e.x.answered = decoded(harHeader(value))
	case "bodySize":
		e.sizes = e.sizes || number(value) > 0
	case "_error", "_failure":
		e.x.why = string(e.text(value))
	}
	return len(value)
}

// content is a body: text, or base64 where encoding says so; how long it was said to be; and how
// long the object is.
func (e *harEntry) content(object []byte) (body []byte, size float64, n int) {
	var text []byte
	encoding, known := "", false
	n = eachMember(object, func(key string, rest []byte) int {
		value := rest[:jsonbytes.ValueEnd(rest)]
		switch key {
		case "text":
			text = e.text(value)
		case "size":
			size = number(value)
		case "encoding":
			var read []byte
			read, known = Text(value)
			encoding = string(read)
		}
		return len(value)
	})
	switch {
	case e.cut && !known && len(bytes.Trim(text, base64Digits)) == 0:
		return nil, size, n // how it is encoded was cut off
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

// text is what a string reads; of one that the end of the file cuts, as much as there is.
func (e *harEntry) text(value []byte) []byte {
	if text, ok := Text(value); ok || !e.cut || len(value) < 2 || value[0] != '"' {
		return text
	}
	e.x.cut = true
	return partOfText(value)
}

// finish knows the whole entry.
func (e *harEntry) finish() {
	x := e.x
	x.first = after(x.began, e.wait)
	x.ended = after(x.began, max(e.total, e.wait))
	x.cut = x.cut || e.cut || x.status == 0
	if strings.Contains(x.why, "ABORTED") || strings.Contains(x.why, "BLOCKED_BY_CLIENT") {
		x.by = capture.Client
	}
	switch {
	case len(e.sockets) > 0 && e.sockets[0] == '[':
		e.messages()
	case !e.body && len(e.events) > 0 && e.events[0] == '[':
		e.eventStream()
	case e.body:
		x.lack(capture.NoTimes)
	case e.sizes || x.status == 200 && strings.HasPrefix(x.answered.Get("Content-Type"), "text/event-stream"):
		x.lack(capture.NoBody)
	}
	if e.cut {
		x.why = "the file ends inside this entry"
	}
}

// messages are those of a WebSocket. Before the first of them its handshake was done, whatever
// status the archive has.
func (e *harEntry) messages() {
	x := e.x
	x.status, x.response = http.StatusSwitchingProtocols, nil
	for m := range Elements(e.sockets) {
		if !isWhole(m) {
			break
		}
		opcode := number(Member(m, "opcode"))
		if opcode > 2 { // of the protocol, not of who speaks it
			continue
		}
		p := piece{at: seconds(number(Member(m, "time"))), data: e.text(Member(m, "data"))}
		if TextOf(m, "type") == "send" {
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

// eventStream writes the events of a stream whose text the archive does not have.
func (e *harEntry) eventStream() {
	for m := range Elements(e.events) {
		if !isWhole(m) {
			break
		}
		p := piece{at: seconds(number(Member(m, "time")))}
		p.data = sseEvent(TextOf(m, "eventName"), TextOf(m, "eventId"), e.text(Member(m, "data")))
		e.x.pieces = append(e.x.pieces, p)
	}
}

// harHeader reads a header: objects of name and value, or pairs, as Slack writes them.
func harHeader(list []byte) http.Header {
	h := http.Header{}
	for field := range Elements(list) {
		name, value := TextOf(field, "name"), TextOf(field, "value")
		if field[0] == '[' {
			name, value = pair(field)
		}
		if name != "" && name[0] != ':' { // those of HTTP/2 are no header
			h.Add(name, value)
		}
	}
	return h
}

// pair is an array of two strings.
func pair(array []byte) (name, value string) {
	n := 0
	for e := range Elements(array) {
		text, _ := Text(e)
		switch n++; n {
		case 1:
			name = string(text)
		case 2:
			value = string(text)
		}
	}
	return name, value
}

// number is what a number, or a string that holds one, is; anything else is 0.
func number(value []byte) float64 {
	f, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64)
	if err != nil {
		return 0
	}
	return f
}

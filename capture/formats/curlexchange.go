package formats

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
)

// This file makes exchanges of the blocks of curl --trace.

func (r *curlReader) received(b curlOf) {
	switch b.kind {
	case "Send header":
		r.request(b)
	case "Send data":
		r.part(capture.Request, b)
	case "Recv header":
		r.response(b)
	case "Recv data":
		r.part(capture.Response, b)
	}
}

// request begins an exchange, and so ends the one before.
func (r *curlReader) request(b curlOf) {
	r.done()
	lines := strings.Split(string(b.data), "\r\n")
	method, rest, _ := strings.Cut(lines[0], " ")
	path, _, _ := strings.Cut(rest, " ")
	h := headerOf(lines[1:])
	url := path
	if host := h.Get("Host"); host != "" && strings.HasPrefix(path, "/") {
		url = "http://" + host + path
		if r.tls {
			url = "https://" + host + path
		}
	}
	r.begin(b, method, url, h)
}

func (r *curlReader) begin(b curlOf, method, url string, h http.Header) {
	var lacks []capture.Lack
	if b.at.IsZero() {
		lacks = append(lacks, capture.NoTimes)
	}
	if b.ascii {
		lacks = append(lacks, dotted)
	}
	head := r.in.NewHead([]string{"curl trace"}, lacks...)
	head.Method, head.URL, head.Header = method, url, h
	r.begun, r.head, r.dots = true, nil, dots{}
	r.on(r.in.NextExchange(), capture.Record{Side: capture.Request, At: r.in.RecordTime(b.at), Head: head})
}

func headerOf(lines []string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ":"); ok && name != "" {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

var curlStatus = regexp.MustCompile(`^HTTP/\d(?:\.\d)? (\d{3})(?: |\r|$)`)

// response reads a line of the head of a response. Of several heads the last counts, and none that
// only says that more will come.
func (r *curlReader) response(b curlOf) {
	if !r.begun {
		r.begin(b, "", "", nil)
	}
	for line := range strings.SplitAfterSeq(string(b.data), "\n") {
		line = strings.TrimRight(line, "\r\n")
		m := curlStatus.FindStringSubmatch(line)
		switch {
		case m != nil:
			status, _ := strconv.Atoi(m[1])
			r.head = &capture.Head{Status: status, Header: http.Header{}}
		case r.head != nil && line != "":
			if name, value, ok := strings.Cut(line, ":"); ok {
				r.head.Header.Add(name, strings.TrimSpace(value))
			}
		}
	}
	if text := string(b.data); text == "\r\n" || text == "\n" {
		r.answer(b.at)
	}
}

// answer writes the head of the response.
func (r *curlReader) answer(at time.Time) {
	if r.head != nil && r.head.Status >= 200 {
		r.put(capture.Record{At: r.in.RecordTime(at), Head: r.head})
	}
	r.head = nil
}

// part is bytes of a body.
func (r *curlReader) part(side capture.Side, b curlOf) {
	if !r.begun {
		r.begin(b, "", "", nil)
	}
	if side == capture.Response {
		r.answer(b.at)
	}
	if b.ascii && side == capture.Response {
		if b.cut { // what the dots at its end stand for is told by what follows
			if dot := bytes.LastIndexByte(b.data, '.'); dot >= max(0, len(b.data)-len("event:.")) {
				b.data = b.data[:dot]
			}
			b.data = bytes.TrimRight(b.data, ".")
		}
		b.data = r.dots.undo(b.data)
	}
	if len(b.data) > 0 {
		r.put(capture.Record{Side: side, At: r.in.RecordTime(b.at), Data: b.data})
	}
}

// done ends the exchange that is open.
func (r *curlReader) done() {
	if r.begun {
		r.put(capture.Record{At: r.in.RecordTime(r.clock), End: capture.EndEOF})
	}
	r.begun = false
}

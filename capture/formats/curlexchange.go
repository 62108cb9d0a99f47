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

func (r *curlReader) takeBlock(b traceBlock) {
	switch b.kind {
	case "Send header":
		r.beginRequest(b)
	case "Send data":
		r.writeBody(capture.Request, b)
	case "Recv header":
		r.readHead(b)
	case "Recv data":
		r.writeBody(capture.Response, b)
	}
}

// beginRequest begins an exchange, and so ends the one before.
func (r *curlReader) beginRequest(b traceBlock) {
	r.endExchange()
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
	r.beginExchange(b, method, url, h)
}

func (r *curlReader) beginExchange(b traceBlock, method, url string, h http.Header) {
	var lacks []capture.Lack
	if b.at.IsZero() {
		lacks = append(lacks, capture.NoTimes)
	}
	if b.ascii {
		lacks = append(lacks, dotted)
	}
	head := r.in.NewHead([]string{"curl trace"}, lacks...)
	head.Method, head.URL, head.Header = method, url, h
	r.begun, r.head, r.dots = true, nil, lineEndRestorer{}
	r.writeFor(r.in.NextExchange(), capture.Record{Side: capture.Request, At: r.in.RecordTime(b.at), Head: head})
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

// readHead reads a line of the head of a response. Of several heads the last counts, and none that
// only says that more will come.
func (r *curlReader) readHead(b traceBlock) {
	if !r.begun {
		r.beginExchange(b, "", "", nil)
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
		r.writeHead(b.at)
	}
}

// writeHead writes the head of the response.
func (r *curlReader) writeHead(at time.Time) {
	if r.head != nil && r.head.Status >= 200 {
		r.writeRecord(capture.Record{At: r.in.RecordTime(at), Head: r.head})
	}
	r.head = nil
}

// writeBody is bytes of a body.
func (r *curlReader) writeBody(side capture.Side, b traceBlock) {
	if !r.begun {
		r.beginExchange(b, "", "", nil)
	}
	if side == capture.Response {
		r.writeHead(b.at)
	}
	if b.ascii && side == capture.Response {
		if b.cut { // what the dots at its end stand for is told by what follows
			if dot := bytes.LastIndexByte(b.data, '.'); dot >= max(0, len(b.data)-len("event:.")) {
				b.data = b.data[:dot]
			}
			b.data = bytes.TrimRight(b.data, ".")
		}
		b.data = r.dots.restore(b.data)
	}
	if len(b.data) > 0 {
		r.writeRecord(capture.Record{Side: side, At: r.in.RecordTime(b.at), Data: b.data})
	}
}

// endExchange ends the exchange that is open.
func (r *curlReader) endExchange() {
	if r.begun {
		r.writeRecord(capture.Record{At: r.in.RecordTime(r.clock), End: capture.EndEOF})
	}
	r.begun = false
}

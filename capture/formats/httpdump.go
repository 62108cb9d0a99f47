package formats

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// httpDump reads requests and responses of HTTP/1 as text, one after another, as debuggers and "Follow HTTP stream"
// write them: a first line, headers, an empty line and a body. A body may be changed or cut off, so its length in the
// headers is ignored. The next first line ends the body. Output from curl -i has no request, so it is not a dump.
var httpDump = capture.Format{
	Name:  "http dump",
	Title: "HTTP/1 requests and responses as text",
	Sniff: sniffHTTPDump,
	New:   func(in *capture.Input) capture.Reader { return &dumpReader{recordWriter: recordWriter{in: in}} },
}

var (
	dumpRequest = lazyregexp.New(`^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\S+) HTTP/\d(?:\.\d)?\r?$`)
	dumpStatus  = lazyregexp.New(`^HTTP/\d(?:\.\d)? (\d{3})(?: [^{}"\r\n]*)?\r?$`)
	dumpHeader  = lazyregexp.New(`^[-!#$%&'*+.^_|~0-9A-Za-z]+:(?: |\t|\r?$)`)
	dumpInside  = lazyregexp.New(`(?:(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ )?HTTP/\d`)
)

func sniffHTTPDump(first []byte, whole bool) capture.SniffResult {
	text := bytes.TrimLeft(first, "\r\n")
	line, rest, ended := bytes.Cut(text, []byte("\n"))
	switch {
	case !ended && !whole && len(line) < 1<<12 && mayBeRequestLine(line):
		return sniffMaybe(whole)
	case !dumpRequest().Match(line):
		return capture.SniffResult{}
	}
	header, _, ended := bytes.Cut(rest, []byte("\n"))
	switch {
	case !ended && !whole:
		return sniffMaybe(whole)
	case dumpHeader().Match(header) || len(bytes.TrimSpace(header)) == 0:
		return capture.SniffResult{Is: capture.Yes, Why: "it begins with an HTTP/1 request"}
	}
	return capture.SniffResult{}
}

// mayBeRequestLine reports whether an incomplete line may become the first line of a request.
func mayBeRequestLine(line []byte) bool {
	method, _, _ := bytes.Cut(line, []byte(" "))
	for _, known := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		if string(method) == known || len(method) == len(line) && strings.HasPrefix(known, string(method)) {
			return true
		}
	}
	return false
}

// dumpReader reads a dump. It holds an exchange until the next request.
type dumpReader struct {
	recordWriter
	line   []byte // an incomplete line
	x      *recordedExchange
	header http.Header // header of the open message; nil inside a body
	inBody bool
	isOver bool // the body is a complete JSON text
	side   capture.Side
	body   []byte
	kind   byte              // the first byte of the body; 0 while the body is empty
	span   json.ValueScanner // finds the end of a body that is JSON
	rest   int64             // number of bytes of the body that exceed the limit
	others otherLines        // lines between a body and the next first line
}

func (r *dumpReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			r.line = append(r.line, p...)
			break
		}
		r.readLine(append(r.line, p[:n]...))
		r.line, p = nil, p[n:]
	}
	return append(recs, r.recordWriter.takeWritten(nil)...), nil
}

func (r *dumpReader) readLine(line []byte) {
	text := bytes.TrimRight(line, "\r\n")
	switch {
	case dumpRequest().Match(text):
		r.endExchange(false)
		m := dumpRequest().FindSubmatch(text)
		r.x = &recordedExchange{layers: []string{"http dump"}, lacks: []capture.Lack{capture.NoTimes}, method: string(m[1]), url: string(m[2])}
		r.beginMessage(capture.Request)
	case dumpStatus().Match(text) && r.header == nil:
		// A final response replaces the interim response before it.
		r.endMessage()
		if r.x == nil {
			r.x = &recordedExchange{layers: []string{"http dump"}, lacks: []capture.Lack{capture.NoTimes}}
		}
		r.x.status, _ = strconv.Atoi(string(dumpStatus().FindSubmatch(text)[1]))
		r.beginMessage(capture.Response)
	case r.header != nil && len(text) == 0:
		r.header, r.inBody = nil, true
	case r.header != nil && dumpHeader().Match(text):
		name, value, _ := strings.Cut(string(text), ":")
		r.header.Add(name, strings.TrimSpace(value))
	case r.header != nil: // the empty line is missing
		r.header, r.inBody = nil, true
		r.addBody(line)
	case r.inBody:
		r.addBody(line)
	case len(text) > 0:
		r.others.addLine(1, text)
	}
}

func (r *dumpReader) beginMessage(side capture.Side) {
	r.side, r.header, r.inBody, r.isOver = side, http.Header{}, false, false
	r.body, r.kind, r.rest, r.span = nil, 0, 0, json.ValueScanner{}
	if side == capture.Request {
		r.x.requestHeader = r.header
	} else {
		r.x.responseHeader = r.header
	}
}

// addBody adds a line of a body. The next first line may follow a JSON text without a line break. Other text
// after the JSON text is not part of the exchange.
func (r *dumpReader) addBody(line []byte) {
	if r.isOver {
		if len(bytes.TrimSpace(line)) > 0 {
			r.others.addLine(1, line)
		}
		return
	}
	if r.kind == 0 {
		r.kind = kindOf(line)
	}
	if r.kind == '{' || r.kind == '[' {
		n, done := r.span.Write(line)
		if done {
			r.isOver = true
			r.keepBody(line[:n])
			if next := line[n:]; len(bytes.TrimSpace(next)) > 0 {
				r.readLine(next)
			}
			return
		}
	} else if at := dumpInside().FindIndex(line); at != nil && at[0] > 0 && isFirstLine(line[at[0]:]) {
		r.keepBody(line[:at[0]])
		r.readLine(line[at[0]:])
		return
	}
	r.keepBody(line)
}

func isFirstLine(line []byte) bool {
	text := bytes.TrimRight(line, "\r\n")
	return dumpRequest().Match(text) || dumpStatus().Match(text)
}

func (r *dumpReader) keepBody(p []byte) {
	kept := p[:min(len(p), maxRequestBytes-len(r.body))]
	r.body = append(r.body, kept...)
	r.rest += int64(len(p) - len(kept))
}

// endMessage ends the body of the open message.
func (r *dumpReader) endMessage() {
	if r.x == nil {
		return
	}
	body := r.body
	if r.kind != 'd' && r.kind != 'e' && r.kind != ':' { // an event stream keeps the empty line that ends its last event
		body = bytes.TrimRight(body, "\r\n")
	}
	if r.side == capture.Request {
		r.x.request = body
	} else {
		r.x.response = body
	}
	r.body, r.header, r.inBody = nil, nil, false
	if r.rest > 0 {
		r.addNote(true, "a body exceeds the limit by %s; the rest is left out", count.Of(r.rest, "byte"))
		r.rest = 0
	}
}

// endExchange writes the open exchange. If the provider refused the request, it also writes the
// calls in the request's history.
func (r *dumpReader) endExchange(cut bool) {
	if r.x == nil {
		return
	}
	r.endMessage()
	x := r.x
	r.x = nil
	x.cut = cut
	if x.status >= 400 {
		r.writeHistory("http dump", x.request)
	}
	if x.status == 0 && len(x.response) == 0 {
		x.addLack(capture.NoBody)
	}
	r.writeExchange(x)
	if r.others.count > 0 {
		r.writeRecord(capture.Record{At: capture.NoTime, Others: r.others.count, OtherLines: r.others.last})
		r.others = otherLines{}
	}
}

func (r *dumpReader) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	if len(r.line) > 0 {
		r.readLine(r.line)
	}
	if r.x != nil {
		r.x.why = why
	}
	r.endExchange(end == capture.EndCut)
	return r.close(recs)
}

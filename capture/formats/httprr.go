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

// httprr reads the recordings of httprr, a Go package for tests, of which adk-go, langchaingo and others have copies.
// After the first line, each exchange has a line with the lengths of its request and its response. These follow as
// HTTP/1 text without a break between them. The length in their headers may be that of a body before it was changed.
// Source: https://pkg.go.dev/rsc.io/httprr.
var httprr = capture.Format{
	Name:  "httprr",
	Title: "recordings of Go's httprr",
	Sniff: sniffHTTPRR,
	New: func(in *capture.Input) capture.Reader {
		return &httprrReader{recordWriter: recordWriter{in: in, entries: in.Entries(readHTTPRRAgain)}}
	},
}

const httprrBegin = "httprr trace v1\n"

// httprrSizes matches the line before an exchange.
var httprrSizes = lazyregexp.New(`^(\d{1,18}) (\d{1,18})\r?\n`)

// maxHTTPRRSizes is longer than any line with two lengths.
const maxHTTPRRSizes = 40

func sniffHTTPRR(first []byte, whole bool) capture.SniffResult {
	switch {
	case bytes.HasPrefix(first, []byte(httprrBegin)):
		return capture.SniffResult{Is: capture.Yes, Why: `its first line is "httprr trace v1"`}
	case strings.HasPrefix(httprrBegin, string(first)):
		return sniffMaybe(whole)
	}
	return capture.SniffResult{}
}

// httprrReader reads a recording. It holds at most one exchange.
type httprrReader struct {
	recordWriter
	held  []byte // the beginning of an exchange, or of the file
	at    int64  // offset of these bytes in the file
	skip  int64  // remaining bytes of an exchange that is too long
	begun bool   // the first line was read
	count int    // number of exchanges
	wrong bool   // the bytes at this offset are not an exchange, so the rest of the file can't be read
}

func (r *httprrReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	n := min(r.skip, int64(len(p)))
	r.skip, r.at = r.skip-n, r.at+n
	r.held = append(r.held, p[n:]...)
	if rest := r.readExchanges(r.held); len(rest) < len(r.held) {
		r.held = bytes.Clone(rest)
	}
	return r.takeWritten(recs), nil
}

// readExchanges reads the complete exchanges in p and returns the remaining bytes.
func (r *httprrReader) readExchanges(p []byte) []byte {
	if !r.begun {
		if len(p) < len(httprrBegin) {
			return p
		}
		p, r.begun, r.at = p[len(httprrBegin):], true, int64(len(httprrBegin))
	}
	for len(p) > 0 && !r.wrong {
		request, response, line := httprrLengths(p)
		size, has := line+request+response, int64(len(p))
		switch {
		case line == 0 && has < maxHTTPRRSizes && bytes.IndexByte(p, '\n') < 0:
			return p
		case line == 0:
			r.wrong = true
			r.addNote(true, "byte %d: the lengths of a request and a response should be here; the rest is not read", r.at)
		case size > json.MaxValueBytes:
			r.count++
			r.addNote(true, "exchange %d, at byte %d, is %s long: longer ones than %s are not read", r.count, r.at,
				count.Of(size, "byte"), count.Of(int64(json.MaxValueBytes), "byte"))
			n := min(size, has)
			p, r.skip, r.at = p[n:], size-n, r.at+n
		case size > has:
			return p
		default:
			r.count++
			before := len(r.recs)
			r.readMessages(p[line:line+request], p[line+request:size], false)
			r.entries.SetLocation(r.recs[before:], r.at, size)
			p, r.at = p[size:], r.at+size
		}
	}
	return nil
}

// httprrLengths returns the lengths of the request and the response, and that of the line with them. If p doesn't
// begin with this line, the last result is 0.
func httprrLengths(p []byte) (request, response, line int64) {
	m := httprrSizes().FindSubmatch(p[:min(len(p), maxHTTPRRSizes)])
	if m == nil {
		return 0, 0, 0
	}
	request, _ = strconv.ParseInt(string(m[1]), 10, 64)
	response, _ = strconv.ParseInt(string(m[2]), 10, 64)
	return request, response, int64(len(m[0]))
}

// readMessages reads an exchange. If cut is set, the end of the response is missing.
func (r *httprrReader) readMessages(request, response []byte, cut bool) {
	x := recordedExchange{layers: []string{"httprr"}, lacks: []capture.Lack{capture.NoTimes}, cut: cut}
	var first string
	first, x.requestHeader, x.request = splitMessage(request)
	if m := dumpRequest().FindStringSubmatch(first); m != nil {
		x.method, x.url = m[1], m[2]
	} else {
		r.addNote(true, "exchange %d: its request doesn't begin with a method, a URL and a version of HTTP", r.count)
	}
	first, x.responseHeader, x.response = splitMessage(response)
	if m := dumpStatus().FindStringSubmatch(first); m != nil {
		x.status, _ = strconv.Atoi(m[1])
	} else {
		x.cut = true
	}
	r.writeExchange(&x)
}

// splitMessage returns the first line of a message, its headers and its body.
func splitMessage(p []byte) (first string, h http.Header, body []byte) {
	h = http.Header{}
	for n := 0; len(p) > 0; n++ {
		line := p[:lineEnd(p)]
		p = p[len(line):]
		text := string(bytes.TrimRight(line, "\r\n"))
		switch name, value, ok := strings.Cut(text, ":"); {
		case n == 0:
			first = text
		case text == "":
			return first, h, p
		case ok:
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return first, h, nil
}

// readHTTPRRAgain reads a single exchange again.
func readHTTPRRAgain(in *capture.Input, text []byte) []capture.Record {
	r := httprrReader{recordWriter: newRereadWriter(in)}
	request, response, line := httprrLengths(text)
	if line > 0 && line+request+response == int64(len(text)) {
		r.readMessages(text[line:line+request], text[line+request:], false)
	}
	return r.recs
}

func (r *httprrReader) Close(recs []capture.Record, _ capture.End, _ string, _ time.Duration) []capture.Record {
	request, _, line := httprrLengths(r.held)
	switch has := int64(len(r.held)) - line; {
	case line > 0 && has >= request:
		r.count++
		r.readMessages(r.held[line:line+request], r.held[line+request:], true)
		r.addNote(true, "the file ends inside the response of exchange %d, which begins at byte %d", r.count, r.at)
	case r.skip > 0 || len(r.held) > 0:
		r.addNote(true, "the file ends inside exchange %d, which begins at byte %d", r.count+1, r.at)
	}
	return r.close(recs)
}

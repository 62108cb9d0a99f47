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

// curlTrace reads the output of curl --trace and --trace-ascii. The output has each block of sent or received
// bytes in hexadecimal or as text, with its time if --trace-time was given. The bytes are as transferred,
// including chunked coding (checked with curl 7.88).
var curlTrace = capture.Format{
	Name:  "curl trace",
	Title: "output of curl --trace and --trace-ascii",
	Sniff: sniffCurlTrace,
	New:   func(in *capture.Input) capture.Reader { return &curlReader{recordWriter: recordWriter{in: in}} },
}

var (
	curlBlock = lazyregexp.New(`^(?:(\d\d:\d\d:\d\d\.\d+) )?(?:\[\S*\] )?(?:=>|<=) (Send|Recv) (SSL data|header|data), (\d+) bytes \(0x[0-9a-f]+\)$`)
	curlInfo  = lazyregexp.New(`^(?:(\d\d:\d\d:\d\d\.\d+) )?(?:\[\S*\] )?== Info: `)
	curlBytes = lazyregexp.New(`^[0-9a-f]{4,16}: `)
	hexBytes  = lazyregexp.New(`^(?:[0-9a-f]{2} ){1,16}`)
)

// dotted is the fact that is missing from the output of --trace-ascii.
const dotted = capture.Lack("which bytes were not ASCII: curl --trace-ascii writes dots for them")

func sniffCurlTrace(first []byte, whole bool) capture.SniffResult {
	line, _, ended := bytes.Cut(first, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	switch {
	case curlBlock().Match(line) || curlInfo().Match(line):
		return capture.SniffResult{Is: capture.Yes, Why: "its first line is from curl --trace"}
	case !ended && !whole && len(line) < 200 && mayTrace(line):
		return sniffMaybe(whole)
	}
	return capture.SniffResult{}
}

var (
	traceBefore = lazyregexp.New(`^(?:\d\d:\d\d:\d\d\.\d+ )?(?:\[\d+-\d+\] )?`)
	traceBegin  = lazyregexp.New(`^(?:[\d:.]{0,15}|\[\d*-?\d*\]?)$`)
)

// mayTrace reports whether an incomplete line may become a line from curl --trace.
func mayTrace(line []byte) bool {
	line = line[len(traceBefore().Find(line)):]
	for _, begin := range []string{"== Info: ", "=> Send ", "<= Recv "} {
		if n := min(len(line), len(begin)); string(line[:n]) == begin[:n] {
			return true
		}
	}
	return traceBegin().Match(line)
}

// curlReader reads a trace. It holds at most one block.
type curlReader struct {
	recordWriter
	line  []byte     // an incomplete line
	at    int64      // offset of that line
	block traceBlock // the open block
	clock time.Time
	tls   bool // the connection uses TLS
	ascii bool // the trace is from --trace-ascii
	known bool // ascii is set

	begun bool            // an exchange has begun and hasn't ended
	head  *capture.Head   // the response's head while it is being read
	dots  lineEndRestorer // restores line breaks in the response's body with --trace-ascii
}

// traceBlock is a block of sent or received bytes.
type traceBlock struct {
	kind  string // "Send header", "Recv data"; "" for none
	size  int
	data  []byte
	ascii bool
	line  int  // length of the latest line
	cut   bool // the file ends inside the block
	at    time.Time
}

// asciiWidth is the number of bytes on a line of --trace-ascii.
const asciiWidth = 64

// endsLine reports whether only a line break is missing from a block, because curl doesn't write it.
func (b *traceBlock) endsLine() bool { return b.ascii && len(b.data)+2 == b.size }

func (r *curlReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			r.line = append(r.line, p[:min(len(p), maxCurlLine-min(len(r.line), maxCurlLine))]...)
			break
		}
		r.line = append(r.line, p[:n]...)
		line := bytes.TrimRight(r.line, "\r\n")
		switch m := curlBlock().FindSubmatch(line); {
		case m != nil:
			r.endBlock()
			size, _ := strconv.Atoi(string(m[4]))
			r.block = traceBlock{kind: string(m[2]) + " " + string(m[3]), size: size, at: r.timeOfDay(string(m[1]))}
		case curlInfo().Match(line):
			r.endBlock()
			r.tls = r.tls || bytes.Contains(line, []byte("SSL connection using"))
		case r.block.kind != "" && len(r.block.data) < r.block.size && curlBytes().Match(line):
			r.readDump(line, true)
		case r.block.kind != "" && len(line) > 0:
			r.addNote(true, "byte %d: can't read a line in the dump", r.at)
		}
		r.at += int64(len(r.line))
		r.line, p = r.line[:0], p[n:]
	}
	return r.takeWritten(recs), nil
}

// maxCurlLine is longer than any line that curl writes.
const maxCurlLine = 64 << 10

// timeOfDay returns a time on an arbitrary day. A time more than an hour before the latest one is on the next day.
// For anything that is not a time, timeOfDay returns the zero time.
func (r *curlReader) timeOfDay(text string) time.Time {
	t, err := time.Parse("15:04:05.999999999", text)
	if err != nil {
		return time.Time{}
	}
	for t = t.AddDate(1999, 0, 0); t.Before(r.clock.Add(-time.Hour)); {
		t = t.AddDate(0, 0, 1)
	}
	r.clock = t
	return t
}

// readDump reads a line of a block. curl omits the CR LF at the end of a text line, but counts it in the next
// offset.
func (r *curlReader) readDump(line []byte, ended bool) {
	offset, text, _ := bytes.Cut(line, []byte(": "))
	at, _ := strconv.ParseInt(string(offset), 16, 64)
	b := &r.block
	if at == 0 && len(b.data) == 0 && ended {
		r.ascii, r.known = len(hexBytes().Find(text)) != 3*min(16, b.size), true
	}
	if b.ascii = r.ascii; !r.known {
		return
	}
	if b.line = len(text); !b.ascii {
		digits := strings.ReplaceAll(string(text[:min(len(text), 48)]), " ", "")
		for ; len(digits) >= 2 && len(b.data) < b.size; digits = digits[2:] {
			n, _ := strconv.ParseUint(digits[:2], 16, 8)
			b.data = append(b.data, byte(n))
		}
		return
	}
	if len(b.data)+2 == int(at) {
		b.data = append(b.data, "\r\n"...)
	}
	b.data = append(b.data, text...)
}

// endBlock ends the open block and writes its bytes.
func (r *curlReader) endBlock() {
	b := r.block
	r.block = traceBlock{}
	if b.endsLine() && !b.cut {
		b.data = append(b.data, "\r\n"...)
	}
	if b.kind == "" || b.kind == "Send SSL data" || b.kind == "Recv SSL data" {
		return
	}
	if len(b.data) > 0 {
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
	if len(b.data) != b.size {
		r.addNote(true, "the block before byte %d has only %d of its %d bytes", r.at, len(b.data), b.size)
	}
}

func (r *curlReader) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	b := &r.block
	partial := b.kind != "" && curlBytes().Match(r.line)
	if partial {
		r.readDump(r.line, false)
	}
	cut := b.kind != "" && len(b.data) < b.size && (partial || !b.endsLine() || b.line == asciiWidth)
	b.cut = cut
	r.endBlock()
	if cut && r.begun {
		r.writeRecord(capture.Record{At: capture.NoTime, End: capture.EndCut, Why: why})
		r.begun = false
	}
	r.endExchange()
	return r.close(recs)
}

// The methods below build exchanges from the blocks.

// beginRequest ends the previous exchange and begins another.
func (r *curlReader) beginRequest(b traceBlock) {
	r.endExchange()
	lines := strings.Split(string(b.data), "\r\n")
	method, rest, _ := strings.Cut(lines[0], " ")
	path, _, _ := strings.Cut(rest, " ")
	h := http.Header{}
	for _, line := range lines[1:] {
		if name, value, ok := strings.Cut(line, ":"); ok && name != "" {
			h.Add(name, strings.TrimSpace(value))
		}
	}
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

var curlStatus = lazyregexp.New(`^HTTP/\d(?:\.\d)? (\d{3})(?: |\r|$)`)

// readHead reads a block of a response's head. If there are several heads, only the last one is kept. The heads of
// interim responses are left out.
func (r *curlReader) readHead(b traceBlock) {
	if !r.begun {
		r.beginExchange(b, "", "", nil)
	}
	for line := range strings.SplitAfterSeq(string(b.data), "\n") {
		line = strings.TrimRight(line, "\r\n")
		m := curlStatus().FindStringSubmatch(line)
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

// writeHead writes the head of the response, unless the response is interim.
func (r *curlReader) writeHead(at time.Time) {
	if r.head != nil && r.head.Status >= 200 {
		r.writeRecord(capture.Record{At: r.in.RecordTime(at), Head: r.head})
	}
	r.head = nil
}

// writeBody writes bytes of a body.
func (r *curlReader) writeBody(side capture.Side, b traceBlock) {
	if !r.begun {
		r.beginExchange(b, "", "", nil)
	}
	if side == capture.Response {
		r.writeHead(b.at)
	}
	if b.ascii && side == capture.Response {
		if b.cut { // only the missing bytes would show whether the last dots are line breaks
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

// endExchange ends the open exchange.
func (r *curlReader) endExchange() {
	if r.begun {
		r.writeRecord(capture.Record{At: r.in.RecordTime(r.clock), End: capture.EndEOF})
	}
	r.begun = false
}

// lineEndRestorer restores line breaks that curl --trace-ascii replaced with dots. A dot was a line break if
// it is outside JSON strings and before text that can begin a line of an event stream or of indented JSON.
// Other replaced bytes are lost. The zero value is ready for use.
type lineEndRestorer struct {
	text    bool // inside a string
	escaped bool
}

// restore puts the line breaks back into a block, in place. It returns the block.
func (d *lineEndRestorer) restore(p []byte) []byte {
	for i, c := range p {
		switch {
		case d.escaped:
			d.escaped = false
		case d.text && c == '\\':
			d.escaped = true
		case c == '"':
			d.text = !d.text
		case c == '.' && !d.text && endsLine(p[i+1:]):
			p[i] = '\n'
		}
	}
	return p
}

// endsLine reports whether the bytes after a dot show that the dot was a line break.
func endsLine(rest []byte) bool {
	if len(rest) == 0 || bytes.IndexByte([]byte(". \r\"{}[]:"), rest[0]) >= 0 {
		return true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(rest, []byte(field)) {
			return true
		}
	}
	return false
}

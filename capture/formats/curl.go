package formats

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/lazyregexp"
)

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

package capture

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/stream/lazyregexp"
)

const (
	maxHeadBytes  = 1 << 20 // maximum size of a head in bytes
	maxStrayLines = 3       // maximum number of header lines, or of blank lines, before the status line of a damaged dump
)

// curlOutput reads the output of curl -i and curl -v: heads, then a body that is passed on unchanged. If
// there are several responses (100 Continue, a proxy's response, redirects), the last one counts, because
// curl prints only its body.
//
// A line that doesn't look like part of a head begins the body, even if the empty line between them is
// missing.
type curlOutput struct {
	bodyReader
	request *Head  // the request, which -v shows
	status  bool   // a status line was seen
	between bool   // after the empty line that ends a head
	traced  bool   // printed by -v: lines are marked with "* ", "> " or "< "
	doubled bool   // printed by -v and -i: each line of the head also appears without its mark
	size    int    // number of bytes of the head's lines
	rest    []byte // an unfinished line: of the head, or of curl's remarks after the body
	inBody  bool
}

// headLine is the kind of a line of a dump.
type headLine int

const (
	otherLine headLine = iota
	statusLine
	headerLine
	emptyLine
	tracedLine
)

var (
	statusPattern = lazyregexp.New(`^HTTP/\d(?:\.\d)? (\d{3})(?: |$)`)
	namePattern   = lazyregexp.New("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")
	askPattern    = lazyregexp.New(`^([A-Z]+) (\S+) HTTP/\d`)
	curlDataMark  = lazyregexp.New(`^[{}] \[\d+ bytes data\]$`)
	markBegin     = lazyregexp.New(`^[{}](?: (?:\[.*)?)?$`)
	timePattern   = lazyregexp.New(`^\d\d:\d\d:\d\d\.\d{6} `)
	timeBegin     = lazyregexp.New(`^\d{1,2}(?::(?:\d{1,2}(?::(?:\d{1,2}(?:\.\d{0,6} ?)?)?)?)?)?$`)
	meterBegin    = lazyregexp.New(`^ *(?:%[ \w%]*|D[ \w]*)?$|^\r?[ \d]{1,3}[ \d.kMG:-]{0,80}$`)
	meterPattern  = lazyregexp.New(`^ +% Total |^ +Dload +Upload |^\r?[ \d]{3} [ \d.kMG]+ (?:[-:\d]{8} +){3}`)
	sseFields     = map[string]bool{"data": true, "event": true, "id": true, "retry": true}
)

// classifyLine returns the kind of a line or, if it is unfinished, the kind that it may become.
func classifyLine(line []byte, finished bool) headLine {
	text := strings.TrimSuffix(string(line), "\r")
	name, _, colon := strings.Cut(text, ":")
	switch {
	case text == "":
		return emptyLine
	case finished && statusPattern().MatchString(text):
		return statusLine
	case !finished && (strings.HasPrefix("HTTP/", text) || strings.HasPrefix(text, "HTTP/")):
		return statusLine
	case isTrace(text, finished):
		return tracedLine
	case namePattern().MatchString(name) && (colon && !sseFields[name] || !colon && !finished):
		return headerLine
	}
	return otherLine
}

// isTrace reports whether a line is a remark of -v or the progress meter, which curl writes if its output is not
// a terminal. With --trace-time the line begins with a time.
func isTrace(text string, finished bool) bool {
	if !finished && (timeBegin().MatchString(text) || meterBegin().MatchString(text)) {
		return true
	}
	if text = stripTime(text); meterPattern().MatchString(text) {
		return true
	}
	for _, mark := range []string{"* ", "> ", "< "} {
		if strings.HasPrefix(text, mark) || text == mark[:1] {
			return true
		}
	}
	if finished {
		return curlDataMark().MatchString(text)
	}
	return markBegin().MatchString(text)
}

// sniffDump looks for the status line at the beginning, after stray headers, or after the marks of -v.
func sniffDump(p []byte) kind {
	strays, blanks, traced := 0, 0, false
	for len(p) > 0 {
		line, rest, finished := bytes.Cut(p, []byte("\n"))
		switch classifyLine(line, finished) {
		case statusLine:
			if finished {
				return curlDump
			}
		case tracedLine:
			if finished && strings.HasPrefix(stripTime(string(line)), "< HTTP/") {
				return curlDump
			}
			traced = true
		case headerLine:
			strays++
		case emptyLine:
			if !finished {
				return undecided
			}
			blanks++
		default:
			return bareBody
		}
		if max(strays, blanks) > maxStrayLines || strays > 0 && (traced || blanks > 0) {
			return bareBody
		}
		if !finished {
			break
		}
		p = rest
	}
	return undecided
}

func (d *curlOutput) Write(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	if d.inBody {
		return d.writeBody(recs, p, at), nil
	}
	d.rest = append(d.rest, p...)
	for len(d.rest) > 0 {
		line, rest, finished := bytes.Cut(d.rest, []byte("\n"))
		kind := classifyLine(line, finished)
		if d.size+len(line) > maxHeadBytes || !d.isHeadLine(kind) {
			p := d.rest // the held bytes are not a line of the head
			d.inBody, d.rest = true, nil
			return d.writeBody(d.beginRequest(recs, at), p, at), nil
		}
		if !finished {
			break
		}
		d.size += len(line) + 1
		d.readLine(kind, strings.TrimSuffix(string(line), "\r"))
		d.rest = rest
	}
	return recs, nil
}

func (d *curlOutput) isHeadLine(k headLine) bool {
	switch k {
	case statusLine:
		return true
	case headerLine:
		return !d.between || d.doubled
	case emptyLine:
		return !d.between || d.doubled || !d.status
	case tracedLine:
		return d.traced || !d.status
	}
	return false
}

func (d *curlOutput) readLine(k headLine, line string) {
	switch {
	case k == tracedLine:
		d.traced = true
		d.readTracedLine(line)
	case k == statusLine && d.traced && !d.doubled && d.status:
		d.doubled = true
	case k == emptyLine:
		d.between, d.doubled = true, false
	case !d.doubled:
		d.readResponseLine(k, line)
	}
}

func (d *curlOutput) readResponseLine(k headLine, line string) {
	switch k {
	case statusLine:
		head := &Head{File: d.head.File}
		if !d.status {
			head.Header = d.head.Header // stray headers
		}
		d.head, d.status, d.between = head, true, false
		head.Status, _ = strconv.Atoi(statusPattern().FindStringSubmatch(line)[1])
	case headerLine:
		addHeader(d.head, line)
	case emptyLine:
		d.between = true
	}
}

// stripTime returns a line without the time that --trace-time puts before it.
func stripTime(text string) string { return text[len(timePattern().FindString(text)):] }

func (d *curlOutput) readTracedLine(line string) {
	if line = stripTime(line); line == "" {
		return
	}
	mark, text := line[0], strings.TrimPrefix(line[1:], " ")
	switch ask := askPattern().FindStringSubmatch(text); {
	case mark == '<':
		d.readResponseLine(classifyLine([]byte(text), true), text)
	case mark == '>' && ask != nil:
		d.request = &Head{File: d.head.File, Method: ask[1], URL: ask[2]}
	case mark == '>' && d.request != nil:
		addHeader(d.request, text)
	}
}

func addHeader(h *Head, line string) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return
	}
	if h.Header == nil {
		h.Header = http.Header{}
	}
	h.Header.Add(name, strings.TrimSpace(value))
}

func (d *curlOutput) beginRequest(recs []Record, at time.Duration) []Record {
	if d.request == nil {
		return recs
	}
	d.exchange = d.numbers.claimNumber(d.numbers.last + 1)
	return append(recs, Record{Exchange: d.exchange, Side: Request, At: at, Head: d.request})
}

func (d *curlOutput) Close(recs []Record, end End, why string, at time.Duration) []Record {
	if !d.inBody {
		recs = d.beginRequest(recs, at)
	}
	note := ""
	if d.inBody || d.between {
		recs, _ = d.bodyReader.Write(recs, d.rest, at)
	} else if note = "the dump ends inside the headers"; len(d.rest) > 0 {
		note = fmt.Sprintf("%s: %q", note, d.rest)
	}
	return d.endBody(recs, Record{At: at, Note: note, End: end, Why: why})
}

// failureLine matches the last line that curl writes to standard error if a transfer fails. A file has the line if
// both of curl's outputs were written to it.
var failureLine = lazyregexp.New(`^curl: \((\d{1,3})\) ([^\r\n]{1,300})(?:\r?\n)?$`)

// failureParties has the party that ended a transfer, by curl's exit code. The list contains only codes that mean that
// a response was cut off. Source: https://curl.se/docs/manpage.html#EXIT
var failureParties = map[string]Party{
	"16": Network, "18": Network, "23": Client, "28": Client, "42": Client, "55": Network, "56": Network, "92": Network, "95": Network,
}

// failureOf returns the reason and the party in curl's last line. The party is "" for other text.
func failureOf(text []byte) (why string, by Party) {
	if m := failureLine().FindSubmatch(text); m != nil {
		return "curl: " + string(m[2]), failureParties[string(m[1])]
	}
	return "", ""
}

// maxFailureLine is longer than any line that failureLine matches.
const maxFailureLine = 320

// partOfFailure matches the beginning of a line from curl about a failure.
var partOfFailure = lazyregexp.New(`^curl: \((?:\d{1,3}(?:\)(?: [^\r\n]{0,300}(?:\r?\n?))?)?)?$`)

// possibleFailure returns the offset in p at which curl's last line may begin, or -1. The line needn't follow a line break.
func possibleFailure(p []byte) int {
	const begin = "curl: ("
	from := max(0, len(p)-maxFailureLine)
	if i := bytes.LastIndex(p[from:], []byte(begin)); i >= 0 && partOfFailure().Match(p[from+i:]) {
		return from + i
	}
	for n := min(len(p), len(begin)-1); n > 0; n-- {
		if bytes.HasSuffix(p, []byte(begin[:n])) {
			return len(p) - n
		}
	}
	return -1
}

// remark matches remarks of curl -v after a body or between its chunks, with or without a preceding line break. A
// remark says that a connection ends or that bytes arrived, or it is the progress meter.
var remark = lazyregexp.New(meters + `*(?:\d\d:\d\d:\d\d\.\d{6} )?(?:\* (?:Connection #\d+ to host \S+ left intact|Closing connection[ #\d]*)|[{}] \[\d+ bytes data\])\r?\n|` + meters + `+\r?\n`)

const meters = `(?:\r?[ \d]{3} [ \d.kMG]{30,50} (?:[-:\d]{8} +){3}[\d.kMG]+)`

// writeBody passes a body on. Remarks that -v added after the body become notes, so that they don't count as
// part of the body.
func (d *curlOutput) writeBody(recs []Record, p []byte, at time.Duration) []Record {
	if !d.traced {
		recs, _ = d.bodyReader.Write(recs, p, at)
		return recs
	}
	p = append(d.rest, p...)
	d.rest = nil
	for found := remark().FindIndex(p); found != nil; found = remark().FindIndex(p) {
		recs, _ = d.bodyReader.Write(recs, p[:found[0]], at)
		if said, ok := strings.CutPrefix(stripTime(string(p[found[0]:found[1]])), "* "); ok {
			recs = append(recs, d.completeRecord(Record{At: at, Note: "curl: " + strings.TrimSpace(said)}))
		}
		p = p[found[1]:]
	}
	if i := possibleRemark(p); i >= 0 {
		d.rest, p = bytes.Clone(p[i:]), p[:i]
	}
	recs, _ = d.bodyReader.Write(recs, p, at)
	return recs
}

// partOfRemark matches bytes at the end of a chunk that may be the beginning of a remark.
var partOfRemark = lazyregexp.New(`(?:\d[\d:.]{0,14} )?(?:\*(?: (?:C[^\n]*)?)?|[{}](?: (?:\[[^\n]{0,24})?)?)$|\d[\d:.]{0,14} ?$|\r?[ \d]{1,3}(?: [ \d.kMG:\r-]*)?$|\r$`)

// possibleRemark returns the offset at which an unfinished remark may begin in p, or -1.
func possibleRemark(p []byte) int {
	line := bytes.LastIndexByte(p, '\n') + 1
	if found := partOfRemark().FindIndex(p[line:]); found != nil {
		return line + found[0]
	}
	return -1
}

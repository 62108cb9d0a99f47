package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// logLines reads ordinary logs: lines of text, some of which contain a payload with other text around it.
var logLines = capture.Format{
	Name:  "log",
	Title: "a log, or any JSON, with streams in it",
	Sniff: sniffLog,
	New:   newLineReader,
}

// maxLineBytes is the maximum size of a line, or of a JSON text over several lines.
const maxLineBytes = 64 << 20

// lineReader reads a log. It holds an incomplete line. It also holds each payload that was cut off, until the next
// lines show whether the payload continues.
type lineReader struct {
	in        *capture.Input
	unwrapper *unwrapper
	rest      []byte // an incomplete line
	skipped   int64  // number of bytes of a line that is too long to be held
	number    int64  // number of the current line, counted across rotated files
	before    int64  // number of lines in the earlier files
	glued     int    // number of further lines found inside the current line, with no line break between them
	heirs     bool   // the open streams continue in another file
	at        time.Duration
	recs      []capture.Record
	offset    int64  // offset after the current line
	begin     int64  // offset of the current line
	raw       []byte // the current line as it is in the file; nil if it was joined from several

	joined    lineJoiner // parts of lines that a log driver cut
	doc       prettyJSON // JSON over several lines
	entry     *journal
	truncated []*truncatedPayload // payloads that may continue
	flows     *openStreams
	others    otherLines
}

func newLineReader(in *capture.Input) capture.Reader {
	return &lineReader{in: in, unwrapper: newUnwrapper(in), flows: new(openStreams)}
}

// Rotated returns a reader for the next file of a rotated log. Both readers share the open streams and the
// known places of payloads.
func (r *lineReader) Rotated() capture.Reader {
	r.heirs = true
	return &lineReader{in: r.in, unwrapper: r.unwrapper, flows: r.flows, number: r.number, before: r.number}
}

// Write reads bytes of the log.
func (r *lineReader) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	r.recs, r.at, r.flows.r = recs, at, r
	g := &r.flows.builder
	g.restart(p)
	for g.end < len(p) {
		g.begin = g.end
		i := bytes.IndexByte(p[g.begin:], '\n')
		if i < 0 {
			r.holdPart(p[g.begin:])
			break
		}
		g.end += i + 1
		line := p[g.begin:g.end:g.end]
		if len(r.rest) > 0 || r.skipped > 0 {
			r.holdPart(line)
			line, g.begin = r.rest, g.end
		}
		r.takeLine(line)
		r.rest = nil // payloads may still use the memory of the line
	}
	r.reportOthers()
	recs, r.recs = r.recs, nil
	return recs, nil
}

// holdPart keeps a part of a line, unless the line is too long.
func (r *lineReader) holdPart(p []byte) {
	if r.skipped > 0 || len(r.rest)+len(p) > maxLineBytes {
		r.skipped += int64(len(r.rest) + len(p))
		r.rest = r.rest[:0]
		return
	}
	r.rest = append(r.rest, p...)
}

// takeLine reads a complete line, or an incomplete last line.
func (r *lineReader) takeLine(line []byte) {
	r.number++
	r.begin, r.raw, r.glued = r.offset, line, 0
	r.offset += int64(len(line)) + r.skipped
	if r.skipped > 0 {
		r.addNote(fmt.Sprintf("line %d has %d bytes: lines longer than %d bytes are not read", r.number-r.before, r.skipped, maxLineBytes), true)
		r.skipped = 0
		r.addOther(nil)
		return
	}
	if r.number == r.before+1 && beginsJournal(line) {
		r.entry = new(journal)
	}
	if r.entry != nil {
		r.entry.takeLine(r, line)
		return
	}
	r.readLine(line)
}

// readLine joins the parts of a line that a log driver cut, and reads the line.
func (r *lineReader) readLine(line []byte) {
	if r.readTemplateLine(line) {
		return
	}
	if line = r.joined.addLine(line); line == nil {
		return
	}
	if len(line) != len(r.raw) {
		r.raw = nil
	}
	if !r.doc.addLine(r, line) {
		r.searchLine(line)
	}
}

// readTemplateLine reads a line that matches a template. It returns false if no template matches, or if
// earlier lines may continue.
func (r *lineReader) readTemplateLine(line []byte) bool {
	if r.joined.kind != 0 || r.doc.open || len(r.truncated) > 0 || len(line) > minDockerPart && bytes.HasPrefix(line, []byte(dockerBegin)) {
		return false
	}
	found := r.unwrapper.templates.match(line)
	if found == nil {
		return false
	}
	if !r.flows.takeFound(found) {
		r.addOther(line)
	}
	return true
}

// searchLine searches a line for payloads.
func (r *lineReader) searchLine(line []byte) {
	finds := r.unwrapper.unwrap(line)
	if n := r.unwrapper.first; n > 0 && n < len(line) && mayBeginLine(line[n:], len(finds) > 0) {
		if r.holdsLine(line[n:]) { // the line break between two lines is missing
			r.raw = nil
			r.searchLine(line[:n:n])
			r.searchLine(line[n:])
			return
		}
		finds = r.unwrapper.unwrap(line)
	}
	if len(finds) == 0 && r.doc.startsObject(line) {
		return
	}
	if !r.flows.takeFound(finds) {
		r.addOther(line)
	}
}

// maxGluedLines is the maximum number of lines without line breaks between them.
const maxGluedLines = 64

// holdsLine reports whether the rest of a line is another line with a payload, and counts such lines. From
// maxGluedLines on, it adds a note and returns false.
func (r *lineReader) holdsLine(rest []byte) bool {
	finds := r.unwrapper.unwrap(rest)
	switch {
	case !slices.ContainsFunc(finds, func(f payload) bool { return f.is != aRest }):
		return false
	case r.glued == maxGluedLines:
		r.addNote(fmt.Sprintf("line %d consists of more than %d lines without line breaks between them: the rest is not read", r.number-r.before, maxGluedLines), true)
		return false
	}
	r.glued++
	return true
}

// mayBeginLine reports whether the text after the first JSON value of a line may be another line. After a payload,
// that may be any kind of line. After other JSON, it must be an object without a space before it: an object after a
// space is a payload that the first JSON value describes.
func mayBeginLine(rest []byte, payload bool) bool {
	return rest[0] == '{' || payload && isLogLine(rest)
}

// Close reads the held lines. It ends the open streams, unless they continue in the next file of a rotated log.
func (r *lineReader) Close(recs []capture.Record, end capture.End, why string, at time.Duration) []capture.Record {
	r.recs, r.at, r.flows.r = recs, at, r
	r.flows.builder.restart(nil)
	if r.entry != nil {
		if len(r.rest) > 0 {
			r.entry.takeLine(r, r.rest)
		}
		r.entry.endEntry(r)
	} else if len(r.rest) > 0 || r.skipped > 0 {
		r.takeLine(r.rest)
	}
	if line := r.joined.lastLine(); line != nil {
		r.raw = nil
		r.searchLine(line)
	}
	if r.doc.open {
		r.doc.giveUp(r)
	}
	for len(r.truncated) > 0 { // these payloads were cut off and don't continue
		r.flows.takeTruncated(0)
	}
	if !r.heirs {
		r.flows.closeStreams(end, why)
	}
	r.reportOthers()
	recs, r.recs = r.recs, nil
	return recs
}

// addNote adds a note about the source.
func (r *lineReader) addNote(text string, damaged bool) {
	r.recs = append(r.recs, capture.Record{Exchange: r.flows.last, At: capture.NoTime, Note: text, Damaged: damaged})
}

// prettyJSON is a JSON text over several lines: an indented body or a complete file.
type prettyJSON struct {
	open  bool
	span  json.ValueScanner
	text  []byte
	lines int64
}

// startsObject reports whether a line begins a JSON object that continues on the next line. If so, it keeps the line.
// The elements of a list are separate texts.
func (d *prettyJSON) startsObject(line []byte) bool {
	body := bytes.TrimSpace(line)
	if len(body) == 0 || body[0] != '{' || bytes.IndexByte([]byte("{[,"), body[len(body)-1]) < 0 {
		return false
	}
	if c := afterSpace(body[1:]); len(c) > 0 && c[0] != '"' {
		return false
	}
	d.span = json.ValueScanner{}
	if _, done := d.span.Write(body); done {
		return false
	}
	d.open, d.lines = true, 1
	d.text = append(d.text[:0], line...)
	return true
}

// addLine adds a line to an open JSON text, and reports whether it did. If the line can't be part of JSON, the text
// is read as ordinary lines.
func (d *prettyJSON) addLine(r *lineReader, line []byte) bool {
	if !d.open {
		return false
	}
	if !ofJSON(line) || len(d.text)+len(line) > maxLineBytes {
		d.giveUp(r)
		return false
	}
	n, done := d.span.Write(line)
	d.text = append(d.text, line...)
	if d.lines++; !done {
		return true
	}
	d.open, r.raw = false, nil
	text, rest := d.text[:len(d.text)-len(line)+n], line[n:]
	if finds := r.unwrapper.unwrapValue(text); !r.flows.takeFound(finds) {
		r.others.addLine(d.lines, d.text)
	}
	if cap(d.text) > 1<<20 {
		d.text = nil
	}
	if len(bytes.Trim(rest, ", \t\r\n]")) > 0 {
		r.searchLine(bytes.Clone(rest))
	}
	return true
}

// ofJSON reports whether a line can be part of indented JSON.
func ofJSON(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	switch line[0] {
	case ' ', '\t', '\r', '\n', '}', '[', ']', '"', ',':
		return true
	}
	return string(bytes.TrimSpace(line)) == "{"
}

// giveUp reads the held lines one by one.
func (d *prettyJSON) giveUp(r *lineReader) {
	d.open = false
	raw := r.raw
	defer func() { r.raw = raw }()
	r.raw = nil
	text := bytes.Clone(d.text)
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		if finds := r.unwrapper.unwrap(text[:n]); !r.flows.takeFound(finds) {
			r.addOther(text[:n])
		}
		text = text[n:]
	}
}

// lineJoiner joins the parts of a line that Docker or Kubernetes cut.
type lineJoiner struct {
	kind  byte // origin of the held parts: k for Kubernetes, d for Docker, 0 for none
	parts []byte
}

// dockerBegin is the beginning of Docker's lines. minDockerPart is the minimum size of a line that Docker
// cut. Docker cuts at 16 KiB; a shorter line without a line break is from a program that omitted the line
// break.
const (
	dockerBegin   = `{"log":"`
	minDockerPart = 16000
)

// addLine returns the complete line, or nil if more parts follow. Only the last part of a line has a line break.
func (j *lineJoiner) addLine(line []byte) []byte {
	if len(line) > 24 && line[10] == 'T' {
		if part, is, n := criPart(line); is {
			return j.criLine(line, part, n)
		}
	}
	if bytes.HasPrefix(line, []byte(dockerBegin)) && (j.kind == 'd' || len(line) > minDockerPart) {
		return j.dockerLine(line)
	}
	return line
}

func (j *lineJoiner) criLine(line []byte, part bool, n int) []byte {
	content := line[n:]
	if part {
		content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	}
	switch {
	case part && len(j.parts)+len(line) <= maxLineBytes:
		j.kind = 'k'
		j.parts = append(j.parts, content...)
		return nil
	case j.kind != 'k':
		return line
	}
	whole := append(append(bytes.Clone(line[:n]), j.parts...), content...)
	j.kind, j.parts = 0, nil
	return whole
}

func (j *lineJoiner) dockerLine(line []byte) []byte {
	value := line[len(dockerBegin)-1:]
	n := stringLen(value)
	if n == 0 {
		return line
	}
	inside := value[1 : n-1]
	if !bytes.HasSuffix(inside, []byte(`\n`)) && len(inside) > minDockerPart && len(j.parts)+len(inside) <= maxLineBytes {
		j.kind = 'd'
		j.parts = append(j.parts, inside...)
		return nil
	}
	if j.kind != 'd' {
		return line
	}
	whole := append(append([]byte(dockerBegin), j.parts...), line[len(dockerBegin):]...)
	j.kind, j.parts = 0, nil
	return whole
}

// lastLine returns the held parts as a line at the end of the log, or nil if there are none, and stops holding them.
func (j *lineJoiner) lastLine() []byte {
	defer func() { j.kind, j.parts = 0, nil }()
	switch j.kind {
	case 'k':
		return j.parts
	case 'd':
		return append(append([]byte(dockerBegin), j.parts...), `"}`...)
	}
	return nil
}

// otherLines are the lines without a payload: their number since the last report, and the latest of these lines.
type otherLines struct {
	count int64
	last  [][]byte
}

const (
	maxOtherLines     = 20      // maximum number of lines that are quoted in a report
	maxOtherLineBytes = 1 << 10 // maximum number of bytes quoted from each line
)

// addLine counts n lines and keeps one.
func (o *otherLines) addLine(n int64, line []byte) {
	o.count += n
	if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
		return
	}
	if len(o.last) == maxOtherLines {
		copy(o.last, o.last[1:])
		o.last = o.last[:maxOtherLines-1]
	}
	o.last = append(o.last, bytes.Clone(line[:min(len(line), maxOtherLineBytes)]))
}

func (r *lineReader) addOther(line []byte) {
	if len(bytes.Trim(line, "[], \t\r\n")) > 0 || line == nil {
		r.others.addLine(1, line)
	}
}

// reportOthers adds a record for the other lines since the last report.
func (r *lineReader) reportOthers() {
	if r.others.count == 0 {
		return
	}
	r.recs = append(r.recs, capture.Record{Exchange: r.flows.last, At: capture.NoTime, Others: r.others.count, OtherLines: r.others.last})
	r.others = otherLines{}
}

// journal reads the output of journalctl -o export: one field per line, and an empty line after each entry. A binary
// field has its length before its value. An entry is searched like an object with these fields.
type journal struct {
	fields []journalField
	name   []byte // name of the binary field whose value follows
	value  []byte
	want   int64 // size of the value in bytes, including its length field and its line break; -1 if unknown
}

type journalField struct{ name, value []byte }

// maxFields is the maximum number of fields of an entry that are kept.
const maxFields = 256

func beginsJournal(line []byte) bool {
	return bytes.HasPrefix(line, []byte("__CURSOR=")) || bytes.HasPrefix(line, []byte("__REALTIME_TIMESTAMP="))
}

// takeLine reads a line of the journal, which may be part of a binary value.
func (j *journal) takeLine(r *lineReader, line []byte) {
	if j.name != nil {
		j.takeBinary(r, line)
		return
	}
	body := bytes.TrimRight(line, "\r\n")
	name, value, is := bytes.Cut(body, []byte("="))
	switch {
	case len(body) == 0:
		j.endEntry(r)
	case is:
		j.addField(bytes.Clone(name), bytes.Clone(value))
	default:
		j.name, j.value, j.want = bytes.Clone(body), j.value[:0], -1
	}
}

func (j *journal) addField(name, value []byte) {
	if len(j.fields) < maxFields {
		j.fields = append(j.fields, journalField{name, value})
	}
}

func (j *journal) takeBinary(r *lineReader, line []byte) {
	j.value = append(j.value, line...)
	if j.want < 0 && len(j.value) >= 8 {
		size := binary.LittleEndian.Uint64(j.value)
		if size > maxLineBytes {
			r.addNote("a field in a journal entry is longer than the limit", true)
			j.name = nil
			return
		}
		j.want = int64(size) + 9
	}
	if j.want < 0 || int64(len(j.value)) < j.want {
		return
	}
	j.addField(j.name, bytes.Clone(j.value[8:j.want-1]))
	j.name = nil
	if rest := bytes.Clone(j.value[j.want:]); len(rest) > 0 {
		j.takeLine(r, rest)
	}
}

// endEntry searches a complete entry for payloads.
func (j *journal) endEntry(r *lineReader) {
	r.raw = nil
	if len(j.fields) == 0 {
		return
	}
	finds := r.unwrapper.unwrapEntry(j.fields)
	if !r.flows.takeFound(finds) {
		var message []byte
		for _, f := range j.fields {
			if string(f.name) == "MESSAGE" {
				message = f.value
			}
		}
		r.others.addLine(1, message)
	}
	clear(j.fields)
	j.fields = j.fields[:0]
}

// unwrapEntry returns the payloads in the message of a journal entry.
func (p *unwrapper) unwrapEntry(fields []journalField) []payload {
	p.lines++
	p.reset()
	p.push("journald export", nil, nil, nil)
	var message []byte
	for _, f := range fields {
		switch {
		case string(f.name) == "MESSAGE":
			message = f.value
		case isTimeName(f.name):
			p.noteTimestamp(f.value)
		case len(f.value) <= maxKeyBytes && len(p.keys) < maxKeysOfLine:
			p.addKey(hashOf(p.hash(), f.name), f.name, f.value)
		}
	}
	p.push("", []byte("MESSAGE"), []byte("MESSAGE="), nil)
	if known := p.paths[p.hash()]; !p.searchText(message) && !p.addRest(message) && known != nil {
		p.addRestOf(known, message)
	}
	return p.payloads
}

// unwrapValue returns the payloads in a JSON text.
func (p *unwrapper) unwrapValue(text []byte) []payload {
	p.lines++
	p.reset()
	from := 0
	for from < len(text) && (text[from] == ' ' || text[from] == '\n' || text[from] == '\r' || text[from] == '\t') {
		from++
	}
	n, whole := json.ValueLen(text[from:])
	p.searchValue(text[from:from+n:from+n], whole)
	return p.payloads
}

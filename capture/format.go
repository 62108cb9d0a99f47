package capture

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/stream/json"
)

// formatVersion is the version of the capture format. A capture is JSON Lines. The first line describes the
// file:
//
//	{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"toolscope proxy","dir":"/home/ann/shop"}
//
// The key dir is the working folder of the program that records, if that program knows it.
//
// Every other line is one record, with only the keys that have a value:
//
//	t     milliseconds since the capture began, a decimal with up to three places
//	x     the exchange, from 1
//	side  "request" (otherwise the response)
//	head  file, method, url, status, header, start, peeled, lacks, adds
//	d     the bytes, if they are UTF-8
//	b     the bytes in base64, if they are not
//	end   "eof" or "cut", and why: the reason
//	by    the party that ended it, or answered: "provider", "client", "network", "toolscope"
//	lost  number of bytes of this side, before the record's own, that passed unrecorded
//	note  remarks about the exchange or the source
//	c     always the last: CRC-32C of the bytes of the line before it, in eight hexadecimal digits
//
// Bytes are read back exactly, and times in whole microseconds. Text other than the bytes is UTF-8; invalid
// bytes are replaced with U+FFFD. A reader ignores unknown keys. The number in the first line is increased
// when old readers would misread new files. A file whose first line has a checksum has one on every line. A
// file without checksums is read unchecked, because the first versions of toolscope wrote none.
const formatVersion = 1

type fileHeader struct {
	Version int    `json:"toolscope"`
	Created string `json:"created"`
	By      string `json:"by,omitempty"`
	Dir     string `json:"dir,omitempty"`
}

type recordLine struct {
	Version stdjson.RawMessage `json:"toolscope,omitempty"` // only for reading: distinguishes a header from a record

	T    stdjson.Number `json:"t,omitempty"`
	X    int            `json:"x,omitempty"`
	Side Side           `json:"side,omitempty"`
	Head *headJSON      `json:"head,omitempty"`
	D    string         `json:"d,omitempty"`
	B    []byte         `json:"b,omitempty"`
	End  End            `json:"end,omitempty"`
	Why  string         `json:"why,omitempty"`
	By   Party          `json:"by,omitempty"`
	Lost int64          `json:"lost,omitempty"`
	Note string         `json:"note,omitempty"`
}

type headJSON struct {
	File        string      `json:"file,omitempty"`
	Origin      *Machine    `json:"-"`
	Run         string      `json:"-"`
	Method      string      `json:"method,omitempty"`
	URL         string      `json:"url,omitempty"`
	Status      int         `json:"status,omitempty"`
	Header      http.Header `json:"header,omitempty"`
	Start       time.Time   `json:"start,omitzero"`
	Wrappers    string      `json:"peeled,omitempty"`
	Lacks       []Lack      `json:"lacks,omitempty"`
	Incremental bool        `json:"adds,omitempty"`
}

// encodeLine encodes v, a non-empty object, as one line with checksum and line break.
func encodeLine(v any) ([]byte, error) {
	var line bytes.Buffer
	enc := stdjson.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	line.Truncate(line.Len() - len("}\n"))
	fmt.Fprintf(&line, checksumFormat+"\n", crc32.Checksum(line.Bytes(), castagnoli))
	return line.Bytes(), nil
}

const checksumFormat = `,"c":"%08x"}`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// verifyChecksum reports whether a line ends with a checksum, and whether the checksum is right.
func verifyChecksum(line []byte) (there, right bool) {
	n := sumStart(line)
	if n < 0 {
		return false, false
	}
	sum := crc32.Checksum(line[:n], castagnoli)
	for _, digit := range line[n+len(`,"c":"`):][:8] {
		if digit != "0123456789abcdef"[sum>>28] {
			return true, false
		}
		sum <<= 4
	}
	return true, true
}

// sumStart returns the offset in a line at which the checksum begins, or -1.
func sumStart(line []byte) int {
	line = trimBlanks(line)
	n := len(line) - len(`,"c":"00000000"}`)
	if n < 0 || !bytes.HasPrefix(line[n:], []byte(`,"c":"`)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return -1
	}
	return n
}

// trimBlanks removes blanks that other programs may have added at the end of a line.
func trimBlanks(line []byte) []byte {
	for n := len(line) - 1; n >= 0 && (line[n] == ' ' || line[n] == '\t' || line[n] == '\r'); n-- {
		line = line[:n]
	}
	return line
}

// EncodeHeader returns the first line of a capture. The times of the records count from created. The parameter
// by names the program that makes the capture; dir is its working folder, "" if that is unknown.
func EncodeHeader(created time.Time, by, dir string) ([]byte, error) {
	return encodeLine(fileHeader{formatVersion, created.Format(time.RFC3339Nano), by, dir})
}

// EncodeRecord returns a record as one line, with its line break. It fails if the exchange number is out of
// range.
func EncodeRecord(r Record) ([]byte, error) {
	if r.Exchange < 1 || r.Exchange > maxExchange {
		return nil, fmt.Errorf("record of exchange %d: exchange numbers start at 1", r.Exchange)
	}
	line := recordLine{
		T: formatMillis(r.At), X: r.Exchange, Side: r.Side,
		End: r.End, Why: r.Why, By: r.By, Lost: r.Lost, Note: r.Note,
	}
	if utf8.Valid(r.Data) {
		line.D = string(r.Data)
	} else {
		line.B = r.Data
	}
	if r.Head != nil {
		head := headJSON(*r.Head)
		if !head.Start.IsZero() {
			head.Start = head.Start.UTC()
		}
		line.Head = &head
	}
	return encodeLine(line)
}

// formatMillis formats d as milliseconds, without using a float. It returns "" for NoTime.
func formatMillis(d time.Duration) stdjson.Number {
	if d < 0 {
		return ""
	}
	us := fmt.Sprintf("%04d", d.Microseconds())
	whole, places := us[:len(us)-3], strings.TrimRight(us[len(us)-3:], "0")
	return stdjson.Number(strings.TrimSuffix(whole+"."+places, "."))
}

var errHeader = errors.New("a second header")

// decodeRecord decodes a line that is not the first. It returns errHeader for a line that could be the
// first.
func decodeRecord(text []byte) (Record, error) {
	var line recordLine
	if !utf8.Valid(text) { // Unmarshal would silently replace invalid bytes
		return Record{}, errors.New("not UTF-8")
	}
	if err := stdjson.Unmarshal(text, &line); err != nil {
		return Record{}, err
	}
	switch {
	case line.Version != nil:
		return Record{}, errHeader
	case line.X < 1 || line.X > maxExchange:
		return Record{}, errors.New("no exchange number")
	case line.Side != Response && line.Side != Request:
		return Record{}, fmt.Errorf("unknown side %q", line.Side)
	case line.D != "" && line.B != nil:
		return Record{}, errors.New("the line has both d and b")
	}
	at, err := parseMillis(line.T)
	if err != nil {
		return Record{}, err
	}
	r := Record{
		Exchange: line.X, Side: line.Side, At: at, Head: (*Head)(line.Head),
		End: line.End, Why: line.Why, By: line.By, Lost: max(0, line.Lost), Note: line.Note,
	}
	switch {
	case line.D != "":
		r.Data = []byte(line.D)
	case len(line.B) > 0: // a record without bytes doesn't begin an exchange
		r.Data = line.B
	}
	readWords(&r)
	return r, nil
}

// readWords sets facts that the first versions of toolscope wrote in words only: missed bytes, answers in the
// provider's place, and the party that ended an exchange.
func readWords(r *Record) {
	if r.Lost == 0 {
		if n, _ := fmt.Sscanf(r.Note, "gap: %d bytes", &r.Lost); n != 1 {
			r.Lost = 0
		}
	}
	for _, w := range oldEndings {
		if r.End == EndCut && r.By == "" && strings.HasPrefix(r.Why, w.words) {
			r.By = w.by
		}
	}
	if r.Head != nil && r.By == "" && strings.HasPrefix(r.Note, OwnAnswer) {
		r.By = Toolscope
	}
}

// oldEndings maps the beginning of a reason in captures of the first versions to the party that ended the
// exchange.
var oldEndings = [...]struct {
	words string
	by    Party
}{
	{"the client went away", Client},
	{"the proxy was closed", Toolscope}, {"nothing passed for ", Toolscope}, {"cancelled", Toolscope}, {"the time for it was over", Toolscope},
	{"the connection was ", Network}, {"the upstream closed the WebSocket ", Network},
}

// OwnAnswer begins the note of an answer that the proxy gave in the provider's place. The reason follows.
const OwnAnswer = "the proxy itself gave this answer: "

// FaultedNote begins the note of a response that reached the client altered by an injected fault. The record
// has the bytes that the provider sent.
const FaultedNote = "bent by toolscope"

// HeldNote begins a note about a response that the client waits for because toolscope holds it. The note is about
// its exchange, even if its record has nothing else.
const HeldNote = "held by toolscope"

// ResumedNote begins the note about the end of a hold.
const ResumedNote = HeldNote + ": the client waited "

func parseMillis(t stdjson.Number) (time.Duration, error) {
	if t == "" {
		return NoTime, nil
	}
	at, err := time.ParseDuration(string(t) + "ms")
	if err != nil || at < 0 {
		return 0, fmt.Errorf("%s is not a time", t)
	}
	return at, nil
}

// Refused begins the reason in the end of an exchange that the proxy refused because of its request. The
// actual reason follows.
const Refused = "refused: "

// The functions below read the most frequent lines of a capture, as EncodeRecord writes them: time, exchange, side,
// head, bytes and a normal end, in that order and with nothing between. If they succeed, the result is the same as
// that of decodeRecord.

// quickRecord decodes one of these frequent lines into r, which must be the zero Record. For any other line, valid or
// not, it returns false, and r must not be used. The data is written to room, whose capacity is at least the length of
// the line.
func quickRecord(r *Record, line, room []byte, heads headCache) (ok bool) {
	t, x, p := linePrefix(line)
	if x < 1 || x > maxExchange {
		return false
	}
	r.Exchange, r.At = x, NoTime
	if t != nil {
		if r.At, ok = quickMillis(t); !ok {
			return false
		}
	}
	if rest, is := bytes.CutPrefix(p, []byte(`,"side":"request"`)); is {
		r.Side, p = Request, rest
	}
	if bytes.HasPrefix(p, []byte(`,"head":{`)) {
		rest := p[len(`,"head":`):]
		n := json.ValueEnd(rest)
		if r.Head = heads.decode(rest[:n]); r.Head == nil {
			return false
		}
		p = rest[n:]
	}
	ok = r.Head != nil || bytes.HasPrefix(p, []byte(normalEnd))
	switch {
	case bytes.HasPrefix(p, []byte(`,"d":"`)):
		var n int
		p = p[len(`,"d":`):]
		r.Data, n, ok = json.ReadValidString(room, p)
		if p = p[n:]; len(r.Data) == 0 {
			r.Data = nil // a record without bytes doesn't begin an exchange
		}
	case bytes.HasPrefix(p, []byte(`,"b":"`)):
		r.Data, p, ok = quickBase64(room, p[len(`,"b":"`):])
	}
	if rest, is := bytes.CutPrefix(p, []byte(normalEnd)); is {
		r.End, p = EndEOF, rest
		if rest, is := bytes.CutPrefix(p, []byte(byProvider)); is {
			r.By, p = Provider, rest
		}
	}
	return ok && isEnding(p) && utf8.Valid(line)
}

// linePrefix returns the exchange x at the beginning of a line, and the time t before it; t is nil if there is no
// time. If the line begins in another way, x is 0. The result rest begins with the next key, or is the line's end.
func linePrefix(line []byte) (t []byte, x int, rest []byte) {
	p, first := bytes.CutPrefix(line, []byte(`{"x":`))
	if !first {
		comma := bytes.IndexByte(line, ',')
		if comma < 0 || !bytes.HasPrefix(line, []byte(`{"t":`)) || !bytes.HasPrefix(line[comma:], []byte(`,"x":`)) {
			return nil, 0, nil
		}
		t, p = line[len(`{"t":`):comma], line[comma+len(`,"x":`):]
	}
	n := 0
	for ; n < min(10, len(p)) && isDigit(p[n]); n++ {
		x = 10*x + int(p[n]-'0')
	}
	if n == 0 || n == len(p) || p[0] == '0' || p[n] != ',' && p[n] != '}' {
		return nil, 0, nil
	}
	return t, x, p[n:]
}

// isEnding reports whether p is the end of a record's line, after the record's bytes.
func isEnding(p []byte) bool {
	p = trimBlanks(p)
	return len(p) == 1 && p[0] == '}' || sumStart(p) == 0 && json.PlainRun(p[len(`,"c":"`):]) == 8
}

// quickMillis parses a number with at most twelve digits and three decimals. The result ok is false for any
// other text.
func quickMillis(t []byte) (at time.Duration, ok bool) {
	whole, places, point := bytes.Cut(t, []byte("."))
	if len(whole) == 0 || len(whole) > 12 || whole[0] == '0' && len(whole) > 1 || point && len(places) == 0 || len(places) > 3 {
		return 0, false
	}
	for _, c := range whole {
		if !isDigit(c) {
			return 0, false
		}
		at = 10*at + time.Duration(c-'0')*time.Millisecond
	}
	unit := time.Millisecond
	for _, c := range places {
		if !isDigit(c) {
			return 0, false
		}
		unit /= 10
		at += time.Duration(c-'0') * unit
	}
	return at, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const (
	normalEnd  = `,"end":"eof"`
	byProvider = `,"by":"provider"`
)

// headCache keeps the heads that were decoded last, by their text. Many heads of a capture are equal.
type headCache map[string]headJSON

// maxCachedHeads is the maximum number of kept heads.
const maxCachedHeads = 32

// decode returns the head with the given text, or nil if the text is not a head. The caller may change the head, but
// not its header and its lacks.
func (c headCache) decode(text []byte) *Head {
	head, known := c[string(text)]
	if !known {
		if stdjson.Unmarshal(text, &head) != nil {
			return nil
		}
		if len(c) >= maxCachedHeads {
			clear(c)
		}
		c[string(text)] = head
	}
	return (*Head)(&head)
}

// quickBase64 decodes a base64 string up to its closing quote. The result ok is false if the string is empty,
// invalid or not closed.
func quickBase64(room, p []byte) (data, rest []byte, ok bool) {
	n := json.PlainRun(p)
	if n == len(p) || p[n] != '"' {
		return nil, nil, false
	}
	data, err := base64.StdEncoding.AppendDecode(room, p[:n])
	return data, p[n+1:], err == nil && len(data) > 0
}

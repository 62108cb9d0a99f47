package providers

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// frameFormat is a format for splitting a body into frames, with its name.
type frameFormat struct {
	name   string
	framer stream.Framer
}

// awsFraming is the name of the framing of Bedrock's streams.
const awsFraming = "AWS event stream"

// sniffFraming determines the framing from the first bytes of a body. The content type counts only if the bytes don't
// decide, because error bodies may have any content type. The result ok is false if more bytes are needed.
func sniffFraming(contentType string, head []byte, ended bool) (f frameFormat, ok bool) {
	if could, is := stream.IsEventStream(head); is {
		return frameFormat{awsFraming, new(stream.EventStream)}, true
	} else if could && !ended {
		return f, false
	}
	text := textOf(head)
	if len(text) == 0 || !ended && len(head) < len(bom) && string(head) == bom[:len(head)] {
		return f, false
	}
	switch text[0] {
	case '[', ')':
		return sniffArray(text, ended)
	case '{':
		return sniffObjects(text, ended)
	}
	if text[0] < ' ' && strings.HasPrefix(contentType, "application/vnd.amazon.eventstream") {
		return frameFormat{awsFraming, new(stream.EventStream)}, true // the stream is damaged from its first bytes
	}
	if could, is := looksLikeSSE(text); is || strings.HasPrefix(contentType, "text/event-stream") {
		return frameFormat{"SSE", new(stream.SSESplitter)}, true
	} else if could && !ended {
		return f, false
	}
	return frameFormat{"lines", new(stream.Lines)}, true
}

const bom = "\xef\xbb\xbf"

// textOf returns head without a byte order mark or white space at the beginning.
func textOf(head []byte) []byte {
	return trimSpace(bytes.TrimPrefix(head, []byte(bom)))
}

func beginsObject(head []byte) bool { return bytes.HasPrefix(textOf(head), []byte("{")) }

// sniffObjects distinguishes a body with one object per line from a body whose objects are not on separate
// lines, or span several lines. It checks whether the first line is a complete JSON text. Objects without
// line breaks between them are usually the messages of a WebSocket.
func sniffObjects(text []byte, ended bool) (frameFormat, bool) {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	s := json.Scan(line)
	switch first := s.Value() != nil; {
	case first && s.Kind() != 0:
		return frameFormat{"JSON objects", new(stream.Values)}, true
	case !whole && !ended:
		return frameFormat{}, false
	case first:
		return frameFormat{"NDJSON", new(stream.Lines)}, true
	}
	return frameFormat{"JSON body", new(stream.Values)}, true
}

// isWebSocket reports whether a response consists of the messages of a WebSocket.
func isWebSocket(h *stream.Head) bool {
	return h.Status == 101 || strings.HasPrefix(h.URL, "wss:") || strings.HasPrefix(h.URL, "ws:")
}

// firstJSONObject follows the object at the start of a body until the byte after the object is known.
type firstJSONObject struct {
	values    stream.Values
	size, end int64
}

// sawEnd reports whether p contains a line break, or the first byte after the object. Only these show the
// framing of the body.
func (o *firstJSONObject) sawEnd(p []byte) bool {
	line := bytes.IndexByte(p, '\n') >= 0
	if o.end < 0 {
		return line
	}
	o.values.Write(p, func(f stream.Frame) {
		if o.end == 0 {
			o.end = f.End
		}
	})
	start := o.size
	o.size += int64(len(p))
	if o.end == 0 || len(bytes.TrimSpace(p[max(0, o.end-start):])) == 0 {
		return line
	}
	*o = firstJSONObject{end: -1} // the end of the first object isn't needed any more
	return true
}

var sseFields = []string{"data", "event", "id", "retry"}

// looksLikeSSE reports whether text begins with a line of an event stream. The result could reports whether it may do
// so once there are more bytes.
func looksLikeSSE(text []byte) (could, is bool) {
	if text[0] == ':' {
		return true, true
	}
	for _, name := range sseFields {
		n := min(len(name), len(text))
		if string(text[:n]) != name[:n] {
			continue
		}
		if len(text) <= len(name) {
			return true, false
		}
		switch text[len(name)] {
		case ':', '\r', '\n':
			return true, true
		}
	}
	return false, false
}

// detectProtocol returns the protocol with the highest score for the evidence, or nil if no protocol has a
// score.
func detectProtocol(e protocol.SniffInput) (best *protocol.Protocol, score protocol.SniffScore) {
	e = e.Index()
	for i := range All {
		if s := All[i].Sniff(e); s.Points > score.Points {
			best, score = &All[i], s
		}
		if score.Points >= protocol.Sure { // no score is higher, and the first protocol with the highest score is best
			break
		}
	}
	return best, score
}

// splitURL returns the host name in a URL, or "" if there is none, and the path of the URL. If the address is not a
// URL, it is the path.
func splitURL(address string) (host, path string) {
	u, err := url.Parse(address)
	if err != nil {
		return "", address
	}
	return u.Hostname(), u.Path
}

// sniffArray distinguishes Gemini's array of objects from AI Studio's chunks, which are nested arrays. The
// chunks are either bare, in a list, or in a list within an outer array. The result ok is false if more bytes
// are needed.
func sniffArray(text []byte, ended bool) (f frameFormat, ok bool) {
	if n := min(len(text), len(stream.XSSI)); string(text[:n]) == stream.XSSI[:n] {
		if n < len(stream.XSSI) && !ended {
			return f, false
		}
		text = text[n:]
	}
	b, known := readArrayStart(text)
	switch depth := b.chunkDepth(); {
	case !known && !ended:
		return f, false
	case b.opened == 0:
		return frameFormat{"lines", new(stream.Lines)}, true
	case b.opened == 1 && b.first != 'n' && b.first != '0':
		return frameFormat{"JSON array", new(stream.Array)}, true
	case depth <= 1:
		return frameFormat{"JSON body", new(stream.Values)}, true
	case depth == 2:
		return frameFormat{"nested arrays", new(stream.Array)}, true
	}
	return frameFormat{"nested arrays", &stream.Array{Within: 1}}, true
}

// arrayStart is the start of nested arrays: the number of opened brackets, the first value that is not an
// array, and the next value. Each value is represented by its first byte, with some exceptions: null is n,
// even if it is omitted; any digit is 0; the role of a content is m. An empty array is its closing bracket.
type arrayStart struct {
	opened      int
	first, next byte
}

// readArrayStart reads the start of text. The result known is false if more bytes may change the result.
func readArrayStart(text []byte) (b arrayStart, known bool) {
	for text = trimSpace(text); len(text) > 0 && text[0] == '['; text = trimSpace(text[1:]) {
		b.opened++
	}
	b.first, text = valueKind(text)
	switch b.first {
	case 0:
		return b, false
	case 'n':
		if b.opened == 0 || b.opened > 6 {
			return b, true // the result doesn't depend on the rest
		}
	case ']':
		if b.opened <= 1 {
			return b, true
		}
	default:
		return b, true
	}
	if b.first == ']' {
		text = trimSpace(text[1:])
	}
	switch {
	case len(text) == 0:
		return b, false
	case text[0] == ',':
		text = trimSpace(text[1:])
		if b.next, _ = valueKind(text); b.next == '"' {
			b.next = roleKind(text)
		}
	default:
		b.next = text[0]
	}
	return b, b.next != 0
}

// chunkDepth returns the depth of the first chunk, in brackets and including its own bracket:
//
//	[chunk [candidates [candidate [content [parts [part
func (b arrayStart) chunkDepth() int {
	depth := b.opened
	switch {
	case b.first == 'n' && b.next == '0': // a candidate without content
		return depth - 2
	case b.first == 'n' && b.next == 'm': // a content without parts
		return depth - 3
	case b.first == 'n' && depth > 5: // a part
		return depth - 5
	case b.first == 'n' && depth > 3:
		return depth - 2
	case b.first == ']' && b.next == '0': // an empty content
		return depth - 3
	case b.first == ']' && depth > 4: // no parts
		return depth - 4
	case b.first == ']': // no candidates
		return depth - 1
	}
	return depth // a chunk without candidates, or an error
}

// valueKind returns the kind of the value at the start of text, with the same representation as in
// arrayStart. It also returns the text after a null. The kind is 0 if more bytes are needed.
func valueKind(text []byte) (kind byte, rest []byte) {
	switch {
	case len(text) == 0:
		return 0, nil
	case text[0] == ',':
		return 'n', text
	case text[0] == '-' || '0' <= text[0] && text[0] <= '9':
		return '0', nil
	case text[0] == 'n':
		return 'n', trimSpace(text[min(len(text), len("null")):])
	}
	return text[0], text
}

// roleKind returns the kind of the string at the start of text: m for the role "model", or 0 if more bytes
// are needed.
func roleKind(text []byte) byte {
	const role = `"model"`
	switch n := min(len(text), len(role)); {
	case string(text[:n]) != role[:n]:
		return '"'
	case n < len(role):
		return 0
	}
	return 'm'
}

func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// PayloadGuess is the kind of a text of unknown origin.
type PayloadGuess int8

// The kinds of payloads.
const (
	LooksLikeNothing PayloadGuess = iota // neither a response nor a request of a provider
	LooksLikeChunk                       // one event of a stream, or a part of a response
	LooksLikeBody                        // a complete response, or a list of chunks
	LooksLikeEvents                      // text of an event stream
	LooksLikeRequest                     // a request to a provider
)

// LooksLike guesses the kind of a text. It returns LooksLikeNothing unless the text is a request, or is
// almost certainly a part of a known protocol.
func LooksLike(text []byte) PayloadGuess {
	text = textOf(text)
	if len(text) == 0 {
		return LooksLikeNothing
	}
	switch text[0] {
	case '{':
		return guessObject(text)
	case '[':
		return guessList(text)
	}
	if _, is := looksLikeSSE(text); is && hasKnownEvent(text) {
		return LooksLikeEvents
	}
	return LooksLikeNothing
}

// isClaimed reports whether a protocol is nearly certain that the evidence belongs to it.
func isClaimed(e protocol.SniffInput) bool {
	_, score := detectProtocol(e)
	return score.Points >= protocol.Strong
}

// guessObject guesses the kind of an object. An error object alone may come from any service.
func guessObject(text []byte) PayloadGuess {
	switch kind := json.Value(text).Get("type"); {
	case kind.Is("error") && json.Value(text).Get("sequence_number") == nil:
		return LooksLikeNothing
	case isClaimed(protocol.SniffInput{Data: text}) && isCompleteResponse(text):
		return LooksLikeBody
	case isClaimed(protocol.SniffInput{Data: text}):
		return LooksLikeChunk
	case isRequestBody(text):
		return LooksLikeRequest
	}
	return LooksLikeNothing
}

// isCompleteResponse reports whether an object that a protocol claims is a complete response and not only a
// part of one. Gemini and Ollama send the same object in both cases.
func isCompleteResponse(body json.Value) bool {
	switch body.Get("object").Text() {
	case "chat.completion", "text_completion", "response", "interaction":
		return true
	}
	if body.Get("type").Is("message") || body.Get("output").Get("message").Kind() == '{' {
		return true
	}
	if s := body.Get("choices").Scan(); s.Array() {
		return s.Value().Get("message").Kind() == '{'
	}
	return body.Get("message").Kind() == '{' && body.Get("finish_reason").IsString()
}

// isRequestBody reports whether an object is the body of a request. Such an object has a history. It also has
// other fields such as a model or tools, except if the history is in contents.
func isRequestBody(body json.Value) bool {
	var model, messages, input, contents, tools, config, system, inference json.Value
	if json.Read(body,
		json.Field("model", &model), json.Field("messages", &messages), json.Field("input", &input),
		json.Field("contents", &contents), json.Field("tools", &tools), json.Field("generationConfig", &config),
		json.Field("system", &system), json.Field("inferenceConfig", &inference)) != nil {
		return false
	}
	switch {
	case messages.Kind() == '[':
		return model.IsString() || inference.Kind() == '{' || tools.Kind() == '[' || system != nil
	case input != nil:
		return model.IsString() && (input.Kind() == '[' || tools.Kind() == '[')
	case contents.Kind() == '[':
		s := contents.Scan()
		return s.Array() && s.Value().Get("parts").Kind() == '['
	}
	return false
}

// guessList guesses the kind of a list from its first element.
func guessList(text []byte) PayloadGuess {
	s := json.Scan(text)
	if !s.Array() {
		return LooksLikeNothing
	}
	first := s.Value()
	if first.Kind() == '{' && isClaimed(protocol.SniffInput{Data: first}) {
		return LooksLikeBody
	}
	if first.Kind() == '[' && isClaimed(protocol.SniffInput{Data: text}) {
		return LooksLikeBody
	}
	return LooksLikeNothing
}

// hasKnownEvent reports whether one of the first events in a stream identifies the protocol.
func hasKnownEvent(text []byte) (ok bool) {
	const enough = 64 << 10
	look := func(f stream.Frame) {
		ok = ok || isClaimed(protocol.SniffInput{Event: f.Event, Data: f.Data})
	}
	var sse stream.SSESplitter
	sse.Write(text[:min(len(text), enough)], look)
	if !ok {
		sse.Close(look)
	}
	return ok
}

// IsModelPath reports whether the path of a request shows that the request is for a model.
func IsModelPath(path string) bool { return isClaimed(protocol.SniffInput{Path: path}) }

// maxGuessed is the maximum number of bytes of an input that Guess reads.
const maxGuessed = 8 << 10

// Guess returns a description of an input without model traffic, according to its first bytes. It returns ""
// for white space alone.
func Guess(first []byte) string {
	first = first[:min(len(first), maxGuessed)]
	for _, m := range magics {
		if len(first) >= m.at+len(m.bytes) && string(first[m.at:m.at+len(m.bytes)]) == m.bytes {
			return m.is
		}
	}
	text := textOf(first)
	if len(text) == 0 {
		return ""
	}
	if !isText(text) {
		return "binary data"
	}
	if text[0] == '{' || text[0] == '[' {
		if is := guessJSON(text); is != "" {
			return is
		}
	}
	for _, g := range guesses {
		if g.like().Match(text) {
			return g.is
		}
	}
	return cmp.Or(guessTable(text), "text")
}

// magics lists the characteristic bytes of other kinds of files.
var magics = []struct {
	at    int
	bytes string
	is    string
}{
	{0, "PK\x03\x04", "a ZIP archive: unpack it first"},
	{257, "ustar", "a tar archive: unpack it first"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"},
	{0, "\xfd7zXZ\x00", "xz data: unpack it first"},
	{0, "SQLite format 3\x00", "an SQLite database: export the data with the program that writes it"},
	{0, "\xd4\xc3\xb2\xa1", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\xa1\xb2\xc3\xd4", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x4d\x3c\xb2\xa1", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\xa1\xb2\x3c\x4d", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x0a\x0d\x0d\x0a", "a network packet capture, which toolscope doesn't read: record with 'toolscope proxy'"},
	{0, "\x7fELF", "a program"}, {0, "MZ", "a program"}, {0, "\xcf\xfa\xed\xfe", "a program"},
	{0, "\x89PNG", "an image"}, {0, "\xff\xd8\xff", "an image"}, {0, "GIF8", "an image"}, {0, "%PDF-", "a PDF"},
	{0, "\x00asm", "a WebAssembly module"},
}

// guesses lists kinds of text with a pattern for each. The first pattern that matches decides.
var guesses = []struct {
	is   string
	like func() *regexp.Regexp
}{
	{"an HTML page", lazyregexp.New(`(?i)^(<!doctype html|<html|<head|<body)`)},
	{"XML", lazyregexp.New(`^<(\?xml|[A-Za-z][\w:.-]*[ >])`)},
	{"keys or certificates", lazyregexp.New(`^-----BEGIN `)},
	{"a script", lazyregexp.New(`^#!`)},
	{"an npm log", lazyregexp.New(`^(npm (ERR!|error|verb|warn|http)|\d+ (verbose|info|silly|timing|http) )`)},
	{"a web server log", lazyregexp.New(`^\S+ \S+ \S+ \[[^\]\n]+\] "[A-Z]+ [^"\n]*" \d{3} `)},
	{"a diff", lazyregexp.New(`^(diff --git |--- \S|Index: )`)},
	{"Go source", lazyregexp.New(`(?m)^package \w+$`)},
	{"source code", lazyregexp.New(`(?m)^(import [\w{"'*]|from \S+ import |def \w+\(|class \w+|function \w+\(|#include <|const \w+ = |use strict|public class )`)},
	{"keys for TLS connections", lazyregexp.New(`(?m)^(CLIENT|SERVER|EXPORTER|EARLY)_[A-Z0-9_]+ [0-9a-f]{64} [0-9a-f]{2}|^CLIENT_RANDOM [0-9a-f]{64} `)},
	{"Markdown", lazyregexp.New("\\A#{1,3} \\S[^\\n]*\\r?\\n(\\r?\\n|\\z)|\\A#{1,3} \\S[^\\n]*\\z|(?m:^```)")},
	{"log lines", lazyregexp.New(`^\[?(\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )\d\d:\d\d`)},
	{"YAML", lazyregexp.New(`^(---\n|[\w-]+:( \S[^\n]*)?\n([\w-]+:|  [\w-]+:|- |  - ))`)},
}

// guessJSON describes a text that is a JSON value, or one JSON value per line. It returns "" for any other text.
func guessJSON(text []byte) string {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	more := len(bytes.TrimSpace(rest)) > 0
	switch d := json.Value(text); {
	case json.Valid(line) && more:
		return "JSON lines, each with " + keysOf(line)
	case text[0] == '[' && (len(text) == 1 || !strings.ContainsRune("{[\"0123456789-tfn] \r\n\t", rune(text[1]))):
		return "" // a bracket alone doesn't show that the text is JSON
	case d.Get("openapi").IsString(), d.Get("swagger").IsString():
		return "an API description"
	case d.Get("dependencies") != nil && d.Get("name").IsString():
		return "a package manifest"
	}
	if keys := keysOf(text); keys != "" {
		return "JSON with " + keys
	}
	return ""
}

// keysOf lists the first keys of an object, or of the first object in a list.
func keysOf(text []byte) string {
	d := stdjson.NewDecoder(bytes.NewReader(text))
	t, err := d.Token()
	if t == stdjson.Delim('[') {
		if !d.More() {
			return "an empty list"
		}
		t, err = d.Token()
	}
	if err != nil || t != stdjson.Delim('{') {
		return "a list"
	}
	var keys []string
	const named = 4
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			break
		}
		if keys = append(keys, name); len(keys) > named || d.Decode(new(stdjson.RawMessage)) != nil {
			break
		}
	}
	switch {
	case len(keys) == 0:
		return "no fields"
	case len(keys) > named:
		return strings.Join(keys[:named], ", ") + " …"
	}
	return strings.Join(keys, ", ")
}

// guessTable recognises a table: the second line has at least as many commas, tabs or semicolons as the
// first. It returns "" for any other text.
func guessTable(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	for _, sep := range []string{",", "\t", ";"} {
		n := bytes.Count(lines[0], []byte(sep))
		if n == 0 || len(lines) < 3 || bytes.Count(lines[1], []byte(sep)) < n {
			continue
		}
		return fmt.Sprintf("a table of %d columns", n+1)
	}
	return ""
}

// isText reports whether bytes are UTF-8 with few control characters. The last rune may be cut off.
func isText(p []byte) bool {
	odd := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(p[i:]) || r < ' ' && !strings.ContainsRune("\t\n\r\x1b\f", r) {
			odd++
		}
		i += n
	}
	return odd*20 <= len(p)
}

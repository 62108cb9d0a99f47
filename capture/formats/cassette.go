package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// An interaction in a cassette is a request and its response, recorded by a library for replay in a test.
// Libraries write interactions in different forms:
//
//	vcrpy, pytest-recording   request{method, uri, body, headers{k: [v]}}, response{status{code}, body{string}}
//	pydantic-ai               the same, with parsed_body for a body that is JSON
//	vcr (Ruby)                body{encoding, string or base64_string}, recorded_at
//	go-vcr                    request{method, url, body}, response{code, status "200 OK", body}
//	httpmock (Rust)           when{method, path, header[{name, value}], body}, then{status, header, body}

// parseInteraction reads an interaction. The result ok is false if it has neither a request nor a response. If cut is
// set, the end of the interaction may be missing.
func parseInteraction(p fileValue, cut bool) (x recordedExchange, ok bool) {
	request, response := p.get("request", "when"), p.get("response", "then")
	if !request.isMapping() && !response.isMapping() {
		return x, false
	}
	x = recordedExchange{layers: []string{"cassette"}}
	x.method = strings.ToUpper(request.get("method").asText())
	x.url = requestURL(request)
	x.requestHeader = partHeader(request.get("headers", "header"))
	x.request = partBody(&x, request, !response.isMapping() && (cut || x.url == ""))
	recorded, err := p.get("recorded_at").asText(), error(nil)
	if x.began, err = time.Parse(time.RFC1123, recorded); err != nil {
		x.began = parseISOTime(recorded)
	}
	status := response.get("status")
	if code := response.get("code"); code.isPresent() {
		status = code
	}
	if status.isMapping() {
		status = status.get("code")
	}
	word, _, _ := strings.Cut(status.asText(), " ")
	x.status, _ = strconv.Atoi(word)
	x.responseHeader = partHeader(response.get("headers", "header"))
	x.responseHeader.Del("Transfer-Encoding")
	x.response = partBody(&x, response, cut || x.status == 0)
	switch {
	case len(x.response) > 0:
		x.addLack(capture.NoTimes)
	case !response.isMapping() || x.status == 0:
		x.cut = true
	}
	return x, true
}

func requestURL(request fileValue) string {
	url := request.get("uri", "url").asText()
	if url != "" {
		return url
	}
	path := request.get("path").asText()
	if host := request.get("host").asText(); host != "" {
		return cmp.Or(request.get("scheme").asText(), "https") + "://" + host + path
	}
	return path
}

// partHeader reads headers from a mapping of names to one or several values, or from a list of names with
// values.
func partHeader(p fileValue) http.Header {
	h := http.Header{}
	p.eachChild(func(name string, value fileValue) {
		switch {
		case name == "" && value.isMapping():
			h.Add(value.get("name").asText(), value.get("value").asText())
		case value.isSequence():
			value.eachChild(func(_ string, v fileValue) { h.Add(name, v.asText()) })
		default:
			h.Add(name, value.asText())
		}
	})
	return h
}

// partBody returns the body of a request or a response. If cut is set, it returns a body that may be cut off only if
// the body's spelling shows that it is text.
func partBody(x *recordedExchange, side fileValue, cut bool) []byte {
	parsed, body := side.get("parsed_body"), side.get("body")
	if body.isMapping() && body.get("string", "base64_string").isPresent() {
		if text := body.get("string"); text.isPresent() {
			return text.asBytes()
		}
		return decodeBase64Text(body.get("base64_string").asText())
	}
	if coded := side.get("body_base64", "base64_body"); coded.isPresent() {
		return decodeBase64Text(coded.asText())
	}
	switch {
	case cut && side.endsWith("body", "parsed_body") && !body.isQuoted(), body.get("encoding").isPresent():
		return nil
	case parsed.isPresent() && !parsed.isNull():
		body = parsed
	}
	if !body.isMapping() && !body.isSequence() && !parsed.isPresent() {
		return body.asBytes()
	}
	if body.node != nil && (body.isMapping() || body.isSequence()) {
		x.addLack(capture.Reencoded)
	}
	return body.asJSON()
}

// jsonCassette reads cassettes that are JSON.
var jsonCassette = capture.Format{
	Name:  "json cassette",
	Title: "VCR cassettes in JSON: vcrpy, vcr, rvcr",
	Sniff: sniffJSONCassette,
	New: func(in *capture.Input) capture.Reader {
		return newEntries(in, "interaction", readInteraction, []string{"interactions", "*"}, []string{"http_interactions", "*"})
	},
}

func sniffJSONCassette(first []byte, whole bool) capture.SniffResult {
	return sniffObject(first, whole, func(key string, value []byte) capture.SniffResult {
		switch key {
		case "version", "recorded_with", "recorded_at", "name":
			return sniffMaybe(false)
		case "interactions", "http_interactions":
			for x := range json.Elements(value) {
				if request := json.Find(x, "request"); len(request) > 0 && request[0] == '{' {
					return capture.SniffResult{Is: capture.Yes, Why: `it has "` + key + `", a list of requests`}
				}
			}
			return sniffMaybe(false)
		}
		return capture.SniffResult{}
	})
}

func readInteraction(r *valuesReader, object []byte, cut bool) {
	x, ok := parseInteraction(fileValue{raw: object}, cut)
	x.cut = x.cut || cut
	if !ok {
		r.noteUnexpected("neither a request nor a response")
		return
	}
	r.writeExchange(&x)
}

// cassette reads cassettes that are YAML, interaction by interaction.
var cassette = capture.Format{
	Name:  "cassette",
	Title: "VCR cassettes in YAML: vcrpy, vcr, go-vcr, httpmock",
	Sniff: sniffCassette,
	New: func(in *capture.Input) capture.Reader {
		return &cassetteReader{recordWriter: recordWriter{in: in, entries: in.Entries(readItem)}}
	},
}

var (
	listKey   = lazyregexp.New(`^(http_)?interactions:\s*(#.*)?$`)
	itemBegin = lazyregexp.New(`^ *- +:?(request|response|id|recorded_at|duration|method|uri):`)
	mockBegin = lazyregexp.New(`^(when|then):\s*$`)
	otherKey  = lazyregexp.New(`^:?(version|recorded_with|recorded_at|record_mode|name):`)
)

// maxSniffLines is the maximum number of lines before the first interaction.
const maxSniffLines = 20

func sniffCassette(first []byte, whole bool) capture.SniffResult {
	text := strings.TrimPrefix(string(first), bom)
	list, mock := false, false
	for range maxSniffLines {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended && !whole {
			if len(line) > 200 || line != "" && !list && !mock && !mayBegin(line) {
				return capture.SniffResult{}
			}
			return sniffMaybe(whole)
		}
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "" || line[0] == '#' || strings.HasPrefix(line, "---"):
		case itemBegin().MatchString(line) && (list || line[0] == '-' && strings.Contains(line, "request:")):
			return capture.SniffResult{Is: capture.Yes, Why: "it begins with a list of interactions"}
		case mock && line[0] == ' ':
			if key, _, _ := strings.Cut(strings.TrimSpace(line), ":"); key == "path" || key == "method" || key == "scheme" {
				return capture.SniffResult{Is: capture.Yes, Why: `it begins with a "when:" block that describes a request`}
			}
		case list || mock:
			return capture.SniffResult{}
		case listKey().MatchString(line):
			list = true
		case mockBegin().MatchString(line):
			mock = true
		case !otherKey().MatchString(line):
			return capture.SniffResult{}
		}
		if text = rest; !ended {
			break
		}
	}
	return capture.SniffResult{}
}

// mayBegin reports whether an incomplete line may be one of the first lines of a cassette.
func mayBegin(line string) bool {
	c := strings.TrimLeft(line, " ")
	if c == "" || c[0] == '-' || c[0] == '#' || strings.HasPrefix(bom, line) {
		return true
	}
	for _, word := range []string{"version:", "recorded_", "record_mode:", "name:", "http_interactions:", "interactions:", "when:", "then:"} {
		if n := min(len(c), len(word)); c[:n] == word[:n] || c[0] == ':' && strings.HasPrefix(word, c[1:]) {
			return true
		}
	}
	return false
}

// cassetteReader splits the text into interactions by their indentation. It holds one interaction at a time.
type cassetteReader struct {
	recordWriter
	line   []byte // an incomplete line
	item   []byte // the lines of the current interaction
	long   bool   // the interaction is too long and is not held
	at     int64  // offset of that line
	read   int64  // number of bytes read so far
	itemAt int64  // offset where the interaction begins
	items  int
	inside insideOf // the block that contains the current line
	indent int      // indentation of the list's dashes; -1 before the first dash
	shared []byte   // interactions with anchors
	refers bool     // the latest interaction refers to interactions in shared
}

// insideOf is the block that contains a line of a cassette.
type insideOf int8

const (
	inNothing insideOf = iota
	inList             // the list of interactions
	inMock             // a document with the keys "when" and "then"
)

func (r *cassetteReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	for len(p) > 0 {
		n := lineEnd(p)
		line, ended := p[:n], p[n-1] == '\n'
		if len(r.line) > 0 || !ended {
			if len(r.line) <= maxInteractionBytes { // a longer line isn't kept anyway
				r.line = append(r.line, line...)
			}
			line = r.line
		}
		r.read, p = r.read+int64(n), p[n:]
		if ended {
			r.readLine(line)
			r.at = r.read
			if r.line = r.line[:0]; cap(r.line) > 1<<20 {
				r.line = nil
			}
		}
	}
	return r.takeWritten(recs), nil
}

// maxInteractionBytes is the maximum size of an interaction in YAML. Parsing needs several times as much
// memory as the text.
const maxInteractionBytes = 32 << 20

func (r *cassetteReader) readLine(line []byte) {
	text := bytes.TrimRight(line, " \t\r\n")
	indent := len(text) - len(bytes.TrimLeft(text, " "))
	dash := indent < len(text) && text[indent] == '-' && (indent+1 == len(text) || text[indent+1] == ' ')
	switch {
	case len(text) == 0 || text[0] == '#':
	case indent == 0 && (bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("..."))):
		r.flush()
		r.inside = inNothing
		return
	case r.inside == inMock:
	case dash && (r.inside == inList && (r.indent < 0 || indent == r.indent) || r.inside == inNothing && indent == 0):
		r.flush()
		r.inside, r.indent = inList, indent
	case r.inside == inList && r.indent >= 0 && indent > r.indent:
	case indent == 0:
		r.flush()
		switch {
		case listKey().Match(text):
			r.inside, r.indent = inList, -1
		case mockBegin().Match(text):
			r.inside = inMock
		default:
			r.inside = inNothing
		}
		if r.inside != inMock {
			return
		}
	}
	switch {
	case r.inside == inNothing || r.inside == inList && r.indent < 0:
		return
	case len(r.item) == 0 && !r.long:
		r.itemAt = r.at
	}
	if r.long || len(r.item)+len(line) > maxInteractionBytes {
		r.item, r.long = nil, true
		return
	}
	r.item = append(r.item, line...)
}

// flush reads the held interaction, which is finished.
func (r *cassetteReader) flush() { r.endInteraction(false) }

func (r *cassetteReader) endInteraction(last bool) {
	item, long := r.item, r.long
	r.item, r.long = r.item[:0], false
	switch {
	case long:
		r.items++
		r.addNote(true, "interaction %d, at byte %d, is longer than %d bytes and is not read", r.items, r.itemAt, maxInteractionBytes)
		return
	case len(bytes.TrimSpace(item)) == 0:
		return
	}
	r.items++
	root, cut, err := r.parse(item, last)
	if err != nil {
		r.addNote(true, "interaction %d, at byte %d, is not YAML: %s", r.items, r.itemAt, err)
		return
	}
	torn := cut || last && item[len(item)-1] != '\n'
	x, ok := parseInteraction(root, torn)
	x.cut = x.cut || cut
	if !ok {
		r.addNote(true, "interaction %d, at byte %d, has neither a request nor a response", r.items, r.itemAt)
		return
	}
	before := len(r.recs)
	if r.writeExchange(&x); !torn && !r.refers {
		r.entries.SetLocation(r.recs[before:], r.itemAt, int64(len(item)))
	}
	if cut {
		r.addNote(true, "the file ends inside interaction %d, which begins at byte %d", r.items, r.itemAt)
	}
}

// readItem reads a single interaction again.
func readItem(in *capture.Input, item []byte) []capture.Record {
	r := newRereadWriter(in)
	if root, err := parseItem(item); err == nil {
		if x, ok := parseInteraction(root, false); ok {
			r.writeExchange(&x)
		}
	}
	return r.recs
}

// parse parses one interaction, which may refer to anchors in an earlier one. The last interaction may be cut
// off; it is read as far as possible.
func (r *cassetteReader) parse(item []byte, last bool) (root fileValue, cut bool, err error) {
	root, err = parseItem(item)
	if r.refers = err != nil && strings.Contains(err.Error(), "unknown anchor") && len(r.shared) > 0; r.refers {
		root, err = parseItem(append(r.shared[:len(r.shared):len(r.shared)], item...))
	}
	if err == nil && bytes.Contains(item, []byte(" &")) && anchored().Match(item) && len(r.shared)+len(item) <= maxInteractionBytes/8 {
		r.shared = append(r.shared, item...)
	}
	if err == nil || !last {
		return root, false, err
	}
	for range maxCutLines {
		item = bytes.TrimRight(item, " \t\r\n\\")
		for _, end := range []string{"", "'\n", "\"\n"} {
			if root, try := parseItem(append(item[:len(item):len(item)], end...)); try == nil && root.get("request", "when").isMapping() {
				return root, true, nil
			}
		}
		item = item[:bytes.LastIndexByte(item, '\n')+1]
	}
	return root, true, err
}

// anchored matches an interaction that defines an anchor.
var anchored = lazyregexp.New(`(?m)^[^'"|>]*[:-] &[\w-]+`)

// maxCutLines is the maximum number of lines that are removed, one by one, from the end of a cut-off interaction
// until the rest can be parsed.
const maxCutLines = 4

// parseItem parses the last element of a list, or a complete document.
func parseItem(text []byte) (fileValue, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return fileValue{}, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return fileValue{}, fmt.Errorf("it is empty")
	}
	n := doc.Content[0]
	if n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return yamlValue(n), nil
}

func (r *cassetteReader) Close(recs []capture.Record, _ capture.End, _ string, _ time.Duration) []capture.Record {
	if len(r.line) > 0 {
		r.readLine(r.line)
	}
	r.endInteraction(true)
	return r.close(recs)
}

// lineEnd returns the length of the line that p begins with, including its line break.
func lineEnd(p []byte) int {
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		return n + 1
	}
	return len(p)
}

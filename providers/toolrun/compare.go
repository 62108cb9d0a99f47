package toolrun

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/tag"
)

// tags matches redaction placeholders. Each capture has its own digests, so two placeholders of the same kind
// are treated as equal.
var tags = regexp.MustCompile(regexp.QuoteMeta(tag.Start) + `([^:\]\s]+):[0-9a-f]{4}\]`)

func withoutTags(text []byte) []byte {
	if !tag.IsIn(text) {
		return text
	}
	return tags.ReplaceAll(text, []byte(tag.Start+"$1]"))
}

// sameArgs reports whether the arguments a and b have the same value apart from redaction. Missing arguments
// equal an empty object.
func sameArgs(a, b []byte) bool {
	a, b = withoutTags(bytes.TrimSpace(a)), withoutTags(bytes.TrimSpace(b))
	return json.Same(orEmpty(a), orEmpty(b)) || maybeSame(a, b)
}

// maybeSame reports whether two values may be the same apart from redaction. A secret may be redacted in only one of
// the captures.
func maybeSame(a, b json.Value) bool {
	switch {
	case !tag.IsIn(a) && !tag.IsIn(b):
		return json.Same(a, b)
	case a.Kind() == '{' && b.Kind() == '{':
		for x, y := range json.MemberPairs(a, b) {
			if !maybeSame(x.Value, y.Value) {
				return false
			}
		}
		return true
	case a.Kind() == '[' && b.Kind() == '[':
		return slices.EqualFunc(slices.Collect(a.Elements()), slices.Collect(b.Elements()), maybeSame)
	}
	return a.IsString() && b.IsString() && (matchesTagged(a, b) || matchesTagged(b, a))
}

var anyTag = regexp.MustCompile(regexp.QuoteMeta(tag.Start) + `[^\]]*\]`)

// matchesTagged reports whether text equals tagged. A placeholder in tagged may stand for any text.
func matchesTagged(text, tagged []byte) bool {
	parts := anyTag.Split(string(tagged), -1)
	rest, is := strings.CutPrefix(string(text), parts[0])
	for _, part := range parts[1:] {
		if i := strings.Index(rest, part); is && i >= 0 {
			rest = rest[i+len(part):]
		} else {
			is = false
		}
	}
	return is && strings.HasSuffix(string(text), parts[len(parts)-1])
}

func orEmpty(v []byte) []byte {
	if len(v) == 0 || string(v) == "null" {
		return []byte("{}")
	}
	return v
}

// writtenArgs returns the part of the model's arguments that the tool receives. For a shell, this is an object with
// only the command, because the client doesn't pass on the model's description of the command.
func (of *Call) writtenArgs(a *ToolRequest) []byte {
	if !a.Shell() {
		return of.Args
	}
	return slices.Concat([]byte(`{"command":`), []byte(cmp.Or(string(json.Value(of.Args).Get("command")), "null")), []byte("}"))
}

// prefixLen reports whether got is a JSON string that contains only the beginning of wrote, and returns the size of
// this beginning in bytes.
func prefixLen(wrote []byte, got json.Value) (size int, ok bool) {
	if !got.IsString() {
		return 0, false
	}
	text := got.Append(nil)
	if len(text) == len(wrote) || !bytes.HasPrefix(wrote, text) {
		return 0, false
	}
	return len(text), true
}

// ResultRelation says how the result that the model got relates to the result that the tool returned.
type ResultRelation string

// The values of ResultRelation.
const (
	Unknown ResultRelation = ""
	Same    ResultRelation = "same"
	Wrapped ResultRelation = "wrapped" // the complete result, within text that the client added
	Cut     ResultRelation = "cut"     // only a part of the result
	Half    ResultRelation = "half"    // only the text or only the structured content, although the two differ
	Altered ResultRelation = "altered"
	None    ResultRelation = "none"
)

// sampleBytes is the maximum length of the samples that hasSome searches for.
const sampleBytes = 48

// compareResult compares the result that a tool returned with the result that the model got.
func compareResult(r *mcp.Request, got []byte, media int) ResultRelation {
	text, shape := withoutTags(bytes.TrimSpace([]byte(r.Text))), withoutTags(bytes.TrimSpace(r.Structured))
	got = withoutTags(bytes.TrimSpace(got))
	wholeText, wholeShape := len(r.Text) == r.TextSize, len(r.Structured) == r.StructuredSize
	switch {
	case len(text)+len(shape) == 0 && r.Media+media == 0 && len(got) == 0:
		return Same
	case len(text)+len(shape) == 0:
		return Unknown // nothing to compare
	case len(got) == 0 && media == 0:
		return None
	case len(got) == 0:
		return Unknown
	}
	said := got
	if inner := stringsIn(got); len(inner) > 0 {
		said = slices.Concat(got, []byte("\n"), inner)
	}
	isText, isShape := wholeText && len(text) > 0, wholeShape && len(shape) > 0
	same, wrapped := Same, Wrapped
	switch both := len(text) > 0 && len(shape) > 0; {
	case both && !(wholeText && wholeShape): // bytes that were not kept decide whether the two differ
		same, wrapped = Unknown, Unknown
	case both && !saysSame(text, shape):
		same, wrapped = Half, Half
	}
	size := max(r.TextSize, r.StructuredSize)
	switch {
	case isText && saysSame(got, text), isShape && saysSame(got, shape):
		return same
	case isText && containsText(said, text), isShape && (containsText(said, shape) || containsAll(said, shape)):
		return wrapped
	case len(got) < size && (bytes.Contains(text, got) || bytes.Contains(shape, got) || hasSome(said, text) || hasSome(said, stringsIn(shape)) || hasSome(said, shape)):
		return Cut
	case len(got) < size/4 && size > 4<<10:
		return Cut // probably a message that says where the complete result is
	case !isText && !isShape || media+r.Media > 0:
		return Unknown
	}
	return Altered
}

// containsText reports whether one text contains another, either unchanged or escaped for JSON. It ignores white
// space if the contained text has at least eight other bytes.
func containsText(in, text []byte) bool {
	if bytes.Contains(in, text) || bytes.Contains(in, escapeJSON(text)) {
		return true
	}
	squeezed := withoutSpaces(text)
	return len(squeezed) >= 8 && bytes.Contains(withoutSpaces(in), squeezed)
}

// escapeJSON escapes a text for use within a JSON string.
func escapeJSON(text []byte) []byte {
	quoted := json.AppendQuoted(nil, text)
	return quoted[1 : len(quoted)-1]
}

func withoutSpaces(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }

// saysSame reports whether two texts are equal, or are the same JSON value.
func saysSame(a, b []byte) bool { return bytes.Equal(a, b) || json.Same(a, b) }

// containsAll reports whether text contains every scalar in value, which is a sign that the client wrote the value in
// another form. It returns false if value has only one scalar, or at most sampleBytes bytes.
func containsAll(text []byte, value json.Value) bool {
	n, all := 0, true
	eachScalar(value, func(v json.Value) {
		n++
		all = all && bytes.Contains(text, v.Append(nil))
	})
	return n > 1 && all && len(value) > sampleBytes
}

// hasSome reports whether one text contains a sample from the beginning, middle or end of another text. It returns
// false if the other text is shorter than eight bytes.
func hasSome(in, of []byte) bool {
	n := min(sampleBytes, len(of))
	for _, at := range []int{0, (len(of) - n) / 2, len(of) - n} {
		if piece := of[at : at+n]; n >= 8 && (bytes.Contains(in, piece) || bytes.Contains(in, escapeJSON(piece))) {
			return true
		}
	}
	return false
}

// stringsIn returns all strings in a JSON value except keys, one per line. It returns nil if v is not valid
// JSON.
func stringsIn(v json.Value) (text []byte) {
	if k := v.Kind(); k != '{' && k != '[' && k != '"' {
		return nil
	}
	s := v.Scan()
	s.Value()
	if s.End() != nil {
		return nil
	}
	eachScalar(v, func(one json.Value) {
		if one.IsString() {
			text = append(one.Append(slices.Clip(text)), '\n')
		}
	})
	return bytes.TrimSuffix(text, []byte("\n"))
}

// eachScalar calls the function do for every scalar in a value.
func eachScalar(v json.Value, do func(json.Value)) {
	s := v.Scan()
	switch v.Kind() {
	case '{':
		for ok := s.Object(); ok; ok = s.Member() {
			s.Key()
			eachScalar(s.Value(), do)
		}
	case '[':
		for ok := s.Array(); ok; ok = s.Element() {
			eachScalar(s.Value(), do)
		}
	case 0:
	default:
		do(v)
	}
}

// maxDeclared is the maximum number of tool names that are kept. It also limits the number of drifted tools.
const maxDeclared = 4096

// A declaration is the name of a tool that models were offered in a run.
type declaration struct{ run, name string }

func (m *Matcher) declare(d declaration) {
	if len(m.declared) < maxDeclared && !slices.Contains(m.declared, d) {
		m.declared = append(m.declared, d)
	}
}

// A driftedTool is a tool whose schema in a request to the model differs from the schema that its server
// published.
type driftedTool struct {
	run, server, tool, where string
	by                       *stream.Diagnosis
}

// AddDeclared reads the tools that a model was offered in a run. It reports each tool whose schema differs from the
// one that its server published. Each difference is reported once, with the party at fault. Tools of one server that
// drift in the same way share one finding.
func (m *Matcher) AddDeclared(run string, tools []protocol.Tool) (found []stream.Finding) {
	var alike [][]driftedTool
	for _, t := range tools {
		name := t.Name
		if t.Namespace != "" {
			name = t.Namespace + "__" + t.Name
		}
		m.declare(declaration{run, name})
		d, drifts := m.drift(run, name, t.Schema)
		if !drifts || slices.Contains(m.drifts, d) || len(m.drifts) == maxDeclared {
			continue
		}
		m.drifts = append(m.drifts, d)
		i := slices.IndexFunc(alike, func(l []driftedTool) bool { return l[0].server == d.server && l[0].by == d.by })
		if i < 0 {
			i, alike = len(alike), append(alike, nil)
		}
		alike[i] = append(alike[i], d)
	}
	for _, list := range alike {
		found = append(found, driftFinding(list))
	}
	return found
}

// driftFinding returns the finding for tools of one server that drift in the same way.
func driftFinding(list []driftedTool) stream.Finding {
	d, why, more := list[0], "", stream.Message{}
	if d.by == driftOfServer {
		why = "; the server has since changed the schema"
	}
	if n := len(list) - 1; n > 0 {
		names := make([]string, 0, maxNamed)
		for _, other := range list[1:min(len(list), 1+maxNamed)] {
			names = append(names, other.tool)
		}
		more = stream.Messagef("; also %d more: %s", n, strings.Join(names, ", "))
		if n > maxNamed {
			more = stream.Messagef("%s …", more)
		}
	}
	var where any = stream.Fact(d.where)
	if d.where == "it" {
		where = stream.OwnFact(d.where)
	}
	return d.by.Finding("the model got a different schema for %s than %s published: %s differs%s%s",
		stream.Fact(d.tool), d.server, where, stream.Own(why), more)
}

// maxNamed is the maximum number of tools that a finding names after the first one.
const maxNamed = 5

// drift compares the schema of a tool in a request with the schema that its server published.
func (m *Matcher) drift(run, name string, schema json.Value) (d driftedTool, drifts bool) {
	var of *mcp.Server
	var tool *mcp.Tool
	for _, s := range m.log.Servers {
		for i := range s.Tools {
			if s.Run != run || schema == nil || nameMatch(name, s, s.Tools[i].Name) < someServer || s.Tools[i].Schema == nil {
				continue
			}
			if of != nil && of.Name != s.Name {
				return d, false // ambiguous
			}
			of, tool = s, &s.Tools[i]
			if sameSchema(schema, tool.Schema) {
				return d, false
			}
		}
	}
	if tool == nil {
		return d, false
	}
	d = driftedTool{run, of.Name, strings.TrimSpace(tool.Name), cmp.Or(json.FirstDifference(withoutSchemaKey(tool.Schema), withoutSchemaKey(schema)), "it"), schemaDrift}
	switch {
	case slices.ContainsFunc(of.FormerTools, func(t mcp.Tool) bool { return t.Name == tool.Name && sameSchema(schema, t.Schema) }):
		if of.Changes == 0 {
			return d, false // the request has an older list of tools because the server didn't announce the change
		}
		d.by = driftOfServer
	default:
		where, widens := allowsMore(tool.Schema, schema, false)
		if !widens {
			d.by = driftOfWords
		} else if where != "" {
			d.where = where
		}
	}
	return d, true
}

// Diagnoses for drift that the server caused, and for drift that consists only of differences that allowsMore
// ignores.
var (
	driftOfServer = schemaDrift.WithCause(stream.Server)
	driftOfWords  = schemaDrift.WithSeverity(stream.Info)
)

// allowsMore reports whether the schema in a request may allow arguments that the published schema forbids, and
// where. It counts every difference except annotations and additional properties that only the request forbids. If
// names is set, the keys are names that the schema's author chose, not keywords.
func allowsMore(told, given json.Value, names bool) (where string, widens bool) {
	switch {
	case told.Kind() == '{' && given.Kind() == '{':
		for x, y := range json.MemberPairs(told, given) {
			name := cmp.Or(x.Name, y.Name)
			if !names && (slices.Contains(annotations, name) || name == "additionalProperties" && x.Value == nil && string(y.Value) == "false") {
				continue
			}
			if where, widens := allowsMore(x.Value, y.Value, !names && slices.Contains(named, name)); widens {
				return json.AppendPointer("", name) + where, true
			}
		}
		return "", false
	case told.Kind() == '[' && given.Kind() == '[':
		x, y := slices.Collect(told.Elements()), slices.Collect(given.Elements())
		for i := range min(len(x), len(y)) {
			if where, widens := allowsMore(x[i], y[i], false); widens {
				return "/" + strconv.Itoa(i) + where, true
			}
		}
		return "", len(x) != len(y)
	}
	return "", !json.Same(told, given)
}

// The keywords in annotations neither allow nor forbid anything. The value of a keyword in named is an object whose
// keys are not keywords, but names that the schema's author chose.
var (
	annotations = []string{"$schema", "$comment", "default", "description", "examples", "title"}
	named       = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// sameSchema reports whether two schemas are the same apart from the order of keys and the $schema keyword.
func sameSchema(a, b json.Value) bool {
	return json.Same(withoutSchemaKey(a), withoutSchemaKey(b))
}

// withoutSchemaKey returns a schema without its $schema keyword.
func withoutSchemaKey(schema json.Value) json.Value {
	var b strings.Builder
	removed := false
	for _, f := range json.SortedMembers(schema) {
		if f.Name == "$schema" {
			removed = true
			continue
		}
		fmt.Fprintf(&b, ",%s:%s", json.AppendQuoted(nil, []byte(f.Name)), f.Value)
	}
	if !removed {
		return schema
	}
	return json.Value("{" + strings.TrimPrefix(b.String(), ",") + "}")
}

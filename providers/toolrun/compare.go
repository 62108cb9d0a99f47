package toolrun

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
)

// tags matches redaction placeholders. Each capture makes its own, so two placeholders of one kind are
// treated as equal.
var tags = regexp.MustCompile(`\[redacted:([^:\]\s]+):[0-9a-f]{4}\]`)

func withoutTags(text []byte) []byte {
	if !bytes.Contains(text, []byte("[redacted:")) {
		return text
	}
	return tags.ReplaceAll(text, []byte("[redacted:$1]"))
}

// sameArgs reports whether two arguments are the same value. Missing arguments equal an empty object.
func sameArgs(a, b []byte) bool {
	a, b = withoutTags(bytes.TrimSpace(a)), withoutTags(bytes.TrimSpace(b))
	return protocol.Same(orEmpty(a), orEmpty(b)) || maybeSame(a, b)
}

// maybeSame reports whether two values may be the same apart from redaction: one capture may recognise a
// secret that another doesn't.
func maybeSame(a, b protocol.Raw) bool {
	switch {
	case !bytes.Contains(a, []byte("[redacted:")) && !bytes.Contains(b, []byte("[redacted:")):
		return a != nil && b != nil && protocol.Same(a, b)
	case a.Kind() == '{' && b.Kind() == '{':
		x, y := membersOf(a), membersOf(b)
		for name := range unionKeys(x, y) {
			if !maybeSame(x[name], y[name]) {
				return false
			}
		}
		return true
	case a.Kind() == '[' && b.Kind() == '[':
		return slices.EqualFunc(slices.Collect(a.Elements()), slices.Collect(b.Elements()), maybeSame)
	}
	return a.IsString() && b.IsString() && (matchesTagged(a, b) || matchesTagged(b, a))
}

var anyTag = regexp.MustCompile(`\[redacted:[^\]]*\]`)

// matchesTagged reports whether text equals tagged with other text in place of its placeholders.
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

// writtenArgs returns the arguments that a model wrote, as far as its tool gets them. For a shell that is
// the command; the model's description of it stays with the client.
func (of *Call) writtenArgs(a *ToolRequest) []byte {
	if !a.Shell() {
		return of.Args
	}
	return slices.Concat([]byte(`{"command":`), []byte(cmp.Or(string(protocol.Raw(of.Args).Get("command")), "null")), []byte("}"))
}

// prefixLen reports whether got is a JSON string that contains the beginning of wrote, but not all of it,
// and how many bytes.
func prefixLen(wrote []byte, got protocol.Raw) (size int, ok bool) {
	if !got.IsString() {
		return 0, false
	}
	text := got.Append(nil)
	if len(text) == len(wrote) || !bytes.HasPrefix(wrote, text) {
		return 0, false
	}
	return len(text), true
}

// firstDifference returns the path of the first value that differs, "" if the values differ completely.
func firstDifference(a, b protocol.Raw) string {
	switch {
	case a.Kind() == '{' && b.Kind() == '{':
		x, y := membersOf(a), membersOf(b)
		for _, name := range slices.Sorted(maps.Keys(unionKeys(x, y))) {
			if !protocol.Same(x[name], y[name]) {
				return "/" + pointer.Replace(name) + firstDifference(x[name], y[name])
			}
		}
	case a.Kind() == '[' && b.Kind() == '[':
		x, y := slices.Collect(a.Elements()), slices.Collect(b.Elements())
		for i := range min(len(x), len(y)) {
			if !protocol.Same(x[i], y[i]) {
				return "/" + strconv.Itoa(i) + firstDifference(x[i], y[i])
			}
		}
	}
	return ""
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

func membersOf(v protocol.Raw) map[string]protocol.Raw {
	all := map[string]protocol.Raw{}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		name := string(s.Key())
		all[name] = s.Value()
	}
	return all
}

func unionKeys[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// ResultRelation is how the result that the model got relates to what the tool returned.
type ResultRelation string

// The relations.
const (
	Unknown ResultRelation = ""
	Same    ResultRelation = "same"
	Wrapped ResultRelation = "wrapped" // all of it, in a text of the client
	Cut     ResultRelation = "cut"     // less
	Half    ResultRelation = "half"    // the text or the structured content, which differ
	Altered ResultRelation = "altered"
	None    ResultRelation = "none"
)

// sampleBytes is the length of a sample that is searched for.
const sampleBytes = 48

// compareResult compares what a tool returned with the result that the model got.
func compareResult(r *mcp.Request, got []byte, media int) ResultRelation {
	text, shape := withoutTags(bytes.TrimSpace([]byte(r.Text))), withoutTags(bytes.TrimSpace(r.Structured))
	got = withoutTags(bytes.TrimSpace(got))
	wholeText, wholeShape := len(r.Text) == r.TextSize, len(r.Structured) == r.StructuredSize
	differ := len(text) > 0 && len(shape) > 0 && !(wholeText && wholeShape && saysSame(text, shape))
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
	if differ {
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
		return Cut // a text about where the rest is
	case !isText && !isShape || media+r.Media > 0:
		return Unknown
	}
	return Altered
}

// containsText reports whether a text contains another, as it is or escaped for JSON, ignoring white
// space.
func containsText(in, text []byte) bool {
	if bytes.Contains(in, text) || bytes.Contains(in, escapeJSON(text)) {
		return true
	}
	squeezed := withoutSpaces(text)
	return len(squeezed) >= 8 && bytes.Contains(withoutSpaces(in), squeezed)
}

// escapeJSON returns a text as it is written in a JSON string.
func escapeJSON(text []byte) []byte {
	quoted := protocol.AppendString(nil, text)
	return quoted[1 : len(quoted)-1]
}

func withoutSpaces(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }

// saysSame reports whether two texts are the same, or the same value.
func saysSame(a, b []byte) bool { return bytes.Equal(a, b) || protocol.Same(a, b) }

// containsAll reports whether a text contains every string and number of a value: a client may write the
// value in another form.
func containsAll(text []byte, value protocol.Raw) bool {
	n, all := 0, true
	eachScalar(value, func(v protocol.Raw) {
		n++
		all = all && bytes.Contains(text, v.Append(nil))
	})
	return n > 1 && all && len(value) > sampleBytes
}

// hasSome reports whether one text contains a sample of another: its beginning, its middle or its end.
func hasSome(in, of []byte) bool {
	if len(of) == 0 {
		return false
	}
	n := min(sampleBytes, len(of))
	for _, at := range []int{0, (len(of) - n) / 2, len(of) - n} {
		if piece := of[at : at+n]; n >= 8 && (bytes.Contains(in, piece) || bytes.Contains(in, escapeJSON(piece))) {
			return true
		}
	}
	return false
}

// stringsIn returns all strings of a JSON value, one per line.
func stringsIn(v protocol.Raw) (text []byte) {
	if k := v.Kind(); k != '{' && k != '[' && k != '"' {
		return nil
	}
	s := v.Scan()
	s.Value()
	if s.End() != nil {
		return nil
	}
	eachScalar(v, func(one protocol.Raw) {
		if one.IsString() {
			text = append(one.Append(slices.Clip(text)), '\n')
		}
	})
	return bytes.TrimSuffix(text, []byte("\n"))
}

// eachScalar calls do for every value in a value that contains no other.
func eachScalar(v protocol.Raw, do func(protocol.Raw)) {
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

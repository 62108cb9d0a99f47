package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// problemText returns the message for an error, without the error's place. Words that distinguish several errors of
// one value are marked as facts.
func problemText(e *jsonschema.ValidationError) stream.Message {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return stream.Messagef("a value of type %s, but the schema allows %s", stream.Own(k.Got), stream.OwnFact(strings.Join(k.Want, " or ")))
	case *kind.FalseSchema:
		return stream.Message{Text: "no value is allowed here"}
	case *kind.Enum:
		return stream.Messagef("%s is not an allowed value; the schema allows %s", literalText(k.Got), listOf(k.Want))
	case *kind.Const:
		return stream.Messagef("%s is not an allowed value; the schema allows %s", literalText(k.Got), literalText(k.Want))
	case *kind.Required:
		return stream.Messagef("missing %s, which the schema requires", missingKeys(k.Missing))
	case *kind.DependentRequired:
		return stream.Messagef("missing %s, which %s requires", missingKeys(k.Missing), stream.Fact(clipText(k.Prop)))
	case *kind.Dependency:
		return stream.Messagef("missing %s, which %s requires", missingKeys(k.Missing), stream.Fact(clipText(k.Prop)))
	case *kind.PropertyNames:
		return stream.Messagef("the key %q is not allowed", stream.Fact(clipText(k.Property)))
	case *kind.AnyOf:
		return stream.Messagef("matches none of the %d %s", len(e.Causes), stream.OwnFact("alternatives"))
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return stream.Messagef("matches alternatives %d and %d; only %s may match", k.Subschemas[0]+1, k.Subschemas[1]+1, stream.OwnFact("one"))
		}
		return stream.Messagef("matches none of the %d %s", len(e.Causes), stream.OwnFact("alternatives"))
	}
	return measureProblem(e.ErrorKind)
}

// missingKeys lists missing keys for a message. It clips long names and long lists.
func missingKeys(keys []string) stream.Fact {
	return stream.Fact(listNames(clipNames(keys), len(keys)))
}

// shortProblem returns the error in a few words, or "" if the full message is not much longer.
func shortProblem(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "want " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return notAmong(k.Want)
	case *kind.Const:
		return notAmong([]any{k.Want})
	case *kind.Required:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.DependentRequired:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.Dependency:
		return "missing " + string(missingKeys(k.Missing))
	case *kind.AdditionalProperties, *kind.PropertyNames:
		return UnknownKey.Short
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return "two alternatives fit"
		}
		return "no alternative fits"
	case *kind.AnyOf:
		return "no alternative fits"
	case *kind.FalseSchema:
		return "not allowed"
	case *kind.Not:
		return ""
	}
	return strings.Replace(measureProblem(e.ErrorKind).Text, ", but the schema", ",", 1)
}

// measureProblem returns an error that names the limit that a value violates.
func measureProblem(e jsonschema.ErrorKind) stream.Message {
	switch k := e.(type) {
	case *kind.MinLength:
		return sizeProblem(k.Got, "character", "requires at least", k.Want)
	case *kind.MaxLength:
		return sizeProblem(k.Got, "character", "allows", k.Want)
	case *kind.MinItems:
		return sizeProblem(k.Got, "element", "requires at least", k.Want)
	case *kind.MaxItems:
		return sizeProblem(k.Got, "element", "allows", k.Want)
	case *kind.MinProperties:
		return sizeProblem(k.Got, "key", "requires at least", k.Want)
	case *kind.MaxProperties:
		return sizeProblem(k.Got, "key", "allows", k.Want)
	case *kind.AdditionalItems:
		return stream.Messagef("%s more than the schema %s", stream.Own(count.Of(k.Count, "element")), stream.OwnFact("allows"))
	case *kind.UniqueItems:
		return stream.Messagef("elements %d and %d are %s", k.Duplicates[0], k.Duplicates[1], stream.OwnFact("equal"))
	case *kind.Minimum:
		return boundProblem(k.Got, "requires at least", k.Want)
	case *kind.Maximum:
		return boundProblem(k.Got, "allows at most", k.Want)
	case *kind.ExclusiveMinimum:
		return boundProblem(k.Got, "requires more than", k.Want)
	case *kind.ExclusiveMaximum:
		return boundProblem(k.Got, "requires less than", k.Want)
	case *kind.MultipleOf:
		return stream.Messagef("%s is not a %s %s", decimalText(k.Got), stream.OwnFact("multiple of"), decimalText(k.Want))
	case *kind.Pattern:
		return stream.Messagef("%s does not match %s", literalText(k.Got), stream.Fact(clipText(k.Want)))
	case *kind.Format:
		return stream.Messagef("%s is not a valid %s", literalText(k.Got), stream.Fact(clipText(k.Want)))
	case *kind.Contains, *kind.MinContains:
		return stream.Messagef(`%s elements match the schema's "contains"`, stream.OwnFact("too few"))
	case *kind.MaxContains:
		return stream.Messagef(`%s elements match the schema's "contains"`, stream.OwnFact("too many"))
	case *kind.Not:
		return stream.Messagef("matches the schema's %q", stream.OwnFact("not"))
	}
	return stream.Messagef("%s is not satisfied", stream.OwnFact(strings.Join(e.KeywordPath(), " ")))
}

// sizeProblem returns the error for a value with too few or too many units. The parameter bound is the schema's rule
// in words, such as "allows".
func sizeProblem(got int, unit, bound string, want int) stream.Message {
	return stream.Messagef("%s, but the schema %s %d", stream.Own(count.Of(got, unit)), stream.OwnFact(bound), want)
}

// boundProblem returns the error for a number that is too small or too large. The parameter bound is the schema's
// rule in words, such as "allows at most".
func boundProblem(got *big.Rat, bound string, want *big.Rat) stream.Message {
	return stream.Messagef("%s, but the schema %s %s", decimalText(got), stream.OwnFact(bound), decimalText(want))
}

// decimalText returns a number in the form in which the schema or the model most likely wrote it.
func decimalText(n *big.Rat) string {
	if n == nil {
		return "a number"
	}
	if n.IsInt() {
		return clipText(n.Num().String())
	}
	f, _ := n.Float64()
	return fmt.Sprint(f)
}

// The code below clips captured text for messages. It leaves control characters to the screen, which replaces them.

const (
	maxNamed = 8  // maximum number of names in a list
	maxText  = 60 // maximum size of a name or another text, in bytes
)

// clipText clips long captured text.
func clipText(s string) string { return stream.Clip([]byte(s), 0, maxText) }

// listNames joins the first names of a list. The parameter total is the number of all names. If total is 0, listNames
// returns "nothing".
func listNames(names []string, total int) string {
	if total == 0 {
		return "nothing"
	}
	names = names[:min(len(names), maxNamed)]
	s := strings.Join(names, ", ")
	if more := total - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// withArticle returns the name of a single kind with its article. The name null has no article.
func withArticle(k kinds) string {
	switch word := k.String(); {
	case k == aNull:
		return word
	case strings.IndexByte("aeiou", word[0]) >= 0:
		return "an " + word
	default:
		return "a " + word
	}
}

// allowedText returns a list of the allowed items: keys for the diagnosis UnknownKey, and values otherwise.
func (n *schemaNode) allowedText(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return n.keyList()
	}
	return n.listedText()
}

// keyList returns a list of the keys that an object may have.
func (n *schemaNode) keyList() string {
	names := clipNames(n.names)
	for _, p := range n.patterns[:min(len(n.patterns), maxNamed)] {
		names = append(names, "keys that match "+clipText(p.text))
	}
	if len(names) == 0 {
		return "{}"
	}
	return listNames(names, len(n.names)+len(n.patterns))
}

// clipNames returns the first names, each clipped. It returns one name more than a list shows.
func clipNames(names []string) []string {
	out := make([]string, 0, maxNamed+1)
	for _, s := range names[:min(len(names), maxNamed+1)] {
		out = append(out, clipText(s))
	}
	return out
}

// listedValues returns the values that a schema or its alternatives list, or nil if they list none. It leaves out the
// strings that another list for the same value excludes.
func (n *schemaNode) listedValues() (values []any) {
	switch {
	case n.of.Const != nil:
		return []any{*n.of.Const}
	case n.of.Enum != nil:
		return slices.DeleteFunc(slices.Clone(n.of.Enum.Values), func(v any) bool {
			word, isString := v.(string)
			_, found := slices.BinarySearch(n.words, word)
			return isString && !found
		})
	case n.listed && n.kinds&aString != 0:
		for _, w := range n.words {
			values = append(values, w)
		}
	}
	return values
}

// listedText returns a list of the values that a schema or its alternatives allow.
func (n *schemaNode) listedText() string {
	if values := n.listedValues(); values != nil {
		return listOf(values)
	}
	return n.kinds.String()
}

// notListedText returns a hint that a value is not allowed.
func (n *schemaNode) notListedText() string {
	if values := n.listedValues(); values != nil {
		return notAmong(values)
	}
	return "want " + n.kinds.String()
}

// shortReason returns the hint about a value, or "" if the finding is about a key.
func (n *schemaNode) shortReason(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return ""
	}
	return n.notListedText()
}

// notAmong returns a hint that a value is none of the given values. It writes strings without quotation marks.
func notAmong(values []any) string {
	var words []string
	for _, v := range values[:min(len(values), maxNamed+1)] {
		word := literalText(v)
		if s, ok := v.(string); ok && s != "" {
			word = clipText(s)
		}
		words = append(words, word)
	}
	if len(values) == 1 {
		return "not " + words[0]
	}
	return "not one of " + listNames(words, len(values))
}

// listOf returns a list of values as JSON.
func listOf(values []any) string {
	var words []string
	for _, v := range values[:min(len(values), maxNamed+1)] {
		words = append(words, literalText(v))
	}
	return listNames(words, len(values))
}

// literalText returns a value as JSON. It clips a long value.
func literalText(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(clipText(s))
	}
	text, _ := stdjson.Marshal(v)
	return clipText(string(text))
}

// A step is one level of the path to a value.
type step struct {
	array bool
	index int
	key   []byte // the literal of the key; nil between fields
}

// pointerAt returns the JSON pointer to the value at a byte offset. If there is a key at this offset, it
// returns the pointer to the key's object.
func pointerAt(args []byte, toks json.TokenList, at int) stream.Message {
	var way []step
	start := 0
	for _, t := range toks.All() {
		if start >= at {
			break
		}
		way = followToken(way, t.Kind, args[start:t.End])
		start = int(t.End)
	}
	var names []string
	for _, s := range way {
		switch {
		case s.array:
			names = append(names, strconv.Itoa(s.index))
		case s.key != nil:
			names = append(names, literalContent(s.key))
		}
	}
	return pointerText("", names, top)
}

// followToken updates a path with one token.
func followToken(way []step, kind json.TokenKind, text []byte) []step {
	n := len(way)
	switch kind {
	case json.ObjectOpen, json.ArrayOpen:
		return append(way, step{array: kind == json.ArrayOpen})
	case json.ObjectClose, json.ArrayClose:
		return way[:n-1]
	case json.Comma:
		way[n-1].index++
		way[n-1].key = nil
	case json.Key:
		way[n-1].key = text
	}
	return way
}

// top is the name for the outermost value.
const top = "the arguments"

// pointerText returns the text before, followed by a JSON pointer. If the pointer is long, only its end is kept. For
// the outermost value, pointerText returns top.
func pointerText(before string, names []string, top string) stream.Message {
	if len(names) == 0 {
		return stream.Message{Text: top}
	}
	const longest = 8
	s := ""
	if n := len(names); n > longest {
		s, names = "…", names[n-longest:]
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range names {
		s += "/" + escape.Replace(clipText(name))
	}
	return stream.Messagef("%s%s", stream.Own(before), stream.Fact(s))
}

// stringProgress follows the content of one string literal as it grows. It tracks the length, and the listed words
// that the string can still become. It decodes characters in the same way as encoding/json, which the validator uses.
type stringProgress struct {
	at       int // offset of the first unread byte
	size     int // size of the current character in bytes
	runes    int
	lists    []wordRange
	maxRunes int // maximum number of runes
	long     bool
}

// wordRange contains the words in a sorted list that begin with the bytes read so far.
type wordRange struct {
	of   *schemaNode
	left []string
	read int // number of bytes of each word that were read
}

// goOn keeps only the words that continue with s.
func (w *wordRange) goOn(s string) {
	lo := sort.Search(len(w.left), func(i int) bool { return w.left[i][w.read:] >= s })
	n := sort.Search(len(w.left)-lo, func(i int) bool { return !strings.HasPrefix(w.left[lo+i][w.read:], s) })
	w.left = w.left[lo : lo+n]
	w.read += len(s)
}

// startLiteral starts reading the literal that begins at start.
func (r *stringProgress) startLiteral(start, most int) {
	*r = stringProgress{at: start + 1, lists: r.lists[:0], maxRunes: most}
}

// isIdle reports whether nothing is left to check.
func (r *stringProgress) isIdle() bool {
	return len(r.lists) == 0 && (r.maxRunes == unbounded || r.long)
}

// next reads one character of args[:end]. It returns false if no complete character is left. It calls the function
// fail when no word of a list is possible any longer, and the function long when there are too many characters. If
// more is set, the literal may continue.
func (r *stringProgress) next(args []byte, end int, more bool, fail func(*wordRange), long func()) bool {
	c, size := json.NextChar(args[r.at:end], more)
	if size == 0 {
		return false
	}
	r.size = size
	var buf [utf8.UTFMax]byte
	s := string(buf[:utf8.EncodeRune(buf[:], c)])
	kept := r.lists[:0]
	for i := range r.lists {
		w := r.lists[i]
		if w.goOn(s); len(w.left) == 0 {
			fail(&w)
			continue
		}
		kept = append(kept, w)
	}
	r.lists = kept
	if r.runes++; r.runes > r.maxRunes && !r.long {
		r.long = true
		long()
	}
	r.at += size
	return true
}

// literalContent returns the content of a complete literal.
func literalContent(literal []byte) string {
	inside := literal[1 : len(literal)-1]
	if utf8.Valid(inside) && bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	var s string
	_ = stdjson.Unmarshal(literal, &s)
	return s
}

// Findings lists the diagnoses of this package.
var Findings = []*stream.Diagnosis{NoSuchTool, NamespaceMissing, KindChanged, UnknownKey, WrongType, NotListed, TooMany, Invalid, Unchecked}

// The diagnoses of this package.
var (
	NoSuchTool = &stream.Diagnosis{
		Code: "NO_SUCH_TOOL", Severity: stream.Warn, By: stream.Model,
		Verdict: "unknown tool",
		Meaning: "The model called a tool that the request doesn't declare.",
		Advice:  "Refuse the call in a tool result that lists the declared tools.",
	}
	NamespaceMissing = &stream.Diagnosis{
		Code: "NAMESPACE_MISSING", Severity: stream.Error, By: stream.Gateway,
		Verdict: "no namespace",
		Meaning: "The tool is declared in a namespace. The call doesn't contain the namespace, or contains it as part of the tool's name. Codex refuses such a call.",
		Advice:  "Make the gateway pass on the namespace of a call in a separate field.",
	}
	KindChanged = &stream.Diagnosis{
		Code: "KIND_CHANGED", Severity: stream.Error, By: stream.Gateway,
		Verdict: "wrong kind",
		Meaning: "A tool that was declared as custom (free text) was called as a function, or the other way round. Codex refuses such a call.",
		Advice:  "Make the gateway send each call in the form that the request declares.",
	}
	UnknownKey = &stream.Diagnosis{
		Code: "SCHEMA_UNKNOWN_KEY", Severity: stream.Warn, By: stream.Model,
		Verdict: "unknown key",
		Short:   "no such key",
		Meaning: "The arguments contain a key that the tool's schema doesn't allow.",
		Advice:  "Refuse the call in a tool result, or declare the key in the schema.",
	}
	WrongType = &stream.Diagnosis{
		Code: "SCHEMA_WRONG_TYPE", Severity: stream.Warn, By: stream.Model,
		Verdict: "wrong type",
		Short:   "wrong type",
		Meaning: "A value has a type that the tool's schema doesn't allow.",
		Advice:  "Refuse the call in a tool result. Don't convert the value silently.",
	}
	NotListed = &stream.Diagnosis{
		Code: "SCHEMA_ENUM", Severity: stream.Warn, By: stream.Model,
		Verdict: "wrong value",
		Short:   "not in the list",
		Meaning: "A value is not one of the values that the tool's schema lists.",
		Advice:  "Refuse the call in a tool result that lists the allowed values.",
	}
	TooMany = &stream.Diagnosis{
		Code: "SCHEMA_TOO_MANY", Severity: stream.Warn, By: stream.Model,
		Verdict: "too many",
		Short:   "too many",
		Meaning: "A value has more characters, elements or keys than the tool's schema allows.",
		Advice:  "Refuse the call in a tool result, or raise the limit in the schema.",
	}
	Invalid = &stream.Diagnosis{
		Code: "SCHEMA_INVALID", Severity: stream.Warn, By: stream.Model,
		Verdict: "breaks schema",
		Short:   "breaks the schema",
		Meaning: "The arguments are complete, but the tool's schema doesn't allow them.",
		Advice:  "Refuse the call in a tool result that describes the error.",
	}
	Unchecked = &stream.Diagnosis{
		Code: "SCHEMA_UNCHECKED", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "toolscope didn't check the arguments against a schema. The message contains the reason.",
		Advice:  "Don't treat the arguments as valid: they may still violate the schema.",
	}
)

// Outline returns a short form of a tool's schema: the required keys with their types, followed by the other keys
// with a question mark. It returns "" if the tool has no usable schema or has not been called yet.
func (s *Set) Outline(space, name string) string {
	t := s.find(space, name)
	if t == nil || t.check == nil || t.check.root == nil || t.check.note.Text != "" {
		return ""
	}
	if t.outline == "" {
		t.outline = outlineOf(t.check.root)
	}
	return t.outline
}

// maxOutlined is the maximum number of keys in an outline.
const maxOutlined = 16

func outlineOf(root *schemaNode) string {
	var words, optional []string
	for _, n := range root.all {
		for _, name := range n.of.Required {
			words = append(words, strings.TrimSpace(clipText(name)+" "+n.typeOf(name)))
		}
		for _, name := range n.names {
			if !slices.Contains(n.of.Required, name) {
				optional = append(optional, strings.TrimSpace(clipText(name)+" "+n.typeOf(name))+"?")
			}
		}
	}
	words = append(words, optional...)
	switch {
	case len(words) == 0:
		return root.types.String()
	case len(words) > maxOutlined:
		words = append(words[:maxOutlined], "…")
	}
	return strings.Join(words, ", ")
}

// typeOf returns the type of a key's value, its allowed strings if there are few, or "" if any type is allowed.
func (n *schemaNode) typeOf(name string) string {
	p := n.props[name]
	switch {
	case p == nil || p.kinds == any7:
		return ""
	case p.listed && p.kinds == aString && len(p.words) <= 4:
		return strings.Join(clipNames(p.words), "|")
	}
	return strings.ReplaceAll(p.kinds.String(), " or ", "|")
}

// Required returns the keys that a tool's arguments must have. The result known is false if the tool has no usable
// schema or has not been called yet.
func (s *Set) Required(space, name string) (keys []string, known bool) {
	t := s.find(space, name)
	if t == nil || t.check == nil || t.check.root == nil || t.check.note.Text != "" {
		return nil, false
	}
	for _, n := range t.check.root.all {
		keys = append(keys, n.of.Required...)
	}
	return keys, true
}

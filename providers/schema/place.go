package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
)

// spans are where the values and keys stand that errors are about.
type spans map[string]span

type span struct{ key, value int }

// placeKey is the key of a place in spans. The lengths keep names apart that hold a NUL.
func placeKey(way []string) string {
	var path []byte
	for _, name := range way {
		path = oneMore(path, name)
	}
	return string(path)
}

func oneMore(path []byte, name string) []byte {
	path = append(strconv.AppendInt(path, int64(len(name)), 10), 0)
	return append(path, name...)
}

// newSpans walks the tokens once and finds where the errors are. Of a key that comes twice the last
// counts, as for the validator.
func newSpans(args []byte, toks stream.TokenList, all []*jsonschema.ValidationError) spans {
	wanted := spans{}
	for _, e := range all {
		wanted[placeKey(e.InstanceLocation)] = span{}
		if p, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			for _, name := range p.Properties {
				wanted[placeKey(append(slices.Clone(e.InstanceLocation), name))] = span{}
			}
		}
	}
	if len(wanted) == 0 {
		return wanted
	}
	f := finder{wanted: wanted}
	start := 0
	for _, t := range toks.All() {
		f.visitToken(t.Kind, args[start:t.End], start)
		start = int(t.End)
	}
	return wanted
}

// finder is on its way through the tokens.
type finder struct {
	wanted spans
	way    []step
	path   []byte
	ends   []int // lengths that path had
	key    int
}

func (f *finder) visitToken(k stream.TokenKind, text []byte, start int) {
	switch k {
	case stream.Space, stream.Colon, stream.Comma:
	case stream.ObjectClose, stream.ArrayClose:
		f.path = f.path[:f.ends[len(f.ends)-1]]
		f.ends = f.ends[:len(f.ends)-1]
	case stream.Key:
		f.key = start
	default:
		mark := len(f.path)
		if n := len(f.way); n > 0 {
			name := ""
			if s := f.way[n-1]; s.array {
				name = strconv.Itoa(s.index)
			} else {
				name = literalContent(s.key)
			}
			f.path = oneMore(f.path, name)
		}
		if _, ok := f.wanted[string(f.path)]; ok {
			f.wanted[string(f.path)] = span{f.key, start}
		}
		if k == stream.ObjectOpen || k == stream.ArrayOpen {
			f.ends = append(f.ends, mark)
		} else {
			f.path = f.path[:mark]
		}
	}
	f.way = followToken(f.way, k, text)
}

// violation is one thing that is wrong with sealed arguments.
type violation struct {
	err   *jsonschema.ValidationError
	name  string            // of the key, of one that is not allowed
	early *stream.Diagnosis // that the early look has for it, nil when it has none
	off   int
}

func complaintsOf(e *jsonschema.ValidationError, where spans) (all []violation) {
	k, ok := e.ErrorKind.(*kind.AdditionalProperties)
	if !ok {
		return []violation{{err: e, early: earlyOf(e), off: where[placeKey(e.InstanceLocation)].value}}
	}
	for _, name := range k.Properties {
		key := where[placeKey(append(slices.Clone(e.InstanceLocation), name))].key
		all = append(all, violation{err: e, name: name, early: UnknownKey, off: key})
	}
	return all
}

func earlyOf(e *jsonschema.ValidationError) *stream.Diagnosis {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.FalseSchema:
		return WrongType
	case *kind.Enum, *kind.Const:
		return NotListed
	case *kind.MaxLength, *kind.MaxItems, *kind.MaxProperties, *kind.AdditionalItems:
		return TooMany
	}
	return nil
}

func (c violation) messageText() string {
	path := pointerText("", c.err.InstanceLocation, top)
	if c.early == UnknownKey {
		return fmt.Sprintf("%s: the key %q is not allowed", path, clipText(c.name))
	}
	return path + ": " + problemText(c.err)
}

package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
)

// spans maps the places that errors are about to the offsets of their keys and values.
type spans map[string]span

type span struct{ key, value int }

// placeKey returns the key of a place in spans. Each name has its length before it, because names may
// contain a NUL.
func placeKey(way []string) string {
	var path []byte
	for _, name := range way {
		path = oneMore(path, name)
	}
	return string(path)
}

// oneMore appends a name to a path.
func oneMore(path []byte, name string) []byte {
	path = append(strconv.AppendInt(path, int64(len(name)), 10), 0)
	return append(path, name...)
}

// newSpans walks the tokens once and finds the places of the errors. For a duplicate key, the last value
// counts, as in the validator.
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

// finder walks through the tokens.
type finder struct {
	wanted spans
	way    []step
	path   []byte
	ends   []int // earlier lengths of path
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

// violation is one error in final arguments.
type violation struct {
	err   *jsonschema.ValidationError
	name  string            // of the key, if that is not allowed
	early *stream.Diagnosis // the early check's diagnosis of it, nil if it has none
	off   int
}

// complaintsOf splits an error of the validator: a violation for each key that is not allowed.
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

// earlyOf returns the diagnosis that the early check has for an error, or nil.
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

// message returns the place and the error.
func (c violation) message() stream.Message {
	path := pointerText("", c.err.InstanceLocation, top)
	if c.early == UnknownKey {
		return stream.Messagef("%s: the key %q is not allowed", path, stream.Fact(clipText(c.name)))
	}
	return stream.Messagef("%s: %s", path, problemText(c.err))
}

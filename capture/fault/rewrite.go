package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"toolscope/stream/jsonbytes"
)

// A valueEdit returns a new value for one in a JSON text, or nil to keep it. where is the keys that
// lead to the value, "#" for an element of an array; it is never empty. An edit must not retain where
// or value.
type valueEdit func(where []string, value, text []byte) []byte

// addRewrite adds a stage that changes values in the JSON texts of events and keeps every other byte.
// It skips texts that are invalid or spread over several data lines. why is the reason to report if
// nothing was changed.
func (b *Injector) addRewrite(f Fault, why string, change valueEdit) {
	b.whole = true
	changed := false
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		if p, ok := rewriteEvent(b.framing, e.allData(), change); ok {
			e, changed = e.withData(p), true
		}
		emit(e)
	}, func(func(bodyEvent)) string {
		if changed {
			return ""
		}
		return b.unusedReason(why)
	})
}

func rewriteEvent(f framing, p []byte, change valueEdit) ([]byte, bool) {
	switch f {
	case jsonText, jsonLines, messages:
		return rewriteText(p, change)
	case eventStream:
		return rewriteLines(p, change)
	}
	return p, false
}

func rewriteLines(p []byte, change valueEdit) ([]byte, bool) {
	changed := false
	var out []byte
	at := 0
	for line, end := range eachLine(p) {
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if text, ok = rewriteText(text, change); ok {
				out = append(append(out, "data:"...), text...)
				at += len(line)
				changed = true
			}
		}
		out = append(out, p[at:end]...)
		at = end
	}
	return out, changed
}

func rewriteText(text []byte, change valueEdit) ([]byte, bool) {
	if !json.Valid(text) {
		return text, false
	}
	w := walker{text: text, change: change}
	w.visitValue()
	if w.done == 0 {
		return text, false
	}
	return append(w.out, text[w.done:]...), true
}

// maxDepth is more than any edit needs. Each level costs a scan of its complete content.
const maxDepth = 32

// walker visits every value of a valid JSON text, an outer value before its members. It doesn't visit
// the members of a replaced value.
type walker struct {
	text   []byte
	at     int
	where  []string
	change valueEdit
	out    []byte // the new text
	done   int    // bytes of text that are in out already
}

func (w *walker) visitValue() {
	w.skipSpace()
	start := w.at
	if len(w.where) > 0 {
		end := start + jsonbytes.ValueEnd(w.text[start:])
		if other := w.change(w.where, w.text[start:end], w.text); other != nil {
			w.out = append(append(w.out, w.text[w.done:start]...), other...)
			w.at, w.done = end, end
			return
		}
	}
	switch c := w.text[start]; {
	case (c == '{' || c == '[') && len(w.where) < maxDepth:
		w.visitMembers(c == '{')
	default:
		w.at += jsonbytes.ValueEnd(w.text[start:])
	}
}

// visitMembers visits the members of an object or an array.
func (w *walker) visitMembers(object bool) {
	for w.at++; ; {
		w.skipSpace()
		switch w.text[w.at] {
		case '}', ']':
			w.at++
			return
		case ',':
			w.at++
			continue
		}
		key := "#"
		if object {
			n := jsonbytes.ValueEnd(w.text[w.at:])
			key = string(w.text[w.at+1 : w.at+n-1])
			if name, err := strconv.Unquote(`"` + key + `"`); err == nil {
				key = name
			}
			w.at += n
			w.skipSpace()
			w.at++ // the colon
		}
		w.where = append(w.where, key)
		w.visitValue()
		w.where = slices.Delete(w.where, len(w.where)-1, len(w.where))
	}
}

func (w *walker) skipSpace() {
	w.at += jsonbytes.SpaceLen(w.text[w.at:])
}

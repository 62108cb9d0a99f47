package fault

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolscope/stream/json"
	"toolscope/stream/marks"
)

const noStream = "the body is not a stream of events"

// unusedReason returns the reason why a fault that reads events changed nothing: the parameter why, unless the body
// is compressed.
func (b *Injector) unusedReason(why string) string {
	if b.packed {
		return "the body is compressed"
	}
	return why
}

// cutAfter breaks the connection after event n.
func cutAfter(b *Injector, f Fault) {
	seen := 0
	done := f.n == 0
	b.broken = b.broken || done
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		if emit(e); e.full {
			seen++
		}
		if seen == f.n {
			done, b.broken = true, true
		}
	}, func(func(bodyEvent)) string { return tooShort(done, seen) })
}

// cutInside breaks the connection after half of event n.
func cutInside(b *Injector, f Fault) {
	seen := 0
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		if e.full {
			seen++
		}
		if seen < f.n {
			emit(e)
			return
		}
		emit(e.firstHalf())
		b.broken = true
	}, func(func(bodyEvent)) string { return tooShort(seen >= f.n, seen) })
}

// firstHalf returns the first half of the event's bytes.
func (e bodyEvent) firstHalf() bodyEvent {
	left := (len(e.allData()) + 1) / 2
	var parts []eventPart
	for _, p := range e.parts {
		n := min(left, len(p.data))
		p.data, left = p.data[:n], left-n
		parts = append(parts, p)
	}
	return bodyEvent{parts, e.full}
}

func tooShort(done bool, events int) string {
	if done {
		return ""
	}
	return fmt.Sprintf("the body ends after event %d", events)
}

func repeatEvents(b *Injector, f Fault) {
	done := false
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		if emit(e); e.full && b.hasEvents() {
			emit(e)
			done = true
		}
	}, func(func(bodyEvent)) string {
		if done {
			return ""
		}
		return b.unusedReason(noStream)
	})
}

// noTerminator leaves out every event that ends the stream. Without a known terminator, it leaves out the last event,
// such as a Gemini chunk with the finish reason or an Ollama line with done. So each event waits for the next one
// until the first terminator has been seen.
func noTerminator(b *Injector, f Fault) {
	var held []bodyEvent
	done := false
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		switch {
		case !b.hasEvents():
			emit(e)
			return
		case isTerminator(b.framing, e.allData()):
			done = true
			return
		case e.full || done:
			emitAll(held, emit)
			held = nil
		}
		if held = append(held, e); done {
			emitAll(held, emit)
			held = nil
		}
	}, func(emit func(bodyEvent)) string {
		for i := 0; i < len(held) && !done; i++ {
			if held[i].full {
				held, done = slices.Delete(held, i, i+1), true
			}
		}
		emitAll(held, emit)
		switch {
		case done:
			return ""
		case b.hasEvents():
			return b.unusedReason("the body contains no event")
		}
		return b.unusedReason(noStream)
	})
}

func emitAll(held []bodyEvent, emit func(bodyEvent)) {
	for _, e := range held {
		emit(e)
	}
}

// anyWord reports whether a string matches a word of any protocol. The parameter words is a function that returns the
// words of a protocol.
func anyWord(text string, fits func(text, word string) bool, words func(*marks.Protocol) []string) bool {
	all := *marks.All()
	for i := range all {
		if slices.ContainsFunc(words(&all[i]), func(word string) bool { return fits(text, word) }) {
			return true
		}
	}
	return false
}

func hasWord(text string, words func(*marks.Protocol) []string) bool {
	return anyWord(text, func(text, word string) bool { return text == word }, words)
}

// isEnder reports whether an event type ends a response.
func isEnder(kind string) bool {
	return hasWord(kind, func(of *marks.Protocol) []string { return of.Enders })
}

func isTerminator(f framing, p []byte) bool {
	switch f {
	case messages:
		return isEnder(typeOf(p))
	case eventStream:
		for line := range eachLine(p) {
			name, value, _ := strings.Cut(string(line), ":")
			value = strings.TrimSpace(value)
			if name == "data" && value != "" && hasWord(value, func(of *marks.Protocol) []string { return []string{of.Terminator} }) || name == "event" && isEnder(value) {
				return true
			}
		}
	}
	return false
}

// typeOf returns the type field of a JSON object, or "" for anything else.
func typeOf(p []byte) string {
	var of struct{ Type string }
	_ = stdjson.Unmarshal(p, &of) // not an object: no type
	return of.Type
}

// mergeIndex gives every parallel call index 0, as some providers that claim to be compatible do.
func mergeIndex(b *Injector, f Fault) {
	b.addRewrite(f, "the body contains no OpenAI chat tool call with an index above 0", func(where []string, value, _ []byte) []byte {
		for _, of := range *marks.All() {
			if string(value) != "0" && isPlace(where, of.CallIndex) {
				return []byte("0")
			}
		}
		return nil
	})
}

const noArguments = "the body contains no call arguments"

// emptyArgs removes the arguments of calls, as if the provider had sent no arguments for a tool that needs
// some.
func emptyArgs(b *Injector, f Fault) {
	b.addRewrite(f, noArguments, func(where []string, value, text []byte) []byte {
		switch {
		case !ofCall(where, text) || len(value) <= 2:
			return nil
		case value[0] == '"':
			return []byte(`""`)
		case value[0] == '{':
			return []byte(`{}`)
		}
		return nil
	})
}

// badArgs makes arguments that are sent as text invalid by removing their first brace. It also does so in
// events that repeat the arguments, such as the last events of a Responses stream.
func badArgs(b *Injector, f Fault) {
	b.addRewrite(f, "the body contains no arguments that are sent as text", func(where []string, value, text []byte) []byte {
		if rest, ok := bytes.CutPrefix(value, []byte(`"{`)); ok && ofCall(where, text) {
			return append([]byte(`"`), rest...)
		}
		return nil
	})
}

// ofCall reports whether a value contains the arguments of a call or a delta of them.
func ofCall(where []string, text []byte) bool {
	if slices.Contains(where, "tools") {
		return false
	}
	for _, of := range *marks.All() {
		for _, place := range of.Arguments {
			if isPlace(where, place.Path) && bytes.Contains(text, []byte(place.With)) {
				return true
			}
		}
	}
	return false
}

// isPlace reports whether keys match the path of a marks.Place.
func isPlace(where []string, path string) bool {
	path, complete := strings.CutPrefix(path, "^")
	keys := strings.Split(path, ".")
	n := len(where) - len(keys)
	return path != "" && (n == 0 || n > 0 && !complete) && slices.Equal(where[n:], keys)
}

// badUTF8 replaces the first letter of the model's output with a byte that can't begin a UTF-8 character.
func badUTF8(b *Injector, f Fault) {
	done := false
	b.addRewrite(f, "the body contains no model text", func(where []string, value, _ []byte) []byte {
		if done || value[0] != '"' || !hasWord(where[len(where)-1], func(of *marks.Protocol) []string { return of.TextKeys }) {
			return nil
		}
		i := firstLetter(value)
		if i < 0 {
			return nil
		}
		done = true
		bad := bytes.Clone(value)
		bad[i] = 0xff
		return bad
	})
}

// firstLetter returns the index of the first letter in a JSON string that is not part of an escape, or -1.
func firstLetter(p []byte) int {
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p) && p[i+1] == 'u':
			i += 5
		case c == '\\':
			i++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			return i
		}
	}
	return -1
}

// A valueEdit returns the new value for a value in a JSON text, or nil to keep it. The parameter where has the keys
// that lead to the value, with "#" for an element of an array; it is never empty. An edit must not retain where or
// value.
type valueEdit func(where []string, value, text []byte) []byte

// addRewrite adds a stage that changes values in the JSON texts of events and keeps every other byte. It
// skips texts that are invalid or spread over several data lines. The parameter why is the reason to report
// if nothing was changed.
func (b *Injector) addRewrite(f Fault, why string, change valueEdit) {
	b.whole = true
	changed := false
	b.addStage(f, func(e bodyEvent, emit func(bodyEvent)) {
		data, ok := e.allData(), false
		switch b.framing {
		case jsonText, jsonLines, messages:
			data, ok = rewriteText(data, change)
		case eventStream:
			data, ok = rewriteLines(data, change)
		}
		if ok {
			e, changed = e.withData(data), true
		}
		emit(e)
	}, func(func(bodyEvent)) string {
		if changed {
			return ""
		}
		return b.unusedReason(why)
	})
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
	if !stdjson.Valid(text) {
		return text, false
	}
	w := walker{text: text, change: change}
	w.visitValue()
	if w.done == 0 {
		return text, false
	}
	return append(w.out, text[w.done:]...), true
}

// maxDepth is the maximum depth of visited values, which is more than any edit needs. Each level costs a scan
// of its complete content.
const maxDepth = 32

// walker visits every value inside a valid JSON text, an outer value before the values inside it. It doesn't
// visit the values inside a replaced value.
type walker struct {
	text   []byte
	at     int
	where  []string
	change valueEdit
	out    []byte // the new text
	done   int    // number of bytes of text that are already in out
}

func (w *walker) visitValue() {
	w.skipSpace()
	start := w.at
	if len(w.where) > 0 {
		end := start + json.ValueEnd(w.text[start:])
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
		w.at += json.ValueEnd(w.text[start:])
	}
}

// visitMembers visits the values in an object or an array.
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
			n := json.ValueEnd(w.text[w.at:])
			key = json.Value(w.text[w.at : w.at+n]).Text()
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
	w.at += json.SpaceLen(w.text[w.at:])
}

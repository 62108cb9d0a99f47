package serve

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const noStream = "its body is no stream of events"

// unfit is why a fault that looks into events changes nothing.
func (s *script) unfit(why string) string {
	if s.packed {
		return "its body is compressed"
	}
	return why
}

// cutAfter breaks the connection behind event n.
func cutAfter(s *script, f Fault) string {
	seen := 0
	for i, e := range s.events {
		if seen == f.n {
			s.end(i)
			return ""
		}
		if e.full {
			seen++
		}
	}
	if seen < f.n {
		return tooShort(seen)
	}
	s.end(len(s.events))
	return ""
}

// cutInside breaks the connection when half of event n has been sent.
func cutInside(s *script, f Fault) string {
	seen := 0
	for i, e := range s.events {
		if !e.full {
			continue
		}
		if seen++; seen < f.n {
			continue
		}
		left := (len(e.data()) + 1) / 2
		var half []part
		for _, p := range e.parts {
			n := min(left, len(p.data))
			p.data, left = p.data[:n], left-n
			if n > 0 {
				half = append(half, p)
			}
		}
		s.events[i].parts = half
		s.end(i + 1)
		return ""
	}
	return tooShort(seen)
}

func tooShort(events int) string { return fmt.Sprintf("it ends after %d", events) }

// end cuts off what follows the first n events.
func (s *script) end(n int) {
	s.events, s.whole, s.broken = s.events[:n], false, true
}

func repeat(s *script, _ Fault) string {
	if !s.streams() {
		return s.unfit(noStream)
	}
	var twice []event
	for _, e := range s.events {
		twice = append(twice, e)
		if e.full {
			twice = append(twice, e)
		}
	}
	s.events = twice
	return ""
}

// noTerminator leaves out every event that says the stream is over. Where none is known to, the
// last one goes: an OpenAI response.completed, a Gemini chunk with the finish reason, an Ollama
// line with done.
func noTerminator(s *script, _ Fault) string {
	if !s.streams() {
		return s.unfit(noStream)
	}
	before := len(s.events)
	if s.framing == eventStream {
		s.events = slices.DeleteFunc(s.events, func(e event) bool { return isTerminator(e.data()) })
	}
	for i := len(s.events) - 1; i >= 0 && before == len(s.events); i-- {
		if s.events[i].full {
			s.events = slices.Delete(s.events, i, i+1)
		}
	}
	if before == len(s.events) {
		return s.unfit("it has no event")
	}
	return ""
}

func isTerminator(p []byte) bool {
	for line := range lines(p) {
		name, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimSpace(value)
		if name == "data" && value == "[DONE]" || name == "event" && value == "message_stop" {
			return true
		}
	}
	return false
}

// mergeIndex does what some hosts that are called compatible do: every parallel call has index 0.
func mergeIndex(s *script, _ Fault) string {
	if !s.rewrite(func(where []string, value, _ []byte) []byte {
		if matches(where, "choices", "#", "delta", "tool_calls", "#", "index") && string(value) != "0" {
			return []byte("0")
		}
		return nil
	}) {
		return s.unfit("no tool call of an OpenAI chat stream in it has an index above 0")
	}
	return ""
}

// emptyArgs leaves calls without arguments, as when a provider sends none for a tool that needs
// some.
func emptyArgs(s *script, _ Fault) string {
	if !s.rewrite(func(where []string, value, text []byte) []byte {
		key := where[len(where)-1]
		ofCall := key == "partial_json" || key == "arguments" || key == "args" && matches(where[len(where)-2:], "functionCall", "args") ||
			key == "delta" && len(where) == 1 && bytes.Contains(text, []byte("response.function_call_arguments.delta"))
		switch {
		case !ofCall || slices.Contains(where, "tools") || len(value) <= 2:
			return nil
		case value[0] == '"':
			return []byte(`""`)
		case value[0] == '{':
			return []byte(`{}`)
		}
		return nil
	}) {
		return s.unfit("no arguments of calls were found in it")
	}
	return ""
}

// contentKeys are where the protocols have what a model wrote.
var contentKeys = []string{"partial_json", "arguments", "text", "content", "thinking", "reasoning", "reasoning_content", "delta"}

// badUTF8 puts a byte that begins nothing in place of a letter, once.
func badUTF8(s *script, _ Fault) string {
	done := false
	if !s.rewrite(func(where []string, value, _ []byte) []byte {
		if done || value[0] != '"' || !slices.Contains(contentKeys, where[len(where)-1]) {
			return nil
		}
		i := letter(value)
		if i < 0 {
			return nil
		}
		done = true
		bad := bytes.Clone(value)
		bad[i] = 0xff
		return bad
	}) {
		return s.unfit("no string of a model was found in it")
	}
	return ""
}

// letter is where in a JSON string the first letter is that is not part of an escape, or -1.
func letter(p []byte) int {
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

func matches(where []string, pattern ...string) bool { return slices.Equal(where, pattern) }

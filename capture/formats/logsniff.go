package formats

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"toolscope/capture"
	"toolscope/stream/json"
)

// sniffLog distinguishes logs from bare bodies. A body begins with a payload. A log begins with other
// text, and a payload follows.
func sniffLog(first []byte, whole bool) capture.SniffResult {
	no := capture.SniffResult{}
	text := bytes.TrimLeft(first, "\ufeff \t\r\n")
	switch {
	case len(text) == 0:
		return capture.SniffResult{Is: maybeUnless(whole)}
	case beginsJournal(text) && bytes.IndexByte(text, '\n') > 0:
		return capture.SniffResult{Is: capture.Yes, Why: "an entry of the systemd journal"}
	case !isPlainText(first) || text[0] == ')' || bytes.HasPrefix(text, []byte("HTTP/")) || bytes.HasPrefix(text, []byte("[[")):
		return no
	case text[0] == '<' && len(text) > 1 && isMarkup(text[1]), beginsBare(text), isWritten(text):
		return no
	}
	p := newUnwrapper(capture.NewInput("", nil))
	seen := 0
	logLike := 0
	for rest := first; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if new(prettyJSON).startsObject(line) && holdsPayload(p.unwrapTruncated(rest)) {
			return capture.SniffResult{Is: capture.Yes, Why: "JSON with a provider's payload"}
		}
		rest = after
		if !ended && !whole {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		seen++
		if finds := p.unwrap(line); holdsPayload(finds) {
			return capture.SniffResult{Is: capture.Yes, Why: "a line with a provider's payload"}
		}
		if isLogLine(line) {
			logLike++
		}
	}
	if seen == 0 || text[0] == '{' && seen < 3 {
		return sniffValue(p, text, whole)
	}
	switch {
	case (logLike >= 2 || whole && logLike == 1) && 2*logLike >= seen:
		return capture.SniffResult{Is: capture.Yes, Why: "lines that begin like log lines"}
	case text[0] == '{' || text[0] == '[':
		return sniffValue(p, text, whole)
	}
	return capture.SniffResult{Is: maybeUnless(whole), Provisional: bytes.IndexByte(text, '\n') > 0}
}

// isWritten reports whether text looks as if it was written for people: a program, a page of Markdown or a diff. In
// such text, a payload is only an example.
func isWritten(text []byte) bool {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	for _, begin := range []string{"diff --git ", "#!/", "#include ", "import ", "package "} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return bytes.IndexByte(line, '{') < 0
		}
	}
	title := bytes.TrimLeft(line, "#")
	return len(title) > 1 && len(title) < len(line) && title[0] == ' ' && len(rest) > 0 && bytes.IndexByte([]byte("\r\n"), rest[0]) >= 0
}

// isMarkup reports whether a byte after < begins a tag or a declaration.
func isMarkup(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '!' || c == '?' || c == '/'
}

func maybeUnless(whole bool) capture.SniffVerdict {
	if whole {
		return capture.No
	}
	return capture.Maybe
}

// isPlainText reports whether bytes are text. A few bytes may be invalid, because loggers cut characters in
// two.
func isPlainText(p []byte) bool {
	const few = 50 // one byte in this many may be invalid
	p = p[:min(len(p), 4096)]
	bad := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != esc {
			bad++
		}
		i += n
	}
	return bad*few <= len(p)
}

// holdsPayload reports whether payloads contain a chunk, a body, a list or the text of an event.
func holdsPayload(finds []payload) bool {
	for _, f := range finds {
		switch f.is {
		case aChunk, aBody, aList, eventText:
			return true
		}
	}
	return false
}

// beginsBare reports whether text begins a body without wrappers.
func beginsBare(text []byte) bool {
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":", "data\r", "event\r"} {
		if bytes.HasPrefix(text, []byte(field)) {
			return true
		}
	}
	if text[0] == '[' {
		first := json.FirstElement(text)
		if isArray(first) {
			return true
		}
		text = first
	}
	return opensObject(text) && isPayload(text)
}

// isPayload reports whether an object, which may be incomplete, is a provider's payload or a line of an agent's
// session.
func isPayload(object []byte) bool {
	all, _, _ := json.AppendFields(nil, object)
	t := currentRules()
	s := t.readInfo(all)
	return s.is != noPayload && !s.weak || t.isOwnText(all)
}

// sniffValue distinguishes a JSON text that contains payloads from one that is a payload.
func sniffValue(p *unwrapper, text []byte, whole bool) capture.SniffResult {
	no := capture.SniffResult{}
	value := text
	if text[0] == '[' {
		if value = json.FirstElement(text); value == nil {
			return capture.SniffResult{Is: maybeUnless(whole || len(text) > 1 && afterSpace(text[1:]) != nil)}
		}
	}
	if !opensObject(value) {
		return capture.SniffResult{Is: maybeUnless(whole)}
	}
	if isPayload(value) {
		return no
	}
	n, closed := json.ValueLen(value)
	if closed {
		if holdsPayload(p.unwrapValue(value[:n:n])) {
			return capture.SniffResult{Is: capture.Yes, Why: "JSON with a provider's payload"}
		}
		if isLogLine(value) {
			return capture.SniffResult{Is: capture.Yes, Why: "a log line"}
		}
	}
	if !closed && whole && holdsPayload(p.unwrapTruncated(value)) {
		return capture.SniffResult{Is: capture.Yes, Why: "JSON with a provider's payload"}
	}
	if _, is := stampedObject(value); is && !closed && whole {
		return capture.SniffResult{Is: capture.Yes, Why: "a long log line"}
	}
	return capture.SniffResult{Is: maybeUnless(whole)}
}

// unwrapTruncated returns the payloads in an object whose end is missing.
func (p *unwrapper) unwrapTruncated(object []byte) []payload {
	p.reset()
	object = afterSpace(object)
	all, n, whole := json.AppendFields(nil, object)
	if whole {
		return p.unwrapValue(object[:n])
	}
	if !p.rules.isOwnText(all) {
		for _, m := range all {
			p.enterTruncatedMember(m.Value, 0)
		}
		p.searchMembers(all, object)
	}
	return p.payloads
}

func (p *unwrapper) enterTruncatedMember(v []byte, depth int) {
	switch {
	case opensObject(v) || isArray(v):
		p.enterTruncated(v, depth+1)
	case len(v) > 1 && v[0] == '"' && stringLen(v) == 0:
		inside := begunEncoding(v[1 : len(v)-json.TrailingBackslashes(v)])
		p.push("", nil, nil, nil)
		p.searchString(append(v[:1+len(inside):1+len(inside)], '"'))
		p.pop(len(p.wrappers) - 1)
	}
}

// enterTruncated searches a value whose end is missing.
func (p *unwrapper) enterTruncated(v []byte, depth int) {
	if _, closed := json.ValueLen(v); closed || depth > maxWrappers {
		return
	}
	if isArray(v) {
		for at := 1; at < len(v); {
			at += len(v[at:]) - len(afterSpace(v[at:]))
			n, closed := json.ValueLen(v[at:])
			if n == 0 {
				return
			}
			if !closed {
				p.enterTruncated(v[at:], depth+1)
				return
			}
			p.searchValue(v[at:at+n:at+n], true)
			if at += n; at < len(v) && v[at] == ',' {
				at++
			}
			if len(p.payloads) > 0 {
				return
			}
		}
		return
	}
	all, _, _ := json.AppendFields(nil, v)
	if p.rules.isOwnText(all) {
		return
	}
	for _, m := range all {
		p.enterTruncatedMember(m.Value, depth)
	}
	p.searchMembers(all, v)
}

// isLogLine reports whether a line looks like a line of a log. Such a line begins with a time, a level or the prefix
// of a container runtime, or is an object with a time.
func isLogLine(line []byte) bool {
	text := bytes.TrimLeft(withoutColours(line), " \t[")
	if len(text) == 0 {
		return false
	}
	if opensObject(text) {
		whole, is := stampedObject(text)
		return whole && is
	}
	if _, n := prefixOf(text); n > 0 {
		return true
	}
	if _, n := parseTime(text); n > 0 {
		return true
	}
	word, _, found := bytes.Cut(text, []byte(":"))
	return found && isLevel(word) || beginsJournal(line) || bytes.HasPrefix(text, []byte("time=")) || bytes.HasPrefix(text, []byte("ts=")) || bytes.HasPrefix(text, []byte("level="))
}

// stampedObject reports whether an object, which may be incomplete, has a time and a message or a level, like a line
// of a log. The result whole reports whether it is complete.
func stampedObject(text []byte) (whole, is bool) {
	all, _, whole := json.AppendFields(nil, text)
	stamped, says := false, false
	for _, m := range all {
		switch string(m.Key) {
		case "level", "msg", "message", "log", "MESSAGE", "severity":
			says = true
		default:
			stamped = stamped || isTimeName(m.Key)
		}
	}
	return whole, stamped && says
}

// The functions below detect formats by the first keys of a file.

// sniffKeys accepts a file that begins with an object that has all these keys.
func sniffKeys(first []byte, whole bool, keys ...string) capture.SniffResult {
	found := 0
	seen, open := topKeys(first)
	for _, k := range keys {
		if slices.Contains(seen, k) {
			found++
		}
	}
	switch {
	case found == len(keys):
		return capture.SniffResult{Is: capture.Yes}
	case open && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{Is: capture.No}
}

// sniffType accepts a file that begins with an object of a type that has all these keys. The result's Why is the
// parameter why.
func sniffType(first []byte, whole bool, kind, why string, keys ...string) capture.SniffResult {
	s := sniffKeys(first, whole, append(keys, "type")...)
	if s.Why = why; s.Is == capture.Yes && !hasText(json.Find(first, "type"), kind) {
		s.Is = capture.No
	}
	return s
}

// topKeys returns the first keys, at most maxSniffKeys, of the object that the file begins with, up to a key that
// decides the format. The result open reports whether more keys may follow.
func topKeys(first []byte) (keys []string, open bool) {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) == 0 {
		return nil, true
	}
	if p[0] != '{' {
		return nil, false
	}
	for k := range json.Members(first) {
		if keys = append(keys, k); len(keys) >= maxSniffKeys || currentRules().topKeys[k] {
			return keys, false
		}
	}
	return keys, json.ValueEnd(p) == len(p) && !isObject(p)
}

// maxSniffKeys is the maximum number of keys that are compared.
const maxSniffKeys = 64

// sniffAny accepts a file that begins with an object that has at least three of these keys, including the
// first or the second one.
func sniffAny(first []byte, whole bool, keys ...string) capture.SniffResult {
	seen, open := topKeys(first)
	found := 0
	for _, k := range keys {
		if slices.Contains(seen, k) {
			found++
		}
	}
	switch {
	case found >= 3 && (slices.Contains(seen, keys[0]) || slices.Contains(seen, keys[1])):
		return capture.SniffResult{Is: capture.Yes}
	case open && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

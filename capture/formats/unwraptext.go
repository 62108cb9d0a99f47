package formats

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"

	"toolscope/stream/json"
)

const esc = 0x1b

// withoutColours returns p without ANSI colour sequences.
func withoutColours(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != esc || i+1 == len(p) || p[i+1] != '[' {
			out = append(out, p[i])
			continue
		}
		end := i + 2
		for end < len(p) && (p[end] >= '0' && p[end] <= '9' || p[end] == ';' || p[end] == ':') {
			end++
		}
		if end == len(p) || p[end] != 'm' && p[end] != 'K' {
			out = append(out, p[i])
			continue
		}
		i = end
	}
	return out
}

// searchData searches the data after the "data:" at i in a text.
func (p *unwrapper) searchData(t []byte, i int, data []byte) bool {
	field := t[i:]
	data = bytes.TrimLeft(data, " ")
	switch {
	case len(data) == 0:
		return false
	case p.rules.isTerminator(bytes.Equal, bytes.TrimSpace(data)):
		return p.searchAfterPrefix(t[:i], nil, func() bool { return p.addPayload(payload{chunkInfo: chunkInfo{is: aMark}, text: field, field: true}) })
	case data[0] != '{' && data[0] != '[':
		return false
	}
	size, whole := json.ValueLen(data)
	end := len(t) - len(data) + size
	if whole {
		field = t[i:end:end]
	}
	f := payload{text: field, field: true, cut: !whole}
	f.block, f.number = -1, -1
	if data[0] == '{' {
		from := len(p.members)
		all, _, _ := json.AppendFields(p.members, data)
		f.chunkInfo = p.rules.readInfo(all[from:])
		p.members = all[:from]
	}
	switch f.is {
	case aRequest, aBody:
		if s := f.chunkInfo; s.of == nil { // data of an unknown protocol is not a chunk
			f.chunkInfo = chunkInfo{is: noPayload, block: -1, number: -1}
		} else {
			f.is = aChunk
		}
	}
	p.noteFirstValue(end, whole)
	return p.searchAfterPrefix(t[:i], t[end:], func() bool {
		switch {
		case f.is != noPayload && !(f.weak && i > 0 && p.paths[p.hash()] == nil):
		case !whole && data[0] == '{' && couldBeObject(data):
			f.is, f.weak = aChunk, true
		default:
			said, is := chunkInfo{block: -1, number: -1}, false
			if whole && data[0] == '{' {
				said, is = p.askProtocols(data[:size])
			}
			if !is && p.paths[p.hash()] == nil {
				return false
			}
			f.chunkInfo = said
			f.is, f.weak = aChunk, !is
		}
		return p.addPayload(f)
	})
}

// couldBeObject reports whether p, which begins with a brace, is the beginning of JSON.
func couldBeObject(p []byte) bool {
	c := afterSpace(p[1:])
	return len(c) == 0 || c[0] == '"'
}

// searchQuoteAt searches the quoted text that begins at i. The text is a Python string, which may have the prefix b,
// or was quoted by a logger. The result n is the number of bytes that can't contain another payload.
func (p *unwrapper) searchQuoteAt(t []byte, i int) (n int, found bool) {
	start := i
	if t[start] == 'b' {
		start++
	}
	if start+2 >= len(t) || t[start] != '"' && t[start] != '\'' || t[start] == '"' && start == i && !beginsPayload(t[start+1:]) ||
		t[start] == '\'' && start == i && !beginsPayload(t[start+1:]) || start > i && i > 0 && !isEdge(t[i-1]) {
		return 0, false
	}
	end := quoteEnd(t[start:])
	name := "quoted text"
	if start > i {
		name = "Python bytes"
	}
	if end == 0 { // cut off
		return 1, false
	}
	inner := t[start+1 : start+end-1]
	if bytes.HasPrefix(inner, []byte(`{\x22`)) || bytes.HasPrefix(inner, []byte(`[{\x22`)) {
		name, inner = "web server log", unescapeHex(inner)
	} else {
		inner = unescapeText(inner)
	}
	end += start
	return 1, p.searchAfterPrefix(t[:i], t[end:], func() bool {
		return p.inWrapper(name, t[i:start+1], t[end-1:end], func() bool { return p.searchInQuotes(p.paths[p.hash()], inner) })
	})
}

// beginsPayload reports whether a quoted text can begin a payload.
func beginsPayload(p []byte) bool {
	for _, begin := range []string{"data:", "event:", "{", "[", "id:", ":", `\n`} {
		if bytes.HasPrefix(p, []byte(begin)) {
			return true
		}
	}
	return false
}

// quoteEnd returns the length of the quoted text at the beginning of p, including its quotes, or 0 if the text is cut
// off.
func quoteEnd(p []byte) int {
	for n := 1; n < len(p); n++ {
		switch p[n] {
		case '\\':
			n++
		case p[0]:
			return n + 1
		}
	}
	return 0
}

// unescapeText returns the text of a quoted string according to the rules of Python and Go. An escape that both
// languages have means the same in both.
func unescapeText(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			out = append(out, p[i])
			continue
		}
		i++
		switch c := p[i]; c {
		case 'x':
			if i+2 < len(p) && json.HexValue(p[i+1]) >= 0 && json.HexValue(p[i+2]) >= 0 {
				out = append(out, byte(json.HexValue(p[i+1])<<4|json.HexValue(p[i+2])))
				i += 2
				continue
			}
			out = append(out, '\\', c)
		case 'u':
			n := i - 1
			if _, ok := json.UnicodeEscape(p[n:]); !ok {
				out = append(out, '\\', c)
				continue
			}
			k := 6
			if _, ok := json.UnicodeEscape(p[n+6:]); ok {
				k = 12
			}
			part := json.AppendUnquoted(nil, p[n:n+k])
			out = append(out, part...)
			i = n + k - 1
		case 'a':
			out = append(out, 7)
		case 'v':
			out = append(out, 11)
		case '0':
			out = append(out, 0)
		case 'n', 'r', 't', 'b', 'f', '"', '\'', '\\', '/':
			out = append(out, json.UnescapeByte(c))
		default:
			out = append(out, '\\', c)
		}
	}
	return out
}

// unescapeHex returns text that nginx or another web server escaped. Only sequences such as \x22 are escapes.
func unescapeHex(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if i+3 < len(p) && p[i] == '\\' && p[i+1] == 'x' && json.HexValue(p[i+2]) >= 0 && json.HexValue(p[i+3]) >= 0 {
			out = append(out, byte(json.HexValue(p[i+2])<<4|json.HexValue(p[i+3])))
			i += 3
			continue
		}
		out = append(out, p[i])
	}
	return out
}

// searchLines searches text with several lines: an event stream, a piece of an event stream, or lines of a log.
func (p *unwrapper) searchLines(t []byte) bool {
	if s, is := p.readEvents(t); is {
		return p.addPayload(payload{chunkInfo: s, text: t})
	}
	const most = 10_000
	body := bytes.TrimSpace(t)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		if n, whole := json.ValueLen(body); whole && n == len(body) && p.searchValue(body, true) {
			return true
		}
		if s, is := p.readObjects(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t})
		}
	}
	found := false
	rest := t
	for n := 0; n < most && len(rest) > 0; n++ {
		line, after, _ := cutLine(rest)
		if len(line) > 6 {
			before := t[:len(t)-len(rest)]
			found = p.inWrapper("", before, after, func() bool { return p.searchText(line) }) || found
		}
		rest = after
	}
	return found
}

// readObjects returns the chunkInfo of a text with an object on each line, if the first object is a chunk. Otherwise,
// the second result is false.
func (p *unwrapper) readObjects(t []byte) (s chunkInfo, is bool) {
	if !opensObject(t) || bytes.IndexByte(t, '\n') < 0 {
		return s, false
	}
	n, closed := json.ValueLen(t)
	if rest := bytes.TrimLeft(t[n:], "\r"); !closed || len(rest) == 0 || rest[0] != '\n' {
		return s, false
	}
	s, is = p.chunkOf(t[:n])
	s.is, s.ends, s.last, s.many = eventText, false, false, false
	return s, is
}

// readEvents returns the chunkInfo of a text from an event stream: that of the first event, and whether the last
// event ends the stream. Each complete line before the first data must be a field of an event, a comment or empty.
func (p *unwrapper) readEvents(t []byte) (s chunkInfo, is bool) {
	s.block, s.number = -1, -1
	count := 0
	for rest := bytes.TrimLeft(t, "\ufeff\r\n"); len(rest) > 0; {
		line, after, more := cutLine(rest)
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case isData:
			data = bytes.TrimLeft(data, " ")
			if p.rules.isTerminator(bytes.Equal, bytes.TrimSpace(data)) {
				s.ends, s.last = true, true
				break
			}
			for more, is := p.rules.nextData(after); is; more, is = p.rules.nextData(after) { // one event over several lines
				data = append(append(data[:len(data):len(data)], '\n'), more...)
				_, after, _ = cutLine(after)
			}
			each := p.readEventInfo(data)
			known := each.is != noPayload && !each.weak
			if count++; count == 1 {
				s, is = each, known
			}
			if is = is || known; known && s.id == 0 {
				s.id, s.of = each.id, each.of
			}
			s.begins = s.begins || each.begins
			s.ends, s.last = each.ends, each.last
		case len(line) == 0 || line[0] == ':' || isField(line):
		case more && count == 0:
			return s, false
		}
		rest = after
	}
	s.is, s.weak, s.many = eventText, false, count > 1
	return s, is
}

// nextData returns the data at the beginning of p if it continues the data before it. The bool result is false if p
// doesn't begin with data, or if the data begins another event.
func (t *payloadRules) nextData(p []byte) (data []byte, is bool) {
	line, _, _ := cutLine(p)
	data, is = bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimLeft(data, " ")
	return data, is && !(len(data) > 1 && data[0] == '{' && data[1] == '"') && !t.isTerminator(bytes.HasPrefix, data)
}

// readEventInfo returns the chunkInfo of an event's data.
func (p *unwrapper) readEventInfo(data []byte) chunkInfo {
	from := len(p.members)
	all, _, _ := json.AppendFields(p.members, data)
	s := p.rules.readInfo(all[from:])
	p.members = all[:from]
	if s.is == noPayload && len(data) > 0 && data[0] == '{' && stdjson.Valid(data) {
		s, _ = p.askProtocols(data)
	}
	return s
}

// cutLine returns the first line of p, and the rest. Lines end as in event streams.
func cutLine(p []byte) (line, after []byte, ended bool) {
	i := bytes.IndexAny(p, "\r\n")
	switch {
	case i < 0:
		return p, nil, false
	case p[i] == '\r' && i+1 < len(p) && p[i+1] == '\n':
		return p[:i], p[i+2:], true
	}
	return p[:i], p[i+1:], true
}

// isField reports whether a line is a field of an event.
func isField(line []byte) bool {
	for _, name := range []string{"event:", "id:", "retry:", "data"} {
		if bytes.HasPrefix(line, []byte(name)) {
			return true
		}
	}
	return false
}

// The functions below read text that JSON contains in encoded form: as a list of numbers, as in journals, or as
// base64.

// minEncodedBytes is the minimum size of an encoded text.
const minEncodedBytes = 6

// decodeByteList returns the text whose bytes are the numbers of a list. The second result is false if the list
// has other values, or too few numbers.
func decodeByteList(list []byte) (text []byte, is bool) {
	p := list[1:]
	for {
		p = afterSpace(p)
		n, value := 0, 0
		for n < len(p) && n < 4 && isDigit(p[n]) {
			value = 10*value + int(p[n]-'0')
			n++
		}
		if n == 0 || value > 255 {
			return nil, false
		}
		text = append(text, byte(value))
		if p = afterSpace(p[n:]); len(p) == 0 {
			return nil, false
		}
		switch p[0] {
		case ']':
			return text, len(text) >= minEncodedBytes
		case ',':
			p = p[1:]
		default:
			return nil, false
		}
	}
}

// decodeBase64 returns the text of a base64 string. If the parameter known is false, this place had no base64 before,
// and the text must begin like a payload.
func decodeBase64(inside []byte, known bool) (text []byte, is bool) {
	if !mayBeEncoded(inside) || !known && !beginsEncoded(inside) {
		return nil, false
	}
	inside = json.AppendUnquoted(nil, inside) // a slash may be escaped
	text, err := base64.StdEncoding.AppendDecode(nil, inside)
	return text, err == nil && len(text) >= minEncodedBytes
}

// mayBeEncoded quickly checks whether the inside of a string can be base64.
func mayBeEncoded(inside []byte) bool {
	if len(inside) < 4*minEncodedBytes/3 || len(inside)%4 != 0 && bytes.IndexByte(inside, '\\') < 0 {
		return false
	}
	for _, c := range inside[:4] {
		if !isWordByte(c) && c != '+' && c != '/' || c == '_' {
			return false
		}
	}
	return true
}

// beginsEncoded reports whether the first four base64 digits are the beginning of a payload.
func beginsEncoded(inside []byte) bool {
	var first [3]byte
	n, err := base64.StdEncoding.Decode(first[:], inside[:4])
	return err == nil && beginsText(first[:n])
}

// begunEncoding returns the decodable part of base64 whose end is missing. It returns any other text
// unchanged.
func begunEncoding(inside []byte) []byte {
	if whole := inside[:len(inside)/4*4]; mayBeEncoded(whole) && beginsEncoded(whole) {
		return whole
	}
	return inside
}

// beginsText reports whether three bytes can begin a payload: a field, a comment, a byte order mark or JSON.
func beginsText(p []byte) bool {
	switch string(p) {
	case "dat", "eve", "id:", "ret", "\ufeff", `{"t`, `{"i`, `{"c`, `{"m`, `{"o`, `{"r`, `{"u`, `{"e`, `{"d`, `{"s`, "{\n ", "[{\"", "[\n ":
		return true
	}
	return len(p) > 1 && p[0] == ':' && p[1] == ' '
}

// searchEncoded searches a decoded text.
func (p *unwrapper) searchEncoded(name string, text []byte) bool {
	return p.inWrapper(name, nil, nil, func() bool {
		known := p.paths[p.hash()]
		if known == nil && len(p.shapes[p.hash()]) == 0 && !p.rules.mayBeText(text) {
			return false
		}
		return p.searchInQuotes(known, text)
	})
}

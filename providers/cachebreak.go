package providers

import (
	"bytes"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"toolscope/providers/conversation"
	"toolscope/stream"
	"toolscope/stream/json"
)

// cacheBreak is the first difference between two requests, within the part of the request that the provider
// had cached.
type cacheBreak struct {
	path    string
	was, is string // the words or values that differ; "" if something was only added, removed or moved
	offset  int    // offset of the first differing byte in the text that contains it
	bytes   int    // number of bytes in the previous request after the start of the difference, in the order in which providers cache them
	words   stream.Message
}

// cacheLife is the time for which a provider keeps its cache, unless the request asks for an hour.
const cacheLife = 5 * time.Minute

// hasExpired reports whether the provider's cache had expired at the given time. It returns false if a time is
// unknown.
func (l *agentConversation) hasExpired(at time.Duration, body []byte) bool {
	pause := at - l.endedAt
	if l.endedAt <= 0 || at <= 0 {
		return false
	}
	if bytes.Contains(body, []byte(`"ttl":"1h"`)) || bytes.Contains(body, []byte(`"ttl": "1h"`)) {
		return pause > 12*cacheLife
	}
	return pause > cacheLife
}

// reportCacheBreak reports that a turn read fewer tokens from the cache than the previous request stored there. If
// both requests are in memory, it also reports the first difference between them.
func (x *Exchange) reportCacheBreak(number int32, t *stream.Turn, lost cacheLoss) {
	m := stream.Messagef("%s changed since the previous request of the conversation", stream.Own(t.Request.Change.BreaksAt()))
	fields := []any{}
	if before := x.in.Exchange(t.Request.Change.PreviousExchange); before != nil && !before.Evicted && !before.dropped {
		if b, ok := findCacheBreak(before.RequestBody(), x.RequestBody(), &t.Request.Change); ok {
			m = stream.Messagef("%s: %s", m, b.words)
			fields = append(fields, "path", b.path, "was", b.was, "is", b.is, "bytes", b.bytes)
		}
	}
	m = stream.Messagef("%s; %d of %d cached tokens were read", m, lost.read, lost.cached)
	f := cacheBroken.Finding("%s", m).WithDetail("cache_break", append(fields, "tokens", int(lost.cached-lost.read))...)
	x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
}

// findCacheBreak returns the first difference between two requests, in the first part of the request that changed.
// The result ok is false if there is none.
func findCacheBreak(before, after []byte, c *stream.RequestChange) (b cacheBreak, ok bool) {
	was, is := conversation.ReadBody(before), conversation.ReadBody(after)
	var from, to json.Value
	key := ""
	for _, key = range []string{"messages", "input", "contents"} {
		if from, to = json.Value(before).Get(key), json.Value(after).Get(key); from.Kind() == '[' && to.Kind() == '[' {
			break
		}
	}
	later := 0 // size of the parts after the changed part
	switch {
	case c.Model:
		b, ok = differenceOf("model", was.Model, is.Model)
		later = len(was.Tools) + len(was.System) + len(from) - b.bytes
	case c.Tools:
		b, ok = toolsBreak(was.Tools, is.Tools)
		later = len(was.System) + len(from)
	case c.System && was.System != nil && is.System != nil:
		b, ok = differenceOf("system", was.System, is.System)
		later = len(from)
	case from.Kind() == '[' && to.Kind() == '[':
		b, ok = differenceOf(key, from, to)
	}
	b.bytes += later
	return b, ok
}

// toolsBreak returns the first difference between the tools in two requests. A change in the names of the tools takes
// precedence.
func toolsBreak(was, is json.Value) (b cacheBreak, ok bool) {
	old, now := declaredNames(was), declaredNames(is)
	b, ok = differenceOf("tools", was, is)
	inNames := func(format, name string) (cacheBreak, bool) {
		return cacheBreak{path: "tools", bytes: b.bytes, words: stream.Messagef(format, stream.Fact(name))}, true
	}
	for i, name := range now {
		if !slices.Contains(old, name) {
			return inNames("%s was added", name)
		}
		if i < len(old) && name != old[i] && len(now) == len(old) && slices.Contains(now, old[i]) {
			return inNames("the order changed, and %s moved", name)
		}
	}
	for _, name := range old {
		if !slices.Contains(now, name) {
			return inNames("%s was removed", name)
		}
	}
	return b, ok
}

// declaredNames returns the names of the declared tools, in order.
func declaredNames(tools json.Value) (names []string) {
	for _, tool := range conversation.DeclaredTools(tools) {
		if tool.Name != "" {
			names = append(names, tool.Name)
		}
	}
	return names
}

// differenceOf returns the first difference between two values. The result ok is false if they are equal.
func differenceOf(path string, was, is json.Value) (b cacheBreak, ok bool) {
	b.path, b.bytes = path, len(was)
	for whole := was; ; {
		next, from, to, found := differingChild(was, is)
		if !found {
			break
		}
		if b.path, was, is = b.path+next, from, to; was == nil {
			b.bytes = 0 // the value was added at the end
		} else {
			b.bytes = len(whole) - (cap(whole) - cap(was))
		}
	}
	switch {
	case was == nil && is == nil || bytes.Equal(was, is):
		return b, false
	case was.IsString() && is.IsString():
		b.compareTexts(was.Unquoted(), is.Unquoted())
		b.bytes -= 1 + b.offset // the bytes before the difference, including the opening quotation mark, don't count
		b.words = stream.Messagef("%s changed at byte %d from %q to %q", stream.Own(b.path), b.offset, b.was, b.is)
	case was == nil:
		b.words = stream.Messagef("%s was added", stream.Own(b.path))
	case is == nil:
		b.words = stream.Messagef("%s was removed", stream.Own(b.path))
	default:
		b.was, b.is = stream.Clip(was, 0, maxBreakWords), stream.Clip(is, 0, maxBreakWords)
		b.words = stream.Messagef("%s changed from %s to %s", stream.Own(b.path), b.was, b.is)
	}
	return b, true
}

// DescribeDifference describes the first difference between two values of requests, at the path of the values. It
// ignores differences in white space, in the order of fields, and in cache marks. It returns "" if there is
// none.
func DescribeDifference(path string, was, is json.Value) string {
	if bytes.Equal(was, is) || !isDifferent(was, is) {
		return ""
	}
	b, _ := differenceOf(path, was, is)
	return b.words.String()
}

// differingChild returns the first child that differs between two objects or two lists. A missing child is
// nil. The fields named cache_control are ignored. The result found is false if no child differs.
func differingChild(was, is json.Value) (path string, from, to json.Value, found bool) {
	switch {
	case was.Kind() == '{' && is.Kind() == '{':
		for _, pair := range [2][2]json.Value{{was, is}, {is, was}} {
			s := pair[0].Scan()
			for ok := s.Object(); ok; ok = s.Member() {
				key := string(s.Key())
				if key == "cache_control" {
					continue
				}
				a, b := s.Value(), pair[1].Get(key)
				if !bytes.Equal(a, b) && isDifferent(a, b) {
					if &pair[0][0] == &is[0] {
						a, b = b, a
					}
					return "." + key, a, b, true
				}
			}
		}
	case was.Kind() == '[' && is.Kind() == '[':
		n := 0
		rest := slices.Collect(is.Elements())
		for a := range was.Elements() {
			if n >= len(rest) {
				return "[" + strconv.Itoa(n) + "]", a, nil, true
			}
			if b := rest[n]; !bytes.Equal(a, b) && isDifferent(a, b) {
				return "[" + strconv.Itoa(n) + "]", a, b, true
			}
			n++
		}
		if n < len(rest) {
			return "[" + strconv.Itoa(n) + "]", nil, rest[n], true
		}
	}
	return "", nil, nil, false
}

// isDifferent reports whether two values with different bytes differ in more than white space, the order of
// fields and fields named cache_control.
func isDifferent(a, b json.Value) bool {
	if k := a.Kind(); a == nil || b == nil || k != b.Kind() || k != '{' && k != '[' {
		return true
	}
	_, _, _, found := differingChild(a, b)
	return found
}

// maxBreakWords is the maximum number of bytes that are quoted from a value that is not a string. Quoted
// strings can be twice as long.
const maxBreakWords = 24

// compareTexts finds the first difference between two texts, and the words around it.
func (b *cacheBreak) compareTexts(was, is []byte) {
	n := 0
	for n < min(len(was), len(is)) && was[n] == is[n] {
		n++
	}
	for n > 0 && n < len(was) && !utf8.RuneStart(was[n]) {
		n--
	}
	b.offset = n
	start := max(0, n-maxBreakWords)
	start += bytes.LastIndexAny(was[start:n], blanks) + 1
	for start < n && !utf8.RuneStart(was[start]) {
		start++
	}
	b.was, b.is = wordsTo(was[start:], n-start+1), wordsTo(is[start:], n-start+1)
}

// wordsTo returns the beginning of a text up to the first blank at or after the offset from. If there is none, it
// returns the whole text.
func wordsTo(text []byte, from int) string {
	end := len(text)
	if from = min(from, end); bytes.ContainsAny(text[from:], blanks) {
		end = from + bytes.IndexAny(text[from:], blanks)
	}
	return stream.Clip(text[:end], 0, 2*maxBreakWords)
}

const blanks = " \t\r\n"

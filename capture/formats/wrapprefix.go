package formats

import (
	"bytes"
)

// linePrefix is a way to begin a line that programs have in common. Size is how many bytes of a line
// it takes, 0 where a line does not begin so.
type linePrefix struct {
	name string
	size func(line []byte) int
}

// prefixKinds are those that have a name of their own; whatever stands behind one may begin with
// another. The more special ones come first.
var prefixKinds = []linePrefix{
	{"Kubernetes CRI", criPrefix},
	{"kubectl --prefix", kubectlPrefix},
	{"syslog", syslogPrefix},
	{"klog", klogPrefix},
	{"docker compose", composePrefix},
}

// enterPrefix enters the layers that stand before a payload in a text, and reads what they tell.
func (p *unwrapper) enterPrefix(text, suffix []byte) {
	rest, from := text, len(p.wrappers)
	for {
		k, n := prefixOf(rest)
		if n == 0 {
			break
		}
		p.push(k, nil, rest[:n:n], nil)
		p.readPrefix(rest[:n], ofPlace)
		rest = rest[n:]
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		p.push(nameOfPrefix(rest, suffix), nil, rest, nil)
		p.readPrefix(rest, plainKey)
	} else if len(p.wrappers) > from {
		p.wrappers[len(p.wrappers)-1].before = text[len(text)-len(rest)-len(p.wrappers[len(p.wrappers)-1].before):]
	}
	if len(p.wrappers) > from {
		p.wrappers[from].after = suffix
	}
	if len(suffix) > 0 {
		p.readPrefix(suffix, plainKey)
	}
}

func prefixOf(line []byte) (name string, n int) {
	for _, k := range prefixKinds {
		if n := k.size(line); n > 0 {
			return k.name, n
		}
	}
	return "", 0
}

// word is the length of what p begins with up to a space.
func wordLen(p []byte) int {
	if n := bytes.IndexByte(p, ' '); n >= 0 {
		return n
	}
	return len(p)
}

// criPrefix is 2024-01-02T03:04:05.678901234Z stdout F.
func criPrefix(p []byte) int {
	n := wordLen(p)
	if n < len("2006-01-02T15:04:05Z") || n > 40 || p[10] != 'T' {
		return 0
	}
	rest := p[n:]
	for _, name := range []string{" stdout ", " stderr "} {
		if len(rest) >= len(name)+1 && string(rest[:len(name)]) == name {
			k := wordLen(rest[len(name):])
			if tag := rest[len(name):][:k]; k > 0 && (tag[0] == 'F' || tag[0] == 'P') {
				return min(len(p), n+len(name)+k+1)
			}
		}
	}
	return 0
}

// kubectlPrefix is [pod/name/container].
func kubectlPrefix(p []byte) int {
	if !bytes.HasPrefix(p, []byte("[pod/")) {
		return 0
	}
	if n := bytes.IndexByte(p, ']'); n > 0 {
		return n + 1 + spacesLen(p[n+1:])
	}
	return 0
}

// composePrefix is a name, padded, and a bar.
func composePrefix(p []byte) int {
	n := 0
	for n < len(p) && n < 64 && (isWordByte(p[n]) || p[n] == '-' || p[n] == '.' || p[n] == '/') {
		n++
	}
	bar := n + spacesLen(p[n:])
	if n == 0 || bar == n && p[n-1] != ' ' || bar >= len(p) || p[bar] != '|' {
		return 0
	}
	return bar + 1 + spacesLen(p[bar+1:])
}

func spacesLen(p []byte) (n int) {
	for n < len(p) && (p[n] == ' ' || p[n] == '\t') {
		n++
	}
	return n
}

// syslogPrefix is <34>Oct 11 22:14:15 host tag[123]: of the old form, with or without what stands in
// <>, or <34>1 of the new one, up to its message.
func syslogPrefix(p []byte) int {
	n := 0
	if len(p) > 3 && p[0] == '<' {
		for n = 1; n < len(p) && n < 5 && isDigit(p[n]); n++ {
		}
		if n == 1 || n >= len(p) || p[n] != '>' {
			return 0
		}
		n++
		if bytes.HasPrefix(p[n:], []byte("1 ")) {
			return newSyslog(p, n)
		}
	}
	_, size := parseTime(p[n:])
	if size == 0 || n == 0 && !isMonth(p) && !bytes.HasPrefix(p[size:], []byte(" ")) {
		return 0
	}
	if n == 0 && !isMonth(p) { // a time of another form: only with a host and a tag behind it
		return taggedLen(p, size)
	}
	return max(taggedLen(p, n+size), 0)
}

// taggedLen is the length of a prefix that goes on with a host and a tag, from n on, 0 if it does not.
func taggedLen(p []byte, n int) int {
	n += spacesLen(p[n:])
	host := wordLen(p[n:])
	if host == 0 || n+host >= len(p) || !isName(p[n:n+host]) {
		return 0
	}
	n += host + 1
	tag := wordLen(p[n:])
	if tag < 2 || p[n+tag-1] != ':' || !isWordByte(p[n]) {
		return 0
	}
	name := p[n : n+tag-1]
	if i := bytes.IndexByte(name, '['); i > 0 && name[len(name)-1] == ']' {
		name = name[:i]
	} else if i >= 0 || n > 20 && name == nil {
		return 0
	} else if isLevel(name) {
		return 0
	}
	if !isName(name) {
		return 0
	}
	return min(len(p), n+tag+1)
}

func isName(p []byte) bool {
	for _, c := range p {
		if !isWordByte(c) && c != '-' && c != '.' && c != '/' && c != '@' {
			return false
		}
	}
	return len(p) > 0
}

// newSyslog is <34>1 time host app procid msgid structured-data.
func newSyslog(p []byte, n int) int {
	n += 2
	for range 5 { // time, host, app, procid, msgid
		k := wordLen(p[n:])
		if k == 0 || n+k >= len(p) {
			return 0
		}
		n += k + 1
	}
	for n < len(p) && p[n] == '[' {
		for n++; n < len(p) && p[n] != ']'; n++ {
			if p[n] == '"' {
				n += max(quoteEnd(p[n:])-1, 0)
			}
		}
		n = min(len(p), n+1)
	}
	if n < len(p) && p[n] == '-' {
		n++
	}
	return min(len(p), n+spacesLen(p[min(n, len(p)):]))
}

// klogPrefix is I0102 15:04:05.000000   1234 file.go:12].
func klogPrefix(p []byte) int {
	if len(p) < 24 || !bytes.ContainsRune([]byte("IWEFD"), rune(p[0])) || p[5] != ' ' || p[8] != ':' || p[11] != ':' {
		return 0
	}
	for _, c := range p[1:5] {
		if !isDigit(c) {
			return 0
		}
	}
	n := bytes.Index(p, []byte("] "))
	if n < 0 || n > 200 {
		return 0
	}
	return n + 2
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameOfPrefix is what people call a log whose lines begin so.
func nameOfPrefix(p, suffix []byte) string {
	text := bytes.TrimRight(p, " ")
	_, n := parseTime(text)
	switch {
	case bytes.Contains(p, []byte("LiteLLM")) || bytes.Contains(p, []byte("litellm")):
		return "LiteLLM debug"
	case bytes.Contains(p, []byte("level=")) && (bytes.Contains(p, []byte("msg=")) || bytes.HasPrefix(p, []byte("time="))):
		return "logfmt"
	case len(text) > 0 && text[len(text)-1] == '=' || bytes.HasSuffix(text, []byte(`="`)):
		return "logfmt"
	case n > 0 && n == len(text) || n > 0 && n+1 == len(text):
		return "times"
	case n > 19 && text[19] == ',':
		return "Python logging"
	case n > 0 && bytes.Count(p, []byte("\t")) >= 2:
		return "zap"
	case n == 0 && bytes.Count(p, []byte(":")) >= 2 && isLevel(text[:max(0, bytes.IndexByte(text, ':'))]):
		return "Python logging"
	}
	return "prefix"
}

// isLevel reports whether a word is how bad something is, as loggers say.
func isLevel(word []byte) bool {
	switch string(bytes.ToUpper(bytes.Trim(word, "[]:<>() "))) {
	case "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "TRACE", "FATAL", "CRITICAL", "NOTICE", "DBG", "INF", "WRN", "ERR", "SILLY", "VERBOSE", "LOG", "PANIC":
		return true
	}
	return false
}

// cri is whether a line of Kubernetes is only a part of one, and what it is of.
func criPart(line []byte) (part, is bool, prefix int) {
	n := criPrefix(line)
	if n == 0 {
		return false, false, 0
	}
	i := wordLen(line) + len(" stdout ")
	return line[i] == 'P', true, n
}

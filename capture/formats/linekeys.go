package formats

import (
	"bytes"

	"toolscope/stream/json"
)

// correlationKey is a named value in a line, stored as hashes of its name and its value. When several streams are
// open, payloads find their stream by these keys.
type correlationKey struct {
	name, value uint64
	rank        keyWeight
}

// keyWeight is the importance of a key, which depends on its name.
type keyWeight int8

const (
	ofNoUse   keyWeight = iota // a time, a level, or the text itself
	plainKey                   // anything else
	ofLeg                      // the side of a gateway: data that it received, or data that it sent
	ofPlace                    // the writer of the line: a process or a container
	ofTrace                    // several requests may share the key: a trace or a session
	ofRequest                  // the key identifies a request
)

const (
	maxKeysOfLine = 64  // maximum number of keys in a line
	maxKeyBytes   = 200 // maximum number of bytes of a key's value
)

// nameWeight returns the weight of a key with this name.
func nameWeight(name []byte) keyWeight {
	lower := bytes.ToLower(name)
	for _, word := range uselessWords {
		if string(lower) == word {
			return ofNoUse
		}
	}
	if bytes.Contains(lower, []byte("chunk")) || bytes.Contains(lower, []byte("seq")) || bytes.Contains(lower, []byte("event")) ||
		bytes.Contains(lower, []byte("line")) || bytes.Contains(lower, []byte("message")) || bytes.Contains(lower, []byte("offset")) ||
		bytes.ContainsAny(lower, "./") && !bytes.HasSuffix(lower, []byte("id")) { // a file name with a line number
		return plainKey
	}
	for _, rank := range []struct {
		of    keyWeight
		words []string
	}{{ofRequest, requestWords}, {ofTrace, traceWords}, {ofPlace, placeWords}} {
		for _, word := range rank.words {
			if bytes.Contains(lower, []byte(word)) {
				return rank.of
			}
		}
	}
	return plainKey
}

var (
	uselessWords = []string{
		"time", "ts", "timestamp", "@timestamp", "t", "date", "datetime", "level", "severity", "lvl", "msg", "message", "log", "asctime",
		"__realtime_timestamp", "__monotonic_timestamp", "__cursor", "_source_realtime_timestamp", "created", "v", "elapsed", "duration",
		"syslog_timestamp", "__seqnum", "insertid", "caller", "levelname", "lineno", "msecs", "stream", "relativecreated", "uptime", "latency",
	}
	requestWords = []string{
		"req", "conn", "rid", "stream", "call_id", "callid", "exchange", "span", "txn", "transaction", "flow", "generation", "completion",
		"invocation", "socket", "port", "goroutine",
	}
	traceWords = []string{"trace", "correl", "session", "run", "job", "task", "client", "remote", "peer", "operation", "cid", "tid"}
	placeWords = []string{"pid", "thread", "worker", "container", "pod", "service", "host", "process", "instance", "name", "logger", "ident", "unit", "user", "conv"}
)

// lineKeys holds the correlation keys and the time of a line, as found in the wrappers around the current
// place.
type lineKeys struct {
	keys    []correlationKey
	stamp   timestamp
	weights map[uint64]keyWeight // weights by the hash of the key's name
	slots   []slot               // values that may differ in similar lines
	nested  []json.FoundField    // memory for the fields of nested objects
}

// readKeys reads the fields of an object that isn't a payload. The parameter path is the hash of the object's place,
// and leads reports whether a field contains payloads.
func (k *lineKeys) readKeys(path uint64, all []json.FoundField, leads func(key []byte) bool) {
	for _, m := range all {
		if len(k.keys) >= maxKeysOfLine || len(m.Value) == 0 {
			return
		}
		if m.Value[0] == '{' && len(m.Value) < 1<<10 {
			k.readInner(path, m, 1)
			continue
		}
		if isTimeName(m.Key) {
			k.noteTimestamp(m.Value)
			continue
		}
		if c := m.Value[0]; c != '[' && c != '{' && len(m.Value) <= maxKeyBytes {
			k.addKey(hashOf(path, m.Key), m.Key, m.Value)
			leg := k.addLeg(hashOf(path, m.Key), m.Value)
			if k.weightOf(m.Key) == ofNoUse && !leg && !leads(m.Key) {
				k.slots = append(k.slots, slot{m.Value, anyValue})
			}
		}
	}
}

// maxInnerDepth is the maximum number of levels of nested objects that are read: {"ctx":{"trace":{"id":…}}}.
const maxInnerDepth = 3

// readInner reads the fields of an object in a line. If the object describes a request, the object's id is the
// id of the request.
func (k *lineKeys) readInner(path uint64, of json.FoundField, depth int) {
	from := len(k.nested)
	all, _, _ := json.AppendFields(k.nested, of.Value)
	k.nested = all
	path = hashOf(path, of.Key)
	about := k.weightOf(of.Key) >= ofPlace
	for _, m := range all[from:] {
		c := m.Value
		switch {
		case len(c) == 0 || len(k.keys) >= maxKeysOfLine || c[0] == '[':
		case c[0] == '{' && depth < maxInnerDepth:
			k.readInner(path, m, depth+1)
		case c[0] == '{' || len(c) > maxKeyBytes:
		case about && (string(m.Key) == "id" || string(m.Key) == "request_id"):
			k.keys = append(k.keys, correlationKey{hashOf(path, m.Key), hashOf(hashSeed, c), ofRequest})
		case about:
			k.keys = append(k.keys, correlationKey{hashOf(path, m.Key), hashOf(hashSeed, c), plainKey})
		default:
			k.addKey(hashOf(path, m.Key), m.Key, c)
		}
	}
	k.nested = all[:from]
}

func (k *lineKeys) weightOf(name []byte) keyWeight {
	h := hashOf(hashSeed, name)
	rank, known := k.weights[h]
	if !known {
		const most = 4096
		if len(k.weights) > most {
			clear(k.weights)
		}
		rank = nameWeight(name)
		k.weights[h] = rank
	}
	return rank
}

func (k *lineKeys) addKey(h uint64, name, value []byte) {
	rank := k.weightOf(name)
	if rank == ofNoUse || string(value) == "null" || len(value) == 0 || string(value) == `""` {
		return
	}
	k.keys = append(k.keys, correlationKey{h, hashOf(hashSeed, value), rank})
}

// legWords are words in logs for the two sides of a gateway: words for data that it received, and words for data that
// it sent. They include common misspellings.
var legWords = map[string]byte{
	"received": 'r', "recieved": 'r', "receive": 'r', "recieve": 'r', "receiving": 'r', "recv": 'r', "incoming": 'r', "inbound": 'r', "upstream": 'r',
	"sent": 's', "send": 's', "sending": 's', "outgoing": 's', "outbound": 's', "downstream": 's', "forwarded": 's', "forwarding": 's',
}

const maxLegBytes = 64 // maximum number of bytes of a value that may name a side of a gateway

// addLeg adds the side of a gateway that a value names, and reports whether it names one.
func (k *lineKeys) addLeg(h uint64, value []byte) bool {
	if len(value) > maxLegBytes {
		return false
	}
	leg := byte(0)
	for len(value) > 0 {
		n := 0
		for n < len(value) && 'a' <= value[n]|0x20 && value[n]|0x20 <= 'z' {
			n++
		}
		if n >= len("sent") {
			switch named := legWords[string(bytes.ToLower(value[:n]))]; {
			case named == 0:
			case leg != 0 && leg != named:
				return false
			default:
				leg = named
			}
		}
		value = value[max(n, 1):]
	}
	if leg != 0 {
		k.keys = append(k.keys, correlationKey{hashOf(h, []byte("leg")), uint64(leg), ofLeg})
	}
	return leg != 0
}

func (k *lineKeys) noteTimestamp(value []byte) {
	k.slots = append(k.slots, slot{value, anyTime})
	s := timestamp{text: value, fine: bytes.IndexByte(value, '.') >= 0 || bytes.IndexByte(value, ',') >= 0 || len(value) > 11}
	if k.stamp.text == nil || s.fine || !k.stamp.fine {
		k.stamp = s
	}
}

// readPrefix reads the text around a payload word by word: key=value, words in brackets, and times. For any other
// word, the key's name is the word's position.
func (k *lineKeys) readPrefix(path uint64, text []byte, least keyWeight) {
	for place := 0; len(text) > 0 && len(k.keys) < maxKeysOfLine; place++ {
		n := 0
		for n < len(text) && (json.IsSpace(text[n]) || bytes.IndexByte([]byte("[]()|<>,;"), text[n]) >= 0) {
			n++
		}
		bracketed := n > 0 && text[n-1] == '['
		if text = text[n:]; len(text) == 0 {
			return
		}
		if _, size := parseTime(text); size > 0 {
			k.noteTimestamp(text[:size:size])
			text = text[size:]
			continue
		}
		n = k.addWordKey(path, text, place, bracketed, least)
		text = text[n:]
	}
}

// addWordKey adds the key in the first word of text and returns the word's length.
func (k *lineKeys) addWordKey(path uint64, text []byte, place int, bracketed bool, least keyWeight) (n int) {
	eq := -1
	for n < len(text) && !json.IsSpace(text[n]) && bytes.IndexByte([]byte("[]()|<>,;"), text[n]) < 0 {
		if eq < 0 && (text[n] == '=' || text[n] == ':') && n > 0 && n+1 < len(text) {
			eq = n
			if text[n+1] == '"' {
				n += max(1, quoteEnd(text[n+1:]))
			}
		}
		n++
	}
	n = min(n, len(text))
	word := text[:n]
	if n == 0 {
		return 1
	}
	if eq > 0 && !isDigit(word[0]) {
		name, value := word[:eq], word[eq+1:]
		if isTimeName(name) {
			k.noteTimestamp(bytes.Trim(value, `"`))
		} else if isLevel(name) { // the value is the name of a logger
			k.keys = append(k.keys, correlationKey{hashOf(path, []byte("logger")), hashOf(hashSeed, value), ofPlace})
		} else if len(value) <= maxKeyBytes {
			k.addKey(hashOf(path, name), name, value)
		}
		return n
	}
	rank, bare := least, bytes.Trim(word, `"'`)
	switch {
	case isLevel(word) || n > maxKeyBytes:
		return n
	case namesRequest(bare):
		rank = ofRequest
	case isHexID(bare):
		rank = ofTrace
	case bracketed:
		rank = ofPlace
	}
	name := hashOf(path, []byte{byte(place), byte(rank)})
	if rank >= ofTrace {
		name = hashOf(path, []byte{'i', 'd', byte(rank)})
		for _, c := range k.keys {
			if c.name == name {
				name++
			}
		}
	}
	k.keys = append(k.keys, correlationKey{name, hashOf(hashSeed, word), rank})
	return n
}

// namesRequest reports whether a word looks like the name of a request, such as req_123 or conn-7.
func namesRequest(word []byte) bool {
	lower := bytes.ToLower(word)
	for _, begin := range []string{"req", "conn", "rid", "stream", "call", "tx", "#"} {
		if bytes.HasPrefix(lower, []byte(begin)) && bytes.ContainsAny(lower[len(begin):], "0123456789-_") && bytes.IndexByte(word, '.') < 0 {
			return true
		}
	}
	return false
}

// isHexID reports whether a word looks like a UUID or a hash. The word must have at least eight hexadecimal digits,
// both numerals and letters among them, and may have hyphens.
func isHexID(word []byte) bool {
	hex, digits := 0, 0
	for _, c := range bytes.ToLower(word) {
		switch {
		case isDigit(c):
			hex, digits = hex+1, digits+1
		case c >= 'a' && c <= 'f':
			hex++
		case c != '-':
			return false
		}
	}
	return hex >= 8 && digits > 0 && digits < hex
}

// objectName returns the name of the logger that writes objects with these fields. If the logger is unknown, the
// result is "JSON", or "" if named is set.
func objectName(all []json.FoundField, named bool) string {
	has := func(keys ...string) bool {
		for _, k := range keys {
			found := false
			for _, m := range all {
				if string(m.Key) == k {
					found = true
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	switch {
	case has("log", "stream", "time"):
		return "docker json-file"
	case has("MESSAGE", "__REALTIME_TIMESTAMP"):
		return "journald"
	case has("level", "time", "pid", "hostname"):
		return "pino"
	case has("level", "ts", "msg"):
		return "zap"
	case has("level", "time", "message"):
		return "zerolog"
	case has("level", "time", "msg"):
		return "slog"
	case !named:
		return "JSON"
	}
	return ""
}

// linePrefix is a common beginning of lines. The field size is a function that returns the length of the prefix in a
// line, or 0 if the line doesn't have the prefix.
type linePrefix struct {
	name string
	size func(line []byte) int
}

// prefixKinds are the prefixes that have a name, the more specific ones first. A prefix may follow another
// one.
var prefixKinds = []linePrefix{
	{"Kubernetes CRI", criPrefix},
	{"kubectl --prefix", kubectlPrefix},
	{"syslog", syslogPrefix},
	{"klog", klogPrefix},
	{"docker compose", composePrefix},
}

func prefixOf(line []byte) (name string, n int) {
	for _, k := range prefixKinds {
		if n := k.size(line); n > 0 {
			return k.name, n
		}
	}
	return "", 0
}

// wordLen returns the length of p up to the first space.
func wordLen(p []byte) int {
	if n := bytes.IndexByte(p, ' '); n >= 0 {
		return n
	}
	return len(p)
}

// criPrefix matches 2024-01-02T03:04:05.678901234Z stdout F.
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

// kubectlPrefix matches [pod/name/container].
func kubectlPrefix(p []byte) int {
	if !bytes.HasPrefix(p, []byte("[pod/")) {
		return 0
	}
	if n := bytes.IndexByte(p, ']'); n > 0 {
		return n + 1 + spacesLen(p[n+1:])
	}
	return 0
}

// composePrefix matches a padded name and a vertical bar.
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

// syslogPrefix matches the old form <34>Oct 11 22:14:15 host tag[123]:, with or without the number <34>, or
// the new form <34>1, up to the message.
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
	if n == 0 && !isMonth(p) { // a time in another form needs a host and a tag
		return taggedLen(p, size)
	}
	return max(taggedLen(p, n+size), 0)
}

// taggedLen returns the length of a prefix whose host and tag begin at n, or 0 if there is none.
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

// newSyslog matches <34>1 time host app procid msgid structured-data.
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

// klogPrefix matches I0102 15:04:05.000000   1234 file.go:12].
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

// nameOfPrefix returns the usual name for logs whose lines have this prefix.
func nameOfPrefix(p []byte) string {
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

// isLevel reports whether a word is a log level.
func isLevel(word []byte) bool {
	switch string(bytes.ToUpper(bytes.Trim(word, "[]:<>() "))) {
	case "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "TRACE", "FATAL", "CRITICAL", "NOTICE", "DBG", "INF", "WRN", "ERR", "SILLY", "VERBOSE", "LOG", "PANIC":
		return true
	}
	return false
}

// criPart reports whether a line is from Kubernetes, and whether it is only part of a longer line. The result prefix
// is the length of the line's prefix.
func criPart(line []byte) (part, is bool, prefix int) {
	n := criPrefix(line)
	if n == 0 {
		return false, false, 0
	}
	i := wordLen(line) + len(" stdout ")
	return line[i] == 'P', true, n
}

// linePrefixShape is the form of the text before a payload: "a" for each run of letters and digits, and one space for
// each run of spaces. Lines from one logger have the same form, even lines without a payload.
type linePrefixShape struct {
	form string
	on   *payloadPath
}

// formOf returns the form of a prefix.
func formOf(prefix []byte) string {
	out := make([]byte, 0, len(prefix))
	for i := 0; i < len(prefix); {
		n, c := shapeRun(prefix[i:])
		out = append(out, c)
		i += n
	}
	return string(out)
}

// shapeRun returns the length of the first run of p, and the byte that represents the run in a form.
func shapeRun(p []byte) (n int, c byte) {
	switch {
	case isWordByte(p[0]):
		for n = 1; n < len(p) && isWordByte(p[n]); n++ {
		}
		return n, 'a'
	case p[0] == ' ' || p[0] == '\t':
		return spacesLen(p), ' '
	}
	return 1, p[0]
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

// restAfter returns the rest of a line after a prefix with this form. If nothing follows, spaces at the end of
// the prefix may be missing. The second result is false if the line's prefix has another form.
func (s linePrefixShape) restAfter(line []byte) (rest []byte, is bool) {
	for i := 0; i < len(s.form); i++ {
		if len(line) == 0 {
			return nil, i == len(s.form)-1 && s.form[i] == ' '
		}
		n, c := shapeRun(line)
		if c != s.form[i] {
			return nil, false
		}
		line = line[n:]
	}
	return line, true
}

// keepPrefix stores the form of the prefix of the latest payload.
func (p *unwrapper) keepPrefix(around uint64, prefix []byte) {
	if len(p.payloads) == 0 {
		return
	}
	on := p.payloads[len(p.payloads)-1].on
	all := p.shapes[around]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].on != on {
			continue
		}
		if rest, is := all[i].restAfter(prefix); is && len(rest) == 0 {
			return
		}
	}
	if len(all) == maxPrefixShapes {
		all = append(all[:0], all[1:]...)
	}
	p.shapes[around] = append(all, linePrefixShape{formOf(prefix), on})
}

// addRest adds the text that a line has instead of a payload: an empty line or a comment in an event stream, or the
// second half of a payload that was cut. It reports whether the line has the prefix of earlier payloads.
func (p *unwrapper) addRest(line []byte) bool {
	body := bytes.TrimRight(line, "\r\n")
	for _, s := range p.shapes[p.hash()] {
		rest, is := s.restAfter(body)
		if !is {
			continue
		}
		prefix := body[:len(body)-len(rest)]
		p.searchAfterPrefix(prefix, nil, func() bool { return p.addRestOf(s.on, rest) })
		return true
	}
	return false
}

// addRestOf adds text that a line has instead of a payload, at one of the payloads' places. It always returns true.
func (p *unwrapper) addRestOf(on *payloadPath, t []byte) bool {
	f := payload{text: t, on: on, scope: p.scope, stamp: p.stamp}
	f.is, f.block, f.number = aRest, -1, -1
	f.keys = append([]correlationKey(nil), p.keys...)
	f.before, f.after = p.wrapLine(nil, nil)
	p.payloads = append(p.payloads, f)
	return true
}

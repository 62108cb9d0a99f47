package formats

import (
	"bytes"

	"toolscope/stream/json"
)

// correlationKey is something that a line says beside its payload: a name and a value, as hashes. Which of
// them tell streams apart shows when there is more than one stream.
type correlationKey struct {
	name, value uint64
	rank        keyWeight
}

// keyWeight is how much a clue is worth, by its name.
type keyWeight int8

const (
	ofNoUse   keyWeight = iota // a time, a level, the text itself
	plainKey                   // anything else
	ofPlace                    // who wrote the line: a process, a container
	ofTrace                    // what several requests may have in common: a trace, a session
	ofRequest                  // what is there to tell requests apart
)

const (
	maxKeysOfLine = 64  // clues of a line
	maxKeyBytes   = 200 // bytes of a clue
)

// nameWeight is the rank of a name.
func nameWeight(name []byte) keyWeight {
	lower := bytes.ToLower(name)
	for _, word := range uselessWords {
		if string(lower) == word {
			return ofNoUse
		}
	}
	if bytes.Contains(lower, []byte("chunk")) || bytes.Contains(lower, []byte("seq")) || bytes.Contains(lower, []byte("event")) ||
		bytes.Contains(lower, []byte("line")) || bytes.Contains(lower, []byte("message")) || bytes.Contains(lower, []byte("offset")) ||
		bytes.ContainsAny(lower, "./") && !bytes.HasSuffix(lower, []byte("id")) { // a file and a line in it
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

// readKeys reads the members of an object that are no payload.
func (p *unwrapper) readKeys(all []json.FoundField) {
	for _, m := range all {
		if len(p.keys) >= maxKeysOfLine || len(m.Value) == 0 {
			return
		}
		if m.Value[0] == '{' && len(m.Value) < 1<<10 {
			p.readInner(p.hash(), m, 1)
			continue
		}
		if isTimeName(m.Key) {
			p.noteTimestamp(m.Value)
			continue
		}
		if c := m.Value[0]; c != '[' && c != '{' && len(m.Value) <= maxKeyBytes {
			p.addKey(hashOf(p.hash(), m.Key), m.Key, m.Value)
			if p.weightOf(m.Key) == ofNoUse && !p.leadsTo(m.Key) {
				p.builder.free = append(p.builder.free, slot{m.Value, anyValue})
			}
		}
	}
}

// maxInnerDepth is how deep objects in objects are looked into: {"ctx":{"trace":{"id":…}}}.
const maxInnerDepth = 3

// readInner reads the members of an object in a line. In one that is itself about a request its id
// is the request's.
func (p *unwrapper) readInner(path uint64, of json.FoundField, depth int) {
	from := len(p.members)
	all, _, _ := json.AppendFields(p.members, of.Value)
	p.members = all
	path = hashOf(path, of.Key)
	about := p.weightOf(of.Key) >= ofPlace
	for _, m := range all[from:] {
		c := m.Value
		switch {
		case len(c) == 0 || len(p.keys) >= maxKeysOfLine || c[0] == '[':
		case c[0] == '{' && depth < maxInnerDepth:
			p.readInner(path, m, depth+1)
		case c[0] == '{' || len(c) > maxKeyBytes:
		case about && (string(m.Key) == "id" || string(m.Key) == "request_id"):
			p.keys = append(p.keys, correlationKey{hashOf(path, m.Key), hashOf(hashSeed, c), ofRequest})
		case about:
			p.keys = append(p.keys, correlationKey{hashOf(path, m.Key), hashOf(hashSeed, c), plainKey})
		default:
			p.addKey(hashOf(path, m.Key), m.Key, c)
		}
	}
	p.members = all[:from]
}

func (p *unwrapper) weightOf(name []byte) keyWeight {
	h := hashOf(hashSeed, name)
	rank, known := p.ranks[h]
	if !known {
		const most = 4096
		if len(p.ranks) > most {
			clear(p.ranks)
		}
		rank = nameWeight(name)
		p.ranks[h] = rank
	}
	return rank
}

func (p *unwrapper) addKey(h uint64, name, value []byte) {
	rank := p.weightOf(name)
	if rank == ofNoUse || string(value) == "null" || len(value) == 0 || string(value) == `""` {
		return
	}
	p.keys = append(p.keys, correlationKey{h, hashOf(hashSeed, value), rank})
}

func (p *unwrapper) noteTimestamp(value []byte) {
	p.builder.free = append(p.builder.free, slot{value, anyTime})
	s := timestamp{text: value, fine: bytes.IndexByte(value, '.') >= 0 || bytes.IndexByte(value, ',') >= 0 || len(value) > 11}
	if p.stamp.text == nil || s.fine || !p.stamp.fine {
		p.stamp = s
	}
}

// readPrefix reads a text that stands around a payload, word for word: key=value, what stands in
// brackets, times; anything else by its place.
func (p *unwrapper) readPrefix(text []byte, least keyWeight) {
	for place := 0; len(text) > 0 && len(p.keys) < maxKeysOfLine; place++ {
		n := 0
		for n < len(text) && (json.IsSpace(text[n]) || bytes.IndexByte([]byte("[]()|<>,;"), text[n]) >= 0) {
			n++
		}
		bracketed := n > 0 && text[n-1] == '['
		if text = text[n:]; len(text) == 0 {
			return
		}
		if _, size := parseTime(text); size > 0 {
			p.noteTimestamp(text[:size:size])
			text = text[size:]
			continue
		}
		n = p.addWordKey(text, place, bracketed, least)
		text = text[n:]
	}
}

// addWordKey reads the word that text begins with, and says how long it is.
func (p *unwrapper) addWordKey(text []byte, place int, bracketed bool, least keyWeight) (n int) {
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
			p.noteTimestamp(bytes.Trim(value, `"`))
		} else if isLevel(name) { // and the name of a logger
			p.keys = append(p.keys, correlationKey{hashOf(p.hash(), []byte("logger")), hashOf(hashSeed, value), ofPlace})
		} else if len(value) <= maxKeyBytes {
			p.addKey(hashOf(p.hash(), name), name, value)
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
	name := hashOf(p.hash(), []byte{byte(place), byte(rank)})
	if rank >= ofTrace {
		name = hashOf(p.hash(), []byte{'i', 'd', byte(rank)})
		for _, c := range p.keys {
			if c.name == name {
				name++
			}
		}
	}
	p.keys = append(p.keys, correlationKey{name, hashOf(hashSeed, word), rank})
	return n
}

// namesRequest reports whether a word looks like the name of a request: req_123, conn-7.
func namesRequest(word []byte) bool {
	lower := bytes.ToLower(word)
	for _, begin := range []string{"req", "conn", "rid", "stream", "call", "tx", "#"} {
		if bytes.HasPrefix(lower, []byte(begin)) && bytes.ContainsAny(lower[len(begin):], "0123456789-_") && bytes.IndexByte(word, '.') < 0 {
			return true
		}
	}
	return false
}

// isHexID reports whether a word is a UUID, or many hexadecimal digits.
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

// objectName is what a line is called that is an object with these members, "" where it is like any
// other.
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

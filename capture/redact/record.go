package redact

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolscope/capture"
)

// exchangeSide is one side of an exchange that has not ended.
type exchangeSide struct {
	text     bodyRedactor
	decoder  Decoder
	coding   string        // content coding of the body; "" if it has none
	broken   error         // why the body can't be decoded
	withheld int           // number of bytes that are withheld because they can't be decoded
	begun    bool          // bytes of the body have arrived
	opening  []byte        // the first byte, if the next byte decides how to read the body
	whole    bool          // each record is a complete message, and is passed on as a whole
	duplex   bool          // both sides are open at the same time, and each line is a complete text
	at       time.Duration // time of the latest record
	marks    []recordEnd   // records with held bytes
	hurried  *atomic.Bool  // the run must end
	yielded  int64         // all bytes up to this place were decided without waiting for more
}

// bodyRedactor redacts a body as it arrives. Places are counted from the beginning of the body.
type bodyRedactor interface {
	write(p []byte)   // takes ownership of p
	decideAll()       // decides all bytes written so far
	finishBody()      // decides the remaining bytes at the end of the body
	writtenTo() int64 // place after the bytes written
	decidedTo() int64 // place up to which the output can be taken
	takeOutput(to int64) []byte
}

// recordEnd is a record and the place in the body where it ends.
type recordEnd struct {
	record capture.Record // without its data
	to     int64
}

// Take returns the records that can be passed on once rec has arrived. Usually, the result is rec without its
// secrets. Held bytes follow later in their own record, with the time at which they arrived. They are passed on
// before later bytes, losses and the end of their side. Take owns rec and its data.
func (r *Redactor) Take(rec capture.Record) []Clean {
	if r.keep {
		return []Clean{{rec}}
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	var out []Clean
	key, request := rec.Stream(), capture.Stream{Exchange: rec.Exchange, Side: capture.Request}
	asked := r.sides[request]
	if asked != nil && rec.Side == capture.Response && !asked.duplex { // the server continues without waiting for more bytes
		out = asked.passDecided(out)
	}
	s := r.sides[key]
	if s == nil {
		s = &exchangeSide{text: newTextRedactor(r), duplex: asked != nil && asked.duplex, hurried: &r.hurried}
		r.sides[key] = s
	}
	rec.Note, rec.Why = r.redactText(rec.Note), r.redactText(rec.Why)
	if rec.Head != nil {
		r.redactHead(s, &rec)
	}
	data := rec.Data
	rec.Data, s.at = nil, rec.At
	if len(data) == 0 && rec.End == "" && rec.Lost == 0 {
		return append(out, Clean{rec})
	}
	if rec.Lost > 0 {
		s.addGap()
	}
	line := s.duplex && bytes.HasSuffix(data, []byte("\n")) // no text continues on the next line
	from := s.text.writtenTo()
	s.receiveBody(r, data)
	for s.decoder != nil && s.text.writtenTo()-from > maxDecodedBytes {
		var piece capture.Record
		piece, rec = splitRecord(rec)
		from += maxDecodedBytes
		s.marks = append(s.marks, recordEnd{piece, from})
	}
	if rec.End != "" {
		if asked != nil && rec.Side == capture.Response {
			out = asked.close(out, asked.lastRecord(request))
		}
		delete(r.sides, key)
		delete(r.sides, request)
		return s.close(out, rec)
	}
	s.marks = append(s.marks, recordEnd{rec, s.text.writtenTo() + int64(len(s.opening))})
	if line {
		return s.passDecided(out)
	}
	return s.emit(out)
}

// Arrival returns a record without content for a record whose bytes are all held back. It shows that bytes arrived,
// for example pings after a text whose end may begin a secret.
func Arrival(rec capture.Record) Clean {
	return Clean{capture.Record{Exchange: rec.Exchange, Side: rec.Side, At: rec.At}}
}

// Flush passes on everything that is held back. No more records may follow.
func (r *Redactor) Flush() []Clean {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Clean
	for _, key := range slices.SortedFunc(maps.Keys(r.sides), capture.Stream.Compare) {
		s := r.sides[key]
		out = s.close(out, s.lastRecord(key))
	}
	clear(r.sides)
	return out
}

// redactHead redacts a head, and decides how to read the body.
func (r *Redactor) redactHead(s *exchangeSide, rec *capture.Record) {
	h := *rec.Head
	original := h.Header
	h.Header, h.URL, h.File = r.redactHeader(h.Header, rec.Side == capture.Response), r.redactURL(h.URL), r.redactText(h.File)
	rec.Head = &h
	s.duplex = s.duplex || h.Method == capture.Stdio
	if h.Status == http.StatusSwitchingProtocols {
		s.whole = true
		if asked := r.sides[capture.Stream{Exchange: rec.Exchange, Side: capture.Request}]; asked != nil {
			asked.whole = true
		}
		return
	}
	if strings.Contains(original.Get("Content-Type"), "vnd.amazon.eventstream") && !s.begun {
		s.text = newAWSRedactor(r)
	}
	coding := strings.Join(original.Values("Content-Encoding"), ", ")
	if coding == "" || strings.EqualFold(coding, "identity") {
		coding = strings.Join(original.Values("Transfer-Encoding"), ", ") // Transfer-Encoding is set only in a dump, because Go's own client removes it
		if r.options.Decode == nil || !strings.Contains(strings.ToLower(coding), "chunked") {
			return
		}
	}
	if s.begun {
		return
	}
	r.startDecoding(s, original, coding)
	if s.decoder != nil && h.Header.Get("Content-Encoding") != "" {
		h.Header.Del("Content-Encoding")
		h.Header.Del("Content-Length")
		rec.Note = capture.JoinNotes(rec.Note, "the body arrived with the coding "+r.redactText(coding)+" and is stored decoded, so that secrets in it can be found")
	}
}

func (r *Redactor) startDecoding(s *exchangeSide, header http.Header, coding string) {
	s.coding = r.redactText(coding)
	for i := range s.marks { // the first byte is not part of the text
		s.marks[i].to = min(s.marks[i].to, s.text.writtenTo())
	}
	if r.options.Decode == nil {
		s.broken = fmt.Errorf("no decoder")
		return
	}
	s.decoder, s.broken = r.options.Decode(header)
	if s.broken != nil {
		s.decoder = nil
	}
}

// receiveBody reads the next bytes of the body.
func (s *exchangeSide) receiveBody(r *Redactor, p []byte) {
	if len(p) == 0 {
		return
	}
	if !s.begun {
		if len(s.opening) > 0 {
			p = append(s.opening, p...)
			s.opening = nil
		}
		if s.coding == "" && !s.whole {
			switch is, maybe := sniffCompression(p); {
			case is:
				r.startDecoding(s, nil, "an undeclared compressed form")
			case maybe:
				s.opening = bytes.Clone(p)
				return
			case hasMark(p):
				s.text = newMarkedRedactor(r, p[0] == 0xfe)
			}
		}
	}
	s.addBody(p)
}

// openBody reads the held beginning of a body that is too short to show whether it is compressed.
func (s *exchangeSide) openBody() {
	if len(s.opening) > 0 {
		s.addBody(s.opening)
		s.opening = nil
	}
}

// addBody reads bytes of a body once it is known how the body must be read.
func (s *exchangeSide) addBody(p []byte) {
	s.begun = true
	switch {
	case s.broken != nil:
		s.withheld += len(p)
	case s.decoder != nil:
		plain, err := s.decoder.Write(p)
		for len(plain) > 0 {
			n := min(len(plain), maxDecodedBytes)
			s.text.write(bytes.Clone(plain[:n]))
			if plain = plain[n:]; len(plain) > 0 && s.hurried.Load() {
				err, plain = errHurried, nil
			}
		}
		if err != nil {
			s.broken, s.withheld = err, len(p)
		}
	default:
		s.text.write(p)
	}
}

// errHurried is the reason for withholding the rest of a compressed body because the run must end.
var errHurried = errors.New("the program had to end, and the decoded body is large")

// addGap records that bytes of the body are missing in this place. An encoded or framed body can't be read after a
// gap, so it can't be searched any more.
func (s *exchangeSide) addGap() {
	s.openBody()
	_, framed := s.text.(*awsRedactor)
	if s.broken != nil || s.decoder == nil && !framed {
		return
	}
	s.broken = errors.New("earlier bytes are missing")
	if s.coding == "" {
		s.coding = "an event stream"
	}
}

// sniffCompression reports whether bytes begin like gzip or zstd. The result maybe reports whether more bytes are
// needed to decide that, or to recognise a byte order mark.
func sniffCompression(p []byte) (is, maybe bool) {
	for _, begins := range []string{"\x1f\x8b", "\x28\xb5"} {
		is = is || bytes.HasPrefix(p, []byte(begins))
		maybe = maybe || string(p) == begins[:1]
	}
	return is, maybe || string(p) == "\xff" || string(p) == "\xfe"
}

// hasMark reports whether bytes begin with the byte order mark of UTF-16.
func hasMark(p []byte) bool {
	return bytes.HasPrefix(p, []byte("\xff\xfe")) || bytes.HasPrefix(p, []byte("\xfe\xff"))
}

// finishDecoding reads the remaining bytes from the decoder. It returns a note if the body ends too early or if bytes
// are withheld, and "" otherwise.
func (s *exchangeSide) finishDecoding() string {
	s.openBody()
	if s.decoder != nil && s.broken == nil && s.begun {
		rest, err := s.decoder.Close()
		s.text.write(bytes.Clone(rest))
		s.broken = err
		if err != nil {
			return "the body in " + s.coding + " ends too early: " + err.Error()
		}
	}
	if s.withheld == 0 {
		return ""
	}
	return fmt.Sprintf("gap: %d bytes of the body in %s were not recorded: they can't be searched for secrets (%v)", s.withheld, s.coding, s.broken)
}

// lastRecord returns a record for the held bytes of a side.
func (s *exchangeSide) lastRecord(of capture.Stream) capture.Record {
	return capture.Record{Exchange: of.Exchange, Side: of.Side, At: s.at}
}

// close ends a side with its last record, and passes on the held bytes.
func (s *exchangeSide) close(out []Clean, last capture.Record) []Clean {
	last.Note = capture.JoinNotes(last.Note, s.finishDecoding())
	last.Lost += int64(s.withheld)
	s.text.finishBody()
	s.marks = append(s.marks, recordEnd{last, s.text.writtenTo()})
	return s.emit(out)
}

// passDecided decides all bytes without waiting for more, and passes them on. It does nothing if no bytes have
// arrived since the last call.
func (s *exchangeSide) passDecided(out []Clean) []Clean {
	if end := s.text.writtenTo(); end > s.yielded {
		s.yielded = end
		s.text.decideAll()
		out = s.emit(out)
	}
	return out
}

// emit passes on the decided bytes. Apart from its data, each record is the same as the one in which the bytes
// arrived.
func (s *exchangeSide) emit(out []Clean) []Clean {
	limit := s.text.decidedTo()
	for len(s.marks) > 0 {
		m := &s.marks[0]
		to := min(m.to, limit)
		if to < m.to && s.whole {
			break
		}
		rec := m.record
		data := s.text.takeOutput(to)
		if len(data) > 0 {
			rec.Data = data
		}
		if to < m.to {
			rec, m.record = splitRecord(rec)
		}
		if rec.Data != nil || rec.Head != nil || rec.End != "" || rec.Note != "" || rec.Lost > 0 {
			out = append(out, Clean{rec})
		}
		if to < m.to {
			break
		}
		if *m = (recordEnd{}); len(s.marks) == 1 { // reuse the memory
			s.marks = s.marks[:0]
			break
		}
		s.marks = s.marks[1:]
	}
	return out
}

// maxDecodedBytes is the maximum size of a decoded record: a few bytes can decode to very many.
const maxDecodedBytes = 256 << 10

// splitRecord splits a record with held bytes. The result first contains the bytes that can be passed on, and the
// result rest contains the others. The end, its reason and its party stay with the held bytes. Lost bytes stay in the
// first result, because they were lost before the record's bytes. The field By may also be the party that answered,
// so it stays with a head.
func splitRecord(rec capture.Record) (first, rest capture.Record) {
	rest = capture.Record{Exchange: rec.Exchange, Side: rec.Side, At: rec.At, End: rec.End, Why: rec.Why}
	if rec.End != "" {
		rest.By = rec.By
	}
	first = rec
	first.End, first.Why = "", ""
	if first.Head == nil {
		first.By = ""
	}
	return first, rest
}

// Clean is a record that may reach a disk or a screen. Only a Redactor can make one, so code that requires a Clean
// never gets an unredacted record, unless KeepAll made the Redactor.
type Clean struct{ r capture.Record }

// Unwrap returns the record as the Redactor passed it on.
func (c Clean) Unwrap() capture.Record { return c.r }

// KeepAll returns a redactor that replaces no secrets, for users who want to keep them.
func KeepAll() *Redactor { return &Redactor{keep: true} }

// KeepsSecrets reports whether secrets are passed on unchanged.
func (r *Redactor) KeepsSecrets() bool { return r.keep }

// Header returns a copy of a header without its secrets. Values of credential headers count as secrets from
// then on.
func (r *Redactor) Header(h http.Header) http.Header {
	if r.keep {
		return h.Clone()
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	return r.redactHeader(h, false)
}

func (r *Redactor) redactHeader(h http.Header, answered bool) http.Header {
	if h == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h)) { // credentials first, because another field may repeat one
		if _, sought := secretHeader(strings.ToLower(name)); sought || strings.EqualFold(name, "Sec-Websocket-Protocol") {
			for _, v := range h[name] {
				r.mapCredential(strings.ToLower(name), v, func(secret string) string {
					r.learnParts(secret, strings.ToLower(name), answered)
					return secret
				})
			}
		}
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		lower := strings.ToLower(name)
		replaced, _ := secretHeader(lower)
		copied := make([]string, len(values))
		for i, v := range values {
			switch {
			case lower == "sec-websocket-protocol":
				copied[i] = r.redactText(r.mapCredential(lower, v, func(secret string) string { return r.replacementOf(secret, lower) }))
			case replaced:
				copied[i] = r.mapCredential(lower, v, func(secret string) string { return r.replacementOf(secret, lower) })
			case lower == "location" || lower == "referer" || lower == "content-location":
				copied[i] = r.redactURL(v)
			default:
				copied[i] = r.redactText(v)
			}
		}
		clean[name] = copied
	}
	return clean
}

// mapCredential passes each secret in the value of a credential header through the function change. In an
// authorization, the secret is the part after the scheme. With the scheme Basic, the function also gets the decoded
// text and the password in it. In cookies, each value is a secret, but in Set-Cookie only the first. In WebSocket
// protocol names, the secret is the part that cutToken returns. In any other header, it is the complete value.
func (r *Redactor) mapCredential(name, v string, change func(string) string) string {
	switch {
	case strings.TrimSpace(v) == "":
		return v
	case name == "cookie" || name == "set-cookie":
		pairs := strings.Split(v, ";")
		for i, pair := range pairs {
			switch k, secret, ok := strings.Cut(pair, "="); {
			case !ok || secret == "":
			case i == 0 || name == "cookie":
				pairs[i] = k + "=" + change(secret)
			case strings.EqualFold(strings.TrimSpace(k), "path"):
				pairs[i] = k + "=" + r.redactURL(secret)
			}
		}
		if name == "cookie" && !strings.Contains(v, "=") {
			return change(v)
		}
		return strings.Join(pairs, ";")
	case name == "sec-websocket-protocol":
		protocols := strings.Split(v, ",")
		for i, p := range protocols {
			if before, secret, ok := cutToken(p); ok {
				protocols[i] = before + change(secret)
			} else if plain := strings.TrimSpace(p); i > 0 && looksRandom([]byte(plain)) { // bearer, TOKEN
				if _, ok := credentialName([]byte(strings.TrimSpace(protocols[i-1])), inRequest); ok {
					protocols[i] = p[:len(p)-len(strings.TrimLeft(p, " "))] + change(plain)
				}
			}
		}
		return strings.Join(protocols, ",")
	case strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "auth") && strings.Contains(v, " "):
		scheme, secret, ok := strings.Cut(v, " ")
		secret = strings.TrimSpace(secret) // later repetitions of the secret don't have the spaces
		if !ok {
			return change(v)
		}
		if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && strings.EqualFold(scheme, "basic") {
			if _, password, ok := strings.Cut(string(plain), ":"); ok {
				change(password)
			}
			change(string(plain))
		}
		return scheme + " " + change(secret)
	}
	return change(v)
}

// cutToken cuts a WebSocket protocol name after the part that names a credential. The result ok is false if no part
// does. Examples are openai-insecure-api-key.KEY and base64url.bearer.authorization.k8s.io.TOKEN.
func cutToken(protocol string) (before, secret string, ok bool) {
	for from := 0; ; {
		n := strings.IndexByte(protocol[from:], '.')
		if n < 0 {
			return "", "", false
		}
		if _, ok := credentialName([]byte(strings.TrimSpace(protocol[from:from+n])), inRequest); ok {
			return protocol[:from+n+1], protocol[from+n+1:], true
		}
		from += n + 1
	}
}

// secretHeader returns two results for a header with a lower-case name: whether its value is replaced, and whether
// the value is also searched for in later texts.
func secretHeader(name string) (replaced, sought bool) {
	known, ok := credentialName([]byte(name), inRequest)
	ok = ok && known.value != isSession // an agent's own name for its work is not a secret
	return ok, ok && known.value != isPrivate
}

// secretQuery reports whether the value of a query parameter is a credential. All parameters that begin with x-amz-
// count.
func secretQuery(name string) bool {
	lower := strings.ToLower(name)
	_, ok := credentialName(bytes.Trim([]byte(name), "[]"), inRequest) // auth[token]
	return ok || strings.HasPrefix(lower, "x-amz-")
}

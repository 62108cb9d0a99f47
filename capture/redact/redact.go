// Package redact finds secrets in what was received and replaces them, before it reaches a disk or a screen.
//
//	record ─▶ decode (gzip …) ─▶ lexer ─▶ matcher of each channel ─▶ hold back, replace ─▶ record
//
// Words. A secret is known by how it looks (a pattern), by where it stands (a header, a query parameter, the userinfo of
// a URL, also where those are part of a text, a JSON key), or by value: what stood in a credential header is looked for in everything that follows, because servers repeat it
// in their errors. A channel is a text that comes in pieces: one JSON string of one document, continued by the string
// in the same place of the next document. That is how a stream sends arguments, so a secret that is spread over many
// deltas is one text here. A secret becomes [redacted:x-api-key:8f3a]: what it is and a salted 16 bit tag, so that
// equal secrets look equal within a run and tell nothing outside of it.
//
// What always holds:
//   - What comes out does not depend on how the input is cut into records.
//   - Text without secrets is passed on byte for byte. JSON stays JSON and an event stream keeps its lines, since a
//     replacement needs no quotes, no backslashes and no line breaks.
//   - Only what may be the beginning of a secret is held back: at most 256 characters of the text in question, with
//     what stands between them. It is let go when it cannot be a secret any more, when its side ends, or when
//     4 KiB of other things have followed: then a secret that has begun is replaced as far as it has come and its
//     continuation is dropped.
//   - At the end of a piece of text, one or two characters are never worth waiting for: they are passed on, and the
//     secret is replaced from its third character.
//   - A body that is compressed and cannot be decoded is not passed on at all.
//
// It does not find a secret that is written in numbers (the byte lists of log probabilities), escaped twice, encrypted,
// or encoded in base64, except where a protocol does that (Bedrock's event stream) and in basic authorization.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	window       = 256     // characters of one secret that are held back
	tagged       = 240     // characters of it that its tag is made of
	idleLimit    = 4 << 10 // bytes that may follow what is held back before it must be decided
	waitingLimit = 64      // channels with what may be the beginning of a secret
	knownLimit   = 512     // secrets known by value
	knownMin     = 8       // shorter ones are words that occur anyway
)

// Decoder undoes the codings of one body. What it returns is valid until the next call.
type Decoder interface {
	Write(p []byte) ([]byte, error)
	Close() ([]byte, error)
}

// Options says what a Redactor can do beyond the text that it sees.
type Options struct {
	// Decode makes a decoder for a body with that header (canonical names). Without it, and when it fails,
	// compressed bodies are withheld.
	Decode func(header http.Header) (Decoder, error)
}

// Redactor replaces secrets. It learns those that stand in credential headers, and it may be used from several
// goroutines.
type Redactor struct {
	keep    bool // nothing is replaced
	salt    []byte
	options Options

	mu    sync.Mutex
	known map[string]string // secrets by value: where each was seen first
	rules []*rule           // patterns, and one rule for each known value
	scan  *scanner
	sides map[sideKey]*side
}

// New makes a redactor. The salt makes its tags useless to others: it should be random and made for one run.
func New(salt []byte, o Options) *Redactor {
	r := &Redactor{salt: salt, options: o, known: map[string]string{}, rules: slices.Clone(patterns), sides: map[sideKey]*side{}}
	r.scan = newScanner(r.rules)
	return r
}

// Learn makes value a secret wherever it is seen from now on; where says what it is, "x-api-key". Values shorter than
// eight characters are not learned.
func (r *Redactor) Learn(value, where string) {
	if r.keep {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(value, where)
}

func (r *Redactor) learn(value, where string) {
	if _, old := r.known[value]; old || len(value) < knownMin || len(r.known) >= knownLimit {
		return
	}
	for _, form := range []string{value, url.QueryEscape(value)} {
		if _, old := r.known[form]; !old {
			r.known[form] = where
			r.rules = append(r.rules, &rule{name: where, anchor: form, kind: exact})
		}
	}
	r.scan = newScanner(r.rules)
}

// replacement is what stands in place of a secret.
func (r *Redactor) replacement(secret, where string) string {
	if first, ok := r.known[secret]; ok {
		where = first
	}
	mac := hmac.New(sha256.New, r.salt)
	mac.Write([]byte(secret[:min(len(secret), tagged)]))
	return "[redacted:" + where + ":" + hex.EncodeToString(mac.Sum(nil)[:2]) + "]"
}

// Text is a text without its secrets: an error, a note, a command line.
func (r *Redactor) Text(s string) string {
	if r.keep {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text(s)
}

func (r *Redactor) text(s string) string {
	if s == "" {
		return s
	}
	t := newStream(r)
	t.write([]byte(s))
	t.finish()
	return string(t.take(t.pos))
}

// Header is a copy of a header without its secrets. What was in credential headers is looked for from then on.
func (r *Redactor) Header(h http.Header) http.Header {
	if r.keep {
		return h.Clone()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header(h)
}

func (r *Redactor) header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h)) { // first of all: another header may repeat it
		if _, sought := secretHeader(strings.ToLower(name)); sought {
			for _, v := range h[name] {
				r.credential(strings.ToLower(name), v, func(secret string) string {
					r.learn(secret, strings.ToLower(name))
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
			case replaced:
				copied[i] = r.credential(lower, v, func(secret string) string { return r.replacement(secret, lower) })
			case lower == "location" || lower == "referer" || lower == "content-location":
				copied[i] = r.url(v)
			default:
				copied[i] = r.text(v)
			}
		}
		clean[name] = copied
	}
	return clean
}

// credential passes each secret in the value of a credential header through change: the part behind the scheme of an
// authorization, the values of cookies, and otherwise all of it.
func (r *Redactor) credential(name, v string, change func(string) string) string {
	switch {
	case strings.TrimSpace(v) == "":
		return v
	case name == "cookie" || name == "set-cookie":
		pairs := strings.Split(v, ";")
		for i, pair := range pairs {
			if k, secret, ok := strings.Cut(pair, "="); ok && secret != "" && (i == 0 || name == "cookie") {
				pairs[i] = k + "=" + change(secret)
			}
		}
		if name == "cookie" && !strings.Contains(v, "=") {
			return change(v)
		}
		return strings.Join(pairs, ";")
	case strings.HasSuffix(name, "authorization"):
		scheme, secret, ok := strings.Cut(v, " ")
		secret = strings.TrimSpace(secret) // what repeats it repeats no spaces
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

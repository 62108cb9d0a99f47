// Package redact finds secrets in what was received and replaces them, before it reaches a disk or
// a screen.
//
//	record ─▶ decode (gzip …) ─▶ lexer ─▶ spelling ─▶ matcher of each text ─▶ hold back, replace ─▶ Clean
//
// Words. A secret is known by how it looks (a shape), by what stands before it (a context, or the
// name that it is assigned to), by its JSON key, or by value: what stood in the credential's place
// of a request, and is too random to be there by chance, is looked for in everything that follows,
// because servers repeat it in their errors. The kinds are data: rules.go, contexts.go and
// names.go, one line each. A text is what a stream sends in pieces: one JSON string of one
// document, continued by the string in the same place of the next document, if its key is one of
// those that texts have. That is how arguments come, so a secret that is spread over many deltas is
// in one text here. A secret becomes [redacted:x-api-key:8f3a]: what it is and a salted 16 bit tag,
// so that equal secrets look equal within a run and tell nothing outside of it.
//
// What always holds:
//   - What comes out does not depend on how the input is cut, neither into records nor into deltas:
//     the deltas of a text say what the text in one piece would say.
//   - JSON is JSON of the same tokens as before, and what is no JSON fails where it failed, at
//     every depth of JSON in JSON: what is replaced is whole characters inside of a string, never a
//     quote, and the replacement is letters, digits and :_[]- only. The line breaks of a private
//     key stay, and so do the lines around it.
//   - Text without secrets is passed on byte for byte.
//   - It does not matter how a secret is spelled: escaped by JSON, once or often, or
//     percent-encoded.
//   - Only what may be the beginning of a secret is held back: at most 512 characters of the text
//     in question, with what stands between them. It is let go when it cannot be a secret any more,
//     when its side ends, or when 4 KiB of other things have followed: then a secret that has begun
//     is replaced as far as it has come and its continuation is dropped. What stands in the middle
//     of a word is replaced from its fourth character on, so that nothing waits for each letter
//     that a secret begins with.
//   - A body that is compressed and cannot be decoded is not passed on at all.
//   - What may be remembered is bounded. Limit says when a bound was reached, so that a secret may
//     have been passed on.
//
// It does not find a secret that is written in numbers (the byte lists of log probabilities),
// encrypted, or encoded in base64, except a value that it knows, in basic authorization, and where
// a protocol does that (Bedrock's event stream); a password that is made of words; and a key
// without a shape behind a name that says nothing.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"toolscope/capture"
)

const (
	window       = 512     // characters of one secret that are held back
	tagged       = 240     // characters of it that its tag is made of
	maxIdleBytes = 4 << 10 // bytes that may follow what is held back before it must be decided
)

// Decoder undoes the codings of one body. What it returns is valid until the next call.
type Decoder interface {
	Write(p []byte) ([]byte, error)
	Close() ([]byte, error)
}

// Options says what a Redactor can do beyond the text that it sees.
type Options struct {
	// Decode makes a decoder for a body with that header (canonical names). Without it, and when it
	// fails, compressed bodies are withheld.
	Decode func(header http.Header) (Decoder, error)
}

// Redactor replaces secrets. It learns those that stand in credential headers, and it may be used
// from several goroutines.
type Redactor struct {
	keep    bool // nothing is replaced
	salt    []byte
	options Options
	book    *ruleSet

	limit atomic.Pointer[string]

	mu     sync.Mutex
	known  knownValues
	scan   *scanner
	fields keyMeanings
	sides  map[capture.Stream]*exchangeSide
}

// New makes a redactor. The salt makes its tags useless to others: it should be random and made for
// one run.
func New(salt []byte, o Options) *Redactor {
	return &Redactor{salt: salt, options: o, sides: map[capture.Stream]*exchangeSide{}}
}

// lockAndPrepare begins to look for secrets. What they look like is looked up then, not before: many a run has
// nothing to look through.
func (r *Redactor) lockAndPrepare() {
	if r.mu.Lock(); r.book == nil {
		r.book = sharedRules()
		r.scan = r.book.scanner
	}
}

// Limit says which limit was reached first, so that a secret may have been passed on. It is ""
// while none was.
func (r *Redactor) Limit() string {
	if limit := r.limit.Load(); limit != nil {
		return *limit
	}
	return ""
}

func (r *Redactor) noteLimit(limit string) { r.limit.CompareAndSwap(nil, &limit) }

// Learn makes value a secret wherever it is seen from now on; where says what it is, "x-api-key". A
// value that somebody could write by chance, a word or something short, is not learned.
func (r *Redactor) Learn(value, where string) {
	if r.keep {
		return
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	r.learnParts(value, where, false)
}

func (r *Redactor) learnParts(value, where string, answered bool) {
	for _, part := range strings.Split(strings.Trim(normaliseText(value), " \\"), `"`) { // nothing is replaced across a quote
		if !looksRandom([]byte(part)) || r.known.findSecret(part) != nil {
			continue
		}
		if !r.known.add(part, plainName(where), answered) {
			r.noteLimit(fmt.Sprintf("too many secrets: %d of requests and %d of answers are looked for by value, and no more", r.known.held[0], r.known.held[1]))
			return
		}
		r.scanFor(part)
	}
}

// scanFor has the scanner look for a secret.
func (r *Redactor) scanFor(secret string) {
	if r.scan == r.book.scanner {
		own := *r.book.scanner
		r.scan = &own
	}
	for _, text := range spellings(secret) {
		r.scan.addHead(text[:4])
		r.scan.pairs[pairOf(text[2], text[3])] |= mayGlue
	}
}

// plainName is a name in letters that any text may hold.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 256 && (alnum[c] || c == '_' || c == '-') {
			return c
		}
		return '-'
	}, name)
}

// replacementOf is what stands in place of a secret as it is written.
func (r *Redactor) replacementOf(secret, where string) string {
	secret = normaliseText(secret)
	if v := r.known.findSecret(secret); v != nil {
		where = v.where
	}
	return r.formatTag(secret, plainName(where))
}

func (r *Redactor) formatTag(secret, where string) string {
	mac := hmac.New(sha256.New, r.salt)
	mac.Write([]byte(secret[:min(len(secret), tagged)]))
	return "[redacted:" + where + ":" + hex.EncodeToString(mac.Sum(nil)[:2]) + "]"
}

// Text is a text without its secrets: an error, a note, a command line.
func (r *Redactor) Text(s string) string { return r.redactWith(s, r.redactText) }

func (r *Redactor) redactWith(s string, change func(string) string) string {
	if r.keep {
		return s
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	return change(s)
}

func (r *Redactor) redactText(s string) string {
	if s == "" || !strings.ContainsAny(s, "\"\\\n") && r.canSkip(new(matcher), []byte(s)) {
		return s
	}
	t := newTextRedactor(r)
	t.write([]byte(s))
	t.finish()
	return string(t.takeOutput(t.pos))
}

// Package redact finds secrets in received bytes and replaces them, before they reach a disk or a screen.
//
//	record ─▶ decode (gzip …) ─▶ lexer ─▶ unescaper ─▶ matcher of each text ─▶ hold back, replace ─▶ Clean
//
// Terms. A secret is recognised by its shape, by the text before it (a context, or the name that it is
// assigned to), by its JSON key, or by value: a value seen in the credential's place of a request, and
// too random to occur by chance, is searched for in all later bytes, because servers repeat it in their
// errors. The rules are data: kinds.go, contexts.go and names.go, one line each. A text is a value that a
// stream sends in deltas: one JSON string of one document, continued by the string in the same place of
// the next document, if its key is one of textKeys. Arguments arrive that way, so a secret that is spread
// over many deltas is in one text here. A secret becomes [redacted:x-api-key:8f3a]: its name and a salted
// 16 bit tag. Equal secrets look equal within a run, and the tag reveals nothing outside of it.
//
// Invariants:
//   - The output does not depend on how the input is cut, neither into records nor into deltas: the
//     deltas of a text add up to what the undivided text would become.
//   - JSON stays JSON with the same tokens, and invalid JSON fails where it failed, at every depth of
//     JSON in JSON. Only complete characters inside a string are replaced, never a quote, and the
//     replacement is letters, digits and :_[]- only. Everything between the runs of base64 of a private
//     key stays, and so do the lines around it.
//   - Text without secrets is passed on byte for byte.
//   - The spelling of a secret does not matter: it may be escaped by JSON, once or often, or
//     percent-encoded.
//   - Only characters that may begin a secret are held back: at most 512 characters of the text in
//     question, with the bytes between them. They are released when they can't be a secret any more, when
//     their side ends, or when 4 KiB of other bytes have followed. In the last case, a secret that has
//     begun is replaced as far as it has arrived, and its continuation is dropped. A secret in the middle
//     of a word is replaced from its fourth character on, so that not every possible first letter has to
//     wait.
//   - A compressed body that can't be decoded is not passed on at all.
//   - Memory is bounded. Limit reports when a bound was reached, so that a secret may have been passed
//     on.
//
// Not found are secrets that are written in numbers (the byte lists of log probabilities), encrypted, or
// encoded in base64, except known values, basic authorization, private keys, and protocols that encode so
// (Bedrock's event stream); passwords that are one word, or words in a program; keys without a shape after a
// meaningless name; and keys whose only sign is in their middle or at their end.
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
	tagged       = 240     // characters of it that go into its tag
	maxIdleBytes = 4 << 10 // bytes that may follow held characters before they must be decided
)

// Decoder decodes one body. A result is valid until the next call.
type Decoder interface {
	Write(p []byte) ([]byte, error)
	Close() ([]byte, error)
}

// Options extend a Redactor.
type Options struct {
	// Decode returns a decoder for a body with that header (canonical names). Without Decode, and if it
	// fails, compressed bodies are withheld.
	Decode func(header http.Header) (Decoder, error)
}

// Redactor replaces secrets. It learns the secrets in credential headers. It is safe for concurrent use.
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

// New returns a redactor. The salt makes its tags useless to others: it should be random and made for one
// run.
func New(salt []byte, o Options) *Redactor {
	return &Redactor{salt: salt, options: o, sides: map[capture.Stream]*exchangeSide{}}
}

// lockAndPrepare locks the redactor and loads the rules at the first use: many runs have nothing to
// search.
func (r *Redactor) lockAndPrepare() {
	if r.mu.Lock(); r.book == nil {
		r.book = sharedRules()
		r.scan = r.book.scanner
	}
}

// Limit returns the first limit that was reached, so that a secret may have been passed on. It is "" if
// none was.
func (r *Redactor) Limit() string {
	if limit := r.limit.Load(); limit != nil {
		return *limit
	}
	return ""
}

func (r *Redactor) noteLimit(limit string) { r.limit.CompareAndSwap(nil, &limit) }

// Learn makes value a secret wherever it occurs from now on; where names it, e.g. "x-api-key". A value
// that could occur by chance, such as a word or something short, is not learned.
func (r *Redactor) Learn(value, where string) {
	if r.keep {
		return
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	r.learnParts(value, where, false)
}

func (r *Redactor) learnParts(value, where string, answered bool) {
	for _, part := range strings.Split(strings.Trim(normaliseText(value), " \\"), `"`) { // no replacement spans a quote
		if !looksRandom([]byte(part)) || r.known.findSecret(part) != nil {
			continue
		}
		if !r.known.add(part, plainName(where), answered) {
			r.noteLimit(fmt.Sprintf("too many secrets: only %d of requests and %d of responses are searched for by value", r.known.held[0], r.known.held[1]))
			return
		}
		r.scanFor(part)
	}
}

// scanFor makes the scanner search for a secret.
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

// plainName returns a name in characters that any text may contain.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 256 && (alnum[c] || c == '_' || c == '-') {
			return c
		}
		return '-'
	}, name)
}

// replacementOf returns the replacement of a secret as it is written.
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

// Text returns a text without its secrets: an error, a note, a command line.
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
	t.finishBody()
	return string(t.takeOutput(t.pos))
}

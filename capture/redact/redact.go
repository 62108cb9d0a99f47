// Package redact finds secrets in received bytes and replaces them, before they reach a disk or a screen.
//
//	record ─▶ decode (gzip …) ─▶ lexer ─▶ unescaper ─▶ matcher of each text ─▶ hold back, replace ─▶ Clean
//
// Terms: A secret is recognised in one of four ways: by its shape, by the text before it (a context, or the
// name that it is assigned to), by its JSON key, or by value. A value is searched for in all later bytes if
// it was seen in a credential's place and is too random to occur by chance. Such places are headers, URLs and
// command lines. Servers repeat such values in their errors. The rules are data: kinds.go and names.go have
// one line for each rule. A text is a value that a stream may send in deltas. It begins with a JSON string in
// one document. If the string's key is one of textKeys, the string in the same place of the next document
// continues the text. Arguments arrive in this way, so a secret that is spread over many deltas is found in
// one text. A secret becomes [redacted:x-api-key:8f3a]: its name and a salted 16-bit tag. Equal secrets look
// the same within a run. The tag reveals nothing outside the run.
//
// Invariants:
//   - The output does not depend on how the input is cut into records or deltas: the joined deltas of a
//     text equal the output for the undivided text.
//   - JSON stays JSON with the same tokens, and invalid JSON fails where it failed, at every depth of JSON
//     in JSON. Only complete characters inside a string are replaced, never a quote, and a replacement
//     consists only of letters, digits and :_[]- characters. Everything between the base64 runs of a
//     private key stays, and so do the lines around the key.
//   - Text without secrets is passed on byte for byte.
//   - The spelling of a secret does not matter. It may be escaped by JSON, once or several times, or
//     percent-encoded.
//   - Only characters that may begin a secret are held back: at most 512 characters of the text in
//     question, with the bytes between them. They are released when they can't be a secret any more, when
//     their side ends, or when 4 KiB of other bytes have followed. In the last case, a secret that has
//     begun is replaced as far as it has arrived, and its continuation is dropped. A secret in the middle
//     of a word is replaced from its fourth character on, so that not every possible first letter has to
//     wait.
//   - A compressed body that can't be decoded is not passed on at all.
//   - Memory is bounded. Limit reports the first bound that was reached. A secret may have been passed
//     on since then.
//
// The package does not find:
//   - secrets that are encrypted, or written as numbers (the byte lists of log probabilities)
//   - secrets in base64, except known values, basic authorization, private keys, and protocols that encode
//     their messages in this way (Bedrock's event stream)
//   - passwords that are one word, or words in a program
//   - keys without a shape after a meaningless name
//   - keys that can be recognised only by their middle or their end
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"toolscope/capture"
	"toolscope/stream/tag"
)

const (
	window       = 512     // maximum number of characters of a secret that are held back
	tagged       = 240     // maximum number of characters of a secret that its tag depends on
	maxIdleBytes = 4 << 10 // maximum number of bytes that may follow held characters before these are decided
)

// Decoder decodes one body. The bytes that it returns are valid until the next call.
type Decoder interface {
	Write(p []byte) ([]byte, error)
	Close() ([]byte, error)
}

// Options configures a Redactor.
type Options struct {
	// Decode returns a decoder for a body with the given header, whose names are in canonical form. If Decode is nil
	// or fails, compressed bodies are withheld.
	Decode func(header http.Header) (Decoder, error)
}

// Redactor replaces secrets. It learns the secrets in credential headers, URLs and command lines. It is safe
// for concurrent use.
type Redactor struct {
	keep    bool // no secret is replaced
	salt    []byte
	options Options
	book    *ruleSet

	limit   atomic.Pointer[string]
	hurried atomic.Bool // the run must end

	mu     sync.Mutex
	known  knownValues
	scan   *scanner
	fields keyMeanings
	sides  map[capture.Stream]*exchangeSide
}

// New returns a redactor. The salt should be random and new for each run, so that tags mean nothing outside the run.
func New(salt []byte, o Options) *Redactor {
	return &Redactor{salt: salt, options: o, sides: map[capture.Stream]*exchangeSide{}}
}

// lockAndPrepare locks the redactor. It loads the rules on first use, because many runs have no text to
// search.
func (r *Redactor) lockAndPrepare() {
	if r.mu.Lock(); r.book == nil {
		r.book = sharedRules()
		r.scan = r.book.scanner
	}
}

// Limit returns a description of the first limit that was reached, or "" if none was. Once a limit is reached, a
// secret may be passed on.
func (r *Redactor) Limit() string {
	if limit := r.limit.Load(); limit != nil {
		return *limit
	}
	return ""
}

// Hurry is called when the run must end. It makes the redactor withhold the rest of each compressed body whose
// decoded bytes it is searching, because a few bytes can become so many that searching them takes seconds.
func (r *Redactor) Hurry() { r.hurried.Store(true) }

func (r *Redactor) noteLimit(limit string) { r.limit.CompareAndSwap(nil, &limit) }

// Learn makes value a secret wherever it occurs from now on. The parameter where is the name of the value in
// replacements, e.g. "x-api-key". Learn ignores a value that could occur by chance, such as a word or a short text.
func (r *Redactor) Learn(value, where string) {
	if r.keep {
		return
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	r.learnParts(value, where, false)
}

func (r *Redactor) learnParts(value, where string, answered bool) {
	for _, part := range strings.Split(strings.Trim(normaliseText(value), " \\"), `"`) { // a replacement can't span a quote
		if !looksRandom([]byte(part)) || r.known.findSecret(part) != nil {
			continue
		}
		if !r.known.add(part, plainName(where), answered) {
			r.noteLimit(fmt.Sprintf("too many secrets: toolscope searches for only %d from requests and %d from responses", r.known.held[0], r.known.held[1]))
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
		r.scan.addGlued(text[:4])
	}
}

// plainName replaces each character of a name with a hyphen, unless it is a letter, a digit, an underscore or a
// hyphen. The result fits into any text, such as a JSON string.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 256 && (alnum[c] || c == '_' || c == '-') {
			return c
		}
		return '-'
	}, name)
}

// replacementOf returns the replacement of a secret. The secret may be escaped.
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
	return tag.Of(where, hex.EncodeToString(mac.Sum(nil)[:2]))
}

// Text returns s with its secrets replaced. It is for errors, notes and command lines.
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

// credentialFlags are flags whose value contains a credential in a certain form: a name and a password, a header, or
// cookies.
var credentialFlags = map[string]string{
	"-u": "userinfo", "--user": "userinfo", "-U": "userinfo", "--proxy-user": "userinfo", "-H": "header", "--header": "header", "-b": "cookie", "--cookie": "cookie",
}

// passwordFlags are short flags for a password, by program. The password may directly follow the flag, as after -p.
var passwordFlags = map[string]string{
	"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "sshpass": "-p", "docker": "-p", "mongosh": "-p", "mongo": "-p", "redis-cli": "-a",
	"ldapsearch": "-w", "sqlcmd": "-P",
}

// Argv returns a command line without its secrets. It replaces values after the name of a credential, as in --api-key
// VALUE, --api-key=VALUE and API_KEY=VALUE. It also replaces values of credentialFlags and passwordFlags, and
// anything that looks like a secret. A short password can only be recognised by its name, so a name is enough on a
// command line.
func (r *Redactor) Argv(args []string) []string {
	if r.keep {
		return args
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	out := slices.Clone(args)
	program := ""
	for i, arg := range args {
		if flag := passwordFlags[filepath.Base(arg)]; flag != "" {
			program = filepath.Base(arg)
		}
		name, value, assigned := strings.Cut(arg, "=")
		known, secret := credentialName([]byte(strings.TrimLeft(name, "-")), inText)
		hasNext := i+1 < len(args) && !strings.HasPrefix(args[i+1], "-")
		flag := passwordFlags[program]
		switch {
		case secret && assigned && value != "":
			out[i] = name + "=" + r.replaceAndLearn(value, known.called)
		case secret && !assigned && strings.HasPrefix(arg, "-") && hasNext:
			out[i+1] = r.replaceAndLearn(args[i+1], known.called)
		case assigned && credentialFlags[name] != "":
			out[i] = name + "=" + r.redactFlag(credentialFlags[name], value)
		case credentialFlags[arg] != "" && hasNext:
			out[i+1] = r.redactFlag(credentialFlags[arg], args[i+1])
		case program != "" && arg == flag && hasNext && program != "mysql" && program != "mariadb":
			out[i+1] = r.replaceAndLearn(args[i+1], "password")
		case strings.HasPrefix(program, "m") && flag == "-p" && len(arg) > 2 && strings.HasPrefix(arg, flag):
			out[i] = flag + r.replaceAndLearn(arg[2:], "password")
		case out[i] == arg:
			out[i] = r.redactText(arg)
		}
	}
	return out
}

// redactFlag redacts the value of one of credentialFlags.
func (r *Redactor) redactFlag(form, value string) string {
	before, secret, ok := strings.Cut(value, map[string]string{"userinfo": ":", "header": ":", "cookie": "="}[form])
	space := secret[:len(secret)-len(strings.TrimLeft(secret, " "))]
	switch secret = strings.TrimSpace(secret); {
	case !ok || secret == "" || strings.Trim(secret, "0123456789") == "":
	case form == "userinfo":
		return before + ":" + r.replaceAndLearn(secret, "userinfo")
	case form == "cookie":
		return r.mapCredential("cookie", value, func(secret string) string { return r.replaceAndLearn(secret, "cookie") })
	default:
		lower := strings.ToLower(strings.TrimSpace(before))
		if replaced, _ := secretHeader(lower); replaced {
			return before + ":" + space + r.mapCredential(lower, secret, func(secret string) string { return r.replaceAndLearn(secret, lower) })
		}
	}
	return r.redactText(value)
}

// replaceAndLearn returns the replacement of a value. The value counts as a secret from then on.
func (r *Redactor) replaceAndLearn(value, where string) string {
	r.learnParts(value, where, false)
	return r.replacementOf(value, where)
}

// URL returns a URL, or the known part of one, without its secrets: the userinfo, query parameters with credentials,
// and anything else that looks like a secret. All other bytes stay unchanged. A URL that could be parsed before can
// still be parsed afterwards.
func (r *Redactor) URL(s string) string { return r.redactWith(s, r.redactURL) }

func (r *Redactor) redactURL(s string) string {
	rest, fragment, hasFragment := strings.Cut(s, "#")
	place, query, hasQuery := strings.Cut(rest, "?")
	if i := strings.Index(place, "//"); i >= 0 {
		authority, path := place[i+2:], ""
		if j := strings.IndexByte(authority, '/'); j >= 0 {
			authority, path = authority[:j], authority[j:]
		}
		if j := strings.LastIndexByte(authority, '@'); j > 0 {
			authority = r.redactUserinfo(authority[:j]) + authority[j:]
		}
		place = place[:i+2] + authority + r.redactPath(path)
	} else {
		place = r.redactPath(place)
	}
	if hasQuery {
		place += "?" + r.redactQuery(query)
	}
	if hasFragment {
		place += "#" + r.redactQuery(fragment)
	}
	return place
}

// redactUserinfo redacts the userinfo of a URL. It escapes the brackets of the replacement, because a URL must
// not contain them there.
func (r *Redactor) redactUserinfo(s string) string {
	if _, password, ok := strings.Cut(s, ":"); ok {
		if plain, err := url.PathUnescape(password); err == nil {
			r.learnParts(plain, "userinfo", false)
		}
	}
	r.learnParts(s, "userinfo", false)
	tag := strings.Trim(r.replacementOf(s, "userinfo"), "[]")
	return "%5B" + tag + "%5D"
}

func (r *Redactor) redactPath(s string) string {
	segments := strings.Split(s, "/")
	for i, segment := range segments {
		parts := strings.Split(segment, ";")
		for j, part := range parts {
			if name, secret, ok := strings.Cut(part, "="); ok && j > 0 && secret != "" && secretQuery(name) {
				r.learnParts(secret, strings.ToLower(name), false)
				parts[j] = name + "=" + r.replacementOf(secret, strings.ToLower(name))
				continue
			}
			if _, named := credentialName([]byte(segments[max(0, i-1)]), inRequest); i > 0 && named && isSpoken([]byte(part)) { // /token/X
				r.learnParts(part, strings.ToLower(segments[i-1]), false)
				parts[j] = r.replacementOf(part, strings.ToLower(segments[i-1]))
				continue
			}
			parts[j] = r.redactEscaped(part, url.PathUnescape, url.PathEscape)
		}
		segments[i] = strings.Join(parts, ";")
	}
	return strings.Join(segments, "/")
}

func (r *Redactor) redactQuery(s string) string {
	pairs := strings.Split(s, "&")
	for i, pair := range pairs {
		name, secret, ok := strings.Cut(pair, "=")
		if !ok {
			pairs[i] = r.redactEscaped(pair, url.QueryUnescape, url.QueryEscape)
			continue
		}
		if plain, err := url.QueryUnescape(name); err == nil && secretQuery(plain) && secret != "" {
			if plain, err := url.QueryUnescape(secret); err == nil {
				secret = plain
			}
			lower := strings.ToLower(name)
			r.learnParts(secret, lower, false)
			pairs[i] = name + "=" + r.replacementOf(secret, lower)
			continue
		}
		plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(secret, "="))
		if object := string(plain); err == nil && strings.HasPrefix(object, `{"`) && r.redactText(object) != object {
			pairs[i] = name + "=" + r.replacementOf(secret, strings.ToLower(name))
			continue
		}
		pairs[i] = r.redactEscaped(name, url.QueryUnescape, url.QueryEscape) + "=" + r.redactEscaped(secret, url.QueryUnescape, url.QueryEscape)
	}
	return strings.Join(pairs, "&")
}

// redactEscaped unescapes a part of a URL and redacts it. A part without secrets keeps its original form.
func (r *Redactor) redactEscaped(s string, unescape func(string) (string, error), escape func(string) string) string {
	plain, err := unescape(s)
	if err != nil {
		return r.redactText(s)
	}
	if clean := r.redactText(plain); clean != plain {
		if plain == s {
			return clean
		}
		return escape(clean)
	}
	return s
}

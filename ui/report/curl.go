package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// A CapturedRequest is a request from a capture.
type CapturedRequest struct {
	Method, URL string
	Header      map[string][]string // canonical names, e.g. "X-Api-Key"
	Body        []byte
	Keys        map[string]string // by header name: the shell variable that replaces a secret
}

// skippedHeaders are the headers that belong to one connection or that curl sets itself.
var skippedHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent",
}

// redacted is the start of the text that replaces a secret.
const redacted = "[redacted:"

// Curl returns a command for a POSIX shell that sends the request. Redacted secrets in headers become
// shell variables; redacted secrets in the body stay redacted.
func (a *CapturedRequest) Curl() []byte {
	var b bytes.Buffer
	words := bytes.IndexByte(a.Body, 0) < 0 // an argument can't contain a zero byte
	if !words {
		fmt.Fprintf(&b, "printf %%s %s | base64 -d | ", base64.StdEncoding.EncodeToString(a.Body))
	}
	fmt.Fprintf(&b, "curl -N %s", shellQuote(a.URL))
	if a.Method != "" && a.Method != "POST" {
		fmt.Fprintf(&b, " -X %s", shellQuote(a.Method))
	}
	for _, name := range sortedNames(a.Header) {
		if slices.Contains(skippedHeaders, name) || strings.HasPrefix(name, "X-Stainless-") {
			continue
		}
		for _, value := range a.Header[name] {
			fmt.Fprintf(&b, " \\\n  -H %s", a.headerArg(name, value))
		}
	}
	switch {
	case !words:
		b.WriteString(" \\\n  --data-binary @-")
	case len(a.Body) > 0:
		fmt.Fprintf(&b, " \\\n  --data-binary %s", shellQuote(string(a.Body)))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// headerArg returns a header as a shell argument. A secret becomes a variable: the one for the provider's
// key, or one named after the header.
func (a *CapturedRequest) headerArg(name, value string) string {
	if !strings.Contains(value, redacted) {
		return shellQuote(strings.ToLower(name) + ": " + value)
	}
	variable := a.Keys[name]
	if variable == "" {
		variable = strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	}
	before, _, _ := strings.Cut(value, redacted)
	return shellQuote(strings.ToLower(name)+": "+before) + `"$` + variable + `"`
}

// shellQuote quotes any text as one word of a shell. Control characters are written as escapes.
func shellQuote(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }) >= 0 {
		return shellQuoteEscaped(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shellQuoteEscaped quotes a text as $'…', in which bash, zsh and ksh interpret escapes.
func shellQuoteEscaped(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

func sortedNames(header map[string][]string) (names []string) {
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

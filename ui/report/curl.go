package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// An CapturedRequest is a request that was captured.
type CapturedRequest struct {
	Method, URL string
	Header      map[string][]string // names as in "X-Api-Key"
	Body        []byte
	Keys        map[string]string // by name of the header: what stands in a shell for a secret in it
}

// skippedHeaders are fields that belong to one connection, or that curl finds out for itself.
var skippedHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent",
}

// redacted begins what stands in place of a secret.
const redacted = "[redacted:"

// Curl is the request as a command for a POSIX shell, which sends those bytes. Secrets that were
// taken out of the header are variables; those of the body stay as they stand.
func (a *CapturedRequest) Curl() []byte {
	var b bytes.Buffer
	words := bytes.IndexByte(a.Body, 0) < 0 // no argument holds that byte
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

// headerArg is a field of the header as an argument. A secret is a variable, that of the provider's key
// or one of the field's name.
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

// shellQuote is a text as one word of a shell, whatever is in it. What a terminal would obey is spelled.
func shellQuote(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }) >= 0 {
		return shellQuoteEscaped(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shellQuoteEscaped is a text in the quotes of bash, zsh and ksh that know escapes.
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

package otlp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The variables of OpenTelemetry that hold headers: those for traces go before those for everything.
const (
	headersOfAll    = "OTEL_EXPORTER_OTLP_HEADERS"
	headersOfTraces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// headersFrom reads the headers that those variables hold, none without getenv. They are secrets: no error
// quotes them.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
func headersFrom(getenv func(string) string) (http.Header, error) {
	all := http.Header{}
	if getenv == nil {
		return all, nil
	}
	for _, variable := range []string{headersOfAll, headersOfTraces} {
		for i, pair := range strings.Split(getenv(variable), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			name, value, ok := strings.Cut(pair, "=")
			name = strings.TrimSpace(name)
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !ok || err != nil || !isToken(name) || strings.ContainsFunc(value, isControl) {
				return nil, fmt.Errorf("pair %d of %s is not a header\nuse NAME=VALUE,…, with %%XX for special characters, e.g. Authorization=Bearer%%20…", i+1, variable)
			}
			all.Set(name, value)
		}
	}
	return all, nil
}

// minHiddenBytes is how many bytes a part of a header's value has that is looked for in what a collector says.
const minHiddenBytes = 6

// hideValues takes the values of headers out of a text, and each of their words: some say which key it is
// that they do not know.
func hideValues(of http.Header) func(string) string {
	var whole, parts []string
	for _, values := range of {
		for _, value := range values {
			whole = append(whole, value)
			parts = append(parts, strings.Fields(value)...)
		}
	}
	var pairs []string
	for _, secret := range append(whole, parts...) {
		if len(secret) >= minHiddenBytes {
			pairs = append(pairs, secret, "…")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// isToken reports whether text can be a header's name: https://www.rfc-editor.org/rfc/rfc9110#name-tokens
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	})
}

// isControl reports whether no header's value may have c.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

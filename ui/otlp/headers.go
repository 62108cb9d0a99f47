package otlp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The variables of OpenTelemetry for headers. Headers for traces override headers for all signals.
const (
	headersOfAll    = "OTEL_EXPORTER_OTLP_HEADERS"
	headersOfTraces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// headersFrom returns the headers in those variables, or none if getenv is nil. Headers are secrets, so no
// error quotes them.
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

// minHiddenBytes is the minimum length of a value, or of a word of a value, that hideValues removes.
const minHiddenBytes = 6

// hideValues returns a function that removes the values of headers, and their words, from a text. Some
// collectors quote an unknown key in their errors.
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

// isToken reports whether text is a valid name of a header: https://www.rfc-editor.org/rfc/rfc9110#name-tokens
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	})
}

// isControl reports whether c is not allowed in the value of a header.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

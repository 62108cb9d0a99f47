// Package otlp sends spans to a collector, with OTLP over HTTP. Adding a span never waits. If the queue has no room
// for a span, the span is dropped and counted. Spans that the collector refuses or never acknowledges are counted
// too.
//
// OpenTelemetry's library drops spans without a report. It also reads the collector's URL from environment
// variables that are meant for the watched program. So this package has its own queue and HTTP client. It
// uses only the library's messages.
package otlp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options contains the options of a Sender.
type Options struct {
	Getenv        func(string) string // returns the value of a variable for headers; nil for no headers
	Endpoint      string              // http or https URL; "/v1/traces" is appended unless the path ends with it
	Version       string              // version of toolscope
	MaxQueueBytes int64               // maximum total size of waiting spans; 0 for 64 MiB
	Report        func(string)        // called when sending starts to fail, but not after Close; may be nil

	// StallTimeout is the time after which a collector that neither accepts nor refuses spans counts as
	// stalled. Await and Finish then stop waiting. 0 means 10 s.
	StallTimeout time.Duration
}

// State contains the number of spans for each outcome. Each span is counted in exactly one of these numbers.
type State struct {
	Waiting int64 // not sent yet, or sent without a response
	Taken   int64 // accepted by the collector
	Refused int64 // refused by the collector permanently
	Dropped int64 // dropped, because the queue had no room
	Left    int64 // not acknowledged when the sender stopped

	// Trouble is the reason why spans are not accepted now, the reason why the last spans were refused, or a
	// warning from the collector. It is "" if there is no problem.
	Trouble string
}

// Missing returns the number of spans that the collector is known not to have.
func (s *State) Missing() int64 { return s.Refused + s.Dropped + s.Left }

// path is the path at which collectors accept spans: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
const path = "/v1/traces"

// endpointURL returns the URL to which spans are posted.
func (o *Options) endpointURL() (*url.URL, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("not a collector's URL\nuse http://HOST:4318") // the text of err may contain a password
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL must not contain secrets or a query\nput secrets into headers, in " + headersOfAll + ", e.g. Authorization=Bearer%20…")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("not a collector's URL\nuse http://HOST:4318 or https://…; OTLP over gRPC is not supported")
	}
	if u.Path = strings.TrimRight(u.Path, "/"); !strings.HasSuffix(u.Path, path) {
		u.Path += path
	}
	return u, nil
}

// These constants name OpenTelemetry's variables for headers. Headers for traces override headers for all
// signals.
const (
	headersOfAll    = "OTEL_EXPORTER_OTLP_HEADERS"
	headersOfTraces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

// headersFrom returns the headers in the variables headersOfAll and headersOfTraces, or none if getenv is nil.
// Headers are secrets, so errors don't quote them.
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

// minHiddenBytes is the minimum length of a value, or of a word in a value, that hideValues removes.
const minHiddenBytes = 6

// hideValues returns a function that removes the values of headers, and the words in them, from a text. Some
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

// isToken reports whether text is a valid header name: https://www.rfc-editor.org/rfc/rfc9110#name-tokens
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	})
}

// isControl reports whether c is not allowed in the value of a header.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

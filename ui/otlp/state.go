// Package otlp sends spans to a collector, with OTLP over HTTP. Adding a span never waits. Spans without
// room in the queue are dropped and counted. Spans that the collector refuses or never acknowledges are
// counted too.
//
// OpenTelemetry's library drops spans without a report. It also reads the collector's URL from environment
// variables that are meant for the watched program. So the queue and the HTTP client are ours, and only the
// messages are the library's.
package otlp

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Options are the options of a Sender.
type Options struct {
	Getenv        func(string) string // returns the variables of OpenTelemetry for headers; nil for no headers
	Endpoint      string              // an http or https URL; "/v1/traces" follows unless the path ends with it
	Version       string              // of toolscope
	MaxQueueBytes int64               // size of waiting spans; 0 for 64 MiB
	Report        func(string)        // called when sending starts to fail, but not after Close; may be nil

	// StallTimeout is the time after which a collector has stalled, if it neither accepts nor refuses spans.
	// Await and Finish then stop waiting. 0 is 10 s.
	StallTimeout time.Duration
}

// State has the numbers of spans by outcome. Each span is in exactly one number.
type State struct {
	Waiting int64 // not sent yet, or without a response
	Taken   int64 // accepted by the collector
	Refused int64 // refused by the collector for good
	Dropped int64 // no room in the queue
	Left    int64 // not acknowledged when the sender stopped

	// Trouble is why spans are not accepted now, why the last spans were refused, or the collector's warning;
	// "" if all is well.
	Trouble string
}

// Missing returns the number of spans that the collector does not have, as far as known.
func (s *State) Missing() int64 { return s.Refused + s.Dropped + s.Left }

// path is the path at which collectors accept spans: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
const path = "/v1/traces"

// endpointURL returns the URL to which spans are posted.
func (o *Options) endpointURL() (*url.URL, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("not a URL of a collector\nuse http://HOST:4318") // the text of err may contain a password
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL must not contain secrets or a query\nput secrets into headers, in " + headersOfAll + ", e.g. Authorization=Bearer%20…")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("not a URL of a collector\nuse http://HOST:4318 or https://…; OTLP over gRPC is not supported")
	}
	if u.Path = strings.TrimRight(u.Path, "/"); !strings.HasSuffix(u.Path, path) {
		u.Path += path
	}
	return u, nil
}

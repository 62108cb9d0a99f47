// Package otlp sends spans to a collector, over OTLP by HTTP. Whoever has spans to send never waits:
// what there is no room for is counted, and so is what the collector refuses and what it never
// acknowledged. OpenTelemetry's library leaves out what it has no room for and tells nobody, and has the
// variables of the environment, which are meant for the program that is watched, say where spans go. So
// the queue and the way to the collector are ours, and the messages are the library's.
package otlp

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Options say where spans are sent, and as whose.
type Options struct {
	Getenv        func(string) string // has the variables of OpenTelemetry that hold headers; nil for none of these
	Endpoint      string              // an http or https URL; "/v1/traces" follows unless the path ends with it
	Version       string              // of the program
	MaxQueueBytes int64               // bytes of spans that may wait; 0 for 64 MB
	Report        func(string)        // is told when sending fails that did not before, until the end; may be nil

	// Still is how long a collector may take and refuse nothing until nobody waits for it, but for the
	// end; 0 for 10 s.
	StallTimeout time.Duration
}

// State is what became of spans. Each is counted in one of these.
type State struct {
	Waiting int64 // to be sent, or for an answer
	Taken   int64 // by the collector
	Refused int64 // by the collector, for good
	Dropped int64 // there was no room
	Left    int64 // the end came before the collector acknowledged them

	// Why spans are not taken just now, or why the last ones were refused, or what the collector warns of;
	// "" if all is well.
	Trouble string
}

// Missing is how many spans the collector does not have, as far as is known.
func (s *State) Missing() int64 { return s.Refused + s.Dropped + s.Left }

// path is where collectors take spans: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
const path = "/v1/traces"

// endpointURL is where spans are posted to.
func (o *Options) endpointURL() (*url.URL, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("no address of a collector\nwanted is http://HOST:4318") // url's own words may hold a password
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a secret has no place in an address\n" + headersOfAll + " holds headers, as in Authorization=Bearer%20…")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("no address of a collector\nwanted is http://HOST:4318, or https://…; OTLP by gRPC is not spoken")
	}
	if u.Path = strings.TrimRight(u.Path, "/"); !strings.HasSuffix(u.Path, path) {
		u.Path += path
	}
	return u, nil
}

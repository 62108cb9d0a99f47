//go:build !nootlp

package otlp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// answer is what a collector said to a request.
type answer struct {
	status   int           // of HTTP, 0 where nothing came
	rejected int64         // spans of the request
	why      string        // the collector's words, or those of the status; "" where all is well
	after    time.Duration // when it wants to be asked again, 0 where it does not say
}

// taken reports whether the collector has the spans, but for those that it rejected.
func (a *answer) taken() bool { return a.status >= 200 && a.status < 300 }

// final reports whether asking again would change nothing:
// https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
func (a *answer) final() bool {
	switch a.status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// answers is a way over HTTP that remembers the latest answer: the library does not pass on what is
// said of spans that were rejected.
type answers struct {
	next http.RoundTripper

	mu     sync.Mutex
	latest answer
}

func newAnswers() *answers { return &answers{next: http.DefaultTransport.(*http.Transport).Clone()} }

// mostAnswer is how much of an answer is read: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
const mostAnswer = 4 << 20

// RoundTrip is that of http.RoundTripper.
func (s *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	s.set(answerOf(res, body))
	return res, nil
}

func (s *answers) set(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = a
}

// last is the answer to the latest request.
func (s *answers) last() answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

func answerOf(res *http.Response, body []byte) answer {
	a := answer{status: res.StatusCode}
	if !a.taken() {
		a.why = strings.TrimSpace(fmt.Sprintf("%s %s", res.Status, said(res, body)))
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds < 1<<20 {
			a.after = time.Duration(seconds) * time.Second
		}
		return a
	}
	var told collector.ExportTraceServiceResponse
	var err error
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, &told)
	} else {
		err = proto.Unmarshal(body, &told)
	}
	if part := told.GetPartialSuccess(); err == nil && part.GetRejectedSpans() > 0 {
		a.rejected, a.why = part.GetRejectedSpans(), "rejected: "+part.GetErrorMessage()
	}
	return a
}

// mostSaid is how many bytes of an error's words are kept.
const mostSaid = 200

// said are the words of an error, "" where they are no text. An error is a Status of protobuf, whose
// second field is the words.
func said(res *http.Response, body []byte) string {
	kind := res.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "application/x-protobuf"):
		body = secondField(body)
	case !strings.HasPrefix(kind, "text/plain") && !strings.HasPrefix(kind, "application/json"):
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), mostSaid)]), ""))
}

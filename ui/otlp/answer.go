//go:build !nootlp

package otlp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolscope/stream/count"
)

// collectorResponse is a collector's response to a request.
type collectorResponse struct {
	status     int           // HTTP status; 0 without a response
	rejected   int64         // number of rejected spans
	why        string        // text of the collector or of the status; "" if all is well
	retryAfter time.Duration // requested delay before a retry; 0 for none
	refused    bool          // the spans are refused for good, whatever the status
}

// isAccepted reports whether the collector has the spans, except those that it rejected.
func (a *collectorResponse) isAccepted() bool { return !a.refused && a.status/100 == 2 }

// isFinal reports whether a retry would change nothing:
// https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
func (a *collectorResponse) isFinal() bool {
	if a.refused {
		return true
	}
	switch a.status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// readResponse reads a response. failed is the error with which reading the body ended. A collector has the
// spans even if the body is incomplete, if its status says so and it uses the protocol. hide removes secrets
// from its text.
func readResponse(res *http.Response, body []byte, failed error, now time.Time, hide func(string) string) collectorResponse {
	a := collectorResponse{status: res.StatusCode}
	switch kind := mediaType(res); {
	case a.status/100 == 3:
		a.why = res.Status + ": redirects are not followed; --otlp needs the URL of the collector itself"
	case a.status/100 != 2:
		a.why = strings.TrimSpace(res.Status + " " + clipText(hide(errorText(kind, body))))
		a.retryAfter = retryAfter(res.Header.Get("Retry-After"), now)
	case failed != nil && (kind == protobuf || kind == jsonKind || kind == "" || len(body) == 0):
		a.why = fmt.Sprintf("%s, but the rest of the response did not arrive: %s", res.Status, failed)
		if tooLong := new(http.MaxBytesError); errors.As(failed, &tooLong) {
			a.why = fmt.Sprintf("%s, but the rest of the response was not read: it has more than %s", res.Status, count.Of(tooLong.Limit, "byte"))
		}
	case len(body) > 0:
		a.readPartial(res.Status, kind, body, hide)
	}
	return a
}

// readPartial reads the body of a response that accepts a request, or part of it:
// https://opentelemetry.io/docs/specs/otlp/#partial-success-1
func (a *collectorResponse) readPartial(status, kind string, body []byte, hide func(string) string) {
	var words string
	var err error
	switch kind {
	case protobuf, "":
		a.rejected, words, err = partialOf(body)
	case jsonKind:
		var told struct {
			Partial struct {
				Rejected json.Number `json:"rejectedSpans"`
				Message  string      `json:"errorMessage"`
			} `json:"partialSuccess"`
		}
		if err = json.Unmarshal(body, &told); err == nil && told.Partial.Rejected != "" {
			a.rejected, err = told.Partial.Rejected.Int64()
		}
		words = told.Partial.Message
	default:
		err = fmt.Errorf("its body has the type %.100q", kind)
	}
	a.rejected = max(a.rejected, 0)
	words = clipText(hide(words))
	switch {
	case err != nil:
		a.refused, a.rejected, a.why = true, 0, fmt.Sprintf("%s, but this is not a collector's response: %s", status, err)
	case a.rejected > 0:
		a.why = "rejected: " + cmp.Or(words, "no reason given")
	case words != "":
		a.why = "warning: " + words
	}
}

// retryAfter returns the delay that a Retry-After header asks for: a number of seconds, or the time until a
// date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// errorText returns the text of an error response, or "". In protobuf an error is a Status, whose field 2 is
// the text.
func errorText(kind string, body []byte) string {
	switch kind {
	case protobuf:
		text, _, _ := protoField(body, 2)
		return string(text)
	case "text/plain", jsonKind:
		return string(body)
	}
	return ""
}

// maxErrorTextBytes is the maximum length of the text that is kept of a response.
const maxErrorTextBytes = 200

func clipText(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxErrorTextBytes)], ""))
}

func mediaType(res *http.Response) string {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind
}

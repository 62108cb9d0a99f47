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

// collectorResponse is what a collector said to a request.
type collectorResponse struct {
	status     int           // of HTTP, 0 where nothing came
	rejected   int64         // spans of the request
	why        string        // the collector's words, or those of the status; "" where all is well
	retryAfter time.Duration // when it wants to be asked again, 0 where it does not say
	refused    bool          // whatever the status says, it has not taken them, and will not
}

// isAccepted reports whether the collector has the spans, but for those that it rejected.
func (a *collectorResponse) isAccepted() bool { return !a.refused && a.status/100 == 2 }

// isFinal reports whether asking again would change nothing:
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

// readResponse reads an answer. Failed is why its body is not there in full: one that says it has the spans
// has them nevertheless, if it speaks the protocol. Hide takes out of its words what it must not say.
func readResponse(res *http.Response, body []byte, failed error, now time.Time, hide func(string) string) collectorResponse {
	a := collectorResponse{status: res.StatusCode}
	switch kind := mediaType(res); {
	case a.status/100 == 3:
		a.why = res.Status + ": redirects are not followed; --otlp has to name what takes spans itself"
	case a.status/100 != 2:
		a.why = strings.TrimSpace(res.Status + " " + clipText(hide(errorText(kind, body))))
		a.retryAfter = retryAfter(res.Header.Get("Retry-After"), now)
	case failed != nil && (kind == protobuf || kind == jsonKind || kind == "" || len(body) == 0):
		a.why = fmt.Sprintf("%s, and the rest of the answer did not come: %s", res.Status, failed)
		if tooLong := new(http.MaxBytesError); errors.As(failed, &tooLong) {
			a.why = fmt.Sprintf("%s, and the rest of the answer was not read: it has more than %s", res.Status, count.Of(tooLong.Limit, "byte"))
		}
	case len(body) > 0:
		a.readPartial(res.Status, kind, body, hide)
	}
	return a
}

// readPartial reads what a collector says that has taken a request, or a part of it:
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
		err = fmt.Errorf("a body of the type %.100q", kind)
	}
	a.rejected = max(a.rejected, 0)
	words = clipText(hide(words))
	switch {
	case err != nil:
		a.refused, a.rejected, a.why = true, 0, fmt.Sprintf("%s, but no collector says that: %s", status, err)
	case a.rejected > 0:
		a.why = "rejected: " + cmp.Or(words, "it does not say why")
	case words != "":
		a.why = "a warning: " + words
	}
}

// retryAfter is how long a header of that name asks to wait: a number of seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// errorText are the words of an error, "" where they are no text. An error is a Status of protobuf, whose
// second field is the words.
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

// maxErrorTextBytes is how many bytes of an answer's words are kept.
const maxErrorTextBytes = 200

func clipText(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxErrorTextBytes)], ""))
}

func mediaType(res *http.Response) string {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind
}

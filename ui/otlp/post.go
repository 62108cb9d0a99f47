//go:build !nootlp

package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"toolscope/stream/count"
	"toolscope/ui/report"
)

// These constants are the media types of requests and responses. Requests are protobuf. Some collectors respond
// with JSON.
const (
	protobuf = "application/x-protobuf"
	jsonKind = "application/json"
)

// maxResponseBytes is the maximum number of bytes that are read from a response:
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
const maxResponseBytes = 4 << 20

// An httpSender posts spans to a collector. Its URL and headers are fixed when it is created. It ignores the
// OTEL_ variables, which are meant for the watched program.
type httpSender struct {
	url     string
	headers http.Header
	hide    func(string) string // removes the headers' values from a text
	version string              // version of toolscope
	client  http.Client
}

// postSpans posts spans once. It does not retry.
func (p *httpSender) postSpans(ctx context.Context, spans []report.Span) collectorResponse {
	r, err := p.newRequest(ctx, spans)
	if err != nil {
		return collectorResponse{refused: true, why: "not sent: " + err.Error()}
	}
	res, err := p.client.Do(r)
	if err != nil {
		if at := new(url.Error); errors.As(err, &at) {
			err = at.Err // the user knows the method and the URL
		}
		return collectorResponse{why: err.Error()}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxResponseBytes))
	// If the status is a success and the media type belongs to the protocol, the collector may have the spans even if
	// the body is incomplete.
	a := collectorResponse{status: res.StatusCode}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case a.status/100 == 3:
		a.why = res.Status + ": redirects are not followed; --otlp needs the URL of the collector itself"
	case a.status/100 != 2:
		a.why = strings.TrimSpace(res.Status + " " + clipText(p.hide(errorText(kind, body))))
		a.retryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	case err != nil && (kind == protobuf || kind == jsonKind || kind == "" || len(body) == 0):
		a.why = fmt.Sprintf("%s, but the rest of the response did not arrive: %s", res.Status, err)
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			a.why = fmt.Sprintf("%s, but the rest of the response was not read: it is larger than %s", res.Status, count.Of(tooLong.Limit, "byte"))
		}
	case len(body) > 0:
		a.readPartial(res.Status, kind, body, p.hide)
	}
	return a
}

func (p *httpSender) newRequest(ctx context.Context, spans []report.Span) (*http.Request, error) {
	// TracesData has the same wire format as an ExportTraceServiceRequest, but its package does not import gRPC.
	raw, err := proto.Marshal(&trace.TracesData{ResourceSpans: resourceSpans(spans, p.version)})
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(raw) // writing to memory can't fail
	_ = z.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, &zipped)
	if err != nil {
		return nil, err
	}
	for name, values := range p.headers {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "toolscope/"+p.version)
	r.Header.Set("Content-Type", protobuf)
	r.Header.Set("Content-Encoding", "gzip")
	return r, nil
}

// collectorResponse is a collector's response to a request.
type collectorResponse struct {
	status     int           // HTTP status; 0 if there was no response
	rejected   int64         // number of rejected spans
	why        string        // reason, from the collector or the status; "" if there is no problem
	retryAfter time.Duration // requested delay before a retry; 0 if none was requested
	refused    bool          // the spans are refused permanently, regardless of the status
}

// isFinal reports whether a retry is useless:
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

// readPartial reads the body of a response that accepts a request, completely or in part:
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
		err = fmt.Errorf("the body has the type %.100q", kind)
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

// retryAfter returns the delay in a Retry-After header, but at most maxRetryAfter. The header contains a number of
// seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// errorText returns the text of an error response, or "". In protobuf, an error is a Status message, whose
// field 2 has the text.
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

// maxErrorTextBytes is the maximum number of bytes of a response's text that are kept.
const maxErrorTextBytes = 200

func clipText(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxErrorTextBytes)], ""))
}

// resourceSpans converts spans to the protocol's messages.
func resourceSpans(spans []report.Span, version string) (all []*trace.ResourceSpans) {
	for _, group := range report.ByMachine(spans) {
		scope := &trace.ScopeSpans{Scope: &common.InstrumentationScope{Name: "toolscope", Version: version}}
		for i := range group {
			scope.Spans = append(scope.Spans, spanOf(&group[i]))
		}
		all = append(all, &trace.ResourceSpans{
			Resource: &resource.Resource{Attributes: attributesOf(report.Resource(group[0].Machine, version))}, ScopeSpans: []*trace.ScopeSpans{scope},
		})
	}
	return all
}

func spanOf(s *report.Span) *trace.Span {
	out := &trace.Span{
		TraceId: s.Trace[:], SpanId: s.ID[:], TraceState: validUTF8(s.State), Flags: s.Flags, Name: validUTF8(s.Name), Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: unixNanos(s.Began), EndTimeUnixNano: unixNanos(s.Ended), Attributes: attributesOf(s.Attributes), Status: &trace.Status{},
	}
	if s.Parent != [8]byte{} {
		out.ParentSpanId = s.Parent[:]
	}
	if s.Client {
		out.Kind = trace.Span_SPAN_KIND_CLIENT
	}
	if s.Failed {
		out.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: validUTF8(s.Failure)}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, &trace.Span_Event{TimeUnixNano: unixNanos(e.At), Name: e.Name, Attributes: attributesOf(e.Attributes)})
	}
	return out
}

// validUTF8 replaces the invalid bytes of a text, because the protocol requires UTF-8.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func unixNanos(at time.Time) uint64 {
	if at.IsZero() {
		return 0
	}
	return uint64(at.UnixNano())
}

func attributesOf(of []report.Attribute) (all []*common.KeyValue) {
	for _, a := range of {
		all = append(all, &common.KeyValue{Key: a.Key, Value: valueOf(a.Value)})
	}
	return all
}

func valueOf(value any) *common.AnyValue {
	switch value := value.(type) {
	case int64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}
	case bool:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: value}}
	case []string:
		list := &common.ArrayValue{}
		for _, text := range value {
			list.Values = append(list.Values, valueOf(text))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	}
	text, _ := value.(string)
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: validUTF8(text)}}
}

// partialOf reads an ExportTraceServiceResponse. It returns the number of rejected spans, and the collector's
// reason or warning.
func partialOf(message []byte) (rejected int64, words string, err error) {
	partial, _, err := protoField(message, 1)
	_, n, bad := protoField(partial, 1)
	text, _, worse := protoField(partial, 2)
	return int64(n), string(text), cmp.Or(err, bad, worse)
}

// protoField returns the value of a field in a message. The result text is a string or a message, and n is a number.
// For a missing field, both results are zero.
func protoField(message []byte, wanted protowire.Number) (text []byte, n uint64, err error) {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeField(message)
		if size < 0 {
			return nil, 0, protowire.ParseError(size)
		}
		if number == wanted {
			_, _, tag := protowire.ConsumeTag(message)
			switch kind {
			case protowire.BytesType:
				text, _ = protowire.ConsumeBytes(message[tag:])
			case protowire.VarintType:
				n, _ = protowire.ConsumeVarint(message[tag:])
			}
		}
		message = message[size:]
	}
	return text, n, nil
}

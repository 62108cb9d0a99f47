//go:build !nootlp

package otlp

import (
	"cmp"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"toolscope/ui/report"
)

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

//go:build !nootlp

package otlp

import (
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"toolscope/ui/report"
)

// request is spans as the protocol has them.
func request(spans []report.Span, version string) (all []*trace.ResourceSpans) {
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
		TraceId: s.Trace[:], SpanId: s.ID[:], Name: valid(s.Name), Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nanos(s.Began), EndTimeUnixNano: nanos(s.Ended), Attributes: attributesOf(s.Attributes), Status: &trace.Status{},
	}
	if s.Parent != [8]byte{} {
		out.ParentSpanId = s.Parent[:]
	}
	if s.Client {
		out.Kind = trace.Span_SPAN_KIND_CLIENT
	}
	if s.Failed {
		out.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: valid(s.Failure)}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, &trace.Span_Event{TimeUnixNano: nanos(e.At), Name: e.Name, Attributes: attributesOf(e.Attributes)})
	}
	return out
}

// valid is text as the protocol can carry it, which is UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func nanos(at time.Time) uint64 {
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
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(text)}}
}

// secondField is the text of the second field of a message, nil where it has none.
func secondField(message []byte) []byte {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if number == 2 && kind == protowire.BytesType {
			if text, n := protowire.ConsumeBytes(message); n >= 0 {
				return text
			}
			return nil
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}

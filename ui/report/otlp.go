package report

import (
	"encoding/hex"
	"strconv"
	"time"
)

// otlpTraces is the root of OTLP/JSON. This and the types below are the part that toolscope writes:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type otlpTraces struct {
	Resources []otlpResource `json:"resourceSpans"`
}

type otlpResource struct {
	Resource struct {
		Attributes []otlpAttribute `json:"attributes"`
	} `json:"resource"`
	Scopes []otlpScope `json:"scopeSpans"`
}

type otlpScope struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpSpan struct {
	Trace      string          `json:"traceId"`
	ID         string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	State      string          `json:"traceState,omitempty"`
	Flags      uint32          `json:"flags,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"` // 1 internal, 3 client
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Events     []otlpEvent     `json:"events,omitempty"`
	Status     otlpStatus      `json:"status"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"` // 2 is an error
	Message string `json:"message,omitempty"`
}

type otlpEvent struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

type otlpValue struct {
	Text *string  `json:"stringValue,omitempty"`
	Int  *string  `json:"intValue,omitempty"`
	Bool *bool    `json:"boolValue,omitempty"`
	List *otlpAll `json:"arrayValue,omitempty"`
}

type otlpAll struct {
	Values []otlpValue `json:"values"`
}

// OTLP returns spans as OTLP/JSON. version is toolscope's version. Unknown times are 0.
func OTLP(version string, spans []Span) []byte {
	all := otlpTraces{[]otlpResource{}}
	for _, group := range ByMachine(spans) {
		var r otlpResource
		r.Resource.Attributes = otlpAttributes(Resource(group[0].Machine, version))
		var scope otlpScope
		scope.Scope.Name, scope.Scope.Version = "toolscope", version
		for i := range group {
			scope.Spans = append(scope.Spans, otlpOf(&group[i]))
		}
		r.Scopes = []otlpScope{scope}
		all.Resources = append(all.Resources, r)
	}
	return encodeJSON(all)
}

func otlpOf(s *Span) otlpSpan {
	out := otlpSpan{
		Trace: hex.EncodeToString(s.Trace[:]), ID: hex.EncodeToString(s.ID[:]), State: s.State, Flags: s.Flags, Name: s.Name, Kind: 1,
		Start: unixNanos(s.Began), End: unixNanos(s.Ended), Attributes: otlpAttributes(s.Attributes),
	}
	if s.Parent != [8]byte{} {
		out.Parent = hex.EncodeToString(s.Parent[:])
	}
	if s.Client {
		out.Kind = 3
	}
	if s.Failed {
		out.Status = otlpStatus{2, s.Failure}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, otlpEvent{unixNanos(e.At), e.Name, otlpAttributes(e.Attributes)})
	}
	return out
}

// unixNanos formats a time for OTLP/JSON; an unknown time is 0.
func unixNanos(at time.Time) string {
	if at.IsZero() {
		return "0"
	}
	return strconv.FormatInt(at.UnixNano(), 10)
}

func otlpAttributes(of []Attribute) []otlpAttribute {
	all := []otlpAttribute{}
	for _, a := range of {
		all = append(all, otlpAttribute{a.Key, otlpValueOf(a.Value)})
	}
	return all
}

func otlpValueOf(value any) (v otlpValue) {
	switch value := value.(type) {
	case string:
		v.Text = &value
	case int64:
		text := strconv.FormatInt(value, 10)
		v.Int = &text
	case bool:
		v.Bool = &value
	case []string:
		v.List = &otlpAll{[]otlpValue{}}
		for _, text := range value {
			v.List.Values = append(v.List.Values, otlpValue{Text: &text})
		}
	}
	return v
}

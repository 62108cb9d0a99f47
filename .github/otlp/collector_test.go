package otlp

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// span is a span that the collector accepted.
type span struct {
	trace, id, parent, state string
	name                     string
	kind                     ptrace.SpanKind
	began, ended             pcommon.Timestamp
	attributes               map[string]any
	machine                  string
	events                   []string // codes of findings
	text                     string   // the complete span as text
}

// A collector is the receiver of OpenTelemetry's collector, with the spans that it received.
type collector struct {
	url string

	mu      sync.Mutex
	says    func(spans int) error // decides about a request; nil accepts all requests
	spans   []span
	refused int
	text    strings.Builder // all requests, as JSON
}

// collecting starts a collector.
func collecting(t *testing.T, says func(spans int) error) *collector {
	t.Helper()
	c := &collector{says: says}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	written := map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": at}}} // as in the collector's YAML
	if err := confmap.NewFromStringMap(written).Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	next, err := consumer.NewTraces(c.take)
	if err != nil {
		t.Fatal(err)
	}
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(component.MustNewType("otlp")), config, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(context.Background(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Shutdown(context.Background()) })
	c.url = "http://" + at
	return c
}

// take is the receiver's handler for the spans of a request.
func (c *collector) take(_ context.Context, traces ptrace.Traces) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.says != nil {
		if err := c.says(traces.SpanCount()); err != nil {
			if consumererror.IsPermanent(err) {
				c.refused += traces.SpanCount()
			}
			return err
		}
	}
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	if err != nil {
		return err
	}
	c.text.Write(text)
	for _, r := range traces.ResourceSpans().All() {
		machine, _ := r.Resource().Attributes().AsRaw()["host.name"].(string)
		for _, scope := range r.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				c.spans = append(c.spans, spanOf(s, machine))
			}
		}
	}
	return nil
}

func spanOf(s ptrace.Span, machine string) span {
	out := span{
		trace: s.TraceID().String(), id: s.SpanID().String(), parent: s.ParentSpanID().String(), state: s.TraceState().AsRaw(), name: s.Name(), kind: s.Kind(),
		began: s.StartTimestamp(), ended: s.EndTimestamp(), attributes: s.Attributes().AsRaw(), machine: machine,
	}
	for _, e := range s.Events().All() {
		code, _ := e.Attributes().AsRaw()["toolscope.finding.code"].(string)
		out.events = append(out.events, code)
	}
	return out
}

// taken returns the spans that the collector accepted.
func (c *collector) taken() []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]span(nil), c.spans...)
}

var errBusy, errNever = errors.New("busy"), consumererror.NewPermanent(errors.New("no such tenant"))

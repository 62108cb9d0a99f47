package cli

import "toolscope/ui/report"

// otlp writes turns as a trace.
func (e *export) otlp() error {
	if err := e.read(nil); err != nil {
		return err
	}
	turns, err := e.turns()
	if err != nil {
		return err
	}
	tracer := report.Tracer{Content: true}
	spans := []report.Span{}
	for _, t := range turns {
		if !hasSpan(e.in.Exchange(t.Exchange), t) {
			continue
		}
		spans = append(spans, tracer.Spans(traced(e.in.View(), t, e.path))...)
	}
	_, err = e.to.Write(report.OTLP(version(), spans))
	return err
}

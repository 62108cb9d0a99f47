package cli

import "toolscope/ui/report"

// writeOTLP writes the turns in OTLP/JSON.
func (e *export) writeOTLP() error {
	if err := e.read(nil); err != nil {
		return err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return err
	}
	tracer := report.Tracer{Content: true}
	spans := []report.Span{}
	for _, t := range turns {
		if !hasSpan(e.in.Exchange(t.Exchange), t) {
			continue
		}
		spans = append(spans, tracer.Spans(tracedTurn(e.in.View(), t, e.path))...)
	}
	_, err = e.to.Write(report.OTLP(versionText(), spans))
	return err
}

package cli

import (
	"time"

	"toolscope/stream"
	"toolscope/ui/report"
)

// otlp writes turns as a trace.
func (e *export) otlp() error {
	if err := e.read(nil); err != nil {
		return err
	}
	turns, err := e.turns()
	if err != nil {
		return err
	}
	v := e.in.View()
	clock := func(at time.Duration) time.Time {
		said, _ := v.Clock(at) // zero where nobody knows
		return said
	}
	brought := func(r *stream.Return) time.Duration {
		x := e.in.Exchange(r.Exchange)
		if x == nil || x.Request.Records() == 0 {
			return stream.NoTime
		}
		_, at := x.Request.Record(0)
		return at
	}
	var list []report.Span
	for _, t := range turns {
		s := report.Span{File: e.path, Turn: t, Clock: clock, Brought: brought}
		if x := e.in.Exchange(t.Exchange); x != nil {
			s.Host, s.Status = hostIn(x.Head.URL), x.Head.Status
		}
		list = append(list, s)
	}
	_, err = e.to.Write(report.OTLP(version(), list))
	return err
}

package formats

import (
	"slices"
	"time"

	"toolscope/capture"
)

// otlp is traces and events of OpenTelemetry as the collector's file exporter writes them, and as
// backends export them: OTLP in JSON. A span is an exchange if it has what a model was asked and
// said, by the names of the semantic conventions for generative AI, of OpenInference or of
// OpenLLMetry.
var otlp = capture.Format{
	Name:  "otlp",
	Title: "OpenTelemetry, OTLP/JSON: GenAI, OpenInference",
	Sniff: sniffOTLP,
	New: func(in *capture.Input) capture.Reader {
		o := &otlpLog{in: in}
		return &document{diary: diary{in: in, book: o}, walk: Walk{Paths: otlpPaths}, found: o.found, decided: true, one: true}
	},
}

var otlpPaths = [][]string{
	{"resourceSpans", "*", "scopeSpans", "*", "spans", "*"},
	{"resourceSpans", "*", "instrumentationLibrarySpans", "*", "spans", "*"},
	{"resourceLogs", "*", "scopeLogs", "*", "logRecords", "*"},
}

func sniffOTLP(first []byte, whole bool) capture.SniffResult {
	keys, open := topKeys(first)
	switch {
	case len(keys) > 0 && (keys[0] == "resourceSpans" || keys[0] == "resourceLogs"):
		return capture.SniffResult{Is: capture.Yes, Why: "an object with " + keys[0]}
	case open && len(keys) == 0 && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// otlpLog reads spans and log records.
type otlpLog struct {
	in *capture.Input
}

func (o *otlpLog) entry(recs []capture.Record, _ []byte) []capture.Record { return recs }

func (o *otlpLog) close(recs []capture.Record) []capture.Record { return recs }

func (o *otlpLog) found(recs []capture.Record, _ int, value []byte) []capture.Record {
	f := pick(value, "attributes", "events", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "status")
	a := attributesOf(f[0])
	s := &span{attributes: a}
	for e := range Elements(f[1]) {
		s.event(e)
	}
	s.logged()
	if !s.isModel() {
		return recs
	}
	s.read()
	s.fail(f[5])
	if len(s.answer.parts) == 0 && s.answer.failure == nil && len(s.said) == 0 && s.answer.usage == nil {
		return recs
	}
	began, ended := moment(f[2]), moment(f[3])
	if began.IsZero() {
		ended = moment(f[4])
	}
	return o.exchange(recs, s, began, ended)
}

// exchange tells of a span. What arguments it has as objects were parsed and written anew.
func (o *otlpLog) exchange(recs []capture.Record, s *span, began, ended time.Time) []capture.Record {
	as := s.shape()
	lacks := []capture.Lack{capture.NoDeltas, capture.Composed}
	if s.hasObjects() {
		lacks = append(lacks, capture.Reencoded)
	}
	s.answer.finish = s.finish(as)
	if s.answer.finish == nil && s.answer.failure == nil {
		lacks = append(lacks, capture.NoEnding)
	}
	s.answer.usage = s.usage(as)
	n := o.in.NextExchange()
	head := o.in.NewHead([]string{"otlp", s.convention, as.name}, lacks...)
	head.Start = began
	var said [][]byte
	for _, m := range s.said {
		said = append(said, as.said(m.by, m.parts)...)
	}
	body := object(member{"model", s.asked}, member{"tools", s.toolsIn(as)}, member{as.history, array(said...)})
	recs = append(recs, capture.Record{Exchange: n, Side: capture.Request, At: o.in.RecordTime(began), Head: head, Data: body})
	if len(s.answer.parts) > 0 || s.answer.failure != nil || s.answer.usage != nil {
		recs = append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), Data: as.reply(&s.answer)})
	}
	return append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), End: capture.EndEOF})
}

// notModels are operations whose spans have messages that the spans inside them have too.
var notModels = []string{"invoke_agent", "create_agent", "execute_tool", "invoke_workflow", "embeddings"}

// isModel reports whether the span is of one call of a model.
func (s *span) isModel() bool {
	if slices.Contains(notModels, s.text("gen_ai.operation.name")) {
		return false
	}
	if kind := s.text("openinference.span.kind"); kind != "" {
		return kind == "LLM"
	}
	for _, name := range []string{"gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.request.model", "llm.request.type", "llm.model_name"} {
		if s.attributes[name] != nil {
			return true
		}
	}
	return s.convention != ""
}

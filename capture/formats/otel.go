package formats

import (
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
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
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: json.Walk{Paths: otlpPaths}, found: o.takeValue, decided: true, one: true}
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

func (o *otlpLog) takeValue(recs []capture.Record, _ int, value []byte) []capture.Record {
	f := json.Pick(value, "attributes", "events", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "status")
	a := attributesOf(f[0])
	s := &otelSpan{attributes: a}
	for e := range json.Elements(f[1]) {
		s.takeEvent(e)
	}
	s.readLogfireEvents()
	if !s.isModel() {
		return recs
	}
	s.readAttributes()
	s.setFailure(f[5])
	if len(s.answer.parts) == 0 && s.answer.failure == nil && len(s.history) == 0 && s.answer.usage == nil {
		return recs
	}
	began, ended := parseLogTime(f[2]), parseLogTime(f[3])
	if began.IsZero() {
		ended = parseLogTime(f[4])
	}
	return o.addExchange(recs, s, began, ended)
}

// addExchange tells of a span. What arguments it has as objects were parsed and written anew.
func (o *otlpLog) addExchange(recs []capture.Record, s *otelSpan, began, ended time.Time) []capture.Record {
	as := s.chooseShape()
	lacks := []capture.Lack{capture.NoDeltas, capture.Composed}
	if s.hasObjects() {
		lacks = append(lacks, capture.Reencoded)
	}
	s.answer.finish = s.finishReason(as)
	if s.answer.finish == nil && s.answer.failure == nil {
		lacks = append(lacks, capture.NoEnding)
	}
	s.answer.usage = s.usageJSON(as)
	n := o.in.NextExchange()
	head := o.in.NewHead([]string{"otlp", s.convention, as.name}, lacks...)
	head.Start = began
	var said [][]byte
	for _, m := range s.history {
		said = append(said, as.messages(m.by, m.parts)...)
	}
	body := objectOf(member{"model", s.requestModel}, member{"tools", s.toolsIn(as)}, member{as.history, arrayOf(said...)})
	recs = append(recs, capture.Record{Exchange: n, Side: capture.Request, At: o.in.RecordTime(began), Head: head, Data: body})
	if len(s.answer.parts) > 0 || s.answer.failure != nil || s.answer.usage != nil {
		recs = append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), Data: as.response(&s.answer)})
	}
	return append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), End: capture.EndEOF})
}

// notModels are operations whose spans have messages that the spans inside them have too.
var notModels = []string{"invoke_agent", "create_agent", "execute_tool", "invoke_workflow", "embeddings"}

// isModel reports whether the span is of one call of a model.
func (s *otelSpan) isModel() bool {
	if slices.Contains(notModels, s.attrText("gen_ai.operation.name")) {
		return false
	}
	if kind := s.attrText("openinference.span.kind"); kind != "" {
		return kind == "LLM"
	}
	for _, name := range []string{"gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.request.model", "llm.request.type", "llm.model_name"} {
		if s.attributes[name] != nil {
			return true
		}
	}
	return s.convention != ""
}

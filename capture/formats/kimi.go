package formats

import (
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// kimiSession reads the wire.jsonl that Kimi Code keeps for each agent of a session.
var kimiSession = capture.Format{
	Name:  "kimi session",
	Title: "Kimi Code: ~/.kimi-code/sessions/*/*/agents/*/wire.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "protocol_version", "created_at")
		if s.Why = "a line of type metadata with a protocol_version"; s.Is == capture.Yes && !hasText(json.Find(first, "type"), "metadata") {
			s.Is = capture.No
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		k := &kimiStep{sessionLog: newSessionLog(in, "kimi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)}
		return &entryReader{in: in, book: &sessionBook{sessionLog: k.sessionLog, read: k.readEntry, end: k.cutStep}}
	},
}

// kimiStep is the open step of an agent, which is one response. Its tools may run before its end.
type kimiStep struct {
	*sessionLog
	step, results [][]byte
}

func (k *kimiStep) readEntry(_ *sessionLog, line []byte) {
	f := json.Pick(line, "type", "time", "event")
	at := parseLogTime(f[1])
	switch kind := stringOf(json.Find(f[2], "type")); {
	case hasText(f[0], "context.append_message"), hasText(f[0], "llm.request"):
		k.addEntry(line, at, false)
	case !hasText(f[0], "context.append_loop_event"), kind == "step.begin":
	case kind == "tool.result":
		k.results = append(k.results, line)
	default:
		if k.open == nil {
			k.beginRequest(time.Time{})
		}
		k.open.add(k.input.RecordTime(at), line)
		k.step = append(k.step, line)
		if kind == "step.end" {
			k.endStep("", "", "")
		}
	}
}

// endStep ends the response. The next request contains its calls and their results.
func (k *kimiStep) endStep(end capture.End, why string, by capture.Party) {
	k.endExchange(end, why, by)
	for _, entry := range k.step {
		k.addEntry(entry, time.Time{}, false)
	}
	for _, entry := range k.results {
		k.addEntry(entry, time.Time{}, true)
	}
	k.step, k.results = nil, nil
}

// cutStep ends the open step because the file ends inside it.
func (k *kimiStep) cutStep() {
	if k.open != nil {
		k.endStep(capture.EndCut, "the file ends inside a step", capture.Client)
	}
}

package torture

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// AnswerKind is the kind of response that a request gets in a scene.
type AnswerKind uint8

const (
	Hard  AnswerKind = iota // the scene's response
	Good                    // the complete call, after a broken response
	Final                   // text that ends the conversation
)

// FinalText is the text of the last response in a scene, and of responses to requests without the tools.
const FinalText = "FINAL"

// NewScript returns a script for a response in a scene, with the tools of the request. The ids depend on the seed,
// the scene's name and the number of the response.
func (s *Scene) NewScript(kind AnswerKind, tools map[string]protocol.Tool, model string, seed, number int) *protocol.Script {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", s.Name, number)
	random := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
	id := make([]byte, 12)
	for i := range id {
		id[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[random.IntN(36)]
	}
	script := &protocol.Script{ID: "resp_" + string(id), Model: model}
	steps := []protocol.Step{sayText(FinalText), endWith(protocol.EndStop)}
	switch {
	case kind == Hard:
		steps = s.Steps
		script.ZeroIndex, script.RepeatID = s.Form.ZeroIndex, s.Form.RepeatID
	case kind == Good && len(s.May) > 0:
		steps = joinSteps(wholeCall(0, s.May[0].Tool, s.May[0].Args), tool)
	}
	for _, step := range steps {
		if step.Kind == protocol.CallStep {
			step.ID = fmt.Sprintf("call_%s%d", id, step.Call)
			if t, known := tools[step.Tool.Name]; known {
				step.Tool = t
			}
		}
		script.Steps = append(script.Steps, step)
	}
	if kind == Hard && s.Form.Noise {
		noise := protocol.Step{Kind: protocol.NoiseStep, Text: "torture_event"}
		script.Steps = slices.Insert(script.Steps, len(script.Steps)-1, noise)
		script.Steps = slices.Insert(script.Steps, 0, noise)
	}
	return script
}

// A Write is data that is written at once, and the pause before it.
type Write struct {
	Step  int // index of the script's step that the data belongs to
	Pause time.Duration
	Data  []byte
}

// letterPause is the pause between the bytes of a character that has several. Without a pause, TCP joins small
// writes.
const letterPause = 15 * time.Millisecond

// WriteForm returns the writes that send frames in the given form. If lines is true, frames are JSON lines instead of
// server-sent events.
func WriteForm(frames []protocol.SpokenFrame, form Form, lines bool) (writes []Write) {
	for i, f := range frames {
		text := frameText(f, form, lines, i)
		if !form.Split {
			writes = append(writes, Write{Step: f.Step, Data: text})
			continue
		}
		for k := range text {
			w := Write{Step: f.Step, Data: text[k : k+1]}
			if !utf8.RuneStart(text[k]) {
				w.Pause = letterPause
			}
			writes = append(writes, w)
		}
	}
	return writes
}

// frameText returns the bytes of a frame.
func frameText(f protocol.SpokenFrame, form Form, lines bool, number int) []byte {
	data := f.Data
	if form.Noise && bytes.HasSuffix(data, []byte("}")) {
		data = append(bytes.Clone(data[:len(data)-1]), `,"torture_field":{"a":[1,null]}}`...)
	}
	switch {
	case lines:
		return append(bytes.Clone(data), '\n')
	case f.Data == nil:
		return []byte(": ping\n\n")
	}
	var b bytes.Buffer
	if form.Noise {
		fmt.Fprintf(&b, ": a comment\n\nid: %d\nretry: 3000\n", number)
	}
	if f.Event != "" {
		fmt.Fprintf(&b, "event: %s\n", f.Event)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	return b.Bytes()
}

// FindTools returns the declared tools that match the names note and tick, keyed by these names. If either is
// missing, the result is nil. A tool matches a name if it has that name. It also matches if its namespace and name,
// joined, end with the name and contain the word torture.
func FindTools(declared []protocol.Tool) map[string]protocol.Tool {
	found := map[string]protocol.Tool{}
	for _, name := range []string{"note", "tick"} {
		for _, t := range declared {
			full := []byte(t.Namespace + " " + t.Name)
			if t.Name == name || bytes.HasSuffix(full, []byte(name)) && bytes.Contains(full, []byte("torture")) {
				found[name] = t
			}
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// ReadHistory returns the calls in a history with their results, and any results without a call. A result without an
// id belongs to the first call with its name that has no result yet.
func ReadHistory(messages []protocol.Message) (sent []SentBack) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case protocol.CallPart:
				sent = append(sent, SentBack{ID: p.ID, Name: p.Name, Args: string(p.Args)})
			case protocol.ResultPart:
				at := slices.IndexFunc(sent, func(s SentBack) bool {
					if p.ID != "" {
						return s.ID == p.ID
					}
					return len(s.Results) == 0 && (p.Name == "" || s.Name == p.Name)
				})
				if at < 0 {
					at = len(sent)
					sent = append(sent, SentBack{ID: p.ID, Name: p.Name, Lone: true})
				}
				sent[at].Results = append(sent[at].Results, Result{string(p.Text), p.Failed})
			}
		}
	}
	return sent
}

// NextAnswer returns the kind of response that the next request gets. The parameters messages and first are the
// numbers of messages in that request and in the first request.
func (s *Scene) NextAnswer(f *Facts, history []SentBack, messages, first int) AnswerKind {
	asked := len(f.Requests)
	goods := 0
	for _, q := range f.Requests {
		if q.Answer == Good {
			goods++
		}
	}
	again := len(history) == 0 && messages <= first
	switch {
	case asked == 0, s.Repeats && asked < maxRepeats+2, s.Status != 0 && asked == 1:
		return Hard
	case s.Retried && again && goods < 2:
		return Good
	}
	return Final
}

// SideText returns the text of the response to a request without the tools. If such a request asks for JSON with a
// schema, the text is an object with the schema's fields.
func SideText(request []byte) string {
	body := json.Value(request)
	for _, path := range [][]string{
		{"output_config", "format", "schema"}, {"output_format", "schema"}, {"text", "format", "schema"},
		{"response_format", "json_schema", "schema"}, {"generationConfig", "responseJsonSchema"},
		{"generationConfig", "responseSchema"}, {"format"},
	} {
		schema := body
		for _, key := range path {
			schema = schema.Get(key)
		}
		if schema.Kind() == '{' {
			var w json.Writer
			writeExample(&w, schema)
			return string(w.Text)
		}
	}
	return FinalText
}

// writeExample writes a small value that fits a schema.
func writeExample(w *json.Writer, schema json.Value) {
	for first := range schema.Get("enum").Elements() {
		w.Raw(first)
		return
	}
	switch kind := schema.Get("type").Text(); {
	case kind == "object", kind == "OBJECT", schema.Get("properties").Kind() == '{':
		w.Open('{')
		s := schema.Get("properties").Scan()
		for ok := s.Object(); ok; ok = s.Member() {
			w.Key(string(s.Key()))
			writeExample(w, s.Value())
		}
		w.Close('}')
	case kind == "array", kind == "ARRAY":
		w.Open('[').Close(']')
	case kind == "integer", kind == "number", kind == "INTEGER", kind == "NUMBER":
		w.Int(1)
	case kind == "boolean", kind == "BOOLEAN":
		w.Raw([]byte("false"))
	default:
		w.String(FinalText)
	}
}

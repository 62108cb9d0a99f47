// Package ollama decodes Ollama's own protocol, /api/chat and /api/generate: one JSON object per line, and
// the last object has "done":true. A response that is not streamed is one such object.
//
// Calls are complete in message.tool_calls. Their arguments are an object, whose exact bytes are kept. A line
// opens its calls and makes them final. The slot of a call is its position among the calls in the response,
// because old versions send neither id nor index. The finish reason of a response with calls is
// also "stop". A line with a string in "error" ends the response.
//
// Wire facts are from Ollama's sources and docs/api.md (api/types.go, server/routes.go).
package ollama

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns Ollama's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:    "ollama",
		Title:   "Ollama",
		Sniff:   sniffFrame,
		New:     func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, line: newLine()} },
		Marks:   wireMarks,
		Speaker: &speaker,
		Tools:   protocol.FunctionTools,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var model, created, response, done, err json.Value
	message := false
	s := json.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "model":
			model = s.Value()
		case "created_at":
			created = s.Value()
		case "message":
			message = s.Kind() == '{'
		case "response":
			response = s.Value()
		case "done":
			done = s.Value()
		case "error":
			err = s.Value()
		}
	}
	whole := s.End() == nil
	isAnswer := model.IsString() && (message || response.IsString())
	path := ""
	if strings.HasSuffix(e.Path, "/api/chat") || strings.HasSuffix(e.Path, "/api/generate") {
		path = e.Path
	}
	switch {
	case isAnswer && whole && done != nil && created.IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line with model, created_at and done"}
	case isAnswer && whole && done != nil:
		return protocol.SniffScore{Points: protocol.Strong, Why: "a line with model and done"}
	case isAnswer && !whole && created.IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "the beginning of a line with model, created_at and a response"}
	case path != "" && err.IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "an error on path " + path}
	case path != "":
		// The path is weak evidence if the frame doesn't look like Ollama's, because web frameworks use the same
		// path.
		points := protocol.Weak
		if len(e.Data) == 0 {
			points = protocol.Likely
		}
		return protocol.SniffScore{Points: points, Why: "path " + path}
	case len(e.Header["Content-Type"]) > 0 && strings.HasPrefix(e.Header["Content-Type"][0], "application/x-ndjson"):
		return protocol.SniffScore{Points: protocol.Weak, Why: "content type application/x-ndjson"}
	}
	return protocol.SniffScore{}
}

// finishCodes are the values of done_reason. The values load and unload are for requests that only load a model into
// memory or unload it.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "load": stream.FinishDone, "unload": stream.FinishDone,
	"length": stream.FinishCut,
}

// line is one line or a complete body, as it was sent.
type line struct {
	shape *json.Shape

	model, created, done, doneReason, err json.Value
	promptCount, cachedCount, outCount    json.Value

	message           json.Value // field of /api/chat
	content, response json.Value // /api/chat has content, and /api/generate has response
	thinking, calls   json.Value // fields of both endpoints, in the message or at the top level
}

func newLine() *line {
	l := new(line)
	l.shape = json.ShapeOf(
		json.Field("model", &l.model),
		json.Field("created_at", &l.created),
		json.Object("message",
			json.Field("content", &l.content),
			json.Field("thinking", &l.thinking),
			json.Field("tool_calls", &l.calls)).Into(&l.message),
		json.Field("response", &l.response),
		json.Field("thinking", &l.thinking),
		json.Field("tool_calls", &l.calls),
		json.Field("done", &l.done),
		json.Field("done_reason", &l.doneReason),
		json.Field("error", &l.err),
		json.Field("prompt_eval_count", &l.promptCount),
		json.Field("prompt_eval_cached_count", &l.cachedCount),
		json.Field("eval_count", &l.outCount))
	return l
}

// writeRequest writes a request to Ollama's chat endpoint. The last line of the response contains the token counts.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("options").Open('{').Key("num_predict").Int(r.MaxTokens).Close('}')
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/api/chat", w.Close('}').Text
}

// wireMarks describes Ollama's protocol to code that doesn't decode it.
var wireMarks = marks.Protocol{
	Asides: []string{"/api/embed", "/api/show", "/api/pull"},
	Rules:  []marks.Rule{{Is: marks.Chunk, When: "model created_at done", Ends: "done:t", Last: true}},
	Ending: "total_duration", Unnamed: true, Lines: true,
	Identity: &marks.Identity{Model: "model", Made: "created_at", Took: "total_duration"},

	RequestKeys: []string{"model", "tools", "stream", "options"},
	HistoryKeys: []string{"messages"}, ToolKeys: []string{"tools"},
	Sent: []marks.Sent{{
		List: "messages", When: "role=assistant tool_calls.0.function.arguments:{", Body: `{MODEL"message":MESSAGE,"done":true}`,
	}},
	Arguments: []marks.Place{{Path: "arguments"}},
	TextKeys:  []string{"content", "thinking"},
	Refusal: marks.Refusal{
		Paths:  []string{"/api/chat", "/api/generate"},
		Bodies: []string{`"created_at":"`},
		Body:   func(_ int, message string) any { return map[string]any{"error": message} },
	},
}

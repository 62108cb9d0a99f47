package providers

import (
	"net/textproto"
	"strings"
	"testing"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

const (
	chatBody = `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`
	chatText = `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`
)

var (
	binaryHi     = string(eventStream("event messageStart {}\nevent contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"hi\"}}"))
	binaryClaude = string(eventStream(`event chunk base64 {"type":"message_start","message":{}}`))
	binaryOther  = string(eventStream(`event chunk base64 {"generation":"hi"}`))
)

func TestFraming(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		framing, dialect        string
	}{
		{"events", "text/event-stream", "data: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"events without a content type", "", "data: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"events said to be JSON", "application/json", "data: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"a comment first", "", ": hello\n\ndata: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"an id first", "", "id: 1\ndata: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"a field without a colon first", "", "retry\ndata:" + chatText + "\n\n", "SSE", "openai-chat"},
		{"white space first", "", "\r\n \n\tdata: x\n\ndata: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"a byte order mark first", "", "\ufeffdata: " + chatText + "\n\n", "SSE", "openai-chat"},
		{"one object a line", "", chatText + "\n" + chatText + "\n", "NDJSON", "openai-chat"},
		{"one object a line, white space first", "", "\n\n  " + chatText + "\n", "NDJSON", "openai-chat"},
		{"one object a line, byte order mark", "", "\ufeff" + chatText + "\r\n", "NDJSON", "openai-chat"},
		{"one object a line said to be events", "text/event-stream", chatText + "\n", "NDJSON", "openai-chat"},
		{"a body", "application/json", chatBody, "NDJSON", "openai-chat"}, // one line is one line
		{"a body over many lines", "application/json", strings.ReplaceAll(chatBody, ",", ",\n"), "JSON body", "openai-chat"},
		{"a body said to be events", "text/event-stream", strings.ReplaceAll(chatBody, ",", ",\n"), "JSON body", "openai-chat"},
		{"a body said to be lines", "application/x-ndjson", strings.ReplaceAll(chatBody, ",", ",\n"), "JSON body", "openai-chat"},
		{"objects with nothing between", "", chatText + chatText + chatText, "JSON objects", "openai-chat"},
		{"objects with nothing between, broken", "", chatText + chatText + "}", "JSON objects", "openai-chat"},
		{"objects with a space between", "", "\ufeff\n" + chatText + " " + chatText + "\n" + chatText, "JSON objects", "openai-chat"},
		{"an array", "", "[" + chatText + "\n,\r\n" + chatText + "]", "JSON array", "openai-chat"},
		{"an array, byte order mark and white space", "", "\ufeff \n[" + chatText + "]\n", "JSON array", "openai-chat"},
		{"binary messages", "", binaryHi, "AWS event stream", "bedrock"},
		{"binary messages said to be JSON", "application/json", binaryHi, "AWS event stream", "bedrock"},
		{"binary messages, the first damaged", "application/vnd.amazon.eventstream", "\x00\x00\x00\x01" + binaryHi[4:], "AWS event stream", "bedrock"},
		{"binary messages, cut in the first", "application/vnd.amazon.eventstream", binaryHi[:9], "AWS event stream", "bedrock"},
		{"an error said to be binary", "application/vnd.amazon.eventstream", `{"message":"no access"}`, "NDJSON", "bedrock"},
		{"binary envelopes", "application/vnd.amazon.eventstream", binaryClaude, "AWS event stream", "anthropic"},
		{"binary envelopes of a model with a protocol of its own", "", binaryOther, "AWS event stream", "unknown"},
		{"an error page", "text/html", "<html>\n<h1>502 Bad Gateway</h1>\n</html>\n", "lines", "unknown"},
		{"an error page said to be events", "text/event-stream", "<html>\n\n502 Bad Gateway", "SSE", "unknown"},
		{"a word that begins like a field", "text/plain", "database is down", "lines", "unknown"},
		{"the beginning of a field and no more", "text/plain", "dat", "lines", "unknown"},
		{"an object of no known dialect", "", `{"proposals":[1]}`, "NDJSON", "unknown"},
		{"nothing but comments", "", ": ping\n\n: ping\n\n", "SSE", "unknown"},
		{"no JSON in the events", "", "data: hello\n\n", "SSE", "unknown"},
		{"nothing", "text/event-stream", "", "", ""},
		{"nothing but white space", "", " \r\n\t", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := []byte(test.body)
			cuttings(body, effort(), 5, func(chunks ...[]byte) bool {
				in := new(Inspector)
				in.Write(stream.Record{Head: headOf(test.contentType)})
				for _, c := range chunks {
					in.Write(stream.Record{Data: c})
				}
				in.Close()
				x := in.Exchange(0)
				name := ""
				if x.Protocol != nil {
					name = x.Protocol.Name
				}
				if x.Framing != test.framing || name != test.dialect {
					t.Errorf("cut into %d: framing %q, dialect %q (%s)", len(chunks), x.Framing, name, x.Why)
				}
				if test.framing != "" {
					checkKept(t, in, body)
				}
				said := strings.Contains(dump(in), "DIALECT_UNKNOWN")
				if said != (test.dialect == "unknown") {
					t.Errorf("cut into %d: DIALECT_UNKNOWN is said: %v", len(chunks), said)
				}
				return !t.Failed()
			})
		})
	}
}

// headOf is a response head of that content type.
func headOf(contentType string) *stream.Head {
	h := &stream.Head{Status: 200}
	if contentType != "" {
		h.Header = map[string][]string{"Content-Type": {contentType}}
	}
	return h
}

// TestFramingAtOnce: a live stream is framed as soon as its bytes tell how.
func TestFramingAtOnce(t *testing.T) {
	for _, test := range []struct{ undecided, decided, framing string }{
		{"", ":", "SSE"},
		{"dat", "a:", "SSE"},
		{"event", ":", "SSE"},
		{"\xef\xbb", "\xbfdata:", "SSE"},
		{"  [", "{", "JSON array"},
		{"  [", "\"", "JSON array"},
		{")]}'\n[[[[[[[[", "n", "nested arrays"},
		{")]}'\n[[[[[null,", "2", "nested arrays"},
		{"[[[[[[ null , \"mode", "l\"", "nested arrays"},
		{"\x00\x00\x00\x54\x00\x00", "\x00\x44\xd9\x00\x33\xeb", "AWS event stream"},
		{chatText, "\n", "NDJSON"},
		{"{", "\n", "JSON body"},
		{chatText, "{", "JSON objects"},
		{"\n\n" + chatText + " ", "{", "JSON objects"},
		{`{"}{":`, `{}}{`, "JSON objects"},
		{"dat", "e", "lines"},
		{"\n", "<", "lines"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Data: []byte(test.undecided), Head: headOf("")})
		if got := in.Exchange(0).Framing; got != "" {
			t.Errorf("%q is taken for %s", test.undecided, got)
		}
		in.Write(stream.Record{Data: []byte(test.decided)})
		if got := in.Exchange(0).Framing; got != test.framing {
			t.Errorf("%q and %q: %q, want %q", test.undecided, test.decided, got, test.framing)
		}
	}
}

func TestRecognise(t *testing.T) {
	header := func(name string) map[string][]string {
		return map[string][]string{textproto.CanonicalMIMEHeaderKey(name): {"1"}}
	}
	for _, test := range []struct {
		name     string
		evidence dialect.SniffInput
		want     string
		points   int
	}{
		{"an Anthropic event", dialect.SniffInput{Data: []byte(`{"type":"message_start","message":{}}`)}, "anthropic", dialect.Sure},
		{"an Anthropic body", dialect.SniffInput{Data: []byte(`{"type":"message","role":"assistant","content":[]}`)}, "anthropic", dialect.Sure},
		{"an Anthropic error", dialect.SniffInput{Data: []byte(`{"type":"error","error":{"type":"api_error"}}`)}, "anthropic", dialect.Likely},
		{"an Anthropic event name", dialect.SniffInput{Event: []byte("message_start"), Data: []byte(`{}`)}, "anthropic", dialect.Strong},
		{"an Anthropic path", dialect.SniffInput{Path: "/v1/messages"}, "anthropic", dialect.Strong},
		{"Anthropic on Vertex", dialect.SniffInput{Path: "/v1/projects/p/locations/r/publishers/anthropic/models/m:streamRawPredict"}, "anthropic", dialect.Strong},
		{"an Anthropic header", dialect.SniffInput{Header: header("anthropic-organization-id")}, "anthropic", dialect.Likely},
		{"a ping", dialect.SniffInput{Data: []byte(`{"type":"ping"}`)}, "anthropic", dialect.Weak},
		{"a chunk", dialect.SniffInput{Data: []byte(`{"object":"chat.completion.chunk"}`)}, "openai-chat", dialect.Sure},
		{"a chunk without its name", dialect.SniffInput{Data: []byte(`{"choices":[]}`)}, "openai-chat", dialect.Strong},
		{"a chat path", dialect.SniffInput{Path: "/openai/deployments/d/chat/completions"}, "openai-chat", dialect.Strong},
		{"an OpenAI header", dialect.SniffInput{Header: header("openai-processing-ms")}, "openai-chat", dialect.Likely},
		{"an OpenRouter header", dialect.SniffInput{Header: header("x-generation-id")}, "openai-chat", dialect.Likely},
		{"an OpenAI error", dialect.SniffInput{Data: []byte(`{"error":{"message":"no","type":"x"}}`)}, "openai-chat", dialect.Weak},
		{"a Mistral error", dialect.SniffInput{Data: []byte(`{"object":"error","message":"no"}`)}, "openai-chat", dialect.Weak},
		{"an OpenAI error on an Anthropic path", dialect.SniffInput{Path: "/v1/messages", Data: []byte(`{"error":{"message":"no"}}`)}, "anthropic", dialect.Strong},
		{"a chunk on an Anthropic path", dialect.SniffInput{Path: "/v1/messages", Data: []byte(chatText)}, "openai-chat", dialect.Sure},
		{"an Anthropic event on a chat path", dialect.SniffInput{Path: "/v1/chat/completions", Data: []byte(`{"type":"message_stop"}`)}, "anthropic", dialect.Sure},
		{"a Responses event", dialect.SniffInput{Event: []byte("response.created"), Data: []byte(`{"type":"response.created","response":{"object":"response"}}`)}, "openai-responses", dialect.Sure},
		{"a Responses event nobody knows", dialect.SniffInput{Data: []byte(`{"type":"response.brand_new"}`)}, "openai-responses", dialect.Sure},
		{"a Responses event name", dialect.SniffInput{Event: []byte("response.created"), Data: []byte(`{}`)}, "openai-responses", dialect.Strong},
		{"a Responses body", dialect.SniffInput{Data: []byte(`{"id":"resp_1","object":"response","output":[]}`)}, "openai-responses", dialect.Sure},
		{"a Responses path", dialect.SniffInput{Path: "/backend-api/codex/responses"}, "openai-responses", dialect.Strong},
		{"the path of one response", dialect.SniffInput{Path: "/v1/responses/resp_1"}, "openai-responses", dialect.Strong},
		{"a Responses error as documented", dialect.SniffInput{Data: []byte(`{"type":"error","code":"server_error","message":"no","param":null}`)}, "openai-responses", dialect.Strong},
		{"a Responses error as seen", dialect.SniffInput{Data: []byte(`{"type":"error","sequence_number":2,"error":{"type":"x","message":"no"}}`)}, "openai-responses", dialect.Strong},
		{"a WebSocket error", dialect.SniffInput{Data: []byte(`{"type":"error","status":400,"error":{"type":"x","message":"no"}}`)}, "openai-responses", dialect.Strong},
		{"rate limits first", dialect.SniffInput{Data: []byte(`{"type":"rate_limits.updated"}`)}, "openai-responses", dialect.Strong},
		{"a keep-alive first, from OpenAI", dialect.SniffInput{Header: header("openai-processing-ms"), Data: []byte(`{"type":"keepalive","sequence_number":0}`)}, "openai-responses", dialect.Strong},
		{"a keep-alive of anything", dialect.SniffInput{Data: []byte(`{"type":"keepalive"}`)}, "", 0},
		{"a Responses event on a chat path", dialect.SniffInput{Path: "/v1/chat/completions", Data: []byte(`{"type":"response.created"}`)}, "openai-responses", dialect.Sure},
		{"a chunk on a Responses path", dialect.SniffInput{Path: "/v1/responses", Data: []byte(chatText)}, "openai-chat", dialect.Sure},
		{"an OpenAI error on a Responses path", dialect.SniffInput{Path: "/v1/responses", Header: header("openai-processing-ms"), Data: []byte(`{"error":{"message":"no","type":"x"}}`)}, "openai-responses", dialect.Strong},
		{"a Gemini chunk", dialect.SniffInput{Data: []byte(`{"candidates":[{"content":{"parts":[]}}]}`)}, "gemini", dialect.Sure},
		{"a Gemini chunk with usage only", dialect.SniffInput{Data: []byte(`{"usage_metadata":{}}`)}, "gemini", dialect.Sure},
		{"a refused prompt", dialect.SniffInput{Data: []byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`)}, "gemini", dialect.Sure},
		{"a Cloud Code chunk", dialect.SniffInput{Data: []byte(`{"response":{"candidates":[]},"traceId":"t"}`)}, "gemini", dialect.Sure},
		{"candidates for a job", dialect.SniffInput{Data: []byte(`{"candidates":["alice"]}`)}, "", 0},
		{"candidates with names", dialect.SniffInput{Data: []byte(`{"candidates":[{"name":"alice"}]}`)}, "", 0},
		{"one candidate", dialect.SniffInput{Data: []byte(`{"candidates":{"content":{}}}`)}, "", 0},
		{"candidates wrapped", dialect.SniffInput{Data: []byte(`{"response":{"candidates":["alice"]}}`)}, "", 0},
		{"a Gemini chunk that is cut", dialect.SniffInput{Data: []byte(`{"candidates":[{"content":{"parts":[{"te`)}, "gemini", dialect.Sure},
		{"choices of a form", dialect.SniffInput{Data: []byte(`{"choices":["a"]}`)}, "", 0},
		{"choices with labels", dialect.SniffInput{Data: []byte(`{"choices":[{"label":"a"}]}`)}, "", 0},
		{"a chunk of choices alone", dialect.SniffInput{Data: []byte(`{"choices":[{"delta":{}}]}`)}, "openai-chat", dialect.Strong},
		{"a Google error", dialect.SniffInput{Data: []byte(`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`)}, "gemini", dialect.Likely},
		{"a list of a Google error", dialect.SniffInput{Data: []byte(`[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]`)}, "gemini", dialect.Likely},
		{"an OpenRouter error", dialect.SniffInput{Data: []byte(`{"error":{"code":502,"message":"no","metadata":{}}}`)}, "openai-chat", dialect.Weak},
		{"a Gemini path", dialect.SniffInput{Path: "/v1beta/models/gemini-x:streamGenerateContent"}, "gemini", dialect.Strong},
		{"a Vertex path", dialect.SniffInput{Path: "/v1/projects/p/locations/l/publishers/google/models/m:generateContent"}, "gemini", dialect.Strong},
		{"a Cloud Code path", dialect.SniffInput{Path: "/v1internal:streamGenerateContent"}, "gemini", dialect.Strong},
		{"an interaction's event", dialect.SniffInput{Data: []byte(`{"event_type":"step.start","index":0}`)}, "gemini-interactions", dialect.Sure},
		{"an interaction's body", dialect.SniffInput{Data: []byte(`{"object":"interaction","steps":[]}`)}, "gemini-interactions", dialect.Sure},
		{"an interaction's path", dialect.SniffInput{Path: "/v1beta/interactions"}, "gemini-interactions", dialect.Strong},
		{"an Ollama line", dialect.SniffInput{Data: []byte(`{"model":"m","message":{"role":"assistant"},"done":false}`)}, "ollama", dialect.Strong},
		{"a Converse event", dialect.SniffInput{Event: []byte("messageStop"), Data: []byte(`{"stopReason":"end_turn"}`)}, "bedrock", dialect.Sure},
		{"a Converse event of an SDK", dialect.SniffInput{Data: []byte(`{"messageStop":{"stopReason":"end_turn"}}`)}, "bedrock", dialect.Sure},
		{"a Converse path", dialect.SniffInput{Path: "/model/m/converse"}, "bedrock", dialect.Strong},
		{"Claude on an InvokeModel path", dialect.SniffInput{Path: "/model/m/invoke", Data: []byte(`{"type":"message","role":"assistant"}`)}, "anthropic", dialect.Sure},
		{"a Cohere event", dialect.SniffInput{Event: []byte("message-start"), Data: []byte(`{"type":"message-start","delta":{}}`)}, "cohere", dialect.Sure},
		{"an AI Studio path", dialect.SniffInput{Path: "/$rpc/google.internal.alkali.applications.makersuite.v1.MakerSuiteService/GenerateContent"}, "aistudio", dialect.Strong},
		{"another call of AI Studio's", dialect.SniffInput{Path: "/$rpc/google.internal.alkali.applications.makersuite.v1.MakerSuiteService/CountTokens"}, "", 0},
		{"a report of an error that names it", dialect.SniffInput{Path: "/log/jserror", Data: []byte(`{}`)}, "", 0},
		{"positional protobuf", dialect.SniffInput{Header: map[string][]string{"Content-Type": {"application/json+protobuf; charset=UTF-8"}}}, "aistudio", dialect.Likely},
		{"an AI Studio chunk", dialect.SniffInput{Data: []byte(`[[[[[[null,"hi"]],"model"]]],null,[1,2,3]]`)}, "aistudio", dialect.Sure},
		{"one after the prefix, nulls left out", dialect.SniffInput{Data: []byte(")]}'\n[[[[[[,\"hi\"]],\"model\"],1]],,[1,2,3]]")}, "aistudio", dialect.Sure},
		{"a list of them", dialect.SniffInput{Data: []byte(`[[[[[[[[null,"hi"]],"model"]]]],[[[[[[null,""]],"model"],1]]]]]`)}, "aistudio", dialect.Sure},
		{"an AI Studio chunk without candidates", dialect.SniffInput{Data: []byte(`[null,null,[1,2,3],null,null,null,null,"id"]`)}, "aistudio", dialect.Likely},
		{"an AI Studio error", dialect.SniffInput{Data: []byte(`[7,"The caller does not have permission"]`)}, "aistudio", dialect.Likely},
		{"an array of Gemini chunks", dialect.SniffInput{Data: []byte(`[{"candidates":[{"content":{"parts":[]}}]}]`)}, "gemini", dialect.Sure},
		{"arrays of anything", dialect.SniffInput{Data: []byte(`[[[1,2],[3,4]],[["a"]]]`)}, "", 0},
		{"an array of strings", dialect.SniffInput{Data: []byte(`["a","b"]`)}, "", 0},
		{"an empty array", dialect.SniffInput{Data: []byte(`[[]]`)}, "", 0},
		{"a Cohere event name", dialect.SniffInput{Event: []byte("message-end"), Data: []byte(`{}`)}, "cohere", dialect.Strong},
		{"a Cohere body", dialect.SniffInput{Data: []byte(`{"id":"1","message":{},"finish_reason":"COMPLETE"}`)}, "cohere", dialect.Sure},
		{"a Cohere error", dialect.SniffInput{Path: "/v2/chat", Data: []byte(`{"message":"no"}`)}, "cohere", dialect.Strong},
		{"an event that is Cohere's by its type alone", dialect.SniffInput{Data: []byte(`{"type":"tool-call-delta","toolCallId":"1"}`)}, "", 0},
		{"a UI message stream's start", dialect.SniffInput{Data: []byte(`{"type":"start","messageId":"m"}`)}, "ai-sdk", dialect.Likely},
		{"a UI message stream's call", dialect.SniffInput{Data: []byte(`{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`)}, "ai-sdk", dialect.Sure},
		{"a UI message stream's error", dialect.SniffInput{Data: []byte(`{"type":"error","errorText":"no"}`)}, "ai-sdk", dialect.Strong},
		{"an application's part", dialect.SniffInput{Data: []byte(`{"type":"data-weather","data":{}}`)}, "ai-sdk", dialect.Likely},
		{"a UI message stream's header", dialect.SniffInput{Header: header("x-vercel-ai-ui-message-stream")}, "ai-sdk", dialect.Strong},
		{"a run", dialect.SniffInput{Data: []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)}, "ag-ui", dialect.Sure},
		{"a raw event", dialect.SniffInput{Data: []byte(`{"type":"RAW","event":{}}`)}, "ag-ui", dialect.Likely},
		{"a stream-json event", dialect.SniffInput{Data: []byte(`{"type":"stream_event","event":{"type":"message_start"}}`)}, "claude-code", dialect.Sure},
		{"a stream-json message", dialect.SniffInput{Data: []byte(`{"type":"assistant","message":{},"parent_tool_use_id":null}`)}, "claude-code", dialect.Sure},
		{"a stream-json result", dialect.SniffInput{Data: []byte(`{"type":"result","subtype":"success","session_id":"s"}`)}, "claude-code", dialect.Sure},
		{"another stream-json line", dialect.SniffInput{Data: []byte(`{"type":"rate_limit_event","session_id":"s","uuid":"u"}`)}, "claude-code", dialect.Likely},
		{"a line of Claude Code's own history", dialect.SniffInput{Data: []byte(`{"type":"assistant","message":{},"sessionId":"s","uuid":"u"}`)}, "", 0},
		{"no JSON", dialect.SniffInput{Data: []byte("<html>")}, "", 0},
		{"nothing", dialect.SniffInput{}, "", 0},
	} {
		best, score := bestProtocol(test.evidence)
		name := ""
		if best != nil {
			name = best.Name
		}
		if name != test.want || score.Points != test.points || (score.Why == "") != (test.want == "") {
			t.Errorf("%s: %q with %+v, want %q with %d", test.name, name, score, test.want, test.points)
		}
	}
}

func TestPathOf(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://api.example.com/v1/messages?beta=true", "/v1/messages"},
		{"/v1/chat/completions", "/v1/chat/completions"},
		{"https://h/%zz/v1/messages", "https://h/%zz/v1/messages"}, // no URL: better than nothing
		{"", ""},
	} {
		if got := pathOf(test.url); got != test.want {
			t.Errorf("pathOf(%q) = %q, want %q", test.url, got, test.want)
		}
	}
}

package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/stream/json"
)

// TestContentWith checks that the images of a result stay in its content, and that a result without images keeps its
// text as it is.
func TestContentWith(t *testing.T) {
	for _, c := range []struct{ text, attachments, kind, want string }{
		{`"a"`, ``, "file", `"a"`},
		{`"a"`, `[]`, "file", `"a"`},
		{`"a"`, `[{"type":"text","text":"a"}]`, "image", `"a"`},
		{`"a"`, `[{"type":"file","mime":"image/png","url":"data:,x"}]`, "file", `[{"type":"text","text":"a"},{"type":"image","mime":"image/png","url":"data:,x"}]`},
		{`""`, `[{"type":"text","text":""},{"type":"image","data":"eA=="}]`, "image", `[{"type":"image","data":"eA=="}]`},
	} {
		if got := string(contentWith(json.Value(c.text), json.Value(c.attachments), c.kind)); got != c.want {
			t.Errorf("%s with %s: %s, not %s", c.text, c.attachments, got, c.want)
		}
	}
}

// describeMessage returns the facts of a message, one per line: its side, its parts and results, and how it ended.
func describeMessage(m *message) string {
	if m == nil {
		return "nothing\n"
	}
	var b strings.Builder
	side := "model"
	if m.byUser {
		side = "user"
	}
	fmt.Fprintf(&b, "%s\n", side)
	if m.whole != nil {
		fmt.Fprintf(&b, "whole %s\n", m.whole)
	}
	for i, p := range m.parts {
		fmt.Fprintf(&b, "%s\n", p)
		if why := m.rejected[i]; why != "" {
			fmt.Fprintf(&b, "rejected: %s\n", why)
		}
	}
	for _, r := range m.results {
		fmt.Fprintf(&b, "result %s\n", r)
	}
	for _, f := range []struct {
		name  string
		value json.Value
	}{{"session", m.session}, {"agent", m.agent}, {"model", m.model}, {"id", m.id}, {"usage", m.usage}, {"finish", m.finish}, {"error", m.failure}, {"error type", m.errType}} {
		if f.value != nil {
			fmt.Fprintf(&b, "%s %s\n", f.name, f.value)
		}
	}
	if m.cut {
		b.WriteString("cut\n")
	}
	return b.String()
}

// TestReadEntries reads single entries of the forms and agents. Each row lists the facts of the entry.
func TestReadEntries(t *testing.T) {
	const (
		call   = `{"type":"tool_use","id":"c","name":"f","input":{"a":1}}` + "\n"
		result = `{"type":"tool_result","tool_use_id":"c","content":"x"}` + "\n"
		failed = `{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}` + "\n"
		hi     = `{"type":"text","text":"hi"}` + "\n"
	)
	for _, test := range []struct {
		name        string
		reader      func() func(json.Value) *message
		entry, want string
	}{
		// Frameworks.
		{"AI SDK call", readMessage, `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":1}}]}`, "model\n" + call},
		{"AI SDK call, version 4", readMessage, `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","args":{"a":1}}]}`, "model\n" + call},
		{"AI SDK result", readMessage, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"text","value":"x"}}]}`, "user\n" + result},
		{"AI SDK result, version 4", readMessage, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","result":"x","isError":true}]}`, "user\n" + failed},
		{"AI SDK error", readMessage, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"error-text","value":"x"}}]}`, "user\n" + failed},
		{"UI part with a result", readMessage, `{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-available","input":{"a":1},"output":"x"}]}`, "model\n" + call + "result " + result},
		{"UI part of a tool that was not declared", readMessage, `{"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"f","toolCallId":"c","state":"input-available","input":{"a":1}}]}`, "model\n" + call},
		{"UI part that is arriving", readMessage, `{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"input-streaming","input":{"a":1}}]}`, `model
{"type":"tool_use","id":"c","name":"f"}
cut
`},
		{"UI part with an error", readMessage, `{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-error","input":{"a":1},"errorText":"x"}]}`, "model\n" + call + "result " + failed},
		{"UI part with arguments that are not JSON", readMessage, `{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-error","rawInput":"{","errorText":"x"}]}`, `model
{"type":"tool_use","id":"c","name":"f","input":"{"}
rejected: the AI SDK could not parse the arguments
result ` + failed},
		{"UI part that the user denied", readMessage, `{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-denied","input":{"a":1}}]}`, "model\n" + call + "result " + strings.Replace(failed, `"x"`, `"denied"`, 1)},
		{"LangChain, dumped", readMessage, `{"type":"constructor","id":["langchain","schema","AIMessage"],"kwargs":{"content":"hi","tool_calls":[{"id":"c","name":"f","args":{"a":1}}],"invalid_tool_calls":[{"id":"d","name":"f","args":"{"}]}}`,
			"model\n" + hi + call + `{"type":"tool_use","id":"d","name":"f","input":"{"}` + "\n"},
		{"LangChain, stored", readMessage, `{"type":"ai","data":{"content":[{"type":"tool_use","id":"c","name":"f","input":{"a":1}}],"tool_calls":[{"id":"c","name":"f","args":{"a":1}}]}}`, "model\n" + call},
		{"LangChain, calls without ids", readMessage, `{"type":"ai","data":{"tool_calls":[{"name":"f"},{"name":"f"}]}}`, "model\n" + strings.Repeat(`{"type":"tool_use","name":"f"}`+"\n", 2)},
		{"LangChain, calls with empty ids", readMessage, `{"type":"ai","data":{"tool_calls":[{"id":"","name":"f"},{"id":"","name":"f"}]}}`, "model\n" + strings.Repeat(`{"type":"tool_use","id":"","name":"f"}`+"\n", 2)},
		{"LangChain, a person", readMessage, `{"type":"human","data":{"content":"hi"}}`, "user\n" + hi},
		{"LangChain, a result", readMessage, `{"type":"tool","data":{"content":"x","tool_call_id":"c","status":"error"}}`, "user\n" + failed},
		{"Continue", readMessage, `{"role":"assistant","content":"hi","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":{"a":1}}}]}`, "model\n" + hi + call},
		{"Continue, a result", readMessage, `{"role":"tool","content":"x","toolCallId":"c"}`, "user\n" + result},
		{"goose", readMessage, `{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"f","arguments":{"a":1}}}}]}`, "model\n" + hi + call},
		{"goose, a result", readMessage, `{"role":"user","content":[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":"x"}}]}`, "user\n" + result},
		{"goose, an error", readMessage, `{"role":"user","content":[{"type":"toolResponse","id":"c","toolResult":{"status":"error","error":"x"}}]}`, "user\n" + failed},
		{"pi", readMessage, `{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"c","name":"f","arguments":{"a":1}}]}`, "model\n" + call + "model \"m\"\n"},
		{"crush", readMessage, `{"role":"assistant","parts":[{"type":"text","data":{"text":"hi"}},{"type":"tool_call","data":{"id":"c","name":"f","input":"{\"a\"","finished":false}}]}`, "model\n" + hi + `{"type":"tool_use","id":"c","name":"f","input":"{\"a\""}` + "\ncut\n"},
		{"crush, a result", readMessage, `{"role":"tool","parts":[{"type":"tool_result","data":{"tool_call_id":"c","content":"x","is_error":true}}]}`, "user\n" + failed},
		{"Bedrock", readMessage, `{"role":"assistant","content":[{"text":"hi"},{"toolUse":{"toolUseId":"c","name":"f","input":{"a":1}}}]}`, "model\n" + hi + call},
		{"Bedrock, a result", readMessage, `{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":"x","status":"error"}}]}`, "user\n" + failed},
		{"reasoning", readMessage, `{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"thinking","thinking":"hm"},{"type":"image"}]}`, `model
{"type":"thinking","thinking":"hm"}
{"type":"thinking","thinking":"hm"}
`},
		{"Chat Completions", readWholeMessage, `{"role":"assistant","content":"hi"}`, `model
whole {"role":"assistant","content":"hi"}
`},
		{"Chat Completions, a question", readWholeMessage, `{"role":"user","content":"hi"}`, `user
whole {"role":"user","content":"hi"}
`},
		{"Gemini", readContent, `{"role":"model","parts":[{"text":"hi"},["not read"],"a"]}`, `model
{"text":"hi"}
{"text":"a"}
`},
		{"Gemini, a question", readContent, `{"role":"user","content":"hi"}`, "user\n" + `{"text":"hi"}` + "\n"},
		// Responses and Zed.
		{"item of a call", readResponseItem, `{"type":"function_call","call_id":"c","name":"f","arguments":{"a":1},"status":"incomplete"}`, "model\n" + call + "cut\n"},
		{"item of free text", readResponseItem, `{"type":"custom_tool_call","call_id":"c","name":"f","input":"ls"}`, "model\n" + `{"type":"custom_tool_use","id":"c","name":"f","input":"ls"}` + "\n"},
		{"item of a shell", readResponseItem, `{"type":"shell_call","call_id":"c","action":{"a":1}}`, "model\n" + strings.Replace(call, `"f"`, `"shell_call"`, 1)},
		{"item of a patch", readResponseItem, `{"type":"apply_patch_call","call_id":"c","operation":{"a":1}}`, "model\n" + strings.Replace(call, `"f"`, `"apply_patch_call"`, 1)},
		{"item of a result", readResponseItem, `{"type":"function_call_output","call_id":"c","output":"x","status":"failed"}`, "user\n" + failed},
		{"item of reasoning", readResponseItem, `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`, "model\n" + `{"type":"thinking","thinking":"hm"}` + "\n"},
		{"item of a message", readResponseItem, `{"role":"assistant","content":[{"type":"output_text","text":"hi"},{"type":"refusal"}]}`, "model\n" + hi},
		{"item of a question", readResponseItem, `{"role":"user","content":"hi"}`, "user\n" + hi},
		{"Zed", readZed, `{"Agent":{"content":[{"Text":"hi"},{"Thinking":{"text":"hm","signature":"s"}},{"ToolUse":{"id":"c","name":"f","raw_input":"{\"a\"","is_input_complete":false}}],"tool_results":{"c":{"tool_use_id":"c","is_error":true,"content":{"Text":"x"}}}}}`,
			"model\n" + hi + `{"type":"thinking","thinking":"hm","signature":"s"}` + "\n" + `{"type":"tool_use","id":"c","name":"f","input":"{\"a\""}` + "\nresult " + failed + "cut\n"},
		{"Zed, a question", readZed, `{"User":{"content":[{"Text":"hi"}]}}`, "user\n" + hi},
		// Agents.
		{"pi, a session", readPi, `{"type":"session","id":"s"}`, "user\nsession \"s\"\n"},
		{"pi, a model", readPi, `{"type":"model_change","modelId":"m"}`, "model\nmodel \"m\"\n"},
		{"pi, an error", readPi, `{"type":"message","message":{"role":"assistant","content":"hi","model":"m","responseId":"r","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4},"stopReason":"error","errorMessage":"no"}}`,
			"model\n" + hi + `model "m"
id "r"
usage {"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}
error "no"
cut
`},
		{"pi, an answer", readPi, `{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":""},{"type":"toolCall","id":"c","name":"f","arguments":{"a":1}}],"usage":{"output":2},"stopReason":"toolUse"}}`,
			"model\n" + `{"type":"thinking","thinking":"hm"}` + "\n" + call + `usage {"output_tokens":2}
finish "tool_use"
`},
		{"pi, a result", readPi, `{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":"x","isError":true}}`, "user\n" + failed},
		{"pi, a compaction", readPi, `{"type":"compaction","summary":"hi","usage":{"cacheRead":1}}`, "model\n" + hi},
		{"pi, the summary of a branch", readPi, `{"type":"branch_summary","summary":"hi","usage":{"input":1}}`, "model\n" + hi + `usage {"input_tokens":1}` + "\n"},
		{"droid, a session", readDroid, `{"type":"session_start","id":"s"}`, "user\nsession \"s\"\n"},
		{"droid", readDroid, `{"type":"message","message":{"role":"assistant","modelId":"m","content":"hi"}}`, "model\n" + hi + "model \"m\"\n"},
		{"Gemini CLI", readGeminiCLI, `{"id":"1","sessionId":"s","type":"gemini","model":"m","content":"hi","thoughts":[{"description":"hm"}],"tokens":{"input":1,"output":2,"cached":3,"thoughts":4,"tool":5,"total":6},` +
			`"toolCalls":[{"id":"c","name":"f","args":{"a":1},"result":[{"functionResponse":{"id":"c","name":"f","response":{"output":"x"}}},{"functionResponse":{"id":"d"}}]}]}`, `model
{"text":"hm","thought":true}
{"text":"hi"}
{"functionCall":{"id":"c","name":"f","args":{"a":1}}}
result {"functionResponse":{"id":"c","name":"f","response":{"output":"x"}}}
session "s"
model "m"
usage {"promptTokenCount":1,"candidatesTokenCount":2,"cachedContentTokenCount":3,"thoughtsTokenCount":4,"toolUsePromptTokenCount":5,"totalTokenCount":6}
`},
		{"Gemini CLI, a call in the content", readGeminiCLI, `{"id":"1","type":"gemini","content":[{"functionCall":{"id":"c","name":"f","args":{"a":1}}}],"toolCalls":[{"id":"c","name":"f","args":{"a":1}}]}`,
			"model\n" + `{"functionCall":{"id":"c","name":"f","args":{"a":1}}}` + "\n"},
		{"Gemini CLI, a note", readGeminiCLI, `{"type":"info","content":"hi"}`, "user\n"},
		{"Gemini CLI, an error", readGeminiCLI, `{"type":"error","content":"no"}`, "model\nerror \"no\"\n"},
		{"Copilot, a compaction", readCopilot, `{"type":"session.compaction_complete","data":{"summaryContent":"hi","compactionTokensUsed":{"model":"m","inputTokens":10,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4}}}`,
			"model\n" + hi + `model "m"
usage {"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}
`},
		{"Copilot, an older compaction", readCopilot, `{"type":"session.compaction_complete","data":{"summaryContent":"hi","compactionTokensUsed":{"input":10,"output":2,"cachedInput":3}}}`,
			"model\n" + hi + `usage {"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":3}` + "\n"},
		{"Copilot, an error", readCopilot, `{"type":"session.error","data":{"message":"no","errorType":"quota"},"agentId":"a"}`, "model\nagent \"a\"\nerror \"no\"\nerror type \"quota\"\n"},
		{"Copilot, a result with an error", readCopilot, `{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"x"},"parentToolCallId":"p"}}`, "user\n" + failed + "agent \"p\"\n"},
		{"Kimi, a step", readKimi, `{"agentId":"a","event":{"type":"step.end","finishReason":"max_tokens","usage":{"inputOther":1,"output":2,"inputCacheRead":3,"inputCacheCreation":4}}}`, `model
agent "a"
usage {"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}
finish "max_tokens"
`},
		{"Kimi, the main agent", readKimi, `{"agentId":"main","event":{"type":"tool.result","toolCallId":"c","result":{"output":"x"}}}`, "user\n" + result},
		{"Kimi, a model", readKimi, `{"type":"config","model":"m"}`, "model\nmodel \"m\"\n"},
		{"Kimi, a call", readKimi, `{"event":{"type":"tool.call","toolCallId":"c","name":"f","args":{"a":1}}}`, "model\n" + call},
		{"opencode, a question", readOpencode, `{"info":{"role":"user","sessionID":"s"},"parts":[{"type":"text","text":"hi"},{"type":"file","text":"a"}]}`, "user\n" + hi + "session \"s\"\n"},
		{"opencode, a question without parts", readOpencode, `{"role":"user"}`, "user\n"},
		{"opencode, a part on its own", readOpencode, `{"type":"text","text":"hi"}`, "model\n" + hi},
		{"opencode, reasoning", readOpencode, `{"part":{"type":"reasoning","text":"hm"}}`, "model\n" + `{"type":"thinking","thinking":"hm"}` + "\n"},
		{"opencode, reasoning without text", readOpencode, `{"part":{"type":"reasoning","text":""}}`, "model\n"},
		{"opencode, a call that was interrupted", readOpencode, `{"sessionID":"s","part":{"type":"tool","callID":"c","tool":"f","state":{"status":"error","input":{},"raw":"{\"a\"","error":"x","metadata":{"interrupted":true}}}}`,
			"model\n" + `{"type":"tool_use","id":"c","name":"f","input":"{\"a\""}` + "\nresult " + failed + "session \"s\"\ncut\n"},
		{"opencode, an invalid call", readOpencode, `{"part":{"type":"tool","callID":"c","tool":"invalid","state":{"status":"completed","input":{"tool":"f","error":"JSON parsing failed: Text: {\"a\".\nError message: no"},"output":"x"}}}`,
			"model\n" + `{"type":"tool_use","id":"c","name":"f","input":"{\"a\""}` + "\nrejected: opencode could not parse the arguments\nresult " + result},
		{"opencode, an error with a status", readOpencode, `{"role":"assistant","modelID":"m","error":{"name":"APIError","data":{"message":"no","statusCode":429}},"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5},"total":15}}`, `model
model "m"
usage {"input_tokens":1,"output_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":5,"output_tokens_details":{"thinking_tokens":3}}
error "no"
error type "429"
`},
		{"opencode, an error without words", readOpencode, `{"error":{"name":"APIError"}}`, "model\nerror \"APIError\"\nerror type \"APIError\"\n"},
		{"opencode, an aborted message", readOpencode, `{"error":{"name":"MessageAbortedError"}}`, "model\ncut\n"},
		{"Qwen Code, a sub-agent's error", readQwenCode, `{"type":"system","sessionId":"s","isSidechain":true,"agentId":"a","systemPayload":{"uiEvent":{"error":"no"}}}`, "model\nsession \"s\"\nagent \"a\"\nerror \"no\"\n"},
		{"Cline's screen, a request", readClineScreen, `{"say":"api_req_started","text":"{\"tokensIn\":1,\"tokensOut\":2,\"cacheReads\":3,\"cacheWrites\":4,\"cancelReason\":\"streaming_failed\",\"streamingFailedMessage\":\"no\"}"}`, `model
usage {"promptTokenCount":8,"candidatesTokenCount":2,"cachedContentTokenCount":3}
error "no"
`},
		{"Cline's screen, a call of an MCP server", readClineScreen, `{"ask":"use_mcp_server","text":"{\"toolName\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}"}`, "model\n" + `{"functionCall":{"name":"f","args":{"a":1}}}` + "\n"},
		{"Cline's screen, a request without an error", readClineScreen, `{"say":"api_req_started","text":"{\"tokensIn\":1,\"cancelReason\":\"user_cancelled\",\"streamingFailedMessage\":\"no\"}"}`, "model\n" + `usage {"promptTokenCount":1}` + "\n"},
		{"Cline's screen, another entry", readClineScreen, `{"say":"checkpoint_created"}`, "nothing\n"},
		{"Cline's screen, a tool", readClineScreen, `{"say":"tool","text":"{\"tool\":\"f\",\"a\":1}"}`, "model\n" + `{"functionCall":{"name":"f","args":{"tool":"f","a":1}}}` + "\n"},
		{"Cline's screen, a tool without a name", readClineScreen, `{"say":"tool","text":"{\"toolName\":\"f\",\"arguments\":\"{}\"}"}`, "nothing\n"},
		{"Cline's screen, a server's name for a tool", readClineScreen, `{"ask":"use_mcp_server","text":"{\"tool\":\"g\"}"}`, "nothing\n"},
		{"Cline's screen, reasoning", readClineScreen, `{"say":"reasoning","text":"hm"}`, "model\n" + `{"text":"hm","thought":true}` + "\n"},
		{"Cline's screen, a task", readClineScreen, `{"say":"task","text":"hi"}`, "user\n" + `{"text":"hi"}` + "\n"},
		{"Cline's screen, an error", readClineScreen, `{"say":"error","text":"no"}`, "model\nerror \"no\"\n"},
		{"Cline's screen, a command", readClineScreen, `{"ask":"command","text":"ls"}`, "model\n" + `{"functionCall":{"name":"command","args":{"command":"ls"}}}` + "\n"},
		{"Cline's task, only the output", readCline, `{"role":"assistant","content":[{"type":"text","text":"hi"}],"metrics":{"tokens":{"completion":2}}}`, "model\n" + hi + `usage {"output_tokens":2}` + "\n"},
		{"Cline's task, without counts", readCline, `{"role":"assistant","content":"hi","metrics":{"tokens":{"cached":2}}}`, "model\n" + hi},
		{"Cline's task", readCline, `{"role":"assistant","content":"hi","id":"r","modelInfo":{"modelId":"m"},"metrics":{"tokens":{"prompt":10,"completion":2,"cached":3}}}`, "model\n" + hi + `model "m"
id "r"
usage {"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":3}
`},
	} {
		if got := describeMessage(test.reader()(json.Value(test.entry))); got != test.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestRequestOf checks the request in the entries of an agent: its conversation, which names the sub-agent if there is
// one, and the messages of both sides.
func TestRequestOf(t *testing.T) {
	const said = `"type":"assistant","model":"m","message":{"parts":[{"functionCall":{"id":"c","name":"f"}}]}`
	qwen := &agents[slices.IndexFunc(agents, func(a agent) bool { return a.wrapper == "qwen-code session" })]
	for entries, want := range map[string]string{
		`{"type":"user","sessionId":"s","message":{"parts":[{"text":"hi"}]}}`:                                  `{"conversation":"s","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		`{"type":"user","sessionId":"s","isSidechain":true,"agentId":"a","message":{"parts":[{"text":"hi"}]}}`: `{"conversation":{"id":"s","agent":"a"},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		`"s"` + "\n{" + said + "}\n" + `{"type":"user","message":{"parts":[{"text":"hi"}]}}`: `{"conversation":"s","contents":[{"role":"model","parts":[{"functionCall":{"id":"c","name":"f"}}]},` +
			`{"role":"user","parts":[{"text":"hi"}]}]}`,
	} {
		if got := string(qwen.requestOf([]byte(entries))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", entries, got, want)
		}
	}
}

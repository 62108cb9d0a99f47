package providers

import (
	"net/textproto"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
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
		{"a body", "application/json", chatBody, "NDJSON", "openai-chat"}, // a single line is read as one JSON line
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

// headOf returns a response head with the given content type.
func headOf(contentType string) *stream.Head {
	h := &stream.Head{Status: 200}
	if contentType != "" {
		h.Header = map[string][]string{"Content-Type": {contentType}}
	}
	return h
}

// TestFramingAtOnce checks that a live stream is framed as soon as its bytes show the framing.
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
		evidence protocol.SniffInput
		want     string
		points   int
	}{
		{"an Anthropic event", protocol.SniffInput{Data: []byte(`{"type":"message_start","message":{}}`)}, "anthropic", protocol.Sure},
		{"an Anthropic body", protocol.SniffInput{Data: []byte(`{"type":"message","role":"assistant","content":[]}`)}, "anthropic", protocol.Sure},
		{"an Anthropic error", protocol.SniffInput{Data: []byte(`{"type":"error","error":{"type":"api_error"}}`)}, "anthropic", protocol.Likely},
		{"an Anthropic event name", protocol.SniffInput{Event: []byte("message_start"), Data: []byte(`{}`)}, "anthropic", protocol.Strong},
		{"an Anthropic path", protocol.SniffInput{Path: "/v1/messages"}, "anthropic", protocol.Strong},
		{"Anthropic on Vertex", protocol.SniffInput{Path: "/v1/projects/p/locations/r/publishers/anthropic/models/m:streamRawPredict"}, "anthropic", protocol.Strong},
		{"an Anthropic header", protocol.SniffInput{Header: header("anthropic-organization-id")}, "anthropic", protocol.Likely},
		{"a ping", protocol.SniffInput{Data: []byte(`{"type":"ping"}`)}, "anthropic", protocol.Weak},
		{"a chunk", protocol.SniffInput{Data: []byte(`{"object":"chat.completion.chunk"}`)}, "openai-chat", protocol.Sure},
		{"a chunk without its name", protocol.SniffInput{Data: []byte(`{"choices":[]}`)}, "openai-chat", protocol.Strong},
		{"a chat path", protocol.SniffInput{Path: "/openai/deployments/d/chat/completions"}, "openai-chat", protocol.Strong},
		{"an OpenAI header", protocol.SniffInput{Header: header("openai-processing-ms")}, "openai-chat", protocol.Likely},
		{"an OpenRouter header", protocol.SniffInput{Header: header("x-generation-id")}, "openai-chat", protocol.Likely},
		{"an OpenAI error", protocol.SniffInput{Data: []byte(`{"error":{"message":"no","type":"x"}}`)}, "openai-chat", protocol.Weak},
		{"a Mistral error", protocol.SniffInput{Data: []byte(`{"object":"error","message":"no"}`)}, "openai-chat", protocol.Weak},
		{"an OpenAI error on an Anthropic path", protocol.SniffInput{Path: "/v1/messages", Data: []byte(`{"error":{"message":"no"}}`)}, "anthropic", protocol.Strong},
		{"a chunk on an Anthropic path", protocol.SniffInput{Path: "/v1/messages", Data: []byte(chatText)}, "openai-chat", protocol.Sure},
		{"an Anthropic event on a chat path", protocol.SniffInput{Path: "/v1/chat/completions", Data: []byte(`{"type":"message_stop"}`)}, "anthropic", protocol.Sure},
		{"a Responses event", protocol.SniffInput{Event: []byte("response.created"), Data: []byte(`{"type":"response.created","response":{"object":"response"}}`)}, "openai-responses", protocol.Sure},
		{"a Responses event with an id and a number", protocol.SniffInput{Data: []byte(`{"type":"response.created","event_id":"e","sequence_number":0}`)}, "openai-responses", protocol.Sure},
		{"an event of the Realtime API", protocol.SniffInput{Data: []byte(`{"type":"response.function_call_arguments.delta","event_id":"e","item_id":"i","output_index":0,"delta":"{"}`)}, "openai-realtime", protocol.Sure},
		{"an unknown Responses event", protocol.SniffInput{Data: []byte(`{"type":"response.brand_new","sequence_number":7}`)}, "openai-responses", protocol.Sure},
		{"an unknown event without a number", protocol.SniffInput{Data: []byte(`{"type":"response.brand_new"}`)}, "", 0},
		{"an event of Snowflake's agents", protocol.SniffInput{Event: []byte("response.tool_use"), Data: []byte(`{"tool_use_id":"t","name":"f"}`)}, "", 0},
		{"a chunk of watsonx", protocol.SniffInput{Data: []byte(`{"model_version":"1","choices":[{"delta":{}}]}`)}, "openai-chat", protocol.Strong},
		{"usage in a metadata field", protocol.SniffInput{Data: []byte(`{"metadata":{"usage":{"inputTokens":1}}}`)}, "", 0},
		{"Converse metadata", protocol.SniffInput{Data: []byte(`{"metadata":{"usage":{"inputTokens":1},"metrics":{"latencyMs":1}}}`)}, "bedrock", protocol.Sure},
		{"a message of Gemini CLI", protocol.SniffInput{Data: []byte(`{"type":"message","role":"assistant","content":"Hi","delta":true}`)}, "", 0},
		{"a part of a language model", protocol.SniffInput{Data: []byte(`{"type":"tool-input-start","id":"c","toolName":"f"}`)}, "ai-gateway", protocol.Sure},
		{"the end of a language model", protocol.SniffInput{Data: []byte(`{"type":"finish","finishReason":"stop","usage":{}}`)}, "ai-gateway", protocol.Strong},
		{"an init line of Cursor", protocol.SniffInput{Data: []byte(`{"type":"system","subtype":"init","session_id":"s","permissionMode":"default"}`)}, "", 0},
		{"a user line of Cursor", protocol.SniffInput{Data: []byte(`{"type":"user","message":{"role":"user","content":[]},"session_id":"s"}`)}, "", 0},
		{"a result line of Cursor", protocol.SniffInput{Data: []byte(`{"type":"result","subtype":"success","result":"Done.","session_id":"s"}`)}, "", 0},
		{"an init line of Droid", protocol.SniffInput{Data: []byte(`{"type":"system","subtype":"init","session_id":"s","tools":["Read"]}`)}, "", 0},
		{"a Responses event name", protocol.SniffInput{Event: []byte("response.created"), Data: []byte(`{}`)}, "openai-responses", protocol.Strong},
		{"a Responses body", protocol.SniffInput{Data: []byte(`{"id":"resp_1","object":"response","output":[]}`)}, "openai-responses", protocol.Sure},
		{"a Responses path", protocol.SniffInput{Path: "/backend-api/codex/responses"}, "openai-responses", protocol.Strong},
		{"the path of one response", protocol.SniffInput{Path: "/v1/responses/resp_1"}, "openai-responses", protocol.Strong},
		{"a Responses error as documented", protocol.SniffInput{Data: []byte(`{"type":"error","code":"server_error","message":"no","param":null}`)}, "openai-responses", protocol.Strong},
		{"a Responses error as seen", protocol.SniffInput{Data: []byte(`{"type":"error","sequence_number":2,"error":{"type":"x","message":"no"}}`)}, "openai-responses", protocol.Strong},
		{"a WebSocket error", protocol.SniffInput{Data: []byte(`{"type":"error","status":400,"error":{"type":"x","message":"no"}}`)}, "openai-responses", protocol.Strong},
		{"rate limits first", protocol.SniffInput{Data: []byte(`{"type":"rate_limits.updated"}`)}, "openai-responses", protocol.Strong},
		{"a keep-alive first, from OpenAI", protocol.SniffInput{Header: header("openai-processing-ms"), Data: []byte(`{"type":"keepalive","sequence_number":0}`)}, "openai-responses", protocol.Strong},
		{"a keep-alive of anything", protocol.SniffInput{Data: []byte(`{"type":"keepalive"}`)}, "", 0},
		{"a Responses event on a chat path", protocol.SniffInput{Path: "/v1/chat/completions", Data: []byte(`{"type":"response.created"}`)}, "openai-responses", protocol.Sure},
		{"a chunk on a Responses path", protocol.SniffInput{Path: "/v1/responses", Data: []byte(chatText)}, "openai-chat", protocol.Sure},
		{"an OpenAI error on a Responses path", protocol.SniffInput{Path: "/v1/responses", Header: header("openai-processing-ms"), Data: []byte(`{"error":{"message":"no","type":"x"}}`)}, "openai-responses", protocol.Strong},
		{"a Gemini chunk", protocol.SniffInput{Data: []byte(`{"candidates":[{"content":{"parts":[]}}]}`)}, "gemini", protocol.Sure},
		{"a Gemini chunk with usage only", protocol.SniffInput{Data: []byte(`{"usage_metadata":{}}`)}, "gemini", protocol.Sure},
		{"a refused prompt", protocol.SniffInput{Data: []byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`)}, "gemini", protocol.Sure},
		{"a Cloud Code chunk", protocol.SniffInput{Data: []byte(`{"response":{"candidates":[]},"traceId":"t"}`)}, "gemini", protocol.Sure},
		{"candidates for a job", protocol.SniffInput{Data: []byte(`{"candidates":["alice"]}`)}, "", 0},
		{"candidates with names", protocol.SniffInput{Data: []byte(`{"candidates":[{"name":"alice"}]}`)}, "", 0},
		{"one candidate", protocol.SniffInput{Data: []byte(`{"candidates":{"content":{}}}`)}, "", 0},
		{"candidates wrapped", protocol.SniffInput{Data: []byte(`{"response":{"candidates":["alice"]}}`)}, "", 0},
		{"a Gemini chunk that is cut", protocol.SniffInput{Data: []byte(`{"candidates":[{"content":{"parts":[{"te`)}, "gemini", protocol.Sure},
		{"choices of a form", protocol.SniffInput{Data: []byte(`{"choices":["a"]}`)}, "", 0},
		{"choices of a user", protocol.SniffInput{Data: []byte(`{"choices":[{"message":{"role":"user","content":"z"}}]}`)}, "", 0},
		{"choices with labels", protocol.SniffInput{Data: []byte(`{"choices":[{"label":"a"}]}`)}, "", 0},
		{"a chunk of choices alone", protocol.SniffInput{Data: []byte(`{"choices":[{"delta":{}}]}`)}, "openai-chat", protocol.Strong},
		{"a Google error", protocol.SniffInput{Data: []byte(`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`)}, "gemini", protocol.Likely},
		{"a list of a Google error", protocol.SniffInput{Data: []byte(`[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]`)}, "gemini", protocol.Likely},
		{"an OpenRouter error", protocol.SniffInput{Data: []byte(`{"error":{"code":502,"message":"no","metadata":{}}}`)}, "openai-chat", protocol.Weak},
		{"a Gemini path", protocol.SniffInput{Path: "/v1beta/models/gemini-x:streamGenerateContent"}, "gemini", protocol.Strong},
		{"a Vertex path", protocol.SniffInput{Path: "/v1/projects/p/locations/l/publishers/google/models/m:generateContent"}, "gemini", protocol.Strong},
		{"a Cloud Code path", protocol.SniffInput{Path: "/v1internal:streamGenerateContent"}, "gemini", protocol.Strong},
		{"an interaction's event", protocol.SniffInput{Data: []byte(`{"event_type":"step.start","index":0}`)}, "gemini-interactions", protocol.Sure},
		{"an interaction's body", protocol.SniffInput{Data: []byte(`{"object":"interaction","steps":[]}`)}, "gemini-interactions", protocol.Sure},
		{"an interaction's path", protocol.SniffInput{Path: "/v1beta/interactions"}, "gemini-interactions", protocol.Strong},
		{"an Ollama line", protocol.SniffInput{Data: []byte(`{"model":"m","message":{"role":"assistant"},"done":false}`)}, "ollama", protocol.Strong},
		{"a Converse event", protocol.SniffInput{Event: []byte("messageStop"), Data: []byte(`{"stopReason":"end_turn"}`)}, "bedrock", protocol.Sure},
		{"a Converse event of an SDK", protocol.SniffInput{Data: []byte(`{"messageStop":{"stopReason":"end_turn"}}`)}, "bedrock", protocol.Sure},
		{"a Converse path", protocol.SniffInput{Path: "/model/m/converse"}, "bedrock", protocol.Strong},
		{"Claude on an InvokeModel path", protocol.SniffInput{Path: "/model/m/invoke", Data: []byte(`{"type":"message","role":"assistant"}`)}, "anthropic", protocol.Sure},
		{"a Cohere event", protocol.SniffInput{Event: []byte("message-start"), Data: []byte(`{"type":"message-start","delta":{}}`)}, "cohere", protocol.Sure},
		{"an AI Studio path", protocol.SniffInput{Path: "/$rpc/google.internal.alkali.applications.makersuite.v1.MakerSuiteService/GenerateContent"}, "aistudio", protocol.Strong},
		{"another call of AI Studio's", protocol.SniffInput{Path: "/$rpc/google.internal.alkali.applications.makersuite.v1.MakerSuiteService/CountTokens"}, "", 0},
		{"a report of an error that names it", protocol.SniffInput{Path: "/log/jserror", Data: []byte(`{}`)}, "", 0},
		{"positional protobuf", protocol.SniffInput{Header: map[string][]string{"Content-Type": {"application/json+protobuf; charset=UTF-8"}}}, "aistudio", protocol.Likely},
		{"an AI Studio chunk", protocol.SniffInput{Data: []byte(`[[[[[[null,"hi"]],"model"]]],null,[1,2,3]]`)}, "aistudio", protocol.Sure},
		{"one after the prefix, nulls left out", protocol.SniffInput{Data: []byte(")]}'\n[[[[[[,\"hi\"]],\"model\"],1]],,[1,2,3]]")}, "aistudio", protocol.Sure},
		{"a list of them", protocol.SniffInput{Data: []byte(`[[[[[[[[null,"hi"]],"model"]]]],[[[[[[null,""]],"model"],1]]]]]`)}, "aistudio", protocol.Sure},
		{"an AI Studio chunk without candidates", protocol.SniffInput{Data: []byte(`[null,null,[1,2,3],null,null,null,null,"id"]`)}, "aistudio", protocol.Likely},
		{"an AI Studio error", protocol.SniffInput{Data: []byte(`[7,"The caller does not have permission"]`)}, "aistudio", protocol.Likely},
		{"an array of Gemini chunks", protocol.SniffInput{Data: []byte(`[{"candidates":[{"content":{"parts":[]}}]}]`)}, "gemini", protocol.Sure},
		{"arrays of anything", protocol.SniffInput{Data: []byte(`[[[1,2],[3,4]],[["a"]]]`)}, "", 0},
		{"an array of strings", protocol.SniffInput{Data: []byte(`["a","b"]`)}, "", 0},
		{"an empty array", protocol.SniffInput{Data: []byte(`[[]]`)}, "", 0},
		{"a Cohere event name", protocol.SniffInput{Event: []byte("message-end"), Data: []byte(`{}`)}, "cohere", protocol.Strong},
		{"a Cohere body", protocol.SniffInput{Data: []byte(`{"id":"1","message":{},"finish_reason":"COMPLETE"}`)}, "cohere", protocol.Sure},
		{"a Cohere error", protocol.SniffInput{Path: "/v2/chat", Data: []byte(`{"message":"no"}`)}, "cohere", protocol.Strong},
		{"an event that is Cohere's by its type alone", protocol.SniffInput{Data: []byte(`{"type":"tool-call-delta","toolCallId":"1"}`)}, "", 0},
		{"a UI message stream's start", protocol.SniffInput{Data: []byte(`{"type":"start","messageId":"m"}`)}, "ai-sdk", protocol.Likely},
		{"a UI message stream's call", protocol.SniffInput{Data: []byte(`{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`)}, "ai-sdk", protocol.Sure},
		{"a UI message stream's error", protocol.SniffInput{Data: []byte(`{"type":"error","errorText":"no"}`)}, "ai-sdk", protocol.Strong},
		{"an application's part", protocol.SniffInput{Data: []byte(`{"type":"data-weather","data":{}}`)}, "ai-sdk", protocol.Likely},
		{"a UI message stream's header", protocol.SniffInput{Header: header("x-vercel-ai-ui-message-stream")}, "ai-sdk", protocol.Strong},
		{"a run", protocol.SniffInput{Data: []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)}, "ag-ui", protocol.Sure},
		{"a raw event", protocol.SniffInput{Data: []byte(`{"type":"RAW","event":{}}`)}, "ag-ui", protocol.Likely},
		{"a stream-json event", protocol.SniffInput{Data: []byte(`{"type":"stream_event","event":{"type":"message_start"}}`)}, "claude-code", protocol.Sure},
		{"a stream-json message", protocol.SniffInput{Data: []byte(`{"type":"assistant","message":{},"parent_tool_use_id":null}`)}, "claude-code", protocol.Sure},
		{"a stream-json result", protocol.SniffInput{Data: []byte(`{"type":"result","subtype":"success","session_id":"s","num_turns":1}`)}, "claude-code", protocol.Sure},
		{"another stream-json line", protocol.SniffInput{Data: []byte(`{"type":"rate_limit_event","session_id":"s","uuid":"u"}`)}, "claude-code", protocol.Likely},
		{"a line of Claude Code's own history", protocol.SniffInput{Data: []byte(`{"type":"assistant","message":{},"sessionId":"s","uuid":"u"}`)}, "", 0},
		{"no JSON", protocol.SniffInput{Data: []byte("<html>")}, "", 0},
		{"nothing", protocol.SniffInput{}, "", 0},
	} {
		best, score := detectProtocol(test.evidence)
		name := ""
		if best != nil {
			name = best.Name
		}
		if name != test.want || score.Points != test.points || (score.Why == "") != (test.want == "") {
			t.Errorf("%s: %q with %+v, want %q with %d", test.name, name, score, test.want, test.points)
		}
		for _, p := range All {
			if s := p.Sniff(test.evidence); s.Points > protocol.Sure { // detectProtocol stops at Sure
				t.Errorf("%s: %s has %d points, more than %d", test.name, p.Name, s.Points, protocol.Sure)
			}
		}
	}
}

func TestSplitURL(t *testing.T) {
	for _, test := range []struct{ url, host, path string }{
		{"https://api.example.com:80/v1/messages?beta=true", "api.example.com", "/v1/messages"},
		{"/v1/chat/completions", "", "/v1/chat/completions"},
		{"https://h/%zz/v1/messages", "", "https://h/%zz/v1/messages"}, // not a URL, but better than nothing
		{"", "", ""},
	} {
		if host, path := splitURL(test.url); host != test.host || path != test.path {
			t.Errorf("splitURL(%q) = %q, %q, want %q, %q", test.url, host, path, test.host, test.path)
		}
	}
}

// strangers are beginnings of inputs without model traffic, each with a word from its description.
var strangers = []struct{ text, like string }{
	{"PK\x03\x04\x14\x00", "ZIP"}, {"SQLite format 3\x00\x10\x00", "SQLite"}, {"\x7fELF\x02\x01", "program"}, {"\x89PNG\r\n", "image"},
	{"%PDF-1.7\n", "PDF"}, {"\x0a\x0d\x0d\x0a\x1c\x00", "network packet"}, {strings.Repeat("\x00\x01\xfe", 30), "binary"},
	{"<!DOCTYPE html>\n<html>", "HTML"}, {"<html lang=en>", "HTML"}, {"<?xml version=\"1.0\"?>\n<a/>", "XML"},
	{"#!/bin/sh\nset -e\n", "script"}, {"package main\n\nimport \"fmt\"\n", "Go source"}, {"import os\nimport sys\n", "source code"},
	{"from x import y\n", "source code"}, {"#include <stdio.h>\n", "source code"}, {"-----BEGIN CERTIFICATE-----\n", "certificates"},
	{"npm ERR! code E404\n", "npm"}, {"0 verbose cli /usr/bin/node\n1 info using npm@10\n", "npm"},
	{"127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12\n", "web server"},
	{"a,b,c\n1,2,3\n4,5,6\n", "table of 3"}, {"a\tb\n1\t2\n3\t4\n", "table of 2"}, {"diff --git a/x b/x\n", "diff"},
	{"# Title\n\nSome words.\n", "Markdown"}, {"# made by hand\nCLIENT_RANDOM " + strings.Repeat("0a", 32) + " " + strings.Repeat("1b", 48) + "\n", "keys for TLS"},
	{"# a comment\nkey\n", "text"}, {"2026-11-20T10:00:00Z INFO started\n", "log"}, {"Nov 20 10:00:00 host app[1]: up\n", "log"},
	{"---\nname: x\n", "YAML"}, {"{\"level\":\"info\",\"msg\":\"x\"}\n{\"level\":\"info\",\"msg\":\"y\"}\n", "JSON lines, each with level, msg"},
	{`{"openapi":"3.1.0","paths":{}}`, "API"}, {`{"name":"x","dependencies":{}}`, "manifest"}, {`{"a":1,"b":2,"c":3,"d":4,"e":5}`, "JSON with a, b, c, d …"},
	{"Dear all,\n", "text"}, {"", ""},
}

// TestGuess checks the descriptions of inputs without model traffic.
func TestGuess(t *testing.T) {
	for _, s := range strangers {
		if got := Guess([]byte(s.text)); !strings.Contains(got, s.like) || s.like == "" && got != "" {
			t.Errorf("%q looks like %q, want %q", s.text, got, s.like)
		}
	}
}

// TestStrangersHaveNoCalls checks that none of these inputs has a call or a known protocol, and that the
// screen shows its description.
func TestStrangersHaveNoCalls(t *testing.T) {
	for _, s := range strangers {
		if s.text == "" {
			continue
		}
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Data: []byte(s.text), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
		in.Close()
		for _, turn := range in.Session().Turns {
			if turn.Protocol != "unknown" || len(turn.Calls) > 0 {
				t.Errorf("%q is read as %s with %d calls", s.text, turn.Protocol, len(turn.Calls))
			}
		}
	}
}

// FuzzGuess checks that Guess accepts any input, cut off anywhere.
func FuzzGuess(f *testing.F) {
	for _, s := range strangers {
		f.Add([]byte(s.text))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if strings.ContainsAny(Guess(p), "\n\r") && !strings.HasPrefix(Guess(p), "JSON") {
			t.Errorf("%q", Guess(p))
		}
	})
}

// TestLooksLike checks that the kind of a text is guessed correctly, and that a text about a protocol is not mistaken
// for a payload of this protocol.
func TestLooksLike(t *testing.T) {
	for _, test := range []struct {
		text string
		want PayloadGuess
	}{
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`, LooksLikeChunk},
		{`{"type":"message","role":"assistant","content":[]}`, LooksLikeBody},
		{`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}`, LooksLikeChunk},
		{`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}`, LooksLikeBody},
		{`{"choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}`, LooksLikeBody},
		{`{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`, LooksLikeChunk},
		{`[{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}]`, LooksLikeBody},
		{`{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":false}`, LooksLikeChunk},
		{`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response"}}`, LooksLikeChunk},
		{`{"id":"resp_1","object":"response","output":[]}`, LooksLikeBody},
		{"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", LooksLikeEvents},
		{`data: {"choices":[{"delta":{"content":"x"},"index":0}]}`, LooksLikeEvents},
		{`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"say {\"type\":\"message_start\"}"}]}`, LooksLikeRequest},
		{`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, LooksLikeRequest},
		{`{"model":"m","input":[{"role":"user","content":"x"}]}`, LooksLikeRequest},
		{``, LooksLikeNothing},
		{`[]`, LooksLikeNothing},
		{`{}`, LooksLikeNothing},
		{`[1,2]`, LooksLikeNothing},
		{`{"level":"info","msg":"data: {\"choices\":[]}"}`, LooksLikeNothing},
		{`{"error":{"message":"no such page"}}`, LooksLikeNothing},
		{`{"type":"error","message":"disk full"}`, LooksLikeNothing},
		{`{"type":"start","text":"x"}`, LooksLikeNothing},
		{`{"message":"x","finish_reason":"none"}`, LooksLikeNothing},
		{`{"model":"Golf","messages":"none"}`, LooksLikeNothing},
		{"data: 12 rows\n\n", LooksLikeNothing},
		{"id: 12\ndata: x\n", LooksLikeNothing},
	} {
		if got := LooksLike([]byte(test.text)); got != test.want {
			t.Errorf("%s\n looks like %d, want %d", test.text, got, test.want)
		}
	}
}

// TestLooksLikeFixtures checks that a request in any protocol is recognised.
func TestLooksLikeFixtures(t *testing.T) {
	requests := 0
	for _, f := range fixtures(t) {
		request := []byte(f.archive.section("request"))
		if !DeclaresTools(request) || json.Value(request).Get("messages").Kind()+json.Value(request).Get("contents").Kind() == 0 {
			continue
		}
		requests++
		if got := LooksLike(request); got != LooksLikeRequest {
			t.Errorf("%s: the request looks like %d", f.file, got)
		}
	}
	if requests == 0 {
		t.Error("no fixture has a request with a conversation")
	}
}

// TestChunkDepth checks that AI Studio's chunks are framed in all forms that a body can have.
func TestChunkDepth(t *testing.T) {
	chunks := []string{
		`[[[[[[null,"hi"]],"model"]]],null,[1,2,3]]`,
		`[[[[[[null,"hi"]],"model"],1]],null,[1,2,3]]`,
		`[[[[[[,"model"]],"model"],1]],,[1,2,3]]`,
		`[[[[[[,,,,,,,,,,["f",[[]],"c1"]]],"model"],1]]]`,
		`[[[[[],"model"],1]],null,[1,2,3]]`,
		`[[[[ null , "model" ], 1 ] ] , null, [1,2,3]]`,
		`[[[[],2]],null,[1,2,3]]`,
		`[[[null,2]],null,[1,2,3]]`,
		`[[[,2]],,[1,2,3]]`,
		`[[],null,[1,2,3]]`,
		`[null,null,[1,2,3],null,null,null,null,"id"]`,
		`[,,[1,2,3]]`,
		`[null,[4]]`,
		`[7,"The caller does not have permission"]`,
	}
	for _, c := range chunks {
		for _, form := range []string{"%s", "[%s]", "[[%s]]", "[%s,%s]", "[[%s,\n%s]]", ")]}'\n[[%s,%s]]"} {
			wire := []byte(strings.ReplaceAll(form, "%s", c))
			if form == "%s" && strings.HasPrefix(c, `[[[[[[,"model"`) {
				continue // read as a content without parts, in the outer arrays
			}
			in := inspect(wire)
			x := in.Exchange(0)
			if x.Protocol.Name != "aistudio" || strings.Contains(eventLines(in), "unknown") || strings.Contains(eventLines(in), "heartbeat") {
				t.Errorf("%s: %s, %s\n%s", wire, x.Framing, x.Protocol.Name, eventLines(in))
			}
			checkKept(t, in, wire)
			cuttings(wire, len(wire), 3, func(parts ...[]byte) bool {
				if got := inspect(parts...); digest(got) != digest(in) {
					t.Errorf("%s, cut into %d: %s", wire, len(parts), got.Exchange(0).Framing)
				}
				return !t.Failed()
			})
		}
	}
}

// TestSlowHead checks that the time to read a long beginning without known framing doesn't grow faster than its
// length.
func TestSlowHead(t *testing.T) {
	long := int(inLong(1<<18, 1<<20))
	for _, test := range []struct{ head, rest, framing string }{
		{strings.Repeat(" \n", long/2), "data: x\n\n", "SSE"},
		{"[" + strings.Repeat(" ", long), "{}]", "JSON array"},
		{"\ufeff{" + strings.Repeat(" ", long), "}\n", "NDJSON"},
		{strings.Repeat("[", long), "1", "nested arrays"},
	} {
		in := new(Inspector)
		for i := range len(test.head) {
			in.Write(stream.Record{Data: []byte(test.head[i : i+1])})
		}
		in.Write(stream.Record{Data: []byte(test.rest), End: true})
		if x := in.Exchange(0); x.Framing != test.framing || x.Response.Size() != int64(len(test.head)+len(test.rest)) {
			t.Errorf("%.10q…: %s", test.head, x.Framing)
		}
	}
}

// TestStreamIgnored checks that a response in the form that its request doesn't ask for is reported, if only the request's
// field stream decides the form.
func TestStreamIgnored(t *testing.T) {
	const chat, on, off = "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"a"}]}`, `{"model":"m","messages":[{"role":"user","content":"a"}]}`
	events := "data: " + `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for _, agent := range []string{"", "OpenAI/JS 6.49.0", "curl/8"} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(on), Head: &stream.Head{Method: "POST", URL: "https://llm.example" + chat, Header: map[string][]string{"User-Agent": {agent}}}})
		in.Write(stream.Record{Exchange: 1, Data: []byte(chatBody), Head: &stream.Head{Status: 200}, End: true})
		found, want := findingsOf(in, "STREAM_IGNORED"), stream.Info
		if agent == "OpenAI/JS 6.49.0" {
			want = stream.Warn
		}
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%q: %+v, want %v", agent, found, want)
		}
	}
	for _, test := range []struct{ name, method, path, wrappers, request, response, want string }{
		{"a stream that was not asked for", "POST", chat, "", off, events, "the request asks for a single body, but the response is an event stream"},
		{"stream is false", "POST", chat, "har", strings.Replace(on, "true", "false", 1), events, "the request asks for a single body, but the response is an event stream"},
		{"one body instead of a stream", "POST", chat, "", on, chatBody, "the request asks for an event stream, but the response is none"},
		{"the stream that was asked for", "POST", chat, "", on, events, ""},
		{"the body that was asked for", "POST", chat, "", off, chatBody, ""},
		{"an error", "POST", chat, "", on, `{"error":{"message":"no"}}`, ""},
		{"an incomplete request", "POST", chat, "", `{"model":"m","messages":[`, events, ""},
		{"no request", "POST", chat, "", "", events, ""},
		{"not a request to a model", "POST", chat, "", "{}", events, ""},
		{"another method", "GET", "/v1/responses", "", off, events, ""},
		{"the path decides", "POST", "/v1beta/openai:stream", "", off, events, ""},
		{"a log may join the chunks", "POST", chat, "litellm", on, chatBody, ""},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(test.request), Head: &stream.Head{Method: test.method, URL: "https://llm.example" + test.path, Wrappers: test.wrappers}})
		in.Write(stream.Record{Exchange: 1, Data: []byte(test.response), Head: &stream.Head{Status: 200, Wrappers: test.wrappers}})
		in.Write(stream.Record{Exchange: 1, End: true})
		found := findingsOf(in, "STREAM_IGNORED")
		if test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || found[0].Message != test.want) {
			t.Errorf("%s: %+v, want %q", test.name, found, test.want)
		}
	}
}

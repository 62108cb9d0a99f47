// Package openaichat decodes OpenAI's Chat Completions protocol and its variants at the many providers
// that call themselves compatible: OpenRouter, Groq, Mistral, DeepSeek, xAI, Qwen, the compatible
// endpoints of Gemini and Ollama, vLLM, llama.cpp, Azure and gateways. They are one protocol with
// deviations, and each deviation is a finding.
//
// Wire facts are from OpenAI's published API description and SDKs. Each deviation has been seen on a
// real wire. The protocol has no end of a call: only the finish_reason of a choice makes its calls
// final.
package openaichat

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the Chat Completions protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "openai-chat",
		Title:    "OpenAI Chat Completions",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Tools:    readTools,

		Targets: []protocol.Target{openAI, mistral, llamaCPP},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var object, errs protocol.Raw
	choices := false
	s := protocol.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "object":
			object = s.Value()
		case "choices":
			choices = protocol.ListOf(s, choiceKeys)
		case "error":
			errs = s.Value()
		}
	}
	switch {
	case strings.HasPrefix(object.Text(), "chat.completion"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "object " + object.Text()}
	case choices:
		return protocol.SniffScore{Points: protocol.Strong, Why: "a list of choices"}
	case strings.HasSuffix(e.Path, "/chat/completions"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case e.HeaderIs("Openai-Processing-Ms"), e.HeaderIs("X-Generation-Id"), e.HeaderIs("Mistral-Correlation-Id"):
		return protocol.SniffScore{Points: protocol.Likely, Why: "a header of an OpenAI-like provider"}
	case errs.Get("message").IsString():
		return protocol.SniffScore{Points: protocol.Weak, Why: "an error object"}
	case object.Is("error"):
		return protocol.SniffScore{Points: protocol.Weak, Why: "an error object"}
	}
	return protocol.SniffScore{}
}

// choiceKeys are fields of a choice. A choice has at least one of them.
var choiceKeys = map[string]bool{
	"delta": true, "message": true, "index": true, "finish_reason": true, "text": true, "content_filter_results": true, "usage": true,
}

// finishCodes are the finish reasons seen on real wires. A content filter cuts off a response like a
// limit.
var finishCodes = map[string]stream.Code{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "function_call": stream.FinishDone,
	"length": stream.FinishCut, "model_length": stream.FinishCut, "max_tokens": stream.FinishCut,
	"content_filter": stream.FinishCut,
	"error":          stream.FinishFailed,
}

// cutWords are the finish reasons of an upstream that mean a limit, whatever the gateway writes into
// finish_reason.
var cutWords = map[string]bool{
	"length": true, "max_tokens": true, "max_output_tokens": true, "model_length": true, "MAX_TOKENS": true,
}

// Package providers turns the bytes of exchanges with model providers into the events of one
// timeline: it finds the framing, recognises the dialect, and has that decode. Each wire protocol
// is in a folder of its own; the package dialect says how to add one.
//
//	records ─▶ Inspector ─▶ Framer ─▶ dialect.Decoder ─▶ stream.Timeline
//
// Nothing received is lost. A frame that does not decode, or is of no known dialect, is an event
// too, and Exchange.Response keeps its bytes.
package providers

import (
	"toolscope/providers/agui"
	"toolscope/providers/aisdk"
	"toolscope/providers/aistudio"
	"toolscope/providers/anthropic"
	"toolscope/providers/bedrock"
	"toolscope/providers/claudecode"
	"toolscope/providers/codexexec"
	"toolscope/providers/cohere"
	"toolscope/providers/gemini"
	"toolscope/providers/geminiinteractions"
	"toolscope/providers/ollama"
	"toolscope/providers/openaichat"
	"toolscope/providers/openairesponses"
	"toolscope/providers/protocol"
)

// All is every dialect, one line each. OpenRouter, Groq, Mistral and the like are hosts of
// openaichat, not dialects of their own.
var All = []protocol.Protocol{
	anthropic.Protocol(),
	openaichat.Protocol(),
	openairesponses.Protocol(),
	gemini.Protocol(),
	geminiinteractions.Protocol(),
	bedrock.Protocol(),
	ollama.Protocol(),
	cohere.Protocol(),
	aistudio.Protocol(),
	aisdk.Protocol(),
	agui.Protocol(),
	claudecode.Protocol(anthropic.Protocol()),
	codexexec.Protocol(),
}

// Package providers turns the bytes of exchanges with model providers into the events of one
// timeline: it finds the framing, recognises the dialect, and has it decode. What one wire protocol
// needs is in a folder of its own.
//
//	records ─▶ Inspector ─▶ Framer ─▶ dialect.Decoder ─▶ stream.Timeline
//
// Nothing received is lost: a frame that does not decode, or of no known dialect, is an event too,
// and the wire keeps its bytes.
package providers

import (
	"toolscope/providers/agui"
	"toolscope/providers/aisdk"
	"toolscope/providers/aistudio"
	"toolscope/providers/anthropic"
	"toolscope/providers/bedrock"
	"toolscope/providers/claudecode"
	"toolscope/providers/cohere"
	"toolscope/providers/dialect"
	"toolscope/providers/gemini"
	"toolscope/providers/geminiinteractions"
	"toolscope/providers/ollama"
	"toolscope/providers/openaichat"
	"toolscope/providers/openairesponses"
)

// All is every dialect, one line each. OpenRouter, Groq, Mistral and the like are openaichat with
// other quirks, not dialects of their own.
var All = []dialect.Dialect{
	anthropic.Dialect(),
	openaichat.Dialect(),
	openairesponses.Dialect(),
	gemini.Dialect(),
	geminiinteractions.Dialect(),
	bedrock.Dialect(),
	ollama.Dialect(),
	cohere.Dialect(),
	aistudio.Dialect(),
	aisdk.Dialect(),
	agui.Dialect(),
	claudecode.Dialect(anthropic.Dialect()),
}

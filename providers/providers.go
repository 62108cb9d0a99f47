// Package providers turns the bytes of exchanges with model providers into the events of one timeline:
// it finds the framing, recognises the protocol, and decodes with it. Each wire protocol has its own
// folder; package protocol describes how to add one.
//
//	records ─▶ Inspector ─▶ Framer ─▶ protocol.Decoder ─▶ stream.Timeline
//
// No received byte is lost. A frame that can't be decoded, or has an unknown protocol, is also an event,
// and Exchange.Response keeps its bytes.
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

// All lists the protocols, one per line. OpenRouter, Groq, Mistral and others are hosts of openaichat,
// not protocols of their own.
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

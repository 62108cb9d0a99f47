package formats

import (
	"bytes"
	"slices"

	"toolscope/capture"
)

// This file has the types of chunks that say what a chunk is.

// typeWord is what the type of a chunk says.
type typeWord struct {
	of                       protocolHint
	begins, ends, last, weak bool
}

// words are the types of chunks that have one.
var words = map[string]typeWord{
	"message_start":       {of: ofMessages, begins: true},
	"content_block_start": {of: ofMessages},
	"content_block_delta": {of: ofMessages},
	"content_block_stop":  {of: ofMessages},
	"message_delta":       {of: ofMessages, ends: true},
	"message_stop":        {of: ofMessages, ends: true, last: true},

	"response.created":    {of: ofResponses, begins: true},
	"response.completed":  {of: ofResponses, ends: true, last: true},
	"response.failed":     {of: ofResponses, ends: true, last: true},
	"response.incomplete": {of: ofResponses, ends: true, last: true},

	"message-start":      {of: ofCohere, begins: true},
	"content-start":      {of: ofCohere},
	"content-delta":      {of: ofCohere},
	"content-end":        {of: ofCohere},
	"tool-plan-delta":    {of: ofCohere},
	"tool-call-start":    {of: ofCohere},
	"tool-call-delta":    {of: ofCohere},
	"tool-call-end":      {of: ofCohere},
	"citation-start":     {of: ofCohere},
	"citation-end":       {of: ofCohere},
	"message-end":        {of: ofCohere, ends: true, last: true},
	"stream-start":       {of: ofAny, begins: true, weak: true},
	"RUN_STARTED":        {of: ofAgents, begins: true},
	"RUN_FINISHED":       {of: ofAgents, ends: true, last: true},
	"RUN_ERROR":          {of: ofAgents, ends: true, last: true},
	"TOOL_CALL_START":    {of: ofAgents},
	"TOOL_CALL_ARGS":     {of: ofAgents},
	"TOOL_CALL_END":      {of: ofAgents},
	"TEXT_MESSAGE_START": {of: ofAgents},

	"interaction.start":     {of: ofInteractions, begins: true},
	"interaction.created":   {of: ofInteractions, begins: true},
	"interaction.complete":  {of: ofInteractions, ends: true, last: true},
	"interaction.completed": {of: ofInteractions, ends: true, last: true},

	"ping":  {weak: true},
	"error": {weak: true},
}

// wordOf is what a type says, and whether it is known.
func wordOf(kind []byte) (w typeWord, known bool) {
	w, known = words[string(kind)]
	switch {
	case known:
	case bytes.HasPrefix(kind, []byte("response.")):
		w.of = ofResponses
	case bytes.HasPrefix(kind, []byte("interaction.")), bytes.HasPrefix(kind, []byte("step.")):
		w.of = ofInteractions
	default:
		return typeWord{}, false
	}
	return w, true
}

// endings are the members that have a value where an answer ends, in streams and in whole bodies.
var endings = []capture.ResponseMarker{
	{Word: "stop_reason", Kind: int(ofMessages), Ends: true},
	{Word: "finish_reason", Kind: int(ofChat), Ends: true},
	{Word: "finishReason", Kind: int(ofGemini), Ends: true},
	{Word: "total_duration", Kind: int(ofOllama), Ends: true},
}

// Marks returns the words that mark the beginning or the end of a response, for counting responses.
// Cohere's streams end like those of Chat Completions.
func Marks() []capture.ResponseMarker {
	all := slices.Clone(endings)
	for text, w := range words {
		if w.of == ofCohere {
			w.of = ofChat
		}
		if w.begins && !w.weak {
			all = append(all, capture.ResponseMarker{Word: text, Kind: int(w.of)})
		}
	}
	return all
}

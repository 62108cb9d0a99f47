package formats

import "bytes"

// This file has the types of chunks that say what a chunk is.

// word is what the type of a chunk says.
type word struct {
	of                       family
	begins, ends, last, weak bool
}

// words are the types of chunks that have one.
var words = map[string]word{
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

	"ping":  {weak: true},
	"error": {weak: true},
}

// wordOf is what a type says, and whether it is known.
func wordOf(kind []byte) (w word, known bool) {
	w, known = words[string(kind)]
	switch {
	case known:
	case bytes.HasPrefix(kind, []byte("response.")):
		w.of = ofResponses
	case bytes.HasPrefix(kind, []byte("interaction.")), bytes.HasPrefix(kind, []byte("step.")):
		w.of = ofInteractions
		w.begins = string(kind) == "interaction.start" || string(kind) == "interaction.created"
		w.last = string(kind) == "interaction.complete" || string(kind) == "interaction.completed"
		w.ends = w.last
	default:
		return word{}, false
	}
	return w, true
}

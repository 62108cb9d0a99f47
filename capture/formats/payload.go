package formats

import (
	"bytes"
	"slices"

	"toolscope/capture"
)

// chunkInfo is what a payload says of itself, as far as that tells streams apart. It is little, and
// nothing of it is shown to anybody: what a payload means, only those know who read it.
type chunkInfo struct {
	is       payloadKind
	of       protocolHint
	weak     bool          // what says so is common to many things: it goes on with a stream, and begins none
	begins   bool          // a response begins with it
	ends     bool          // a response ends with it, or can
	last     bool          // nothing comes behind it but the mark that a stream ends
	many     bool          // it is several chunks
	kind     []byte        // the type it gives itself
	id       uint64        // of the response
	item     uint64        // of the item it is about
	block    int64         // the block it is about, -1 where it tells none
	number   int64         // its place in the stream, -1 where it tells none
	identity chunkIdentity // what else it says that is not so of every stream
}

// payloadKind is what a payload is.
type payloadKind int8

const (
	noPayload payloadKind = iota
	aChunk                // of a stream
	aBody                 // a whole answer
	aList                 // of chunks
	aRequest              // a request
	aMark                 // that a stream ends
	anEvent               // the line that names an event
	eventText             // text of an event stream
	aRest                 // what stands where payloads stand, and is none
)

// protocolHint is the protocol of a chunk, for protocols with their own way to tell streams apart.
type protocolHint int8

const (
	ofAny protocolHint = iota
	ofMessages
	ofChat
	ofResponses
	ofGemini
	ofOllama
	ofCohere
	ofInteractions
	ofAgents
)

// readChunkInfo reads what the members of an object say.
func readChunkInfo(all []foundMember) (s chunkInfo) {
	s.block, s.number = -1, -1
	var object, status, choices, candidates, message, response, done, model, created, answer []byte
	var took, usage, filter, metadata, role, content, contents, input, messages, prompt, output []byte
	for _, m := range all {
		switch string(m.key) {
		case "type", "event_type":
			if text, is := stringInside(m.value); is {
				s.kind = text
			}
		case "object":
			object, _ = stringInside(m.value)
		case "status":
			status, _ = stringInside(m.value)
		case "id", "responseId", "response_id":
			s.setResponseID(m.value)
		case "choices":
			choices = m.value
		case "candidates":
			candidates = m.value
		case "message":
			message = m.value
		case "response":
			response = m.value
		case "done":
			done = m.value
		case "model", "modelVersion":
			model = m.value
		case "created_at":
			created = m.value
		case "total_duration":
			took = m.value
		case "usage":
			usage = m.value
		case "prompt_filter_results":
			filter = m.value
		case "usageMetadata", "promptFeedback":
			metadata = m.value
		case "role":
			role, _ = stringInside(m.value)
		case "content":
			content = m.value
		case "contents":
			contents = m.value
		case "input":
			input = m.value
		case "messages":
			messages = m.value
		case "prompt":
			prompt = m.value
		case "output":
			output = m.value
		case "item_id":
			s.item = hashText(m.value)
		case "item":
			s.item = hashText(memberOf(m.value, "id"))
		case "index", "content_index":
			s.block = parseInt(m.value)
		case "sequence_number":
			s.number = parseInt(m.value)
		case "interaction", "answer":
			answer = m.value
		}
	}
	switch {
	case s.readKnownType(message, response, answer):
	case string(object) == "chat.completion.chunk":
		s.is, s.of, s.ends = aChunk, ofChat, isFinished(choices)
	case string(object) == "chat.completion" || string(object) == "text_completion" && opensObject(firstElement(choices)):
		s.is, s.of = aBody, ofChat
	case string(object) == "response" && status != nil:
		s.is, s.of = aBody, ofResponses
	case string(s.kind) == "message" && string(role) == "assistant" && isArray(content) && model != nil:
		s.is, s.of = aBody, ofMessages
	case isArray(choices):
		if s.readChoices(choices, model, usage); s.is == noPayload && filter != nil {
			s.is, s.of = aChunk, ofChat
		}
	case isAssist(all) && isArray(memberOf(response, "candidates")):
		inner, _, _ := readMembers(nil, response)
		return readChunkInfo(inner)
	case isArray(candidates) && ofCandidates(candidates), opensObject(metadata) && model != nil && candidates == nil:
		s.is, s.of = aChunk, ofGemini
		s.ends = bytes.Contains(candidates, []byte(`"finishReason"`))
		s.identity = geminiApart(model, candidates, metadata)
	case model != nil && created != nil && done != nil:
		s.is, s.of = aChunk, ofOllama
		s.ends = string(done) == "true"
		s.last = s.ends
		s.identity = ollamaApart(model, created, took)
	case isConversation(messages, "role") || isConversation(contents, "parts"), model != nil && isConversation(input, "content"),
		model != nil && isArray(input) && bytes.Contains(input, []byte(`"function_call`)):
		s.is = aRequest
	case model != nil && (input != nil || prompt != nil) && output == nil && choices == nil && s.id == 0 && s.kind == nil:
		s.is, s.weak = aRequest, true
	}
	return s
}

// isAssist reports whether an object may be a chunk as Code Assist wraps it, and has nothing beside.
func isAssist(all []foundMember) bool {
	for _, m := range all {
		if k := string(m.key); k != "response" && k != "traceId" && k != "metadata" {
			return false
		}
	}
	return len(all) > 0
}

// setResponseID takes the id of a response; an empty one says nothing.
func (s *chunkInfo) setResponseID(value []byte) {
	text, _ := stringInside(value)
	h := uint64(hashSeed)
	for _, part := range bytes.Split(text, []byte(" ")) { // some hosts put spaces in
		h = hashOf(h, part)
	}
	if len(text) > 0 {
		s.id = h
	}
}

// readKnownType reports whether the type of a chunk says what it is.
func (s *chunkInfo) readKnownType(message, response, interaction []byte) bool {
	w, known := wordOf(s.kind)
	if !known {
		return false
	}
	s.is, s.of, s.begins, s.ends, s.last, s.weak = aChunk, w.of, w.begins, w.ends, w.last, w.weak
	switch w.of {
	case ofMessages:
		s.id = hashText(memberOf(message, "id"))
	case ofResponses:
		if id := memberOf(response, "id"); id != nil {
			s.id = hashText(id)
		}
	case ofInteractions:
		if id := memberOf(interaction, "id"); id != nil {
			s.id = hashText(id)
		}
	}
	return true
}

// readChoices reads choices of what says not what it is.
func (s *chunkInfo) readChoices(choices, model, usage []byte) {
	first := firstElement(choices)
	switch {
	case memberOf(first, "delta") != nil:
		s.is, s.of, s.ends = aChunk, ofChat, isFinished(choices)
	case opensObject(memberOf(first, "message")):
		s.is, s.of = aBody, ofChat
	case first == nil && model != nil && (usage != nil || s.id != 0):
		s.is, s.of, s.ends = aChunk, ofChat, true
	case opensObject(first) && memberOf(first, "text") != nil && memberOf(first, "finish_reason") != nil:
		s.is, s.of, s.ends = aChunk, ofChat, isFinished(choices)
	}
}

func isFinished(choices []byte) bool {
	i := bytes.LastIndex(choices, []byte(`"finish_reason"`))
	if i < 0 {
		return false
	}
	rest := bytes.TrimLeft(choices[i+len(`"finish_reason"`):], " :")
	return len(rest) > 0 && rest[0] == '"'
}

func ofCandidates(candidates []byte) bool {
	first := firstElement(candidates)
	return first == nil || opensObject(memberOf(first, "content")) || memberOf(first, "finishReason") != nil
}

// isConversation reports whether a value is messages, as requests have them.
func isConversation(messages []byte, member string) bool {
	first := firstElement(messages)
	return first != nil && memberOf(first, member) != nil && (member != "role" || memberOf(first, "content") != nil || memberOf(first, "tool_calls") != nil)
}

func parseInt(value []byte) (n int64) {
	if len(value) == 0 || len(value) > 15 {
		return -1
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// hashText is a number for a string, 0 for what is none or empty.
func hashText(value []byte) uint64 {
	text, is := stringInside(value)
	if !is || len(text) == 0 {
		return 0
	}
	return hashOf(hashSeed, text)
}

const hashSeed = 14695981039346656037

// hashOf goes on with a hash (FNV-1a): names and values of logs are kept as such, and compared.
func hashOf(h uint64, p []byte) uint64 {
	for _, c := range p {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// isContent reports whether an object is a piece of a conversation: what it holds is text that
// somebody wrote or a tool gave, whatever it looks like.
func isContent(all []foundMember) bool {
	role, holds := false, false
	for _, m := range all {
		switch string(m.key) {
		case "role":
			_, role = stringInside(m.value)
		case "content", "parts", "tool_calls", "tool_call_id":
			holds = true
		case "type":
			switch text, _ := stringInside(m.value); string(text) {
			case "tool_result", "tool_use", "text", "input_text", "output_text", "thinking", "function_call_output", "custom_tool_call_output",
				"function_call", "function_response", "tool-result", "tool-call", "reasoning", "mcp_call", "local_shell_call_output":
				return true
			}
		case "functionResponse", "functionCall", "function_call_output", "toolUseResult":
			return true
		}
	}
	return role && holds
}

// isSession reports whether an object is a line that an agent keeps of its session: its messages
// are history, and no answer of which this is a log.
func isSession(all []foundMember) bool {
	kind, session, holds := false, false, false
	for _, m := range all {
		switch string(m.key) {
		case "type":
			kind = true
		case "sessionId", "session_id", "sessionID", "parentUuid", "leafUuid", "projectHash", "parentId", "parent_tool_use_id":
			session = true
		case "message", "payload", "event", "subtype", "messages", "summary", "toolCalls", "uuid", "state":
			holds = true
		case "timestamp":
		}
	}
	return kind && session && holds || isRollout(all)
}

// isRollout reports whether an object is a line of a rollout: a time, a type and a payload that has
// a type of its own, or describes the session.
func isRollout(all []foundMember) bool {
	kind, stamp := false, false
	var payload []byte
	for _, m := range all {
		switch string(m.key) {
		case "type":
			switch text, _ := stringInside(m.value); string(text) {
			case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state":
				kind = true
			}
		case "timestamp":
			stamp = true
		case "payload":
			payload = m.value
		}
	}
	return kind && stamp && opensObject(payload)
}

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

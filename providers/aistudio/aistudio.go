// Package aistudio decodes the responses that Google AI Studio's own web page receives when it calls
// MakerSuiteService/GenerateContent. It only reads captures of a user's own session: the protocol is
// undocumented and its service is for that page alone, so this program never connects to it.
//
// The body is Gemini's protobuf messages as positional arrays: field n of a message is at index n-1.
// A field that is not set is null; it is left out before a comma, and dropped at the end. One outer
// array holds the list of chunks:
//
//	chunk     [candidates, promptFeedback, usage, …, 7: responseId]
//	candidate [content, finishReason, …, 3: finishMessage]
//	content   [parts, role]
//	part      [, 1: text, …, 10: functionCall, 11: functionResponse, 12: thought, …, 14: signature]
//	call      [name, arguments, id]
//	usage     [prompt, visible output, total, cached, …, 9: reasoning]
//
// A call arrives complete in one part: its slot counts the calls of the response, and the chunk that
// contains it is its seal. args.go describes how arguments are written. Only the finish reason says
// that a response is complete.
//
// Facts are from people who read such captures, and from the field numbers of the public
// google.ai.generativelanguage and google.protobuf messages, which agree with them.
package aistudio

import (
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol returns the protocol of AI Studio's web page.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "aistudio",
		Title:    "Google AI Studio",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Tools:    readTools,
		Model:    readModel,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var p parser
	if v, err := p.parse(stripPrefix(e.Data)); err == nil {
		switch shape := shapeOf(v, maxNesting); {
		case shape == aChunk && v.element(0).len() > 0, shape == aCandidate, shape == aList:
			return protocol.SniffScore{Points: protocol.Sure, Why: "positional candidates"}
		case shape == aChunk:
			return protocol.SniffScore{Points: protocol.Likely, Why: "a positional message"}
		case shape == anError:
			return protocol.SniffScore{Points: protocol.Likely, Why: "a positional error"}
		}
	}
	if strings.Contains(e.Path, "MakerSuiteService/GenerateContent") {
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	if v := e.Header["Content-Type"]; len(v) > 0 && strings.HasPrefix(v[0], "application/json+protobuf") {
		return protocol.SniffScore{Points: protocol.Likely, Why: "content type " + v[0]}
	}
	return protocol.SniffScore{}
}

// finishReason is the meaning of one number.
type finishReason struct {
	word string // its name in the public enum
	code stream.Code
}

// finishReasons are the values of Candidate.FinishReason. A filter cuts off a response as a limit does.
var finishReasons = []finishReason{
	{"FINISH_REASON_UNSPECIFIED", stream.FinishDone}, {"STOP", stream.FinishDone}, {"MAX_TOKENS", stream.FinishCut},
	{"SAFETY", stream.FinishCut}, {"RECITATION", stream.FinishCut}, {"LANGUAGE", stream.FinishCut},
	{"OTHER", stream.FinishCut}, {"BLOCKLIST", stream.FinishCut}, {"PROHIBITED_CONTENT", stream.FinishCut},
	{"SPII", stream.FinishCut}, {"MALFORMED_FUNCTION_CALL", stream.FinishRefused}, {"IMAGE_SAFETY", stream.FinishCut},
	{"UNEXPECTED_TOOL_CALL", stream.FinishRefused}, {"TOO_MANY_TOOL_CALLS", stream.FinishRefused},
	{"IMAGE_PROHIBITED_CONTENT", stream.FinishCut}, {"NO_IMAGE", stream.FinishCut},
	{"IMAGE_RECITATION", stream.FinishCut}, {"IMAGE_OTHER", stream.FinishCut},
}

const malformedCall = 10

func reasonOf(n int64) (r finishReason, known bool) {
	if n < 0 || n >= int64(len(finishReasons)) {
		return finishReason{word: "not known"}, false
	}
	return finishReasons[n], true
}

// nameOf returns the name of n, or n itself.
func nameOf(n int64, words []string) string {
	if n < 0 || n >= int64(len(words)) {
		return strconv.FormatInt(n, 10)
	}
	return words[n]
}

// blockReasons are the values of PromptFeedback.BlockReason.
var blockReasons = []string{
	"BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY",
}

// errorCodes are the values of google.rpc.Code.
var errorCodes = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// Package gemini decodes Google's generateContent protocol: as an event stream (alt=sse), as a JSON
// array sent element by element, and as a complete body; from the Gemini API, from Vertex, and from
// Cloud Code Assist, which wraps each response in another object.
//
// Wire facts are from Google's public SDKs and API reference (types.go and api_client.go of go-genai;
// "Function calling" and "GenerateContentResponse" at ai.google.dev and cloud.google.com/vertex-ai). A
// functionCall part is a complete call, which one chunk opens and makes final. Only Vertex streams
// arguments, as values at paths; there an empty part makes the arguments final. Calls have no index and
// often no id, so the slot of a call is its position in the turn. Only the end of the bytes ends the
// stream; a finishReason says that the end was intended.
package gemini

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the generateContent protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "gemini",
		Title:    "Google Gemini",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Tools:    readTools,
		Model:    readModel,

		Targets: []protocol.Target{target},
	}
}

// ownKeys are fields that only responses of this protocol have, with the first byte of their values.
var ownKeys = map[string]byte{
	"candidates": '[', "usageMetadata": '{', "usage_metadata": '{', "promptFeedback": '{', "prompt_feedback": '{',
	"modelVersion": '"', "model_version": '"',
}

// candidateKeys are fields of a candidate. A candidate has at least one of them.
var candidateKeys = map[string]bool{
	"content": true, "index": true, "finishReason": true, "finish_reason": true, "finishMessage": true, "finish_message": true,
	"safetyRatings": true, "safety_ratings": true, "citationMetadata": true, "citation_metadata": true, "tokenCount": true,
	"token_count": true, "groundingMetadata": true, "grounding_metadata": true, "avgLogprobs": true, "logprobsResult": true,
	"urlContextMetadata": true,
}

// ownKey returns the field of an object that only responses of this protocol have, or "".
func ownKey(object protocol.Raw) string {
	s := object.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key := string(s.Key())
		if kind := ownKeys[key]; kind != 0 && s.Kind() == kind && (key != "candidates" || protocol.ListOf(s, candidateKeys)) {
			return key
		}
	}
	return ""
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	data := protocol.Raw(e.Data)
	if s := data.Scan(); s.Array() {
		data = s.Value()
	}
	var wrapped, err protocol.Raw
	if key := ownKey(data); key != "" {
		return protocol.SniffScore{Points: protocol.Sure, Why: "a response with " + key}
	}
	s := data.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response":
			wrapped = s.Value()
		case "error":
			err = s.Value()
		}
	}
	if key := ownKey(wrapped); key != "" {
		return protocol.SniffScore{Points: protocol.Sure, Why: "Cloud Code's wrapper around a response with " + key}
	}
	_, isNumber := err.Get("code").Int()
	switch {
	case isNumber && err.Get("status").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "an error of a Google API"}
	case strings.Contains(e.Path, ":streamGenerateContent"), strings.Contains(e.Path, ":generateContent"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

// finishCodes are the finish reasons. Filters cut off a response like a limit. A number is the same
// reason for a client that asked for enums as numbers. Numbers up to 5 are the same everywhere. From 6
// on the Gemini API and Vertex differ, but all numbers before the malformed call's are filters.
var finishCodes = map[string]stream.Code{
	"STOP": stream.FinishDone, "1": stream.FinishDone,
	"MAX_TOKENS": stream.FinishCut, "2": stream.FinishCut,

	"SAFETY": stream.FinishCut, "RECITATION": stream.FinishCut, "LANGUAGE": stream.FinishCut, "OTHER": stream.FinishCut,
	"BLOCKLIST": stream.FinishCut, "PROHIBITED_CONTENT": stream.FinishCut, "SPII": stream.FinishCut, "MODEL_ARMOR": stream.FinishCut,
	"IMAGE_SAFETY": stream.FinishCut, "IMAGE_PROHIBITED_CONTENT": stream.FinishCut, "IMAGE_RECITATION": stream.FinishCut,
	"IMAGE_OTHER": stream.FinishCut, "NO_IMAGE": stream.FinishCut,
	"3": stream.FinishCut, "4": stream.FinishCut, "5": stream.FinishCut, "6": stream.FinishCut, "7": stream.FinishCut, "8": stream.FinishCut,

	malformedCall: stream.FinishRefused, "MALFORMED_RESPONSE": stream.FinishRefused, "10": stream.FinishRefused,
	unexpectedCall: stream.FinishRefused, "TOO_MANY_TOOL_CALLS": stream.FinishRefused, "MISSING_THOUGHT_SIGNATURE": stream.FinishRefused,
}

const (
	malformedCall  = "MALFORMED_FUNCTION_CALL"
	unexpectedCall = "UNEXPECTED_TOOL_CALL"
)

// tiers are the kinds of traffic with their own price.
var tiers = map[string]string{"ON_DEMAND_PRIORITY": "priority", "ON_DEMAND_FLEX": "flex"}

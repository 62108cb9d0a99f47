package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// errorShape is the form in which a provider writes errors.
type errorShape struct {
	name  string
	paths []string // of its requests' paths
	marks []string // of its responses' bodies
	body  func(status int, message string) any
}

// shapes are tried in this order; the last one is the default.
var shapes = []errorShape{
	{"bedrock", []string{"/converse", "/invoke"}, []string{":event-type"}, messageError},
	{"gemini", []string{":generateContent", ":streamGenerateContent", "/interactions"}, []string{`"candidates"`}, geminiError},
	{"anthropic", []string{"/v1/messages", ":rawPredict", ":streamRawPredict"}, []string{"message_start", `"type":"message"`}, anthropicError},
	{"ollama", []string{"/api/chat", "/api/generate"}, []string{`"created_at":"`}, func(_ int, message string) any {
		return map[string]any{"error": message}
	}},
	{"cohere", []string{"/v2/chat"}, []string{"message-start"}, messageError},
	{"openai", nil, nil, openAIError},
}

// shapeOf chooses by the request's path or, if that is unknown, by the beginning of a recorded
// response, which may be empty.
func shapeOf(path string, answer []byte) errorShape {
	last := len(shapes) - 1
	by := func(found func(s errorShape) bool) int { return slices.IndexFunc(shapes[:last], found) }
	i := by(func(s errorShape) bool {
		return slices.ContainsFunc(s.paths, func(part string) bool { return strings.Contains(path, part) })
	})
	if i < 0 && len(answer) > 0 {
		i = by(func(s errorShape) bool {
			return slices.ContainsFunc(s.marks, func(mark string) bool { return bytes.Contains(answer, []byte(mark)) })
		})
	}
	if i < 0 {
		i = last
	}
	return shapes[i]
}

// Status returns the HTTP status of a fault that answers in the provider's place.
func (f Fault) Status() int { return f.n }

// Refuse answers a request for such a fault, and returns the body. The error message names who. path
// is the request's; answer is the beginning of a recorded response without a path, or empty.
// Bedrock's clients recognise an error by its header, the others by its body.
func (f Fault) Refuse(w http.ResponseWriter, who, path string, answer []byte) []byte {
	s := shapeOf(path, answer)
	switch f.n {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, overloaded:
		w.Header().Set("Retry-After", "1")
	}
	if s.name == "bedrock" {
		w.Header().Set("X-Amzn-Errortype", awsError(f.n))
	}
	return writeJSON(w, f.n, s.body(f.n, who+" sends this error because of --fault "+f.String()))
}

// overloaded is a status that only Anthropic uses.
const overloaded = 529

// messageError is the form of Bedrock and Cohere.
func messageError(_ int, message string) any { return map[string]any{"message": message} }

// anthropicError is the form of Anthropic:
// https://docs.claude.com/en/api/errors
func anthropicError(status int, message string) any {
	kinds := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", overloaded: "overloaded_error",
	}
	return errorBody(cmp.Or(kinds[status], "api_error"), message)
}

// openAIError is the form of OpenAI:
// https://platform.openai.com/docs/guides/error-codes
func openAIError(status int, message string) any {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
}

// geminiError is the form of Gemini:
// https://ai.google.dev/gemini-api/docs/troubleshooting and google/rpc/code.proto
func geminiError(status int, message string) any {
	words := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": cmp.Or(words[status], "UNKNOWN")}}
}

// awsError returns the name of Bedrock's exception for a status:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
func awsError(status int) string {
	words := map[int]string{
		400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
		408: "ModelTimeoutException", 424: "ModelErrorException", 429: "ThrottlingException",
		503: "ServiceUnavailableException",
	}
	return cmp.Or(words[status], "InternalServerException")
}

func errorBody(kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

// Error answers with an error that has no particular provider's form.
func Error(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorBody(kind, message))
}

func writeJSON(w http.ResponseWriter, status int, body any) []byte {
	text, _ := json.Marshal(body) // maps of strings and numbers can't fail
	text = append(text, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
	return text
}

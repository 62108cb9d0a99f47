package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// shape is how a provider writes an error.
type shape struct {
	name  string
	paths []string // in the path of its requests
	marks []string // in the bytes of its responses
	body  func(status int, message string) any
}

// shapes are tried in this order; the last one is everybody else's.
var shapes = []shape{
	{"bedrock", []string{"/converse", "/invoke"}, []string{":event-type"}, messageError},
	{"gemini", []string{":generateContent", ":streamGenerateContent", "/interactions"}, []string{`"candidates"`}, geminiError},
	{"anthropic", []string{"/v1/messages", ":rawPredict", ":streamRawPredict"}, []string{"message_start", `"type":"message"`}, anthropicError},
	{"ollama", []string{"/api/chat", "/api/generate"}, []string{`"created_at":"`}, func(_ int, message string) any {
		return map[string]any{"error": message}
	}},
	{"cohere", []string{"/v2/chat"}, []string{"message-start"}, messageError},
	{"openai", nil, nil, openAIError},
}

// shapeOf goes by the request's path and, where that tells nothing, by what the exchange holds.
func shapeOf(path string, x *Exchange) shape {
	last := len(shapes) - 1
	by := func(found func(s shape) bool) int { return slices.IndexFunc(shapes[:last], found) }
	i := by(func(s shape) bool {
		return slices.ContainsFunc(s.paths, func(part string) bool { return strings.Contains(path, part) })
	})
	if i < 0 && x.URL == "" {
		start := x.start()
		i = by(func(s shape) bool {
			return slices.ContainsFunc(s.marks, func(mark string) bool { return bytes.Contains(start, []byte(mark)) })
		})
	}
	if i < 0 {
		i = last
	}
	return shapes[i]
}

// refuse answers a status fault. Bedrock's clients know an error by its header, the others by its
// body.
func refuse(w http.ResponseWriter, s shape, f Fault) {
	switch f.n {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, overloaded:
		w.Header().Set("Retry-After", "1")
	}
	if s.name == "bedrock" {
		w.Header().Set("X-Amzn-Errortype", awsError(f.n))
	}
	send(w, f.n, s.body(f.n, "toolscope serve answers so because of --fault "+f.String()))
}

// overloaded is Anthropic's own status.
const overloaded = 529

// messageError is Bedrock's and Cohere's.
func messageError(_ int, message string) any { return map[string]any{"message": message} }

// anthropicError: https://docs.claude.com/en/api/errors
func anthropicError(status int, message string) any {
	kinds := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", overloaded: "overloaded_error",
	}
	return errorBody(cmp.Or(kinds[status], "api_error"), message)
}

// openAIError: https://platform.openai.com/docs/guides/error-codes
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

// geminiError: https://ai.google.dev/gemini-api/docs/troubleshooting and google/rpc/code.proto
func geminiError(status int, message string) any {
	words := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": cmp.Or(words[status], "UNKNOWN")}}
}

// awsError:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
func awsError(status int) string {
	words := map[int]string{
		400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
		408: "ModelTimeoutException", 424: "ModelErrorException", 429: "ThrottlingException",
		503: "ServiceUnavailableException",
	}
	return cmp.Or(words[status], "InternalServerException")
}

// notFound names the paths there are.
func (p *Provider) notFound(w http.ResponseWriter, r *http.Request) {
	var paths []string
	for _, e := range p.entries {
		if line := e.request(); !slices.Contains(paths, line) {
			paths = append(paths, line)
		}
	}
	const most = 20
	if n := len(paths) - most; n > 0 {
		paths = append(paths[:most], fmt.Sprintf("%d more", n))
	}
	message := fmt.Sprintf("no recorded exchange answers %s %s; there are: %s", printable(r.Method), escaped(r.URL.Path), strings.Join(paths, ", "))
	sendError(w, http.StatusNotFound, "not_found_error", message)
}

// describe tells in words what is served.
func (p *Provider) describe(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprintf(w, "toolscope serve: %d recorded exchanges\n\n", len(p.entries))
	for _, e := range p.entries {
		fmt.Fprintf(w, "%s  %s  (%s)\n", e.request(), e.About(), printable(e.File))
	}
	for _, f := range p.options.Faults {
		fmt.Fprintf(w, "fault: %s\n", f)
	}
}

// request is what the exchange answers, in safe words.
func (x *Exchange) request() string {
	switch {
	case x.URL == "":
		return "any POST"
	case x.Method == "":
		return "any method " + escaped(x.Path())
	}
	return printable(x.Method) + " " + escaped(x.Path())
}

// About tells what the response is, in a few words.
func (x *Exchange) About() string {
	if x.silent() {
		return "no answer"
	}
	words := fmt.Sprintf("%d, %d chunks", x.status(), len(x.Chunks))
	if len(x.Chunks) == 1 {
		words = strings.TrimSuffix(words, "s")
	}
	if x.EndAfter > 0 {
		words += fmt.Sprintf(" in %.1f s", x.EndAfter.Seconds())
	}
	if x.Cut {
		words += ", cut off"
	}
	return words
}

func sendError(w http.ResponseWriter, status int, kind, message string) {
	send(w, status, errorBody(kind, message))
}

func errorBody(kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

func send(w http.ResponseWriter, status int, body any) {
	text, _ := json.Marshal(body) // maps of strings and numbers cannot fail
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// escaped is a path as a URL has it: ASCII that is safe to print.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// printable quotes text that is not safe to print as it is.
func printable(text string) string {
	if quoted := strconv.QuoteToASCII(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

package providers

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// PayloadGuess is the kind of a text of unknown origin.
type PayloadGuess int8

// The kinds.
const (
	LooksLikeNothing PayloadGuess = iota // neither a response nor a request of a provider
	LooksLikeChunk                       // one event of a stream, or a part of a response
	LooksLikeBody                        // a complete response, or a list of chunks
	LooksLikeEvents                      // text of an event stream
	LooksLikeRequest                     // a request to a provider
)

// LooksLike guesses the kind of a text. It claims a kind only if a protocol is nearly sure.
func LooksLike(text []byte) PayloadGuess {
	text = textOf(text)
	if len(text) == 0 {
		return LooksLikeNothing
	}
	switch text[0] {
	case '{':
		return guessObject(text)
	case '[':
		return guessList(text)
	}
	if _, is := looksLikeSSE(text); is && hasKnownEvent(text) {
		return LooksLikeEvents
	}
	return LooksLikeNothing
}

// isClaimed reports whether a protocol is nearly sure that the evidence is its own.
func isClaimed(e protocol.SniffInput) bool {
	_, score := bestProtocol(e)
	return score.Points >= protocol.Strong
}

// guessObject guesses the kind of an object. An error object alone may come from any service.
func guessObject(text []byte) PayloadGuess {
	switch kind := protocol.Raw(text).Get("type"); {
	case kind.Is("error") && protocol.Raw(text).Get("sequence_number") == nil:
		return LooksLikeNothing
	case isClaimed(protocol.SniffInput{Data: text}) && isCompleteResponse(text):
		return LooksLikeBody
	case isClaimed(protocol.SniffInput{Data: text}):
		return LooksLikeChunk
	case isRequestBody(text):
		return LooksLikeRequest
	}
	return LooksLikeNothing
}

// isCompleteResponse reports whether an object that a protocol claims is a response, not a part of one.
// Gemini and Ollama send the same object in both cases.
func isCompleteResponse(body protocol.Raw) bool {
	switch body.Get("object").Text() {
	case "chat.completion", "text_completion", "response", "interaction":
		return true
	}
	if body.Get("type").Is("message") || body.Get("output").Get("message").Kind() == '{' {
		return true
	}
	if s := body.Get("choices").Scan(); s.Array() {
		return s.Value().Get("message").Kind() == '{'
	}
	return body.Get("message").Kind() == '{' && body.Get("finish_reason").IsString()
}

// isRequestBody reports whether an object is the body of a request: it has a history, and fields such as a
// model or tools.
func isRequestBody(body protocol.Raw) bool {
	var model, messages, input, contents, tools, config, system, inference protocol.Raw
	if protocol.Read(body,
		protocol.Value("model", &model), protocol.Value("messages", &messages), protocol.Value("input", &input),
		protocol.Value("contents", &contents), protocol.Value("tools", &tools), protocol.Value("generationConfig", &config),
		protocol.Value("system", &system), protocol.Value("inferenceConfig", &inference)) != nil {
		return false
	}
	switch {
	case messages.Kind() == '[':
		return model.IsString() || inference.Kind() == '{' || tools.Kind() == '[' || system != nil
	case input != nil:
		return model.IsString() && (input.Kind() == '[' || tools.Kind() == '[')
	case contents.Kind() == '[':
		s := contents.Scan()
		return s.Array() && s.Value().Get("parts").Kind() == '['
	}
	return false
}

// guessList guesses the kind of a list by its first element.
func guessList(text []byte) PayloadGuess {
	s := protocol.Scan(text)
	if !s.Array() {
		return LooksLikeNothing
	}
	first := s.Value()
	if first.Kind() == '{' && isClaimed(protocol.SniffInput{Data: first}) {
		return LooksLikeBody
	}
	if first.Kind() == '[' && isClaimed(protocol.SniffInput{Data: text}) {
		return LooksLikeBody
	}
	return LooksLikeNothing
}

// hasKnownEvent reports whether one of the first events of a stream identifies its protocol.
func hasKnownEvent(text []byte) (ok bool) {
	const enough = 64 << 10
	look := func(f stream.Frame) {
		ok = ok || isClaimed(protocol.SniffInput{Event: f.Event, Data: f.Data})
	}
	var sse stream.SSE
	sse.Write(text[:min(len(text), enough)], look)
	if !ok {
		sse.Close(look)
	}
	return ok
}

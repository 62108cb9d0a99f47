package protocol

import "bytes"

// textCallFinder finds a call in the text of a turn.
type textCallFinder struct {
	window []byte // the last bytes seen, because deltas may split a marker
	found  bool
}

// leakMarkers start a call in the formats of Hermes and Qwen, Mistral, Kimi and Phi, DeepSeek, Llama,
// and gpt-oss.
var leakMarkers = [][]byte{
	[]byte("<tool_call>"), []byte("[TOOL_CALLS]"), []byte("<|tool_call"), []byte("<｜tool▁call"),
	[]byte("<function="), []byte("<|python_tag|>"), []byte("<|channel|>commentary to=functions."),
}

const longestMarker = 40

// showsCall reports whether text, together with the text before it, contains a call. It is true at most
// once.
func (l *textCallFinder) showsCall(text string) bool {
	if l.found {
		return false
	}
	l.window = append(l.window, text...)
	for _, m := range leakMarkers {
		l.found = l.found || bytes.Contains(l.window, m)
	}
	if n := len(l.window); n > longestMarker {
		l.window = append(l.window[:0], l.window[n-longestMarker:]...)
	}
	return l.found
}

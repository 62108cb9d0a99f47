package providers

import (
	"bytes"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
)

var (
	resultMadeUp = &stream.Diagnosis{
		Code: "RESULT_MADE_UP", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn}, By: stream.Client,
		Verdict:      "invented",
		SeverityNote: "warn if toolscope saw the tool run",
		Meaning:      "The client had no result from the tool, so it sent a sentence of its own. The model reads this sentence as the tool's result.",
		Advice:       "Find out whether the tool ran: the client may have lost the result or stopped the tool. The tool may have changed files or other data.",
	}
	mediaAsText = &stream.Diagnosis{
		Code: "MEDIA_AS_TEXT", Severity: stream.Info, By: stream.Client,
		Meaning: "A result contains a picture or document as base64 text. The model can't see the picture or document. The provider counts the text, which is often many thousands of tokens.",
		Advice:  "Send the picture or document as a media block, or leave it out of the result.",
	}
)

// madeUpResults lists sentences that clients send instead of a result, with the clients.
var madeUpResults = []struct {
	words, client string
	more          bool // the result may continue after the words
}{
	{"[Tool result missing due to internal error]", "claude-code", false},
	{"[openclaw] missing tool result in session history; inserted", "openclaw", true},
	{"[moltbot] missing tool result in session history; inserted", "moltbot", true},
	{"[goclaw] missing tool result in session history; inserted", "goclaw", true},
	{"No result provided", "pi", false},
	{"Tool execution aborted", "opencode", false},
	{"[Tool execution was interrupted]", "opencode", false}, // opencode ended in the middle of the response
}

// IsMadeUp reports whether a result is a sentence from a client, not from a tool. A result that only quotes
// such a sentence is from a tool.
func IsMadeUp(result string) bool { return madeUpBy(result) != "" }

// ToolOutcome returns the outcome of a tool, as a request sent it back: ResultOK, ResultFailed, or 0 if the request has no
// result from the tool. A sentence that the client sent instead of a result is not a result.
func ToolOutcome(r *stream.SentBackCall) stream.Code {
	if r == nil || IsMadeUp(r.Result.Text) {
		return 0
	}
	return r.ResultCode
}

// maxMadeUp is the maximum length of a client's sentence. A longer result that begins with such a sentence is
// not from a client.
const maxMadeUp = 200

// madeUpBy returns the client that made up a result, or "" if the result is from a tool.
func madeUpBy(result string) string {
	if len(result) > maxMadeUp {
		return ""
	}
	for _, s := range madeUpResults {
		if rest, ok := strings.CutPrefix(result, s.words); ok && (s.more || strings.Trim(rest, ". \n") == "") {
			return s.client
		}
	}
	return ""
}

// reportResult reports that a client made up a call's result, or that the result contains a picture or
// document as text.
func (h *history) reportResult(ref stream.Ref, result []byte) {
	t, c := h.x.in.Session().Find(ref)
	if t == nil || c == nil {
		return
	}
	var f stream.Finding
	if client := madeUpBy(string(result[:min(len(result), maxMadeUp+1)])); client != "" {
		f = resultMadeUp.Finding("the client made up this result, because the tool returned none: %s", stream.Fact(result))
		if len(c.Runs) > 0 {
			f = resultMadeUp.WithSeverity(stream.Warn).Finding("the client made up this result, but the tool was run: %s", stream.Fact(result))
		}
		f = f.WithDetail("made_up", "client", client)
	} else if kind, at, size := findMedia(result); size > 0 {
		f = mediaAsText.Finding("the result contains %s as base64 text: %s of %d", stream.OwnFact(kind), stream.Own(count.Of(size, "byte")), len(result)).
			WithDetail("media_as_text", "media", kind, "bytes", size, "offset", at)
	} else {
		return
	}
	h.x.in.Timeline.Append(stream.Event{Kind: stream.Found, At: h.x.at, Turn: ref.Turn, Slot: c.Slot, Frame: t.LastFrame, What: &f})
}

// mediaStarts lists the first bytes of media in base64.
var mediaStarts = []struct{ start, kind string }{
	{"iVBORw0KGgo", "a PNG picture"}, {"/9j/", "a JPEG picture"}, {"R0lGOD", "a GIF picture"}, {"UklGR", "a WebP picture"}, {"JVBERi0", "a PDF document"},
}

// minMediaText is the minimum length of base64 text that is reported. Shorter media don't cost much.
const minMediaText = 1024

// findMedia returns the first media in a result that are in base64, if they are at least half of the result.
func findMedia(result []byte) (kind string, at, size int) {
	if len(result) < minMediaText {
		return "", 0, 0
	}
	for _, m := range mediaStarts {
		at := bytes.Index(result[:len(result)/2], []byte(m.start))
		if at < 0 || at > 0 && isBase64(result[at-1]) && !bytes.HasSuffix(result[:at], []byte("base64,")) {
			continue
		}
		end := at
		for end < len(result) && (isBase64(result[end]) || result[end] == '=') {
			end++
		}
		if size := end - at; size >= minMediaText && 2*size >= len(result) {
			return m.kind, at, size
		}
	}
	return "", 0, 0
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

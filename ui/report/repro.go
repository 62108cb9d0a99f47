package report

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"toolscope/stream/tag"
)

// A Body is a response from which a repro is made.
type Body struct {
	Bytes  []byte
	Events bool  // the frames are server-sent events
	Ends   []int // end offsets of the frames, in order
	Calls  []Args
	Models map[string]bool // names of public models, which stay unchanged
}

// Args are the arguments of a call, with the frame of each delta.
type Args struct {
	Text     []byte
	Freeform bool
	Deltas   []Delta
}

// A Delta is a range of the arguments, and the number of the frame that contains it.
type Delta struct{ Start, End, Frame int }

// A DeltaPlaceholder is the text of a delta and its placeholder.
type DeltaPlaceholder struct{ Text, Placeholder string }

// Repro returns the body with placeholders for all its contents: texts, names, ids and values. A placeholder has
// the same length and the same spelling (letter case, escapes) as the original. Equal originals have equal
// placeholders. So the stream stays malformed in the same way. Words that belong to a protocol do not change.
func (b *Body) Repro() []byte {
	one := *b
	ReplaceAll([]*Body{&one})
	return one.Bytes
}

// ReplaceAll replaces the contents of several bodies, as Repro does. Equal originals in different bodies have equal
// placeholders.
func ReplaceAll(bodies []*Body) {
	w := &placeholderWalker{names: new(node), numbers: new(node), models: map[string]bool{}}
	for _, b := range bodies {
		maps.Copy(w.models, b.Models)
	}
	for _, b := range bodies {
		deltas := map[int][]DeltaPlaceholder{}
		for _, c := range b.Calls {
			stand := bytes.Clone(c.Text)
			if c.Freeform {
				replaceText(stand)
			} else {
				w.replaceJSON(stand, true)
			}
			for _, d := range c.Deltas {
				deltas[d.Frame] = append(deltas[d.Frame], DeltaPlaceholder{string(c.Text[d.Start:d.End]), string(stand[d.Start:d.End])})
			}
		}
		b.Bytes = bytes.Clone(b.Bytes)
		start := 0
		for n, end := range append(b.Ends[:len(b.Ends):len(b.Ends)], len(b.Bytes)) {
			w.placeholders = deltas[n]
			frame := b.Bytes[start:end]
			switch {
			case b.Events:
				w.replaceEvent(frame)
			case !w.replaceMessage(frame):
				w.replacePayload(frame)
			}
			start = end
		}
	}
}

// replacePayload replaces the contents of a frame. The frame is either JSON or plain text.
func (w *placeholderWalker) replacePayload(p []byte) {
	begin := bytes.TrimLeft(p, " \t\r\n,\ufeff")
	if len(begin) > 0 && strings.IndexByte("{[\"-0123456789])", begin[0]) < 0 && !bytes.HasPrefix(begin, []byte("null")) && !bytes.HasPrefix(begin, []byte("[DONE]")) {
		replaceText(p)
		return
	}
	w.replaceJSON(p, false)
}

// replaceEvent replaces the contents of a server-sent event. Its data lines are one payload.
func (w *placeholderWalker) replaceEvent(frame []byte) {
	var payload []byte
	var from []int // offset of each payload byte in the frame; -1 for line breaks between data lines
	for start := 0; start < len(frame); {
		end := start + lineLen(frame[start:])
		line := bytes.TrimRight(frame[start:end], "\r\n")
		name, value, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(":"))
		switch string(name) {
		case "data":
			if payload != nil {
				payload, from = append(payload, '\n'), append(from, -1)
			}
			payload = append(payload, value...)
			for i := range value {
				from = append(from, start+len(line)-len(value)+i)
			}
		case "event", "retry":
		case "", "id": // "" begins a comment
			replaceText(value)
		default:
			w.replacePayload(line)
		}
		start = end
	}
	w.replacePayload(payload)
	for i, at := range from {
		if at >= 0 {
			frame[at] = payload[i]
		}
	}
}

// lineLen returns the length of the first line of p, with its line break.
func lineLen(p []byte) int {
	n := bytes.IndexAny(p, "\r\n")
	switch {
	case n < 0:
		return len(p)
	case p[n] == '\r' && n+1 < len(p) && p[n+1] == '\n':
		return n + 2
	}
	return n + 1
}

// replaceMessage replaces the payload of a message in AWS's binary event stream. It updates the checksum if
// the old one was correct. The headers do not change, because they are words of the protocol. replaceMessage
// reports whether the frame is such a message.
func (w *placeholderWalker) replaceMessage(frame []byte) bool {
	const prelude, trailer = 12, 4
	if len(frame) < prelude+trailer {
		return false
	}
	total, headers := int(binary.BigEndian.Uint32(frame)), int(binary.BigEndian.Uint32(frame[4:]))
	if crc32.ChecksumIEEE(frame[:8]) != binary.BigEndian.Uint32(frame[8:]) || total != len(frame) || headers > total-prelude-trailer {
		return false
	}
	end := total - trailer
	right := crc32.ChecksumIEEE(frame[:end]) == binary.BigEndian.Uint32(frame[end:])
	w.replacePayload(frame[prelude+headers : end])
	if right {
		binary.BigEndian.PutUint32(frame[end:], crc32.ChecksumIEEE(frame[:end]))
	}
	return true
}

// A CapturedRequest is a request from a capture.
type CapturedRequest struct {
	Method, URL string
	Header      map[string][]string // keys are canonical header names, e.g. "X-Api-Key"
	Body        []byte
	Keys        map[string]string // for each header name, the shell variable that replaces a redacted secret
}

// skippedHeaders are the headers that apply only to one connection, or that curl sets itself.
var skippedHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent",
}

// Curl returns a command for a POSIX shell that sends the request. Only control characters in a URL or a header, which
// HTTP does not allow, need bash, zsh or ksh. Redacted secrets in headers become shell variables. Redacted secrets in
// the body stay redacted.
func (a *CapturedRequest) Curl() []byte {
	var b bytes.Buffer
	words := !strings.ContainsFunc(string(a.Body), isControl) // not every shell has escapes for these, and none can pass a zero byte
	if !words {
		fmt.Fprintf(&b, "printf %%s %s | base64 -d | ", base64.StdEncoding.EncodeToString(a.Body))
	}
	fmt.Fprintf(&b, "curl -N %s", shellQuote(a.URL))
	if a.Method != "" && a.Method != "POST" {
		fmt.Fprintf(&b, " -X %s", shellQuote(a.Method))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		if slices.Contains(skippedHeaders, name) || strings.HasPrefix(name, "X-Stainless-") {
			continue
		}
		for _, value := range a.Header[name] {
			fmt.Fprintf(&b, " \\\n  -H %s", a.headerArg(name, value))
		}
	}
	switch {
	case !words:
		b.WriteString(" \\\n  --data-binary @-")
	case len(a.Body) > 0:
		fmt.Fprintf(&b, " \\\n  --data-binary %s", shellQuote(string(a.Body)))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// headerArg returns a header as a shell argument. A redacted secret becomes a variable. It is the variable
// for the provider's key, or else a variable named after the header.
func (a *CapturedRequest) headerArg(name, value string) string {
	if !tag.IsIn(value) {
		return shellQuote(strings.ToLower(name) + ": " + value)
	}
	variable := a.Keys[name]
	if variable == "" {
		variable = strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	}
	before, _, _ := strings.Cut(value, tag.Start)
	return shellQuote(strings.ToLower(name)+": "+before) + `"$` + variable + `"`
}

// isControl reports whether a terminal could obey a character: a control character other than a line break.
func isControl(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }

// shellQuote quotes a text as one word of a shell command. Control characters other than line breaks are written as
// escapes.
func shellQuote(text string) string {
	if strings.ContainsFunc(text, isControl) {
		// bash, zsh and ksh interpret escapes in $'…'.
		var b strings.Builder
		b.WriteString("$'")
		for i := range len(text) {
			switch c := text[i]; {
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c >= 0x7f:
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('\'')
		return b.String()
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

package mcp

import (
	"bytes"

	"toolscope/stream"
)

// maxMessageBytes is the maximum length of a message that is read.
const maxMessageBytes = 16 << 20

// lineFramer frames a stream of messages, one per line. A line that is too long, or that lacks bytes, is
// dropped.
type lineFramer struct {
	part    []byte
	size    int64 // of the line so far
	lost    bool
	unequal bool // bytes of the line are missing
}

func (l *lineFramer) Write(p []byte, emit func(stream.Frame)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i >= 0
		if !end {
			i = len(p)
		}
		l.size += int64(i)
		if l.lost = l.lost || l.size > maxMessageBytes; l.lost {
			l.part = nil
		} else if len(l.part) > 0 || !end {
			l.part = append(l.part, p[:i]...)
		}
		if !end {
			return
		}
		line := l.part
		if len(line) == 0 {
			line = p[:i]
		}
		l.emit(line, emit)
		p = p[i+1:]
	}
}

func (l *lineFramer) emit(line []byte, emit func(stream.Frame)) {
	f := stream.Frame{Data: bytes.TrimSpace(line), End: l.size}
	if l.lost {
		f = stream.Frame{Kind: stream.FrameResidue, End: l.size, Truncated: l.unequal}
	}
	*l = lineFramer{part: l.part[:0]}
	if len(f.Data) > 0 || f.Kind != stream.FrameData {
		emit(f)
	}
}

// addGap notes missing bytes: the current line is incomplete.
func (l *lineFramer) addGap() { l.lost, l.unequal, l.part = true, true, nil }

// Close emits an unterminated last line, if it could be a message.
func (l *lineFramer) Close(emit func(stream.Frame)) {
	if len(l.part) > 0 && !l.lost {
		f := stream.Frame{Data: bytes.TrimSpace(l.part), End: l.size, Truncated: true}
		*l = lineFramer{}
		emit(f)
	}
}

// bodyFramer frames a body that is one message, or a list of them.
type bodyFramer struct {
	body []byte
	size int64
}

func (w *bodyFramer) Write(p []byte, _ func(stream.Frame)) {
	if w.size += int64(len(p)); w.size > maxMessageBytes {
		w.body = nil
		return
	}
	w.body = append(w.body, p...)
}

func (w *bodyFramer) Close(emit func(stream.Frame)) {
	if len(w.body) > 0 {
		emit(stream.Frame{Data: w.body, End: w.size})
	}
	w.body = nil
}

// noMessages ignores a body without messages, such as the text of a web server's error.
type noMessages struct{}

func (noMessages) Write([]byte, func(stream.Frame)) {}
func (noMessages) Close(func(stream.Frame))         {}

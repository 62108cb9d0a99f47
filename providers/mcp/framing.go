package mcp

import (
	"bytes"

	"toolscope/stream"
)

// maxMessageBytes is how long a message may be to be read.
const maxMessageBytes = 16 << 20

// lineFramer are messages of a stream, one a line. Of a line that is too long, or of which bytes were not
// seen, nothing is kept.
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

// addGap says that bytes are missing here: the line that is read is not what was sent.
func (l *lineFramer) addGap() { l.lost, l.unequal, l.part = true, true, nil }

// Close gives a line that has no end, if it could be a message.
func (l *lineFramer) Close(emit func(stream.Frame)) {
	if len(l.part) > 0 && !l.lost {
		f := stream.Frame{Data: bytes.TrimSpace(l.part), End: l.size, Truncated: true}
		*l = lineFramer{}
		emit(f)
	}
}

// bodyFramer is a body that is one message, or a list of them.
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

// noMessages is a body that is no message: what a web server says that refuses.
type noMessages struct{}

func (noMessages) Write([]byte, func(stream.Frame)) {}
func (noMessages) Close(func(stream.Frame))         {}

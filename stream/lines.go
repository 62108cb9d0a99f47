package stream

import "bytes"

// Lines frames newline-delimited JSON: one frame per line, blank lines skipped. A CR before the LF is
// dropped. The zero value is ready.
type Lines struct {
	pos  int64
	line chunkBuffer
	any  bool
}

// Write frames p.
func (l *Lines) Write(p []byte, emit func(Frame)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.line.add(p)
			l.pos += int64(len(p))
			return
		}
		line := p[:i]
		if !l.line.isEmpty() {
			l.line.add(line)
			line = l.line.joinBytes()
		}
		l.pos += int64(i + 1)
		l.emit(line, false, emit)
		l.line.reset()
		p = p[i+1:]
	}
}

// Close emits the unterminated last line, marked Truncated.
func (l *Lines) Close(emit func(Frame)) {
	l.emit(l.line.joinBytes(), true, emit)
	l.line.reset()
}

func (l *Lines) emit(line []byte, cut bool, emit func(Frame)) {
	if !l.any {
		line = bytes.TrimPrefix(line, utf8BOM)
	}
	l.any = true
	if line = bytes.TrimSpace(line); len(line) > 0 {
		emit(Frame{Data: line, End: l.pos, Truncated: cut})
	}
}

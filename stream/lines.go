package stream

import "bytes"

// Lines frames newline-delimited JSON: one frame a line, blank lines skipped. A CR before the LF is
// dropped. The zero value is ready.
type Lines struct {
	pos  int64
	line pieces
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
		if !l.line.empty() {
			l.line.add(line)
			line = l.line.whole()
		}
		l.pos += int64(i + 1)
		l.emit(line, false, emit)
		l.line.clear()
		p = p[i+1:]
	}
}

// Close emits the unterminated last line, marked Cut.
func (l *Lines) Close(emit func(Frame)) {
	l.emit(l.line.whole(), true, emit)
	l.line.clear()
}

func (l *Lines) emit(line []byte, cut bool, emit func(Frame)) {
	if !l.any {
		line = bytes.TrimPrefix(line, utf8BOM)
	}
	l.any = true
	if line = bytes.TrimSpace(line); len(line) > 0 {
		emit(Frame{Data: line, End: l.pos, Cut: cut})
	}
}

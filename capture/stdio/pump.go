package stdio

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	drainTime = 250 * time.Millisecond // for what others hold open of an ended process, once it is silent
	tailTime  = time.Second            // for the reader of an ended process that was told to end
)

// A pump passes on what comes of one pipe.
type pump struct {
	done    atomic.Bool
	writing atomic.Bool
	pieces  atomic.Int64
}

// copyPipe hands a copy of each piece to take before it passes it on. Where nobody reads any more the
// pipe is closed, so that the process learns of it as it would without us.
func (p *pump) copyPipe(from, to *os.File, take func([]byte), unwanted func()) {
	defer p.done.Store(true)
	defer from.Close()
	piece := make([]byte, chunkBytes)
	for {
		n, err := from.Read(piece)
		p.writing.Store(true)
		p.pieces.Add(1)
		if n > 0 {
			take(bytes.Clone(piece[:n]))
			if _, err := to.Write(piece[:n]); err != nil {
				unwanted()
				return
			}
		}
		if p.writing.Store(false); err != nil {
			return
		}
	}
}

// waitDrained waits for what the ended process has written: to its end, or, where another process holds
// that open, until nothing comes any more. A reader that is slow to take it is waited for, but not
// for long when it had the process told to end.
func (p *pump) waitDrained(told *atomic.Bool) {
	const step = time.Millisecond
	quiet, stuck := time.Duration(0), time.Duration(0)
	for seen := int64(-1); !p.done.Load() && quiet < drainTime && stuck < tailTime; time.Sleep(step) {
		n := p.pieces.Load()
		switch {
		case n != seen:
			quiet, stuck, seen = 0, 0, n
		case !p.writing.Load():
			quiet += step
		case told.Load():
			stuck += step
		}
	}
}

// lineSplitter hands text over line by line, as many as came at once; a long one in parts.
type lineSplitter struct {
	to   func([]byte)
	mu   sync.Mutex
	part []byte
}

// maxLinePart is how much of a line may wait for its end.
const maxLinePart = 8 << 10

func (l *lineSplitter) add(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	n := bytes.LastIndexByte(l.part, '\n') + 1
	if len(l.part)-n > maxLinePart {
		n = len(l.part)
	}
	l.handLines(n)
}

func (l *lineSplitter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handLines(len(l.part))
}

func (l *lineSplitter) handLines(n int) {
	if text := bytes.TrimRight(l.part[:n], "\r\n"); len(text) > 0 {
		l.to(text)
	}
	l.part = append(l.part[:0], l.part[n:]...)
}

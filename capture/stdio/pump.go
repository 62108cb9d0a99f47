package stdio

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	drainTime = 250 * time.Millisecond // wait after the last output of an ended process, if other processes hold its output open
	tailTime  = time.Second            // maximum wait for a slow reader of an ended process that got a signal
)

// pump passes on the bytes of one pipe.
type pump struct {
	done    atomic.Bool
	writing atomic.Bool
	pieces  atomic.Int64
}

// copyPipe gives a copy of each chunk to take before it passes it on. If the reader has closed its end,
// the pipe is closed, so that the process notices as it would without toolscope.
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

// waitDrained waits for the output of the ended process: to its end or, if another process holds it open,
// until it is silent. It waits for a slow reader too, but not for long if the process got a signal.
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

// lineSplitter passes text on in complete lines, as many as came at once. A long line is split.
type lineSplitter struct {
	to   func([]byte)
	mu   sync.Mutex
	part []byte
}

// maxLinePart is how many bytes of a line may wait for its end.
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

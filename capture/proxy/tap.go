package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
)

// A bodyTap records a body that is being forwarded. Whoever reads from it forwards what he got before
// he reads again, so the bytes of a read are recorded at the next read, or at the end. Their time
// is that of the read.
type bodyTap struct {
	x    *exchange
	side capture.Side
	body io.Reader

	mu   sync.Mutex // the exchange may end while a request is still being read
	held []byte
	at   time.Duration
	note string // for the next record
	size int64  // of what came
	err  error  // what the body ended with
}

func (t *bodyTap) Read(p []byte) (int, error) {
	t.handOver()
	n, err := t.body.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = t.x.noteActivity()
	t.held = bytes.Clone(p[:n])
	t.size += int64(n)
	if err != nil {
		t.err = err
	}
	return n, err
}

func (t *bodyTap) handOver() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) > 0 {
		t.x.putRecord(capture.Record{Side: t.side, At: t.at, Data: t.held, Note: t.note})
		t.note = ""
	}
	t.held = nil
}

// addNote puts words beside what is handed over next.
func (t *bodyTap) addNote(words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = joinWords(t.note, words)
}

// pendingNotes are words behind which nothing came.
func (t *bodyTap) pendingNotes() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note
}

func joinWords(words, more string) string {
	if words != "" && more != "" {
		words += "; "
	}
	return words + more
}

// bodyBytes is how many bytes of the body came.
func (t *bodyTap) bodyBytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// endError is what the body ended with, nil when it was not read to an end. A tap may be nil: then
// there was no body.
func (t *bodyTap) endError() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// responseBody is a response's body with a tap.
type responseBody struct {
	*bodyTap
	io.Closer
}

// maxKeptBytes is how much of a request's body is kept to send it once more. A connection that the
// upstream had closed already, unnoticed, fails before more than a buffer or two was sent.
const maxKeptBytes = 4 * copyBytes

var (
	errUploadOver = errors.New("the exchange is over")
	errUploadGone = errors.New("too much of the request was sent to send it once more")
)

// An upload is a request's body on its way. It streams; its beginning is kept, because net/http
// sends a request once more when it finds that the connection it took from its pool was dead.
type upload struct {
	*bodyTap
	over atomic.Bool // the handler returns: the body must not be read any more

	mu   sync.Mutex // one reader at a time, also when an older one has not noticed yet
	kept []byte     // what was read so far, as long as that is little
	size int        // of what was read so far
}

// newReader reads the body from its beginning.
func (u *upload) newReader() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.size > len(u.kept) {
		return nil, errUploadGone
	}
	return &uploadReader{upload: u}, nil
}

type uploadReader struct {
	*upload
	at     int
	closed atomic.Bool
}

func (r *uploadReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over.Load() || r.closed.Load():
		return 0, errUploadOver
	case r.at < r.size && r.size > len(r.kept):
		return 0, errUploadGone
	case r.at < r.size:
		n := copy(p, r.kept[r.at:])
		r.at += n
		return n, nil
	}
	n, err := r.bodyTap.Read(p)
	if r.size+n <= maxKeptBytes && r.size == len(r.kept) {
		r.kept = append(r.kept, p[:n]...)
	} else {
		r.kept = nil
	}
	r.size += n
	r.at += n
	return n, err
}

// Close leaves the client's body open: the handler's server sees to that.
func (r *uploadReader) Close() error {
	r.closed.Store(true)
	r.bodyTap.handOver()
	return nil
}

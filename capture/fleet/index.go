package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/stream/count"
)

// IndexName is the stream of the index, which has one message for each call. With the index, a view can find
// individual calls of many machines without reading all captures. If a message is lost, only the index lacks the
// call: the captures still contain it.
const IndexName = "TOOLSCOPE_INDEX"

// Subjects of the index have the form toolscope.VERSION.i.SHARD.HOST.AGENT.MODEL.STATUS
const (
	indexKind = "i"
	headUpto  = "Toolscope-Upto" // offset in the capture; all bytes of the call are before it
)

// indexPart is the divisor that determines the index's share of a hub's space.
const indexPart = 16

// An Indexer makes the index lines of a capture's calls.
type Indexer interface {
	Write(capture.Record)
	// Calls returns the calls of turns that have ended and were not returned before. If all is true, no more
	// records follow, and Calls also returns the calls of open turns.
	Calls(all bool) []Call
	// Holds reports whether there is an ended turn whose calls Calls doesn't return yet.
	Holds() bool
}

// A Call is one call of a capture.
type Call struct {
	Exchange      int
	Model, Status string
	Line          []byte // a JSON object and a line break
}

// OpenedExchange locates the beginning of a call's exchange.
type OpenedExchange struct {
	Capture  string `json:"capture"`
	Exchange int    `json:"exchange"` // its number in the capture
	Offset   int64  `json:"offset"`   // number of bytes of the capture before it
}

// noToken represents an unknown value. No other value is escaped to it.
const noToken = "%"

// maxWordBytes is the maximum length of a call's value in a subject. A server ends a connection that sends a subject
// of 4 KiB, and names of models come from the network and can be long.
const maxWordBytes = 128

func indexSubject(o subjectParts, model, status string) string {
	return strings.Join([]string{"toolscope", version, indexKind, shardOf(o.host), subjectToken(o.host), subjectToken(o.agent), callToken(model), callToken(status)}, ".")
}

// callToken returns a call's value as a token of a subject. A long value is replaced with its hash, in a form
// that no other value has.
func callToken(word string) string {
	t := subjectToken(word)
	switch {
	case word == "":
		return noToken
	case len(t) > maxWordBytes:
		sum := sha256.Sum256([]byte(word))
		return "%-" + hex.EncodeToString(sum[:16])
	}
	return t
}

const openedKey = `,"opened":`

// withOpened returns the line with a last field that locates its exchange.
func withOpened(line []byte, at OpenedExchange) []byte {
	text, _ := json.Marshal(at) // encoding strings and numbers can't fail
	line = bytes.TrimSuffix(line, []byte("}\n"))
	return slices.Concat(line, []byte(openedKey), text, []byte("}"))
}

// IndexState counts the calls and bytes that are missing from the index.
type IndexState struct {
	Calls int64  // number of calls that the hub did not take
	Bytes int64  // number of bytes of the capture that were not indexed
	Why   string // "" if nothing is missing and calls can be sent
}

// addSender adds the calls and bytes of a sender's capture that the index lacks.
func (i *IndexState) addSender(s *sender) {
	s.mu.Lock()
	x := s.index
	s.mu.Unlock()
	if x == nil {
		return
	}
	i.addState(x.indexLosses())
}

func (i *IndexState) addState(m IndexState) {
	i.Calls, i.Bytes = i.Calls+m.Calls, i.Bytes+m.Bytes
	if i.Why == "" {
		i.Why = m.Why
	}
}

// wakeIndexer wakes the index sender, if there is one, because the hub has more of the capture.
func (s *sender) wakeIndexer() {
	if s.index != nil {
		select {
		case s.index.bell <- struct{}{}:
		default:
		}
	}
}

// canReindex reports whether a later run that finds this spool can index all of it. If that run could index only a
// part, it couldn't recognise calls that are in the index already. The parameter had is the number of bytes at the
// hub.
func (s *sender) canReindex(had int64) bool {
	first, end, _ := s.spool.Span()
	return had < end && (had <= 0 || first == 0)
}

const (
	indexChunk   = 64 << 10         // number of bytes of a spool that are read at once
	callDelay    = 2 * time.Second  // maximum time that a call waits for its exchange to end
	indexPause   = time.Second / 4  // wait before a failed call is sent again
	noIndexPause = 2 * time.Second  // wait if the index stream doesn't exist
	maxWait      = 10 * time.Minute // maximum wait for new data
)

// indexSender indexes one spool up to the hub's position, so the hub has the bytes of every indexed call.
type indexSender struct {
	o       subjectParts
	from    *sender
	to      Indexer
	feed    *capture.Feed
	bell    chan struct{}
	over    <-chan struct{}
	at      int64         // the spool has been read up to here
	line    int64         // offset of the line that is being read
	opens   map[int]int64 // offsets where exchanges begin
	ends    []int         // ended exchanges with calls that might not be pending yet
	pending []pendingCall

	mu     sync.Mutex
	state  IndexState
	stuck  string // the reason why no call can be sent at the moment
	ended  bool
	unsent int64 // number of calls that were pending at the end
}

// pendingCall is a call that is waiting to be sent.
type pendingCall struct {
	subject  string
	line     []byte
	exchange int
	since    time.Time
	upto     int64
	ended    bool
}

// newIndexSender returns the index sender for a sender's spool. The channel in the parameter over is closed when the
// hub has everything.
func newIndexSender(from *sender, over <-chan struct{}, make func(file string) Indexer) *indexSender {
	o := from.of
	x := &indexSender{o: o, from: from, over: over, to: make(o.host + "/" + o.agent), bell: newBell(), opens: map[int]int64{}}
	x.feed = new(capture.Feeds).Open(capture.Machine{Host: o.host, Agent: o.agent})
	return x
}

func newBell() chan struct{} { return make(chan struct{}, 1) }

// run sends calls as the capture reaches the hub. It ends with ctx, or when the hub has everything and no more calls
// can be sent at the moment. While the hub accepts no calls, the rest of the spool is not read.
func (x *indexSender) run(ctx context.Context, l *link) {
	var stuck error // the reason why the hub doesn't take the pending calls
	for ctx.Err() == nil {
		over := false
		select {
		case <-x.over:
			over = true // checked before hubPosition, so no call is missed
		default:
		}
		has := x.from.hubPosition()
		more := x.at < has
		switch {
		case stuck != nil: // make no more calls pending
		case more:
			x.readChunk(has)
		case over:
			x.holdCalls(x.to.Calls(true), true)
		}
		stuck = x.sendPending(ctx, l)
		x.setTrouble(stuck)
		switch {
		case stuck != nil && over: // the captures are sent, and the index is not worth waiting for
			x.markEnded()
			return
		case stuck != nil:
			x.waitNews(ctx, pauseAfter(stuck), nil)
		case more:
		case !over:
			// Wait until the hub has more of the capture, or until pending calls are due.
			most := maxWait
			if len(x.pending) > 0 {
				most = callDelay / 4
			}
			x.waitNews(ctx, most, x.bell)
		case len(x.pending) == 0:
			x.markEnded()
			return
		}
	}
	x.markEnded()
}

// pauseAfter returns the wait after an error. A missing stream takes longer to fix than a lost connection, and a
// missing permission takes longer still.
func pauseAfter(err error) time.Duration {
	switch {
	case isDenied(err):
		return maxDeniedPause
	case errors.Is(err, errNoIndex) || errors.Is(err, errIndexAway):
		return noIndexPause
	}
	return indexPause
}

// sendPending sends the calls that need not wait any longer.
func (x *indexSender) sendPending(ctx context.Context, l *link) error {
	for len(x.pending) > 0 && (x.pending[0].ended || time.Since(x.pending[0].since) > callDelay) && ctx.Err() == nil {
		if err := x.sendCall(ctx, l, &x.pending[0]); err != nil {
			return err
		}
		x.pending = slices.Delete(x.pending, 0, 1)
	}
	return nil
}

// waitNews waits until bell receives a value, the capture is over or ctx is done, but at most for the given time.
func (x *indexSender) waitNews(ctx context.Context, most time.Duration, bell <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-x.over:
	case <-bell:
	}
}

// readChunk reads the next bytes of the spool.
func (x *indexSender) readChunk(has int64) {
	p := make([]byte, min(indexChunk, has-x.at))
	n, err := x.from.spool.ReadAt(p, x.at)
	hole := (*record.SpoolGap)(nil)
	switch {
	case errors.As(err, &hole):
		x.skipLost(min(hole.End, has), err)
		return
	case err != nil:
		x.skipLost(has, err)
		return
	}
	for p = p[:n]; len(p) > 0; {
		_, rest, whole := bytes.Cut(p, []byte("\n"))
		piece := p[:len(p)-len(rest)] // one line, with its line break
		p = rest
		recs, err := x.feed.Write(nil, piece)
		x.indexRecords(recs)
		if x.at += int64(len(piece)); whole {
			x.line = x.at
		}
		if err != nil {
			x.noteError(err)
		}
		runtime.Gosched() // traffic in the same process has priority
	}
	x.holdCalls(x.to.Calls(false), false)
}

// skipLost skips bytes that can no longer be read, up to the offset in the parameter to, and counts them as not
// indexed.
func (x *indexSender) skipLost(to int64, why error) {
	x.indexRecords(x.feed.AddGap(nil, to-x.at, "never arrived: "+plainReason(why).Error()))
	x.mu.Lock()
	x.state.Bytes += to - x.at
	x.mu.Unlock()
	x.noteError(why)
	x.at, x.line = to, to
}

// indexRecords passes records to the indexer.
func (x *indexSender) indexRecords(recs []capture.Record) {
	for _, r := range recs {
		if _, known := x.opens[r.Exchange]; !known && !r.OfSource() {
			x.opens[r.Exchange] = x.line
		}
		if r.End != "" {
			x.ends = append(x.ends, r.Exchange)
		}
		x.to.Write(r)
	}
}

// holdCalls makes calls pending. A pending call waits until its exchange has ended, so that readers of the exchange
// find its end. It waits for at most callDelay.
func (x *indexSender) holdCalls(calls []Call, all bool) {
	for _, c := range calls {
		at := OpenedExchange{x.o.id, c.Exchange, x.opens[c.Exchange]}
		x.pending = append(x.pending, pendingCall{subject: indexSubject(x.o, c.Model, c.Status), line: withOpened(c.Line, at), exchange: c.Exchange, since: time.Now()})
	}
	for i := range x.pending {
		h := &x.pending[i]
		if !h.ended {
			h.upto, h.ended = x.at, all || slices.Contains(x.ends, h.exchange)
		}
	}
	if x.to.Holds() {
		return
	}
	for _, exchange := range x.ends {
		delete(x.opens, exchange)
	}
	x.ends = x.ends[:0]
}

// sendCall sends a call. A call that the hub refuses is not sent again.
func (x *indexSender) sendCall(ctx context.Context, l *link, h *pendingCall) error {
	if !l.IsConnected() {
		return errDown
	}
	msg := nats.NewMsg(h.subject)
	msg.Data = h.line
	msg.Header.Set(headUpto, strconv.FormatInt(h.upto, 10))
	if len(h.line) >= minZstdBytes {
		if packed := compress(h.line); len(packed) < len(h.line) {
			msg.Data = packed
			msg.Header.Set(headEnc, "zstd")
		}
	}
	var err error
	if room := l.MaxPayload() / 2; int64(len(msg.Data)) > room || len(h.line) > maxSpanBytes {
		err = &publishError{"a call with " + count.Of(len(h.line), "byte") + " is too large for the hub"}
	} else {
		_, err = l.publish(ctx, msg)
	}
	switch refused := (*publishError)(nil); {
	case errors.As(err, &refused):
		x.noteError(err)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.state.Calls++
		return nil
	}
	return err
}

func (x *indexSender) noteError(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Why = plainReason(err).Error()
}

// setTrouble sets the reason why calls can't be sent at the moment, or nil if they can.
func (x *indexSender) setTrouble(stuck error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stuck = ""; stuck != nil {
		x.stuck = plainReason(stuck).Error()
	}
}

// markEnded records that no more calls are sent.
func (x *indexSender) markEnded() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended, x.unsent = true, int64(len(x.pending))
	x.pending = nil
}

// indexLosses counts the calls and bytes that are missing from the index. It excludes calls that the next run will
// index.
func (x *indexSender) indexLosses() (s IndexState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s = x.state; x.ended && !x.from.canReindex(x.from.hubPosition()) {
		_, end, _ := x.from.spool.Span()
		s.Calls, s.Bytes = s.Calls+x.unsent, s.Bytes+max(0, end-x.at)
	}
	switch lacks := s.Calls+s.Bytes > 0; {
	case x.stuck != "" && (lacks || !x.ended):
		s.Why = x.stuck
	case !lacks:
		s.Why = ""
	}
	return s
}

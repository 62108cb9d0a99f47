package fleet

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// captureState is one capture.
type captureState struct {
	subjectParts
	subject string
	feed    *capture.Feed
	next    int64 // offset of what comes next
	silent  bool
	broken  bool // it cannot be read any further
}

// feedMessage makes records of a message. It reports whether something before it is missing.
func (v *View) feedMessage(msg jetstream.Msg, meta *jetstream.MsgMetadata, wanted bool) (missing bool) {
	o, ok := originOf(msg.Subject())
	if !ok || o.version != version {
		v.reportNewer(msg.Subject())
		return false
	}
	f := v.captureFor(o, msg.Subject())
	f.silent = false
	if f.broken {
		return false
	}
	s, err := parseSpan(msg.Headers().Get(headSpan))
	var data []byte
	if err == nil {
		data, err = decompress(msg.Headers().Get(headEnc), msg.Data(), s)
	}
	if err != nil {
		v.reportInvalid(f.subjectParts, err)
		return false
	}
	switch {
	case s.to <= f.next:
		return false // a message that was there before
	case s.from < f.next:
		data = data[f.next-s.from:]
	case s.from > f.next:
		missing = v.noteGap(f, s.from-f.next, msg, meta, wanted)
	}
	f.next = s.to
	v.bytesRead += int64(len(data))
	recs, err := f.feed.Write(v.recs, data)
	v.recs = recs
	if err != nil {
		f.broken = true
		v.reportInvalid(f.subjectParts, err)
	}
	return missing
}

// reportNewer takes a message that another version sent.
func (v *View) reportNewer(subject string) {
	v.mu.Lock()
	v.state.Newer++
	first := v.state.Newer == 1
	v.mu.Unlock()
	if first {
		v.addNote("of another version of toolscope: " + subject)
	}
}

// captureFor is the capture of a subject. One that was dropped goes on where it was.
func (v *View) captureFor(o subjectParts, subject string) *captureState {
	f := v.captures[subject]
	if f == nil {
		next, _ := v.past.get(subject)
		f = &captureState{subjectParts: o, subject: subject, next: next, feed: v.feeds.OpenAt(machineOf(o), v.runKey(o), next)}
		v.captures[subject] = f
		v.order = append(v.order, f)
	}
	return f
}

// machineOf is whose capture something is of.
func machineOf(o subjectParts) capture.Machine { return capture.Machine{Host: o.host, Agent: o.agent} }

// runKey is what all of a capture has in common, and no other of any hub.
func (v *View) runKey(o subjectParts) string {
	return v.of.Server + " " + captureSubject(bytesKind, o.host, o.agent, o.id)
}

// noteGap takes that bytes are missing. Before the first ones of a capture that is no loss, if they
// were there before we looked. What is missing before the time that is wanted is nobody's concern.
func (v *View) noteGap(f *captureState, n int64, msg jetstream.Msg, meta *jetstream.MsgMetadata, wanted bool) (lost bool) {
	lost = f.next > 0 || v.beganInView(msg, meta)
	why := "never came: the hub let go of them, or did not get them"
	v.recs = f.feed.AddGap(v.recs, n, why)
	if lost && wanted {
		v.countLost(f.subjectParts, n, why)
	}
	return lost
}

// countLost counts bytes that never came.
func (v *View) countLost(of subjectParts, n int64, why string) {
	v.mu.Lock()
	v.state.Lost += min(n, math.MaxInt64-v.state.Lost)
	v.state.Gaps++
	v.mu.Unlock()
	v.addCaptureNote(of, fmt.Sprintf("gap: %d bytes of %s/%s %s", n, of.host, of.agent, why))
}

// beganInView reports whether a capture began, by the hub's clock, when we were to see it.
func (v *View) beganInView(msg jetstream.Msg, meta *jetstream.MsgMetadata) bool {
	created, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(headCreated))
	if err != nil || created.IsZero() {
		return false
	}
	return created.Add(-skewOf(msg.Headers(), meta.Timestamp)).After(v.begins)
}

// skewOf is by how much a host's clock is ahead of the hub's.
func skewOf(h nats.Header, at time.Time) time.Duration {
	sent, err := strconv.ParseInt(h.Get(headSent), 10, 64)
	if err != nil {
		return 0
	}
	return time.UnixMilli(sent).Sub(at)
}

// reportInvalid takes a message that makes no sense. What it should have brought is a gap, when the next
// one comes.
func (v *View) reportInvalid(of subjectParts, err error) {
	v.mu.Lock()
	v.state.Invalid++
	v.mu.Unlock()
	v.addCaptureNote(of, fmt.Sprintf("%s/%s: a message makes no sense: %v", of.host, of.agent, err))
}

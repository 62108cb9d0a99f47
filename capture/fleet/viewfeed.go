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

// captureState is the state of one capture.
type captureState struct {
	subjectParts
	subject string
	feed    *capture.Feed
	next    int64 // offset of the next byte
	silent  bool
	broken  bool // it can't be read any further
}

// feedMessage reads the records of a message. It reports whether bytes before it are missing.
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
		return false // a repeated message
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

// reportNewer counts a message of another version.
func (v *View) reportNewer(subject string) {
	v.mu.Lock()
	v.state.Newer++
	first := v.state.Newer == 1
	v.mu.Unlock()
	if first {
		v.addNote("a message of another toolscope version: " + subject)
	}
}

// captureFor returns the capture of a subject. A capture that was dropped continues at its last offset.
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

// machineOf returns the machine of a capture.
func machineOf(o subjectParts) capture.Machine { return capture.Machine{Host: o.host, Agent: o.agent} }

// runKey returns a key that is unique for a capture, also among hubs.
func (v *View) runKey(o subjectParts) string {
	return v.of.Server + " " + captureSubject(bytesKind, o.host, o.agent, o.id)
}

// noteGap records that bytes are missing. At the start of a capture that is not a loss if the capture is
// older than the view. Losses before the requested time are not counted.
func (v *View) noteGap(f *captureState, n int64, msg jetstream.Msg, meta *jetstream.MsgMetadata, wanted bool) (lost bool) {
	lost = f.next > 0 || v.beganInView(msg, meta)
	why := "never arrived: the hub deleted them or never got them"
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

// beganInView reports whether a capture began, by the hub's clock, within the time of the view.
func (v *View) beganInView(msg jetstream.Msg, meta *jetstream.MsgMetadata) bool {
	created, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(headCreated))
	if err != nil || created.IsZero() {
		return false
	}
	return created.Add(-skewOf(msg.Headers(), meta.Timestamp)).After(v.begins)
}

// skewOf returns by how much a host's clock is ahead of the hub's.
func skewOf(h nats.Header, at time.Time) time.Duration {
	sent, err := strconv.ParseInt(h.Get(headSent), 10, 64)
	if err != nil {
		return 0
	}
	return time.UnixMilli(sent).Sub(at)
}

// reportInvalid counts an invalid message. Its bytes become a gap when the next message arrives.
func (v *View) reportInvalid(of subjectParts, err error) {
	v.mu.Lock()
	v.state.Invalid++
	v.mu.Unlock()
	v.addCaptureNote(of, fmt.Sprintf("%s/%s: invalid message: %v", of.host, of.agent, err))
}

// Package fleet carries captures between machines, over NATS JetStream.
//
//	Recorder ─▶ spool ─▶ sender ─▶ hub ─▶ view ─▶ decoder
//
// Terms: A hub is a NATS server with a stream of a known name: toolscope hub or another server. A subject is
// one capture. A message is a range of that capture's bytes. A spool is the capture on the disk of the machine
// that made it. A view reads all or some captures of a hub as one source.
//
// Invariants:
//   - Recording never waits for the hub. Data that the hub doesn't take waits in the spool.
//   - The last message of a subject is the only cursor: the hub has the capture up to its end. The hub
//     accepts a message only directly after it, so nothing is stored twice and nothing is skipped.
//   - After any error, and on every new connection, a sender asks the hub for this cursor and continues
//     there. A hub that lost data gets it again if the spool still has it.
//   - Byte offsets show what is missing: a view drops repeated bytes and counts bytes that never arrived.
//   - An invalid message is a gap in its own capture, and in no other.
package fleet

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"toolscope/stream/count"
)

// StreamName is the stream of the captures.
const StreamName = "TOOLSCOPE"

// A subject has the form toolscope.VERSION.KIND.SHARD.HOST.AGENT.CAPTURE.
const (
	version    = "v1"
	bytesKind  = "b" // ranges of captures
	healthKind = "h" // heartbeats of senders, with their state; not stored
	shards     = 64
)

// These are the headers of a message.
const (
	headSpan    = "Toolscope-Span"    // FROM-TO: the range of the capture's bytes, before encoding
	headCreated = "Toolscope-Created" // time when the capture began, by the machine's clock
	headEnc     = "Toolscope-Enc"     // zstd, or absent
	headSent    = "Toolscope-Sent"    // time when it was sent, in milliseconds of the machine's clock
	headSpooled = "Toolscope-Spooled" // number of bytes that the hub didn't have yet
	headOver    = "Toolscope-Over"    // "1" if the capture has ended and the hub has all of it; only in heartbeats
	headExpect  = "Nats-Expected-Last-Subject-Sequence"
)

// captureSubject returns the subject of a capture.
func captureSubject(kind, host, agent, id string) string {
	return strings.Join([]string{"toolscope", version, kind, shardOf(host), subjectToken(host), subjectToken(agent), id}, ".")
}

func shardOf(host string) string {
	h := fnv.New32a()
	h.Write([]byte(host))
	return strconv.Itoa(int(h.Sum32() % shards))
}

// subjectFilter returns the pattern for the subjects of a machine and an agent, in any version. "" selects all
// machines or agents.
func subjectFilter(kind, host, agent string) string {
	shard, h, a := "*", "*", "*"
	if host != "" {
		shard, h = shardOf(host), subjectToken(host)
	}
	if agent != "" {
		a = subjectToken(agent)
	}
	return strings.Join([]string{"toolscope", "*", kind, shard, h, a, "*"}, ".")
}

// subjectParts are the parts of a capture's subject.
type subjectParts struct{ version, host, agent, id string }

func originOf(subject string) (o subjectParts, ok bool) {
	part := strings.Split(subject, ".")
	if len(part) != 7 {
		return o, false
	}
	return subjectParts{part[1], unescapeToken(part[4]), unescapeToken(part[5]), part[6]}, true
}

// subjectToken escapes text for use as one token of a subject.
func subjectToken(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unescapeToken(token string) string {
	if text, err := url.PathUnescape(token); err == nil {
		return text
	}
	return token
}

// maxNameBytes is the maximum length of a machine's and an agent's names together, as tokens of a subject. The names
// are part of the file names in the spool, and a subject must be shorter than 4 KiB.
const maxNameBytes = 200

// CheckNames returns an error if the names of a machine and an agent are too long.
func CheckNames(host, agent string) error {
	if n := len(subjectToken(host)) + len(subjectToken(agent)); n > maxNameBytes {
		return fmt.Errorf("together, the names of the machine and the agent have %s\nuse at most %d; characters other than letters, digits, - and _ count as three", count.Of(n, "byte"), maxNameBytes)
	}
	return nil
}

// byteRange is the range of a capture's bytes in a message.
type byteRange struct{ from, to int64 }

func (s byteRange) String() string { return fmt.Sprintf("%d-%d", s.from, s.to) }

// maxSpanBytes is larger than the range of any message that a sender makes.
const maxSpanBytes = 8 << 20

// maxCaptureBytes is larger than any capture. A range beyond it is invalid.
const maxCaptureBytes = 1 << 50

func parseSpan(text string) (s byteRange, err error) {
	from, to, _ := strings.Cut(text, "-")
	s.from, err = strconv.ParseInt(from, 10, 64)
	if err == nil {
		s.to, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil || s.from < 0 || s.to <= s.from || s.to-s.from > maxSpanBytes || s.to > maxCaptureBytes {
		return byteRange{}, fmt.Errorf("%q is not a range of bytes", text)
	}
	return s, nil
}

// HubOptions configures a hub.
type HubOptions struct {
	Listen     string // HOST:PORT; port 0 selects a free port
	Store      string // directory of its files
	Keep       time.Duration
	KeepBytes  int64
	SyncAlways bool   // sync each message to disk before acknowledging it, instead of every second
	Auth       string // file with users and permissions, in NATS's format
	Public     bool   // other machines can reach it, so only users in Auth may connect
	Cert, Key  string // files for TLS
	Log        func(string)
}

// clock converts the hub's times to our clock. It needs the time of one moment on both clocks, and assumes that both
// run at the same speed from then on. Neither clock has to be right, and ours may be changed later.
type clock struct{ ours, hubs time.Time }

// addSample records that the hub's clock showed the time in the parameter hubs at some moment between two times of
// our clock.
func (c *clock) addSample(before, after, hubs time.Time) {
	if hubs.IsZero() { // the hub sent no time
		hubs = after
	}
	c.ours, c.hubs = before.Add(after.Sub(before)/2), hubs
}

// toLocal converts a time of the hub to our clock.
func (c *clock) toLocal(hubs time.Time) time.Time { return c.ours.Add(hubs.Sub(c.hubs)) }

// encoder is created on first use and shared by all senders. It encodes two slices at a time.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxSliceBytes), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // only wrong options cause an error
	}
	return e
})

func compress(p []byte) []byte { return encoder().EncodeAll(p, nil) }

// decoder decodes at most as many bytes as one message can contain.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxSpanBytes))
	if err != nil {
		panic(err) // only wrong options cause an error
	}
	return d
})

// decompress returns the decoded bytes of a message. Their number must match the message's range.
func decompress(enc string, data []byte, s byteRange) ([]byte, error) {
	switch enc {
	case "":
	case "zstd":
		var err error
		if data, err = decoder().DecodeAll(data, make([]byte, 0, s.to-s.from)); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	default:
		return nil, fmt.Errorf("unknown encoding %s", enc)
	}
	if int64(len(data)) != s.to-s.from {
		return nil, fmt.Errorf("the message contains %s for the range %s", count.Of(len(data), "byte"), s)
	}
	return data, nil
}

// PublishState is the progress of a publisher.
type PublishState struct {
	Spooled int64  // number of bytes that the hub doesn't have, including bytes from earlier runs
	Losses  Losses // bytes of our capture that are lost for good
	Trouble string // the reason why the hub gets no data at the moment
	Remedy  string // a remedy, if one is known

	Orphaned        int64 // number of bytes from earlier runs that the hub doesn't have
	OrphanedLosses  Losses
	OrphanedTrouble string // "" if it is the same as Trouble

	Index IndexState
}

// Losses are bytes that a hub will never have, by reason.
type Losses []Loss

// Loss is the number of bytes that were lost for one reason.
type Loss struct {
	Bytes int64
	Why   string // the reason, e.g. "never reached the hub: the spool was full"
}

func (l *Losses) add(n int64, why string) {
	i := slices.IndexFunc(*l, func(one Loss) bool { return one.Why == why })
	if i < 0 {
		i = len(*l)
		*l = append(*l, Loss{Why: why})
	}
	(*l)[i].Bytes += n
}

// Bytes returns the total number of lost bytes.
func (l Losses) Bytes() (n int64) {
	for _, one := range l {
		n += one.Bytes
	}
	return n
}

// asError returns the losses as an error, or nil if there are none. The parameter of names the lost data in the
// error's text.
func (l Losses) asError(of string) error {
	var all []string
	for _, one := range l {
		all = append(all, fmt.Sprintf("%s of %s %s", count.Of(one.Bytes, "byte"), of, one.Why))
	}
	if all == nil {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}

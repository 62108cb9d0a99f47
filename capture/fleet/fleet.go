// Package fleet carries captures between machines, over NATS JetStream.
//
//	Recorder ─▶ spool ─▶ sender ─▶ hub ─▶ view ─▶ whoever decodes
//
// Words. A hub is a NATS server with a stream of a known name, ours or anybody's. A subject of it is
// one capture, a message a slice of that capture's bytes. A spool is the capture on the disk of the
// host that made it. A view is the captures of a hub, or some of them, read as one source.
//
// What always holds:
//   - Whoever records never waits for the hub. What the hub does not take waits in the spool.
//   - The last message of a subject is the only cursor: what the hub has ends where that does. Each
//     message is let in only behind that one, so nothing is there twice and nothing is skipped.
//   - On any error, and on every new connection, a sender asks the hub where it is and goes on from
//     there. A hub that forgot is told again what the spool still has.
//   - Offsets say what is missing: a view drops what it has had and counts what never came.
//   - A message that makes no sense is a gap of its capture, and of no other.
package fleet

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"toolscope/stream/count"
)

// StreamName is the stream that captures are in.
const StreamName = "TOOLSCOPE"

// Subjects are: toolscope.VERSION.KIND.SHARD.HOST.AGENT.CAPTURE
const (
	version    = "v1"
	bytesKind  = "b" // slices of captures
	healthKind = "h" // that a sender is there, and how it is doing; nobody keeps it
	shards     = 64
)

// Headers of a message.
const (
	headSpan    = "Toolscope-Span"    // FROM-TO: which bytes of the capture, not encoded
	headCreated = "Toolscope-Created" // when the capture began, by its host's clock
	headEnc     = "Toolscope-Enc"     // zstd, or nothing
	headSent    = "Toolscope-Sent"    // milliseconds of the host's clock when it was sent
	headSpooled = "Toolscope-Spooled" // bytes that the hub does not have yet
	headOver    = "Toolscope-Over"    // 1: the capture has ended, and the hub has all of it; of health alone
	headExpect  = "Nats-Expected-Last-Subject-Sequence"
)

// captureSubject is where a capture is.
func captureSubject(kind, host, agent, id string) string {
	return strings.Join([]string{"toolscope", version, kind, shardOf(host), subjectToken(host), subjectToken(agent), id}, ".")
}

func shardOf(host string) string {
	h := fnv.New32a()
	h.Write([]byte(host))
	return strconv.Itoa(int(h.Sum32() % shards))
}

// subjectFilter is the pattern of the subjects of a host and an agent, "" for all of them, in any version.
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

// subjectParts is what a subject says.
type subjectParts struct{ version, host, agent, id string }

func originOf(subject string) (o subjectParts, ok bool) {
	part := strings.Split(subject, ".")
	if len(part) != 7 {
		return o, false
	}
	return subjectParts{part[1], unescapeToken(part[4]), unescapeToken(part[5]), part[6]}, true
}

// subjectToken is text as one word of a subject.
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

// maxNameBytes is how long the names of a machine and of what is seen there are together, as words of a
// subject: files of the spool are called by them, and no subject may have 4 KiB.
const maxNameBytes = 200

// CheckNames reports names that are too long.
func CheckNames(host, agent string) error {
	if n := len(subjectToken(host)) + len(subjectToken(agent)); n > maxNameBytes {
		return fmt.Errorf("the names of the machine and of what is seen have %s together\nwanted are at most %d, where signs but letters, digits, - and _ count three times", count.Of(n, "byte"), maxNameBytes)
	}
	return nil
}

// byteRange is which bytes of a capture a message has.
type byteRange struct{ from, to int64 }

func (s byteRange) String() string { return fmt.Sprintf("%d-%d", s.from, s.to) }

// maxSpanBytes is more than any sender puts into one message.
const maxSpanBytes = 8 << 20

// maxCaptureBytes is more than the bytes of any capture: a span beyond it is none.
const maxCaptureBytes = 1 << 50

func parseSpan(text string) (s byteRange, err error) {
	from, to, _ := strings.Cut(text, "-")
	s.from, err = strconv.ParseInt(from, 10, 64)
	if err == nil {
		s.to, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil || s.from < 0 || s.to <= s.from || s.to-s.from > maxSpanBytes || s.to > maxCaptureBytes {
		return byteRange{}, fmt.Errorf("%q is no span", text)
	}
	return s, nil
}

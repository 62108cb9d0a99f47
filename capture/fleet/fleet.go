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
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"time"

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
	headExpect  = "Nats-Expected-Last-Subject-Sequence"
)

// captureSubject is where a capture is.
func captureSubject(kind, host, agent, id string) string {
	return strings.Join([]string{"toolscope", version, kind, shardOf(host), token(host), token(agent), id}, ".")
}

func shardOf(host string) string {
	h := fnv.New32a()
	h.Write([]byte(host))
	return strconv.Itoa(int(h.Sum32() % shards))
}

// wanted is the pattern of the subjects of a host and an agent, "" for all of them, in any version.
func wanted(kind, host, agent string) string {
	shard, h, a := "*", "*", "*"
	if host != "" {
		shard, h = shardOf(host), token(host)
	}
	if agent != "" {
		a = token(agent)
	}
	return strings.Join([]string{"toolscope", "*", kind, shard, h, a, "*"}, ".")
}

// origin is what a subject says.
type origin struct{ version, host, agent, id string }

func originOf(subject string) (o origin, ok bool) {
	part := strings.Split(subject, ".")
	if len(part) != 7 {
		return o, false
	}
	return origin{part[1], plain(part[4]), plain(part[5]), part[6]}, true
}

// token is text as one word of a subject.
func token(text string) string {
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

func plain(token string) string {
	if text, err := url.PathUnescape(token); err == nil {
		return text
	}
	return token
}

// mostNames is how long the names of a machine and of what is seen there are together, as words of a
// subject: files of the spool are called by them, and no subject may have 4 KiB.
const mostNames = 200

// CheckNames reports names that are too long.
func CheckNames(host, agent string) error {
	if n := len(token(host)) + len(token(agent)); n > mostNames {
		return fmt.Errorf("the names of the machine and of what is seen have %s together\nwanted are at most %d, where signs but letters, digits, - and _ count three times", count.Of(n, "byte"), mostNames)
	}
	return nil
}

// span is which bytes of a capture a message has.
type span struct{ from, to int64 }

func (s span) String() string { return fmt.Sprintf("%d-%d", s.from, s.to) }

// mostSpan is more than any sender puts into one message.
const mostSpan = 8 << 20

func parseSpan(text string) (s span, err error) {
	from, to, _ := strings.Cut(text, "-")
	s.from, err = strconv.ParseInt(from, 10, 64)
	if err == nil {
		s.to, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil || s.from < 0 || s.to <= s.from || s.to-s.from > mostSpan {
		return span{}, fmt.Errorf("%q is no span", text)
	}
	return s, nil
}

// An Address is a hub and, of a view, what of it is wanted.
type Address struct {
	Server      string // as nats://host:4222, or several with commas between them
	Host, Agent string // "" for all
	Model       string // where it or Status is not "", the calls of it alone, which the index tells
	Status      string // what became of the call, in the words of print
	Since       time.Duration
	All         bool      // from the first message there is
	Until       time.Time // zero: for ever
}

// IsIndexed reports whether only some calls are wanted, which the index tells.
func (a *Address) IsIndexed() bool { return a.Model != "" || a.Status != "" }

// IsAddress reports whether a path is one of a hub.
func IsAddress(path string) bool {
	return strings.HasPrefix(path, "nats://") || strings.HasPrefix(path, "tls://")
}

// ParseAddress reads an address. now is what its times count from. Credentials have no place in it.
func ParseAddress(text string, now time.Time) (a Address, err error) {
	servers, rest, _ := strings.Cut(text, "?")
	if a.Server, err = parseServers(servers); err != nil {
		return a, err
	}
	query, err := url.ParseQuery(rest)
	if err != nil {
		return a, fmt.Errorf("%w\nwanted is as in ?host=a&since=15m", err)
	}
	since := ""
	for key := range query {
		switch value := query.Get(key); key {
		case "host":
			a.Host = value
		case "agent":
			a.Agent = value
		case "model":
			a.Model = value
		case "status":
			a.Status = value
		case "since":
			since = value
		case "until":
			if a.Until, err = moment(value, now); err != nil {
				return a, fmt.Errorf("until=%s: %w", value, err)
			}
		default:
			return a, fmt.Errorf("%s: there are host, agent, model, status, since and until", key)
		}
	}
	if err := CheckNames(a.Host, a.Agent); err != nil {
		return a, err
	}
	switch a.All = since == "" && !a.Until.IsZero(); since {
	case "":
	default:
		from, err := moment(since, now)
		if err != nil {
			return a, fmt.Errorf("since=%s: %w", since, err)
		}
		a.Since = max(0, now.Sub(from))
	}
	return a, nil
}

// parseServers reads where a hub is: one place, or those of a cluster with commas between them, of which
// the first says how it is reached.
func parseServers(text string) (string, error) {
	var all []string
	scheme := ""
	for _, one := range strings.Split(text, ",") {
		if scheme != "" && !strings.Contains(one, "://") {
			one = scheme + "://" + one
		}
		u, err := url.Parse(one)
		switch {
		case err != nil:
			return "", errors.New("no address\nwanted is nats://HOST:PORT") // url's own words may hold a password
		case u.User != nil:
			return "", errors.New("a secret has no place in an address\n--creds, --nkey and --hub-token read it from a file")
		case u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "" || strings.Trim(u.Path, "/") != "":
			return "", errors.New("no address of a hub\nwanted is nats://HOST:PORT, or nats://HOST:PORT,HOST:PORT for a cluster")
		case scheme != "" && u.Scheme != scheme:
			return "", errors.New("nats:// and tls:// in one address\nwhat one place of a cluster asks for all of them do")
		}
		scheme = u.Scheme
		all = append(all, u.Scheme+"://"+u.Host)
	}
	return strings.Join(all, ","), nil
}

// moment is a time of the day, or one so long ago.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return now, errors.New("wanted is how long ago, as 15m, or a time as 2026-11-20T10:00:00Z, or now")
}

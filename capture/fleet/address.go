package fleet

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// An Address is the address of a hub. For a view, it also selects the data to read from the hub.
type Address struct {
	Server      string // e.g. nats://host:4222, or several separated by commas
	Host, Agent string // "" for all
	Model       string // if Model or Status is set, the view reads only matching calls, which it finds by the index
	Status      string // the call's status, as print writes it
	Since       TimeSpec
	All         bool     // the range begins with the oldest message
	Until       TimeSpec // zero: no end
}

// A TimeSpec is an age or a point in time, by the hub's clock or another one. The zero TimeSpec is unset.
type TimeSpec struct {
	set bool
	at  time.Time // if not zero, ago is unused
	ago time.Duration
}

// IsZero reports whether the time is unset.
func (m TimeSpec) IsZero() bool { return !m.set }

// isNow reports whether the time is "now", the moment of the request.
func (m TimeSpec) isNow() bool { return m.set && m.at.IsZero() && m.ago == 0 }

// Resolve returns the point in time, given the current time of the clock that the TimeSpec refers to.
func (m TimeSpec) Resolve(now time.Time) time.Time {
	if m.at.IsZero() {
		return now.Add(-m.ago)
	}
	return m.at
}

// isBefore reports whether the time is certainly before another one. The hub's clock is unknown, so a point in time
// and an age can't be compared.
func (m TimeSpec) isBefore(other TimeSpec) bool {
	now := time.Time{}
	return m.at.IsZero() == other.at.IsZero() && m.Resolve(now).Before(other.Resolve(now))
}

// IsIndexed reports whether only selected calls are read, which the view finds by the index.
func (a *Address) IsIndexed() bool { return a.Model != "" || a.Status != "" }

// IsAddress reports whether a path is a hub's address.
func IsAddress(path string) bool {
	return strings.HasPrefix(path, "nats://") || strings.HasPrefix(path, "tls://")
}

// ParseAddress parses an address. It rejects an address with credentials.
func ParseAddress(text string) (a Address, err error) {
	servers, rest, _ := strings.Cut(text, "?")
	if a.Server, err = parseServers(servers); err != nil {
		return a, err
	}
	query, err := url.ParseQuery(rest)
	if err != nil {
		return a, fmt.Errorf("%w\nuse e.g. ?host=a&since=15m", err)
	}
	for key, values := range query {
		if len(values) > 1 {
			return a, fmt.Errorf("%s appears %d times\nuse it once", key, len(values))
		}
		if err := a.set(key, values[0]); err != nil {
			return a, err
		}
	}
	if err := CheckNames(a.Host, a.Agent); err != nil {
		return a, err
	}
	if a.All = a.Since.IsZero() && !a.Until.IsZero(); !a.Until.IsZero() && !a.Since.IsZero() && a.Until.isBefore(a.Since) {
		return a, errBackwards
	}
	return a, nil
}

// parseServers parses the servers of an address: one server, or the servers of a cluster, separated by commas.
// The scheme of the first server applies to servers without a scheme.
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
			return "", errors.New("not an address\nuse nats://HOST:PORT") // the error of package url may contain a password
		case u.User != nil:
			return "", errors.New("an address can't contain a secret\nuse --creds, --nkey or --hub-token, which read it from a file")
		case u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "" || strings.Trim(u.Path, "/") != "":
			return "", errors.New("not the address of a hub\nuse nats://HOST:PORT, or nats://HOST:PORT,HOST:PORT for a cluster")
		case scheme != "" && u.Scheme != scheme:
			return "", errors.New("nats:// and tls:// in one address\nuse the same scheme for all servers in a cluster")
		}
		scheme = u.Scheme
		all = append(all, u.Scheme+"://"+u.Host)
	}
	return strings.Join(all, ","), nil
}

var (
	errBackwards = errors.New("\"until\" is before \"since\"\nuse e.g. ?since=2h&until=1h, for the hour that began two hours ago")
	errToCome    = errors.New("\"until\" is in the future, by the hub's clock\nomit \"until\" to read without an end")
)

// set sets one parameter of an address.
func (a *Address) set(key, value string) (err error) {
	switch key {
	case "host":
		a.Host = value
	case "agent":
		a.Agent = value
	case "model":
		a.Model = value
	case "status":
		a.Status = value
	case "since":
		a.Since, err = ParseTimeSpec(value)
	case "until":
		a.Until, err = ParseTimeSpec(value)
	default:
		return fmt.Errorf("unknown parameter %s\nuse host, agent, model, status, since or until", key)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", key, value, err)
	}
	return nil
}

// timeRange returns the period to read, given the current time by the hub's clock.
func (a *Address) timeRange(now time.Time) (since, until time.Time, err error) {
	if since = now; !a.Since.IsZero() {
		since = a.Since.Resolve(now)
	}
	if a.All {
		since = time.Time{}
	}
	switch until = a.Until.Resolve(now); {
	case a.Until.IsZero():
		return since, time.Time{}, nil
	case until.After(now):
		return since, until, errToCome
	case until.Before(since):
		return since, until, errBackwards
	}
	return since, until, nil
}

// ParseTimeSpec parses a time, a day in UTC, an age or the word "now".
func ParseTimeSpec(text string) (TimeSpec, error) {
	if text == "now" {
		return TimeSpec{set: true}, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return TimeSpec{set: true, ago: time.Duration(n) * 24 * time.Hour}, nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return TimeSpec{set: true, ago: ago}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil && !at.IsZero() {
		return TimeSpec{set: true, at: at}, nil
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil && !at.IsZero() {
		return TimeSpec{set: true, at: at}, nil
	}
	return TimeSpec{}, errors.New("not a time\nuse an age such as 15m or 7d, a time such as 2026-11-20T10:00:00Z, a day such as 2026-11-20, or now")
}

// maxFolderBytes is the maximum length of the name of a hub's folder. File systems allow 255 bytes, and a
// cluster's address names several servers.
const maxFolderBytes = 200

// spoolOf returns a hub's folder below a directory. Each hub has its own folder. A long name is replaced with its
// hash, in a form that no other name has.
func spoolOf(dir, server string) string {
	var at []string
	for _, one := range strings.Split(server, ",") { // several for a cluster
		if u, err := url.Parse(one); err == nil {
			one = net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), "4222"))
		}
		at = append(at, one)
	}
	slices.Sort(at)
	name := subjectToken(strings.Join(at, ","))
	if len(name) > maxFolderBytes {
		sum := sha256.Sum256([]byte(name))
		name = "%-" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(dir, name)
}

// spoolName returns the name of a capture's spool.
func spoolName(o subjectParts) string {
	return subjectToken(o.host) + "." + subjectToken(o.agent) + "." + o.id
}

// spoolOrigin parses the name of a spool. For other files, ok is false.
func spoolOrigin(name string) (o subjectParts, ok bool) {
	part := strings.Split(name, ".")
	if len(part) != 3 {
		return o, false
	}
	o = subjectParts{version, unescapeToken(part[0]), unescapeToken(part[1]), part[2]}
	id, err := hex.DecodeString(o.id)
	return o, err == nil && len(id) == 16 && o.host != "" && o.agent != "" && spoolName(o) == name
}

// Credentials identify this program to a hub. Creds, NKey and CA are names of files.
type Credentials struct {
	Creds string // a NATS credentials file
	NKey  string // a file with an nkey seed
	Token string // the token itself
	CA    string // a file with the certificate authority for the hub's certificate

	inbox string // prefix of the subjects of answers and of a view's messages; "" for the default
}

// Check reads the files and returns an error that names the flag and the file.
func (auth *Credentials) Check() error {
	_, err := auth.connectOptions()
	return err
}

// connectOptions returns the NATS options for the credentials. The files are read again for each connection. If a
// file can't be read now, connectOptions returns an error at once.
func (auth *Credentials) connectOptions() (o []nats.Option, err error) {
	if auth.Creds != "" {
		text, err := os.ReadFile(auth.Creds)
		if err == nil {
			_, err = nkeys.ParseDecoratedJWT(text)
		}
		if err == nil {
			_, err = nkeys.ParseDecoratedUserNKey(text)
		}
		if err != nil {
			return nil, fmt.Errorf("--creds %s: %w", auth.Creds, plainReason(err))
		}
		o = append(o, nats.UserCredentials(auth.Creds))
	}
	if auth.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(auth.NKey)
		if err != nil {
			return nil, fmt.Errorf("--nkey %s: %w", auth.NKey, plainReason(err))
		}
		o = append(o, key)
	}
	if auth.Token != "" {
		o = append(o, nats.Token(auth.Token))
	}
	if auth.CA != "" {
		text, err := os.ReadFile(auth.CA)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(text) {
			err = errors.New("the file contains no certificate")
		}
		if err != nil {
			return nil, fmt.Errorf("--hub-ca %s: %w", auth.CA, plainReason(err))
		}
		o = append(o, nats.RootCAs(auth.CA))
	}
	if auth.inbox != "" {
		o = append(o, nats.CustomInboxPrefix(auth.inbox))
	}
	return o, nil
}

// NewKey makes a key that identifies a machine or a viewer to a hub. The seed is secret, and the public key is for
// the hub.
func NewKey() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, "", err
	}
	public, err = pair.PublicKey()
	return seed, public, err
}

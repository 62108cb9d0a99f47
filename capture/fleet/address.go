package fleet

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// An Address is a hub and, of a view, what of it is wanted.
type Address struct {
	Server      string // as nats://host:4222, or several with commas between them
	Host, Agent string // "" for all
	Model       string // where it or Status is not "", the calls of it alone, which the index tells
	Status      string // what became of the call, in the words of print
	Since       TimeSpec
	All         bool     // from the first message there is
	Until       TimeSpec // zero: for ever
}

// A TimeSpec is a time by the clock of the hub, or so long ago by it. The zero Moment is none.
type TimeSpec struct {
	set bool
	at  time.Time // not zero: ago says nothing
	ago time.Duration
}

// IsZero reports whether it is none.
func (m TimeSpec) IsZero() bool { return !m.set }

// isNow reports whether it is when it is asked for.
func (m TimeSpec) isNow() bool { return m.set && m.at.IsZero() && m.ago == 0 }

// resolve is the time when the hub's clock is at now.
func (m TimeSpec) resolve(now time.Time) time.Time {
	if m.at.IsZero() {
		return now.Add(-m.ago)
	}
	return m.at
}

// isBefore reports whether it is before another, as far as that is sure without the hub's clock.
func (m TimeSpec) isBefore(other TimeSpec) bool {
	now := time.Time{}
	return m.at.IsZero() == other.at.IsZero() && m.resolve(now).Before(other.resolve(now))
}

// IsIndexed reports whether only some calls are wanted, which the index tells.
func (a *Address) IsIndexed() bool { return a.Model != "" || a.Status != "" }

// IsAddress reports whether a path is one of a hub.
func IsAddress(path string) bool {
	return strings.HasPrefix(path, "nats://") || strings.HasPrefix(path, "tls://")
}

// ParseAddress reads an address. Credentials have no place in it.
func ParseAddress(text string) (a Address, err error) {
	servers, rest, _ := strings.Cut(text, "?")
	if a.Server, err = parseServers(servers); err != nil {
		return a, err
	}
	query, err := url.ParseQuery(rest)
	if err != nil {
		return a, fmt.Errorf("%w\nwanted is as in ?host=a&since=15m", err)
	}
	for key, values := range query {
		if len(values) > 1 {
			return a, fmt.Errorf("%s: it is there %d times, and one can be wanted", key, len(values))
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

var (
	errBackwards = errors.New("until is before since\nwanted is as in ?since=2h&until=1h, which is an hour that began two hours ago")
	errToCome    = errors.New("until has not come yet, by the hub's clock\nwithout until it goes on for ever")
)

// set takes what an address says of one thing.
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
		a.Since, err = parseTimeSpec(value)
	case "until":
		a.Until, err = parseTimeSpec(value)
	default:
		return fmt.Errorf("%s: there are host, agent, model, status, since and until", key)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", key, value, err)
	}
	return nil
}

// timeRange are what is wanted of a hub whose clock is at now.
func (a *Address) timeRange(now time.Time) (since, until time.Time, err error) {
	if since = now; !a.Since.IsZero() {
		since = a.Since.resolve(now)
	}
	if a.All {
		since = time.Time{}
	}
	switch until = a.Until.resolve(now); {
	case a.Until.IsZero():
		return since, time.Time{}, nil
	case until.After(now):
		return since, until, errToCome
	case until.Before(since):
		return since, until, errBackwards
	}
	return since, until, nil
}

// parseTimeSpec is a time of the day, or one so long ago.
func parseTimeSpec(text string) (TimeSpec, error) {
	if text == "now" {
		return TimeSpec{set: true}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return TimeSpec{set: true, ago: ago}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil && !at.IsZero() {
		return TimeSpec{set: true, at: at}, nil
	}
	return TimeSpec{}, errors.New("wanted is how long ago, as 15m, or a time as 2026-11-20T10:00:00Z, or now")
}

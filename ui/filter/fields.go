package filter

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// Field is something that turns and calls can be asked for.
type Field struct {
	Name    string
	Does    string // what it is, in a few words
	Example string // how it is written

	ops    []string
	calls  bool // it is of calls
	values func() []string
	read   func(op, value string, f *Filter) (t term, why string)
}

// usageText is how the field is written, for who wrote it otherwise.
func (f *Field) usageText() string { return f.Example }

// Fields are all of them, in the order in which they are told. It is a function because some say
// what is right by what is declared elsewhere.
func Fields() []Field {
	is, than := []string{":", "="}, []string{">", "<", ">=", "<=", "="}
	return []Field{
		{Name: "state", Does: "how it stands; bad is all that went wrong", Example: "state:bad", ops: is, values: stateWords, read: readState},
		{Name: "tool", Does: "the tool's name; = is all of it", Example: "tool:run_shell", ops: is, calls: true, read: textField(toolOf)},
		{Name: "model", Does: "the model's name", Example: "model:sonnet", ops: is, read: textField(modelOf)},
		{Name: "agent", Does: "whose request it answers, or what a hub calls it", Example: "agent:Explore", ops: is, read: textField(agentOf)},
		{Name: "file", Does: "where it was read from", Example: "file:run.tsc", ops: is, read: textField(fileOf)},
		{Name: "finding", Does: "a code, or error, warn, info", Example: "finding:SCHEMA", ops: is, calls: true, values: findingCodes, read: readFinding},
		{Name: "host", Does: "its machine, or where its request went", Example: "host:openai.com", ops: is, read: textField(hostOf)},
		{Name: "cost", Does: "of the turn, in US dollars", Example: "cost>0.01", ops: than, read: numberField(parseDollars, costOf)},
		{Name: "took", Does: "from its beginning to its end", Example: "took>2s", ops: than, read: numberField(parseSeconds, tookOf)},
		{Name: "bytes", Does: "of a call's arguments", Example: "bytes>1k", ops: than, calls: true, read: numberField(parseSize, sizeOf)},
		{Name: "since", Does: "it began so long ago, or then", Example: "since:10m or since:14:05", ops: is, read: readSince},
		{Name: "sent", Does: "what a later request made of it", Example: "sent:changed", ops: is, calls: true, values: sentWords, read: readSent},
	}
}

// FieldNames are the names of the fields.
func FieldNames() (names []string) {
	for _, f := range Fields() {
		names = append(names, f.Name)
	}
	return names
}

func fieldOf(name string) *Field {
	all := Fields()
	if i := slices.IndexFunc(all, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// textField is how a field is read that is some words: with = they are all of it.
func textField(of func(*matchTarget, func(string) bool) bool) func(string, string, *Filter) (term, string) {
	return func(op, value string, _ *Filter) (term, string) {
		n := newShortQuery(value)
		n.exact = op == "="
		return term{fits: func(s *matchTarget) bool { return of(s, n.isIn) }}, ""
	}
}

func toolOf(s *matchTarget, is func(string) bool) bool { return s.call != nil && is(s.call.Name) }

func modelOf(s *matchTarget, is func(string) bool) bool {
	return s.turn.Model != "" && is(s.turn.Model)
}

func agentOf(s *matchTarget, is func(string) bool) bool {
	if a := s.turn.Request; a != nil && (a.Agent != "" && is(a.Agent) || a.Title != "" && is(a.Title)) {
		return true
	}
	from := s.originMachine()
	return from != nil && is(from.Agent)
}

func fileOf(s *matchTarget, is func(string) bool) bool {
	return s.exchange != nil && s.exchange.Head.File != "" && is(s.exchange.Head.File)
}

func hostOf(s *matchTarget, is func(string) bool) bool {
	if s.exchange == nil {
		return false
	}
	if from := s.originMachine(); from != nil && is(from.Host) {
		return true
	}
	host := HostOf(s.exchange.Head.URL)
	return host != "" && is(host)
}

// originMachine is the machine that a turn comes from, nil for this one.
func (s *matchTarget) originMachine() *stream.Machine {
	if s.exchange == nil {
		return nil
	}
	return s.exchange.Head.Origin
}

// HostOf is the host that a request went to, of its URL.
func HostOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	host, _, _ := strings.Cut(url, "/")
	return host
}

// numberField is how a field is read that is a number.
func numberField(read func(string) (float64, bool), of func(*matchTarget) (float64, bool)) func(string, string, *Filter) (term, string) {
	return func(op, value string, _ *Filter) (term, string) {
		want, ok := read(value)
		if !ok {
			return term{}, "that is no number"
		}
		return term{fits: func(s *matchTarget) bool {
			got, known := of(s)
			return known && compareNumbers(got, op, want)
		}}, ""
	}
}

func compareNumbers(got float64, op string, want float64) bool {
	switch op {
	case ">":
		return got > want
	case "<":
		return got < want
	case ">=":
		return got >= want
	case "<=":
		return got <= want
	}
	return got == want
}

func costOf(s *matchTarget) (float64, bool) {
	if s.Cost == nil {
		return 0, false
	}
	f := s.Cost(s.turn)
	return f.USD, f.Known()
}

func tookOf(s *matchTarget) (float64, bool) {
	from, to := s.turn.OpenedAt, s.turn.ClosedAt
	if c := s.call; c != nil {
		from, to = c.OpenedAt, c.SealedAt
		if to < 0 {
			to = c.LastArgAt
		}
	}
	return (to - from).Seconds(), from >= 0 && to >= from
}

func sizeOf(s *matchTarget) (float64, bool) {
	if s.call == nil {
		return 0, false
	}
	return float64(s.call.ArgsLen()), true
}

// parseDollars reads 0.01 or $0.01.
func parseDollars(text string) (float64, bool) { return parseNumber(strings.TrimPrefix(text, "$")) }

// parseNumber reads what is finite.
func parseNumber(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// parseSeconds reads 2s, 300ms, 1m30s, or 2, which are seconds.
func parseSeconds(text string) (float64, bool) {
	if n, ok := parseNumber(text); ok {
		return n, true
	}
	d, err := time.ParseDuration(strings.ToLower(text))
	return d.Seconds(), err == nil
}

// sizes are the units of bytes.
var sizes = []struct {
	unit string
	of   float64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}, {"", 1}}

// parseSize reads 512, 1k or 1.5MB.
func parseSize(text string) (float64, bool) {
	text = strings.ToLower(text)
	for _, of := range sizes {
		if rest, ok := strings.CutSuffix(text, of.unit); ok {
			n, ok := parseNumber(rest)
			return n * of.of, ok
		}
	}
	return 0, false
}

// readSince reads how long ago, or the time of day.
func readSince(_, value string, f *Filter) (term, string) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, value); err == nil {
			return term{fits: func(s *matchTarget) bool { return beganSince(s, at) }}, ""
		}
	}
	ago, ok := parseSeconds(value)
	if _, bare := parseNumber(value); !ok || bare || ago <= 0 || ago > 1e9 {
		return term{}, "that is no time"
	}
	d := time.Duration(ago * float64(time.Second))
	if f.since == 0 || d < f.since {
		f.since = d
	}
	return term{fits: func(s *matchTarget) bool { return s.turn.OpenedAt >= s.Now-d }}, ""
}

// beganSince reports whether a turn began at that time of the day of its source's latest, or later.
func beganSince(s *matchTarget, of time.Time) bool {
	began, ok := s.View.WallClock(s.turn.Exchange, s.turn.OpenedAt)
	if !ok {
		return false
	}
	y, m, d := began.Date()
	if last, ok := s.View.WallClock(s.turn.Exchange, s.Now); ok {
		y, m, d = last.Date()
	}
	return !began.Before(time.Date(y, m, d, of.Hour(), of.Minute(), of.Second(), 0, began.Location()))
}

// findingCodes are those of all findings, behind their severities.
func findingCodes() []string {
	all := []string{stream.Error.String(), stream.Warn.String(), stream.Info.String()}
	for _, d := range providers.Findings() {
		all = append(all, d.Code)
	}
	return all
}

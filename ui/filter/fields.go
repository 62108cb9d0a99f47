package filter

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// Field is a property by which turns and calls can be filtered.
type Field struct {
	Name    string
	Does    string // a short description
	Example string // an example of a word

	ops    []string
	calls  bool // whether only calls have the property
	values func() []string
	read   func(op, value string, f *Filter) (t term, why string)
}

// usageText returns the correct syntax of the field, for error messages.
func (f *Field) usageText() string { return f.Example }

// Fields returns all fields, in display order. It is a function because some fields depend on declarations in
// other packages.
func Fields() []Field {
	is, than := []string{":", "="}, []string{">", "<", ">=", "<=", "="}
	return []Field{
		{Name: "state", Does: "state; bad means any failure or error finding", Example: "state:bad", ops: is, values: stateWords, read: readState},
		{Name: "tool", Does: "name of the tool; = for the exact name", Example: "tool:run_shell", ops: is, calls: true, read: textField(toolOf)},
		{Name: "model", Does: "name of the model", Example: "model:sonnet", ops: is, read: textField(modelOf)},
		{Name: "agent", Does: "name of the agent, or its label on the hub", Example: "agent:Explore", ops: is, read: textField(agentOf)},
		{Name: "file", Does: "file that the turn was read from", Example: "file:run.tsc", ops: is, read: textField(fileOf)},
		{Name: "finding", Does: "code of a finding, or error, warn or info", Example: "finding:SCHEMA", ops: is, calls: true, values: findingCodes, read: readFinding},
		{Name: "host", Does: "machine, or the host in the request's URL", Example: "host:openai.com", ops: is, read: textField(hostOf)},
		{Name: "cost", Does: "cost of the turn, in US dollars", Example: "cost>0.01", ops: than, read: numberField(parseDollars, costOf)},
		{Name: "took", Does: "duration of the turn, or of a call", Example: "took>2s", ops: than, read: numberField(parseSeconds, tookOf)},
		{Name: "bytes", Does: "size of a call's arguments", Example: "bytes>1k", ops: than, calls: true, read: numberField(parseSize, sizeOf)},
		{Name: "since", Does: "start: in the last 10 minutes, or since 14:05", Example: "since:10m or since:14:05", ops: is, read: readSince},
		{Name: "sent", Does: "how a later request sent the call back", Example: "sent:changed", ops: is, calls: true, values: sentWords, read: readSent},
	}
}

// FieldNames returns the names of all fields.
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

// textField returns the reader of a field with a text value. With =, the value must equal the complete text.
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

// originMachine returns the machine that captured a turn, or nil for this machine.
func (s *matchTarget) originMachine() *stream.Machine {
	if s.exchange == nil {
		return nil
	}
	return s.exchange.Head.Origin
}

// HostOf returns the host of a URL, with its port.
func HostOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	host, _, _ := strings.Cut(url, "/")
	return host
}

// numberField returns the reader of a field with a numeric value.
func numberField(read func(string) (float64, bool), of func(*matchTarget) (float64, bool)) func(string, string, *Filter) (term, string) {
	return func(op, value string, _ *Filter) (term, string) {
		want, ok := read(value)
		if !ok {
			return term{}, "not a number"
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

// parseDollars parses an amount, such as 0.01 or $0.01.
func parseDollars(text string) (float64, bool) { return parseNumber(strings.TrimPrefix(text, "$")) }

// parseNumber parses a finite number.
func parseNumber(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// parseSeconds parses a duration, such as 2s, 300ms or 1m30s. A plain number means seconds.
func parseSeconds(text string) (float64, bool) {
	if n, ok := parseNumber(text); ok {
		return n, true
	}
	d, err := time.ParseDuration(strings.ToLower(text))
	return d.Seconds(), err == nil
}

// sizes are the units for sizes, in bytes.
var sizes = []struct {
	unit string
	of   float64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}, {"", 1}}

// parseSize parses a size, such as 512, 1k or 1.5MB. The second result is false if the text is not a size.
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

// readSince parses the value of the field since: a duration before now, or a time of day.
func readSince(_, value string, f *Filter) (term, string) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, value); err == nil {
			return term{fits: func(s *matchTarget) bool { return beganSince(s, at) }}, ""
		}
	}
	ago, ok := parseSeconds(value)
	if _, bare := parseNumber(value); !ok || bare || ago <= 0 || ago > 1e9 {
		return term{}, "not a time"
	}
	d := time.Duration(ago * float64(time.Second))
	if f.since == 0 || d < f.since {
		f.since = d
	}
	return term{fits: func(s *matchTarget) bool { return s.turn.OpenedAt >= s.Now-d }}, ""
}

// beganSince reports whether a turn began at or after a time of day, on the day of the latest time in its
// source.
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

// findingCodes returns the severities, followed by the codes of all findings.
func findingCodes() []string {
	all := []string{stream.Error.String(), stream.Warn.String(), stream.Info.String()}
	for _, d := range providers.Findings() {
		all = append(all, d.Code)
	}
	return all
}

// Values of the field state that are not states of calls.
const (
	badState     = "bad"     // a bad state, or an error finding
	openState    = "open"    // more bytes may arrive
	stoppedState = "stopped" // stopped by the client
)

// stateWords returns all values of the field state.
func stateWords() []string {
	words := []string{badState, openState, stoppedState}
	for st := range stream.Status(stream.NumStatus) {
		words = append(words, strings.ReplaceAll(st.String(), " ", "-"))
	}
	return words
}

// bare removes the separators between the words of a state.
var bare = strings.NewReplacer(" ", "", "-", "", "_", "")

// readState parses a state. The user may type only the beginning of a state.
func readState(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	switch value {
	case badState:
		return term{fits: (*matchTarget).isBad}, ""
	case openState:
		return term{fits: func(s *matchTarget) bool { return s.status() <= stream.LooksDone }}, ""
	case stoppedState:
		return term{fits: (*matchTarget).isStopped}, ""
	}
	var wanted [stream.NumStatus]bool
	for st := range wanted {
		wanted[st] = strings.HasPrefix(bare.Replace(stream.Status(st).String()), bare.Replace(value))
	}
	if value == "" || wanted == ([stream.NumStatus]bool{}) {
		return term{}, "unknown state; use " + strings.Join(stateWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool { return wanted[s.status()] }}, ""
}

// isFailure reports whether a state is a failure.
func isFailure(st stream.Status) bool { return st >= stream.CutShort && st <= stream.Rejected }

// status returns the state of a call or a turn. For a turn, it returns the state that a list shows: the turn's own
// failure, or else the state of its first failed call, or else the turn's own state.
func (s *matchTarget) status() stream.Status {
	if s.call != nil {
		return s.call.Status()
	}
	own := ends[s.turn.Phase()]
	if s.turn.Closed() && s.turn.Phase() == stream.TurnIsOpen {
		own = stream.Unseen
	}
	if isFailure(own) {
		return own
	}
	for _, c := range s.turn.Calls {
		if st := c.Status(); isFailure(st) {
			return st
		}
	}
	for st, n := range s.turn.DroppedCounts() {
		if n > 0 && isFailure(stream.Status(st)) {
			return stream.Status(st)
		}
	}
	return own
}

// ends maps phases of turns to the equivalent states of calls.
var ends = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected, stream.TurnRefused: stream.Rejected,
}

// isStopped reports whether the client stopped the call or turn. That is not a failure.
func (s *matchTarget) isStopped() bool {
	if s.call != nil {
		return s.call.StoppedByClient()
	}
	return s.turn.Phase() == stream.TurnAborted && s.turn.EndedBy == stream.Client
}

// isBad reports whether the call or turn failed, or has an error finding.
func (s *matchTarget) isBad() bool {
	return isFailure(s.status()) && !s.isStopped() || slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == stream.Error })
}

func (s *matchTarget) findings() []stream.Finding {
	if s.call != nil {
		return s.call.Findings
	}
	return s.turn.Findings
}

// readFinding parses a severity, or a part of a finding code. The second result is the error, or "".
func readFinding(op, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	for _, of := range []stream.Severity{stream.Info, stream.Warn, stream.Error} {
		if value == of.String() {
			return term{fits: func(s *matchTarget) bool {
				return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == of })
			}}, ""
		}
	}
	n := newShortQuery(value)
	n.exact = op == "="
	if !slices.ContainsFunc(findingCodes(), n.isIn) {
		return term{}, "unknown code"
	}
	return term{fits: func(s *matchTarget) bool {
		return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return n.isIn(f.Code) })
	}}, ""
}

// Values of the field sent that are not outcomes.
const (
	changedWord = "changed" // sent back with another meaning, or missing
	backWord    = "back"    // any outcome in a later request
)

// intactOutcomes are the outcomes that do not change the meaning of a call.
var intactOutcomes = []string{string(replay.Intact), string(replay.WasReformatted), string(replay.WasMoved), string(replay.AsClientHasIt)}

// sentOutcomes are the outcomes of a call in a later request.
var sentOutcomes = []replay.Treatment{
	replay.Intact, replay.WasReformatted, replay.WasEmptied, replay.WasRepaired, replay.WasEncoded, replay.WasWrapped,
	replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved,
}

func sentWords() []string {
	words := []string{changedWord, backWord}
	for _, f := range sentOutcomes {
		words = append(words, string(f))
	}
	return words
}

// readSent parses an outcome of a call in later requests.
func readSent(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	is := func(fate string) bool { return strings.HasPrefix(fate, value) }
	switch {
	case value == changedWord:
		is = func(fate string) bool { return !slices.Contains(intactOutcomes, fate) }
	case value == backWord:
		is = func(string) bool { return true }
	case !slices.ContainsFunc(sentWords(), is):
		return term{}, "unknown outcome; use " + strings.Join(sentWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool {
		return s.call != nil && slices.ContainsFunc(s.call.SentBack, func(r stream.SentBackCall) bool { return is(r.Outcome) })
	}}, ""
}

// Package present provides the facts about turns and calls. It defines each fact once: its field in JSON lines, its
// label, its text and its role. It also provides the sentences about turns and calls. Printers, panes, pages and
// reports choose which facts they show, and where.
//
//	View, Turn, Call ─▶ OfTurn, OfCall ─▶ Facts ─▶ JSON lines, HTML, Markdown
//	                └─▶ FinishText, AboutCall, RunBy … ─▶ sentences
package present

import (
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// A Fact is one fact about a turn or a call.
type Fact struct {
	Key  string      // name of the field in JSON lines
	Word string      // label; "" if people see the fact only in a sentence
	Text string      // text for people; "" if unknown
	Role screen.Role // role of the text
	JSON any         // value of the field, a Value; nil if JSON lines omit the fact
}

// A Value is the value of a field. Facts become an object, a duration becomes milliseconds, and a sequence is a
// JSON text in parts.
type Value interface {
	AsText | string | bool | int | float64 | time.Duration | Message | []string | Facts | []Facts | iter.Seq[[]byte]
}

// AsText is the value of a field that is the fact's text.
type AsText struct{}

// A Message is text by toolscope that quotes captured text. Quoted marks the captured bytes.
type Message struct {
	Text   string
	Quoted stream.Spans
}

// Facts is a list of facts in the order of the fields in JSON lines.
type Facts []Fact

// Labelled returns the facts with the given labels, in the order of the labels. It omits facts without a text.
func (all Facts) Labelled(words ...string) (list Facts) {
	for _, word := range words {
		for _, f := range all {
			if f.Word == word && f.Text != "" {
				list = append(list, f)
			}
		}
	}
	return list
}

// textFact returns a fact with the same text for people and programs.
func textFact(key, word, text string) Fact {
	return Fact{Key: key, Word: word, Text: text, JSON: AsText{}}
}

// optionalFact is like textFact, but JSON lines omit an empty text.
func optionalFact(key, word, text string) Fact {
	if text == "" {
		return Fact{Key: key, Word: word}
	}
	return textFact(key, word, text)
}

// omitZero returns the value. For the zero value, it returns nil, so that JSON lines omit the fact.
func omitZero[V comparable](value V) any {
	if value == *new(V) {
		return nil
	}
	return value
}

// fieldFact returns a fact that is only a field in JSON lines. People see it in a sentence, or not at all.
func fieldFact[V Value](key string, value V) Fact { return Fact{Key: key, JSON: value} }

// timeFact returns the fact for a time. It returns an empty fact if the time is unknown.
func timeFact(key string, d time.Duration) Fact {
	if d < 0 {
		return Fact{}
	}
	return Fact{Key: key, JSON: d}
}

// OfTurn returns the facts about a turn.
func OfTurn(v *providers.View, prices *price.Table, t *stream.Turn) Facts {
	facts := AppendTurn(make(Facts, 0, 40), v, prices, t)
	return append(facts, Fact{Word: "usage", Text: t.Usage.String()})
}

// AppendTurn appends the facts about a turn that JSON lines contain.
func AppendTurn(facts Facts, v *providers.View, prices *price.Table, t *stream.Turn) Facts {
	x := v.Exchange(t.Exchange)
	calls, discarded := Calls(t)
	facts = append(facts,
		textFact("dialect", "protocol", t.Protocol),
		optionalFact("model", "model", t.Model),
		optionalFact("at", "", TurnTime(v, t)),
		textFact("phase", "phase", t.Phase().String()),
		Fact{Key: "finish", Word: "finish", Text: FinishText(t), JSON: omitZero(t.Finish)},
		fieldFact("text_bytes", len(t.Text)),
		fieldFact("thinking_bytes", len(t.Thinking)),
		fieldFact("calls", len(calls)),
	)
	if len(discarded) > 0 {
		facts = append(facts, Fact{Key: "rejected_calls", JSON: eachFacts(discarded, func(c *stream.Call) Facts {
			return Facts{fieldFact("name", c.Name), fieldFact("message", string(c.Args()))}
		})})
	}
	facts = append(facts,
		fieldFact("events", t.Events),
		fieldFact("frames", int(t.LastFrame-t.FirstFrame)+1),
		fieldFact("bytes", wireBytes(x, t)),
	)
	facts = appendExchange(facts, x, t)
	if l := v.Latency(t, nil); l.FirstToken >= 0 || l.RequestSeen && l.End >= 0 {
		facts = append(facts, fieldFact("latency", turnLatencyFacts(&l)))
		if spent, known := v.TimeSpent(t); known {
			facts = append(facts, fieldFact("spent_ms", spentFacts(spent)))
		}
	}
	if x != nil {
		facts = append(facts, optionalFact("server", "", x.Host()), optionalFact("provider", "", providers.ProviderAt(x.Head.URL)))
		facts = append(facts, optionalFact("peeled", "found in", x.Head.Wrappers))
		if len(x.Head.Lacks) > 0 {
			facts = append(facts, fieldFact("lacks", x.Head.Lacks))
		}
	}
	if r := t.Request; r != nil {
		facts = append(facts, optionalFact("client", "", r.Client), optionalFact("purpose", "purpose", r.Purpose))
	}
	facts = append(facts, RetryFacts(v, t)...)
	if illegal := illegalFacts(t.Findings); len(illegal) > 0 {
		facts = append(facts, fieldFact("request", Facts{{Key: "messages", JSON: omitZero(messageCount(x))}, fieldFact("illegal", illegal)}))
	}
	if t.Refusal != nil {
		facts = append(facts, fieldFact("refusal", refusalFacts(t)))
	}
	facts = append(facts,
		Fact{Key: "usage", JSON: usageFacts(t.Usage)},
		optionalFact("service_tier", "", t.Usage.Tier),
		Fact{Word: "error", Text: t.Failure, Role: screen.Bad},
	)
	facts = append(facts, CostFacts(CostOf(prices, x, t))...)
	return append(facts, fieldFact("findings", OfFindings(WithCosts(v, prices, t, t.Findings))))
}

// RetryFacts returns the earlier turn that a turn repeats, and the later turn that repeats it.
func RetryFacts(v *providers.View, t *stream.Turn) (facts Facts) {
	if r := t.Request; r != nil && r.RetryOf > 0 {
		text, waited := fmt.Sprintf("turn %d", r.RetryOf), stream.NoTime
		if failed := v.Session().Turn(r.RetryOf - 1); failed != nil {
			if retry, ok := v.Retry(failed); ok && retry.After >= 0 {
				text, waited = text+" after "+screen.Time(retry.After).String(), retry.After
			}
		}
		facts = append(facts, Fact{Key: "retry_of", Word: "repeats", Text: text, JSON: int(r.RetryOf)}, timeFact("waited_ms", waited))
	}
	r, ok := v.Retry(t)
	if !ok {
		return facts
	}
	text := fmt.Sprintf("in turn %d", r.By.Number+1)
	if r.After >= 0 {
		text += " after " + screen.Time(r.After).String()
	}
	if r.Wanted >= 0 && r.After >= 0 && r.After < r.Wanted {
		text += " (sooner than the server asked: " + screen.Time(r.Wanted).String() + ")"
	}
	return append(facts, Fact{Key: "asked_again", Word: "retried", Text: text, JSON: int(r.By.Number) + 1},
		timeFact("after_ms", r.After), timeFact("retry_after_ms", r.Wanted))
}

// TurnTime returns the time of day at which the request of a turn began. If that is unknown, it returns the time at
// which the response began. If both are unknown, it returns "".
func TurnTime(v *providers.View, t *stream.Turn) string {
	if clock := TurnClock(v, t); !clock.IsZero() {
		return clock.Format(time.RFC3339Nano)
	}
	return ""
}

// TurnClock is like TurnTime, but returns the time itself, in UTC. It is zero if the time is unknown.
func TurnClock(v *providers.View, t *stream.Turn) time.Time {
	from := t.OpenedAt
	if at := v.RequestStart(t); at >= 0 {
		from = at
	}
	clock, ok := v.WallClock(t.Exchange, from)
	if !ok {
		return time.Time{}
	}
	return clock.UTC()
}

// turnLatencyFacts returns the times at which a turn reached each of its phases.
func turnLatencyFacts(l *providers.Latency) Facts {
	return Facts{
		fieldFact("since", sinceWord(l)), timeFact("headers_ms", l.Headers), timeFact("first_token_ms", l.FirstToken), timeFact("end_ms", l.End),
	}
}

// spentFacts returns the time that a turn spent in each of its states.
func spentFacts(spent [providers.NumTurnStates]time.Duration) Facts {
	facts := make(Facts, 0, len(spent))
	for state, d := range spent {
		facts = append(facts, fieldFact(strings.ReplaceAll(providers.TurnState(state).String(), " ", "_"), d))
	}
	return facts
}

// sinceWord names the start of a latency's times: the request or the response.
func sinceWord(l *providers.Latency) string {
	if l.RequestSeen {
		return "request"
	}
	return "response"
}

// refusalFacts returns the reason why the provider refused the request of a turn, and the place in the request
// that the reason names.
func refusalFacts(t *stream.Turn) Facts {
	r := t.Refusal
	facts := Facts{
		{Key: "status", JSON: omitZero(r.Status)},
		optionalFact("type", "", r.Type),
		optionalFact("reason", "", r.Reason),
		fieldFact("words", t.Failure),
		optionalFact("said", "", r.Said),
		optionalFact("path", "", r.Path),
		fieldFact("found", r.Found),
	}
	if len(r.IDs) > 0 {
		facts = append(facts, fieldFact("ids", r.IDs))
	}
	facts = append(facts, optionalFact("fits", "", r.Fits))
	if len(r.Via) > 0 {
		facts = append(facts, fieldFact("via", r.Via))
	}
	return facts
}

// OfCall returns the facts about a call.
func OfCall(v *providers.View, prices *price.Table, t *stream.Turn, c *stream.Call) Facts {
	return AppendCall(make(Facts, 0, 28), v, prices, t, c)
}

// AppendCall appends the facts about a call.
func AppendCall(facts Facts, v *providers.View, prices *price.Table, t *stream.Turn, c *stream.Call) Facts {
	args := c.Args()
	executor := "client"
	if c.RunByProvider {
		executor = "server"
	}
	size := screen.Bytes(len(args)).String()
	facts = append(facts,
		fieldFact("dialect", t.Protocol),
		textFact("id", "id", c.ID),
		optionalFact("name", "", c.Name),
		optionalFact("kind", "", c.Kind),
		fieldFact("executor", executor),
		textFact("phase", "provider", c.Phase().String()),
		Fact{Key: "syntax", Word: "bytes", Text: JoinWords(c.Syntax().String(), size), JSON: c.Syntax().String()},
		Fact{Key: "status", Text: c.Status().String(), Role: screen.CallRole(c), JSON: c.Status().String()},
		fieldFact("arguments_raw", display.JSONParts(args)),
	)
	if !utf8.Valid(args) {
		facts = append(facts, fieldFact("arguments_raw_base64", base64.StdEncoding.EncodeToString(args)))
	}
	facts = append(facts,
		fieldFact("arguments", parsedArgs(c)),
		Fact{Key: "deltas", Word: "deltas", Text: screen.Count(c.Deltas()).String(), JSON: c.Deltas()},
		timeFact("t_open_ms", c.OpenedAt),
		timeFact("t_first_arg_ms", c.FirstArgAt),
		timeFact("t_sealed_ms", c.SealedAt),
		Fact{Word: "also", Text: strings.Join(AboutCall(c), ", ")},
	)
	if v.HasTimes(t) {
		l := v.Latency(t, c)
		facts = append(facts, fieldFact("latency", latencyFacts(&l)))
	}
	if r := c.LatestResult(); r != nil {
		facts = append(facts, fieldFact("result", ResultFacts(r)))
	}
	facts = appendExchange(facts, v.Exchange(t.Exchange), t)
	return append(facts, fieldFact("findings", OfFindings(WithCosts(v, prices, t, OwnFindings(c)))))
}

// appendExchange appends the exchange of a turn, its session and agent, and the HTTP status. It adds the party
// that ended the turn, if known.
func appendExchange(facts Facts, x *providers.Exchange, t *stream.Turn) Facts {
	facts = append(facts, fieldFact("exchange", t.Exchange))
	if r := t.Request; r != nil {
		facts = append(facts,
			optionalFact("session", "session", r.Session),
			Fact{Key: "agent", Word: "agent", Text: JoinWords(r.Client, r.Agent), JSON: omitZero(r.Agent)},
			optionalFact("parent_agent", "", r.Parent),
		)
	}
	if x != nil && x.Head.Status != 0 {
		facts = append(facts, Fact{Key: "http_status", Word: "HTTP status", Text: strconv.Itoa(x.Head.Status), JSON: x.Head.Status})
	}
	return append(facts, optionalFact("ended_by", "ended by", t.EndedBy.String()))
}

// parsedArgs returns the arguments as a JSON value: {} if there are none, or null if they are not a complete object.
func parsedArgs(c *stream.Call) iter.Seq[[]byte] {
	switch {
	case c.Status() == stream.NoArguments && len(c.Args()) == 0:
		return display.CompactParts([]byte("{}"))
	case c.Syntax() != json.SyntaxObject, c.Status() == stream.Unseen:
		return display.CompactParts([]byte("null"))
	}
	return display.CompactParts(c.Args())
}

// latencyFacts returns the times at which a call reached each of its phases.
func latencyFacts(l *providers.Latency) Facts {
	facts := append(make(Facts, 0, 13), fieldFact("since", sinceWord(l)))
	for _, m := range l.TimePoints() {
		facts = append(facts, timeFact(m.Key, m.At))
	}
	return append(facts, timeFact("silence_ms", l.Gap), Fact{Key: "stalls", JSON: omitZero(l.Stalls)}, optionalFact("arrives", "", l.Arrival.String()))
}

// ResultFacts returns the facts about a result that a request sent back.
func ResultFacts(r *stream.SentBackCall) Facts {
	return Facts{
		fieldFact("error", r.ResultCode == stream.ResultFailed), fieldFact("bytes", r.Result.Bytes),
		{Key: "media", JSON: omitZero(r.Result.Media)}, fieldFact("text", r.Result.Text),
		{Key: "made_up", JSON: omitZero(providers.IsMadeUp(r.Result.Text))},
	}
}

// usageFacts returns the reported token counts.
func usageFacts(u stream.Usage) Facts {
	facts := make(Facts, 0, 4) // most providers report four counts
	for _, of := range [...]struct {
		key   string
		count stream.Count
	}{
		{"input", u.Input}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}, {"output", u.Output},
		{"reasoning", u.Reasoning}, {"processed_input", u.SeenInput}, {"processed_output", u.SeenOutput},
		{"input_audio", u.InputAudio}, {"cache_read_audio", u.CacheReadAudio}, {"output_audio", u.OutputAudio}, {"web_searches", u.WebSearches},
	} {
		if of.count.Reported {
			facts = append(facts, fieldFact(of.key, int(of.count.N)))
		}
	}
	return facts
}

// CostFacts returns a cost and its source. JSON lines omit an unknown cost.
func CostFacts(f price.Figure) Facts {
	if !f.Known() {
		return Facts{{Word: "cost", Text: "unknown"}}
	}
	text := f.String()
	if f.AsOf != "" {
		text += ", prices as of " + f.AsOf
	}
	return Facts{
		{Key: "cost_usd", Word: "cost", Text: text, JSON: f.USD}, fieldFact("cost_source", f.Source.String()),
		{Key: "cost_approximate", JSON: omitZero(f.Approximate)}, optionalFact("prices_date", "", f.AsOf),
	}
}

// OfFinding returns the facts about a finding.
func OfFinding(f stream.Finding) Facts {
	facts := Facts{
		fieldFact("code", f.Code), fieldFact("severity", f.Severity.String()), fieldFact("by", f.By.String()),
		fieldFact("message", Message{f.Message, f.Quoted}), fieldFact("event", f.Event),
	}
	if f.Offset != stream.NoOffset {
		facts = append(facts, fieldFact("offset", f.Offset))
	}
	if c := f.InText; c != nil {
		facts = append(facts, fieldFact("in_text", Facts{
			fieldFact("form", c.Form), fieldFact("tool", c.Tool), fieldFact("in", c.In), fieldFact("offset", c.Offset),
		}))
	}
	if d := f.Detail; d != nil {
		facts = append(facts, fieldFact(d.Name, detailFacts(d)))
	}
	return facts
}

// illegalFacts returns the facts about the protocol rules that the request of a turn breaks.
func illegalFacts(list []stream.Finding) (all []Facts) {
	for _, f := range list {
		if f.Detail != nil && f.Detail.Name == "illegal" {
			all = append(all, append(Facts{fieldFact("code", f.Code)}, detailFacts(f.Detail)...))
		}
	}
	return all
}

// messageCount returns the number of messages in the request of an exchange, or 0 if it is unknown.
func messageCount(x *providers.Exchange) (n int) {
	if x == nil {
		return 0
	}
	for _, key := range []string{"messages", "input", "contents"} {
		for range json.Value(x.RequestBody()).Get(key).Elements() {
			n++
		}
	}
	return n
}

// detailFacts returns the fields in a finding's detail.
func detailFacts(d *stream.Detail) (facts Facts) {
	for _, of := range d.Fields {
		facts = append(facts, Fact{Key: of.Key, JSON: of.Value})
	}
	return facts
}

// OfFindings returns the facts about findings.
func OfFindings(list []stream.Finding) []Facts { return eachFacts(list, OfFinding) }

func eachFacts[T any](list []T, of func(T) Facts) []Facts {
	all := make([]Facts, 0, len(list))
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// wireBytes returns the size of a turn's frames on the wire, or 0 if they are not kept.
func wireBytes(x *providers.Exchange, t *stream.Turn) int {
	if x == nil || int(t.LastFrame) >= x.Response.Frames() {
		return 0
	}
	start, _ := x.Response.FrameSpan(t.FirstFrame)
	_, end := x.Response.FrameSpan(t.LastFrame)
	return int(end - start)
}

// WithCosts returns the findings of a turn or its calls. If the cost is known, it adds the cost to findings about
// a loop or about a cache that was not read.
func WithCosts(v *providers.View, prices *price.Table, t *stream.Turn, list []stream.Finding) []stream.Finding {
	copied := false
	for i := range list {
		usd, known := findingCost(v, prices, t, list[i].Detail)
		if !known || usd.USD == 0 {
			continue
		}
		if !copied {
			list, copied = slices.Clone(list), true
		}
		f := &list[i]
		cost := stream.DetailField{Key: "cost_usd", Value: usd.USD}
		f.Detail = &stream.Detail{Name: f.Detail.Name, Fields: append(slices.Clip(f.Detail.Fields), cost)}
		f.AppendMessage("; cost %s", stream.Own(usd.String()))
	}
	return list
}

// findingCost returns the cost of the turns in a loop, or the additional cost of tokens that were not read from
// the cache. The result known is false if the cost is unknown.
func findingCost(v *providers.View, prices *price.Table, t *stream.Turn, d *stream.Detail) (sum price.Sum, known bool) {
	if d == nil || prices == nil {
		return sum, false
	}
	switch d.Name {
	case "loop":
		since, _ := d.Value("since_turn").(int)
		for n := int32(since) - 1; n <= t.Number && since > 0; n++ {
			if o := v.Session().Turn(n); o != nil && isSameRun(o, t) {
				sum.Add(CostOf(prices, v.Exchange(o.Exchange), o))
			}
		}
	case "cache_break":
		x, figure := v.Exchange(t.Exchange), CostOf(prices, v.Exchange(t.Exchange), t)
		tokens, _ := d.Value("tokens").(int)
		if x == nil || figure.Source != price.FromTable {
			return sum, false
		}
		r := prices.Rates(t, *x.Head)
		if !r.Input.Known || !r.CacheRead.Known {
			return sum, false
		}
		figure.USD = float64(tokens) * (r.Input.USD - r.CacheRead.USD) / 1e6
		sum.Add(figure)
	}
	return sum, sum.Paid > 0 && sum.Unknown == 0
}

// isSameRun reports whether two turns belong to the same agent and the same conversation.
func isSameRun(a, b *stream.Turn) bool {
	p, q := a.Request, b.Request
	if p == nil || q == nil || p.Background {
		return false
	}
	return p.Session == q.Session && p.Agent == q.Agent && p.Conversation == q.Conversation
}

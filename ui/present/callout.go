package present

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/providers/schema"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// A Callout describes what is wrong with a call or turn, the party at fault, the advice, and what a careless
// client does. For a healthy or open call, it has only a sentence and no rows.
type Callout struct {
	Verdict  Verdict         // verdict whose sign and role the callout shows
	Finding  *stream.Finding // finding that the callout is about; nil if there is none
	Sentence string
	Short    string // a shorter sentence
	Rows     []CalloutRow
	More     int // number of other findings with a severity above info
}

// A CalloutRow is a row below the sentence.
type CalloutRow struct{ Label, Text string }

// Labels for the rows.
const (
	calloutCause = "cause"
	calloutDo    = "do"
	calloutRisk  = "risk"
	calloutUsual = "usual"
	calloutSince = "since"
)

// Row returns the text of the row with the given label, or "".
func (c *Callout) Row(label string) string {
	for _, r := range c.Rows {
		if r.Label == label {
			return r.Text
		}
	}
	return ""
}

// CalloutOfCall returns the callout for a call. If at is nil, the callout is about the finding that explains the
// verdict. Otherwise, it is about the finding at.
func CalloutOfCall(v *providers.View, t *stream.Turn, c *stream.Call, at *stream.Finding) Callout {
	o := Callout{Verdict: VerdictOfCall(c), Finding: at}
	quiet := o.Verdict.Harm == Healthy || o.Verdict.Harm == HarmOpen
	if at == nil && !quiet {
		o.Finding = decidingFinding(&o.Verdict, c.Findings, t.Findings, sentBackEvent(c))
	} else if at != nil && !at.ExplainsState {
		o.Verdict.Role = screen.SeverityRoles[at.Severity]
	}
	switch {
	case at == nil && quiet && c.MayGrow():
		o.Finding, o.Sentence = nil, openSentence(v, t, c)
	case at == nil && quiet:
		o.Finding, o.Sentence = nil, healthySentence(v, t, c)
	default:
		o.addFinding(carelessRisk(c))
		o.countOthers(c.Findings, t.Findings)
	}
	return o
}

// CalloutOfTurn returns the callout for a turn, without its calls. If at is nil, the callout is about the finding
// that explains the verdict, and ok is false if the turn is healthy or open. Otherwise, the callout is about the
// finding at.
func CalloutOfTurn(v *providers.View, t *stream.Turn, at *stream.Finding) (o Callout, ok bool) {
	x := v.Exchange(t.Exchange)
	o = Callout{Verdict: VerdictOfTurn(x, t), Finding: at}
	if at == nil {
		if o.Verdict.Harm == Healthy || o.Verdict.Harm == HarmOpen {
			return Callout{}, false
		}
		o.Finding = decidingFinding(&o.Verdict, nil, t.Findings, 0)
	} else if !at.ExplainsState {
		o.Verdict.Role = screen.SeverityRoles[at.Severity]
	}
	o.addFinding("")
	if r, ok := RefusalOf(v, t); ok {
		o.addRow(calloutSince, r.Since)
		if f := o.Finding; f != nil && f.Base() == stream.RequestRefused && t.Refusal.Place.Text != "" {
			o.Sentence, o.Short = AsSentence("the provider refused "+strings.Replace(t.Refusal.Place.Text, " ", ": ", 1)), ""
		}
	}
	o.countOthers(t.Findings)
	return o, true
}

// decidingFinding returns the finding that explains a verdict, or nil. If a finding decides the verdict, it returns
// that finding. Otherwise, it returns the worst finding that explains the state, first from the call's findings, then
// from its turn's. For a call that was sent back as {}, it returns the finding of the event that reports this.
func decidingFinding(v *Verdict, call, turn []stream.Finding, sentBack int) *stream.Finding {
	if v.Finding != nil {
		return v.Finding
	}
	var worst *stream.Finding
	for _, list := range [][]stream.Finding{call, turn} {
		for i := range list {
			f := &list[i]
			explains := f.ExplainsState
			if v.Harm == HarmError {
				explains = sentBack > 0 && f.Event == sentBack
			}
			if explains && (worst == nil || f.Severity > worst.Severity) {
				worst = f
			}
		}
		if worst != nil {
			break
		}
	}
	return worst
}

// sentBackEvent returns the event of the request that contained {} in place of the arguments, or 0.
func sentBackEvent(c *stream.Call) int {
	for _, s := range c.SentBack {
		if s.Outcome == emptied {
			return s.Event
		}
	}
	return 0
}

// addFinding adds the sentence and rows for the finding. If there is no finding, it adds those for the state.
func (c *Callout) addFinding(risk string) {
	if c.Finding == nil {
		c.Sentence = AsSentence(cmp.Or(stateSentences[c.Verdict.State], c.Verdict.Words))
		c.addRow(calloutCause, partyNames[stream.UnknownParty])
		c.addRow(calloutRisk, risk)
		return
	}
	f := c.Finding
	says, consequence := cutConsequence(f.Message)
	says, usual := cutUsual(f, says)
	c.Sentence = endSentence(says)
	if startsOwn(f.Quoted) {
		c.Sentence = AsSentence(says)
	}
	if short := cmp.Or(f.Hint, f.Short); short != "" {
		if f.Offset >= 0 {
			short += fmt.Sprintf(", byte %s", screen.Count(f.Offset))
		}
		c.Short = AsSentence(short)
	}
	cause := partyNames[f.By]
	if f.Base() == stream.EarlyWrong {
		cause = f.CausedBy() // the clients that would run the call
	}
	c.addRow(calloutCause, cause)
	c.addRow(calloutDo, firstSentence(f.Advice))
	if risk == "" {
		risk = AsSentence(consequence)
	}
	c.addRow(calloutRisk, risk)
	c.addRow(calloutUsual, usual)
}

// cutUsual splits the message of a stall into the silence and the usual gaps.
func cutUsual(f *stream.Finding, message string) (says, usual string) {
	if f.Detail == nil || f.Detail.Name != "stall" {
		return message, ""
	}
	if says, usual, ok := strings.Cut(message, "; usual gaps are "); ok {
		return says, AsSentence(usual)
	}
	says, _, _ = strings.Cut(message, "; the usual gaps are ")
	return says, ""
}

func (c *Callout) addRow(label, text string) {
	if text != "" {
		c.Rows = append(c.Rows, CalloutRow{label, text})
	}
}

// countOthers counts the findings above info that the callout is not about. It doesn't count EARLY_WRONG if the
// callout has a risk, because the risk describes the same problem.
func (c *Callout) countOthers(lists ...[]stream.Finding) {
	for _, list := range lists {
		for i := range list {
			f := &list[i]
			said := f.Base() == stream.EarlyWrong && c.Row(calloutRisk) != ""
			if c.Finding != nil && f.Event == c.Finding.Event && f.Base() == c.Finding.Base() && f.Message == c.Finding.Message {
				said = true
			}
			if f.Severity > stream.Info && !said {
				c.More++
			}
		}
	}
}

// stateSentences describe the states that no finding explains.
var stateSentences = [stream.NumStatus]string{
	stream.LooksDone: "the call looks done, but nothing confirms that it is complete", stream.Unseen: "toolscope missed bytes of the call: the state is unknown",
	stream.Malformed: "the arguments are not JSON", stream.CutShort: "the arguments stop before they are complete",
	stream.NotObject: "the arguments are not an object", stream.Aborted: "the call ended before it was complete", stream.Rejected: "the call was refused",
}

// partyNames maps the parties at fault to their names.
var partyNames = map[stream.Party]string{
	stream.Model: "the model", stream.Provider: "the provider", stream.Gateway: "the gateway", stream.Client: "your client",
	stream.Network: "the network", stream.Server: "the tool", stream.Toolscope: "toolscope", stream.UnknownParty: "not known", 0: "not known",
}

// cutConsequence splits a message into what happened and what clients do because of it.
func cutConsequence(message string) (says, consequence string) {
	for _, who := range []string{": a client ", ": clients ", ": each client "} {
		if says, what, ok := strings.Cut(message, who); ok {
			return says, who[len(": "):] + what
		}
	}
	return message, ""
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '.' && text[i+1] == ' ' && unicode.IsUpper(rune(text[i+2])) {
			return text[:i+1]
		}
	}
	return text
}

// AsSentence makes text begin with a capital letter and end with a full stop.
func AsSentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return endSentence(string(unicode.ToUpper(first)) + text[n:])
}

// endSentence adds a full stop to text that doesn't end with a punctuation mark.
func endSentence(text string) string {
	if text == "" || strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// startsOwn reports whether a message begins with toolscope's own words, and not with captured text.
func startsOwn(quoted stream.Spans) bool {
	for s := range quoted.All() {
		return s.From > 0
	}
	return true
}

// healthySentence describes a call with no fault.
func healthySentence(v *providers.View, t *stream.Turn, c *stream.Call) string {
	text := "Complete and valid."
	switch {
	case c.StoppedByClient() && c.Status() == stream.Aborted:
		return "The client stopped the call."
	case c.Status() == stream.NoArguments:
		text = "Complete, without arguments."
	case c.Freeform():
		text = "Complete. The arguments are free text: no schema applies."
	}
	if x := v.Exchange(t.Exchange); !c.Freeform() && !c.RunByProvider {
		checked := false
		if x != nil {
			_, checked = x.Required(c)
		}
		for i := range c.Findings {
			checked = checked && !slices.Contains(schema.Findings, c.Findings[i].Base())
		}
		switch sent := x != nil && x.RequestBody() != nil; {
		case checked:
			text += " The arguments fit the schema."
		case !sent:
			text += " No schema was sent: types are not checked."
		default:
			text += " The types are not checked."
		}
	}
	if c.RunByProvider {
		text += " The provider runs the call."
	}
	return text + sentBackSentence(v, c)
}

// sentBackSentence reports that later requests sent a call back unchanged, if all of them did. It returns ""
// otherwise.
func sentBackSentence(v *providers.View, c *stream.Call) string {
	for _, s := range c.SentBack {
		if s.Outcome != string(replay.Intact) {
			return ""
		}
	}
	if n := len(c.SentBack); n > 0 {
		if t := v.TurnAfter(&c.SentBack[n-1]); t != nil {
			return fmt.Sprintf(" Sent back unchanged in turn %d.", t.Number+1)
		}
		return " Sent back unchanged."
	}
	return ""
}

// openSentence describes a call that may still grow: its size, its speed, and the required keys that have not
// arrived.
func openSentence(v *providers.View, t *stream.Turn, c *stream.Call) string {
	var text string
	switch size := screen.Bytes(c.ArgsLen()).String(); {
	case c.ArgsLen() == 0:
		text = "No argument byte yet."
	case c.Status() == stream.LooksDone:
		text = "Looks done: " + size + ", but more may arrive."
	default:
		text = "Still arriving: " + size
		if took := c.LastArgAt - c.FirstArgAt; c.FirstArgAt >= 0 && took >= minRateTime {
			text += ", " + screen.Bytes(int(float64(c.ArgsLen())/took.Seconds())).String() + "/s"
		}
		text += "."
	}
	if missing := missingKeys(v, t, c); len(missing) > 0 {
		text += " Missing: " + strings.Join(missing, " ")
	}
	return text
}

// minRateTime is the minimum time between the first and the last byte for which a speed is computed.
const minRateTime = 100 * time.Millisecond

// maxOpenTokens is the maximum size, in tokens, of a growing call whose keys are checked.
const maxOpenTokens = 4000

// missingKeys returns the required keys whose values have not begun. It returns nil if the keys are unknown or
// the call is too long.
func missingKeys(v *providers.View, t *stream.Turn, c *stream.Call) (missing []string) {
	x, toks := v.Exchange(t.Exchange), c.Lexer().Tokens()
	if x == nil || toks.Len() > maxOpenTokens || c.ArgsLen() != len(c.Args()) {
		return nil
	}
	keys, known := x.Required(c)
	if !known || len(keys) == 0 {
		return nil
	}
	has := topKeys(c.Args(), toks)
	for _, key := range keys {
		if !has[key] {
			missing = append(missing, "."+key)
		}
	}
	return missing
}

// topKeys returns the top-level keys of an object whose values have begun.
func topKeys(args []byte, toks json.TokenList) map[string]bool {
	has, depth, key := map[string]bool{}, 0, ""
	for i, t := range toks.All() {
		switch t.Kind {
		case json.ObjectClose, json.ArrayClose:
			depth--
		case json.Key:
			if depth == 1 {
				key = string(json.AppendUnquoted(nil, bytes.Trim(args[toks.Start(i):t.End], `"`)))
			}
		case json.Space, json.Colon, json.Comma, json.Junk:
		default:
			if depth == 1 && key != "" {
				has[key] = true
			}
			if t.Kind == json.ObjectOpen || t.Kind == json.ArrayOpen {
				depth++
			}
		}
	}
	return has
}

// carelessRisk describes what careless clients do with a faulty call. It returns "" if nothing is known.
func carelessRisk(c *stream.Call) string {
	if c.RunByProvider || c.Discarded || c.Status() == stream.Unseen || c.ArgsLen() != len(c.Args()) {
		return ""
	}
	for _, k := range carelessRules {
		run := c.RuleRun(k.rule)
		if run.Event == 0 || run.Replaced || !slices.Contains(k.outcomes, run.Outcome) {
			continue
		}
		if run.Outcome == stream.RunBroken {
			return "Clients that run a call " + k.who + " fail: the arguments are " + NotObjectText(c) + "."
		}
		args, _ := RanArgs(c, run, k.rule)
		if k.rule == stream.Repaired && len(args) == 0 {
			continue
		}
		text := "Clients that run a call " + k.who + " run " + stream.Clip(args, 0, maxRiskBytes)
		if run.Outcome == stream.RunTwice {
			text += ", and then more"
		}
		return text + "."
	}
	return ""
}

// maxRiskBytes is the maximum number of argument bytes quoted in a risk.
const maxRiskBytes = 60

// carelessRules are the rules of careless clients, each with the outcomes that are a risk. The worst rule
// comes first.
var carelessRules = []struct {
	rule     stream.RunRule
	who      string
	outcomes []stream.RunOutcome
}{
	{stream.ParsableObject, "once its arguments parse", []stream.RunOutcome{stream.RunWrong, stream.RunTwice, stream.RunIncomplete}},
	{stream.Repaired, "after adding missing braces", []stream.RunOutcome{stream.RunIncomplete}},
	{stream.AtSeal, "when its arguments are final", []stream.RunOutcome{stream.RunBroken}},
	{stream.AtEnd, "when the response ends", []stream.RunOutcome{stream.RunBroken}},
}

// maxRepairBytes is the maximum size of arguments that are repaired for display.
const maxRepairBytes = 64 << 10

// RanArgs returns the arguments with which a call was run: the bytes that had arrived, or their repaired text. The
// result how is set if the text was repaired.
func RanArgs(c *stream.Call, r stream.RuleRun, e stream.RunRule) (args []byte, how string) {
	args = c.Args()[:r.Bytes]
	if e == stream.Repaired && len(args) <= maxRepairBytes {
		if repaired := replay.RepairPrefix(args); !bytes.Equal(repaired, args) {
			return repaired, ", repaired"
		}
	}
	return args, ""
}

// NotObjectText describes why arguments are not an object.
func NotObjectText(c *stream.Call) string {
	switch c.Syntax() {
	case json.SyntaxDouble:
		return "double-encoded JSON"
	case json.SyntaxOther:
		return "not an object"
	case json.SyntaxConcat:
		return count.Of(c.Lexer().Docs(), "object")
	}
	if err := c.Lexer().Err(); err != nil {
		return display.Format("not JSON from byte %s", screen.Count(err.Offset)).String()
	}
	return c.Syntax().String()
}

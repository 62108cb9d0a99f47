package present

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/price"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/ui/screen"
)

// IsPlain reports whether a turn is a plain HTTP response, and not the response of a model.
func IsPlain(t *stream.Turn) bool { return t.Protocol == "http" && t.Request != nil }

// ShortModel returns the name of a model without its vendor and date.
func ShortModel(model string) string {
	short := model[strings.LastIndexByte(model, '/')+1:]
	for _, vendor := range []string{"us.", "eu.", "apac.", "global.", "anthropic.", "claude-"} {
		short = strings.TrimPrefix(short, vendor)
	}
	return cmp.Or(cutModelDate(short), model)
}

// modelDates are the forms of a date at the end of a model's name. A # is a digit.
var modelDates = []string{"-20##-##-##", "@20##-##-##", "-20######", "@20######", "-##-##", "@##-##"}

// cutModelDate removes a version such as -v2:0 at the end of a model's name, and the date before it.
func cutModelDate(name string) string {
	if i := strings.LastIndex(name, "-v"); i >= 0 {
		major, minor, hasMinor := strings.Cut(name[i+2:], ":")
		if isNumber(major) && (!hasMinor || isNumber(minor)) {
			name = name[:i]
		}
	}
	for _, form := range modelDates {
		if i := len(name) - len(form); i >= 0 && hasForm(name[i:], form) {
			return name[:i]
		}
	}
	return name
}

func isNumber(text string) bool { return text != "" && hasForm(text, strings.Repeat("#", len(text))) }

// hasForm reports whether a text has a form of the same length, in which a # is a digit.
func hasForm(text, form string) bool {
	for i := range len(form) {
		if c := text[i]; form[i] != '#' && c != form[i] || form[i] == '#' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// TurnTitle names a turn by the first of these that is known: its parent, its request, its model, its file or its
// protocol.
func TurnTitle(x *providers.Exchange, t *stream.Turn) string {
	switch {
	case t.Parent != "":
		return "inside " + t.Parent
	case x != nil && x.Head.Method != "" && x.Head.URL != "":
		return screen.ShortName(x.Head.Method) + " " + screen.ShortName(shortURL(x.Head.URL))
	case t.Model != "":
		return t.Model
	case x != nil && x.Head.File != "":
		return path.Base(x.Head.File)
	}
	return t.Protocol
}

// shortURL returns a URL without scheme and host.
func shortURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return u
}

// FinishText returns the finish reason of a turn, with its meaning if the reason is a number.
func FinishText(t *stream.Turn) string {
	if t.FinishMeaning == "" {
		return t.Finish
	}
	return t.Finish + " (" + t.FinishMeaning + ")"
}

// wrongRunWords maps the codes of findings about wrong tool runs to their words.
var wrongRunWords = map[string]string{"EXEC_CUT": "run on cut args", "EXEC_ALTERED": "run with other arguments", "EXEC_TWICE": "run twice"}

// wrongResultWords maps the codes of findings about altered results to their words.
var wrongResultWords = map[string]string{"RESULT_CUT": "result cut", "RESULT_HALF": "half returned", "RESULT_ALTERED": "result altered"}

// AboutCall returns the unusual facts about a call: its kind, the party that ran it, how it was sent back, its
// result and its parent.
func AboutCall(c *stream.Call) (facts []string) {
	if c.Kind != "" && c.Kind != "function" {
		facts = append(facts, c.Kind)
	}
	if c.Discarded {
		facts = append(facts, "discarded by the provider")
	}
	switch {
	case c.MCPServer != "":
		facts = append(facts, "run by "+c.MCPServer)
	case c.RunByProvider:
		facts = append(facts, "run by the provider")
	}
	if len(c.SentBack) > 0 {
		var outcomes []string
		for _, r := range c.SentBack {
			outcomes = append(outcomes, r.Outcome)
		}
		facts = append(facts, "sent back "+strings.Join(outcomes, ", then "))
	}
	answered := "returned"
	if len(c.Runs) > 0 { // a call without tool runs has no faults of them, so its findings are not searched
		var ran []string
		for _, f := range c.Findings {
			if words := wrongRunWords[f.Code]; words != "" && !slices.Contains(ran, words) {
				ran = append(ran, words)
			}
			answered = cmp.Or(wrongResultWords[f.Code], answered)
		}
		facts = append(facts, ran...)
	}
	switch c.ResultCode {
	case stream.ResultOK:
		facts = append(facts, answered)
	case stream.ResultFailed:
		facts = append(facts, "returned an error")
	}
	if c.Parent != "" {
		facts = append(facts, "inside "+c.Parent)
	}
	if c.Copies > 1 {
		facts = append(facts, fmt.Sprintf("%d equal copies", c.Copies))
	}
	if c.Signature != "" {
		facts = append(facts, "signed")
	}
	return facts
}

// OwnFindings returns the findings of a call, without the findings about later requests and tool runs, which have
// lines of their own.
func OwnFindings(c *stream.Call) []stream.Finding {
	if len(c.Findings) == 0 {
		return c.Findings
	}
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f stream.Finding) bool {
		return slices.Contains(toolrun.Findings, f.Diagnosis) ||
			slices.ContainsFunc(c.SentBack, func(r stream.SentBackCall) bool { return r.Event == f.Event })
	})
}

// Calls returns the calls of a turn, and separately the calls that the provider discarded.
func Calls(t *stream.Turn) (calls, discarded []*stream.Call) {
	for _, c := range t.Calls {
		if c.Discarded {
			discarded = append(discarded, c)
		} else {
			calls = append(calls, c)
		}
	}
	return calls, discarded
}

// CallCount describes the number of calls in a turn, and how many of them the provider discarded.
func CallCount(t *stream.Turn) string {
	calls, discarded := Calls(t)
	words := count.Of(len(calls), "call")
	if len(discarded) > 0 {
		words += fmt.Sprintf(", %d discarded", len(discarded))
	}
	return words
}

// CallName returns the name of a call, or a placeholder if it has no name.
func CallName(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

// CostOf returns the cost of a turn.
func CostOf(prices *price.Table, x *providers.Exchange, t *stream.Turn) price.Figure {
	if x == nil {
		return prices.Turn(t, stream.Head{})
	}
	return prices.Turn(t, *x.Head)
}

// CostOfTurns returns the known cost of turns in words, and the number of turns whose cost is unknown.
func CostOfTurns(sum price.Sum, turns int) string {
	unknown := sum.Unknown
	if unknown == turns {
		return "cost unknown"
	}
	sum.Unknown = 0
	if unknown > 0 {
		return sum.Dated() + " plus the unknown cost of " + count.Of(unknown, "turn")
	}
	return sum.Dated()
}

// SeverityText returns the usual severity of a finding, and the conditions for other severities.
func SeverityText(d *stream.Diagnosis) string {
	text := d.Severity.String()
	for condition := range strings.SplitSeq(d.SeverityNote, "; ") {
		if condition != "" && !strings.HasPrefix(condition, d.Severity.String()+" ") {
			text += "; " + condition
		}
	}
	return text
}

// JoinWords joins the non-empty words with commas.
func JoinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), ", ")
}

// unknownFacts maps the facts that a source can't show, as a capture words them, to texts for a reader.
var unknownFacts = map[string]string{
	"how arguments came: calls are whole":                                            "how the arguments arrived: the source has only complete calls",
	"when bytes came":                                                                "when the bytes arrived",
	"when bytes came: times are of writing the log":                                  "when the bytes arrived: the times show when the log was written",
	"how arguments were spelled: the log encoded them anew":                          "the exact text of the arguments: the log encoded them again",
	"what the model wrote: calls are as the client sends them back":                  "the model's own text: the calls are as the client sends them back",
	"how answers ended":                                                              "how the responses ended",
	"what was answered: bodies were not kept":                                        "the content of the responses: the source doesn't keep bodies",
	"what events are called: the log has only their data":                            "the names of the events: the log has only their data",
	"which answer a line is of: several came at once, and nothing tells them apart":  "the response of a line: several arrived at once, and no value tells them apart",
	"what lines held that stop in their midst: who wrote the log may have cut them":  "the end of some lines: the program that wrote the log may have cut them",
	"what it used: the exchange with the beginning of the message has the usage":     "the usage: the exchange with the beginning of the message has it",
	"what was asked: requests are put together from the log's history":               "the exact request: toolscope assembled it from the log's history",
	"which of the earlier calls were sent: the user went back to an earlier message": "which earlier calls were sent: the user went back to an earlier message",
}

// UnknownFacts lists the facts about an exchange that its source can't show.
func UnknownFacts(x *providers.Exchange) []string {
	texts := slices.Clone(x.Head.Lacks)
	for i, words := range texts {
		texts[i] = cmp.Or(unknownFacts[words], words)
	}
	return texts
}

// ending describes how a response ended, to the extent that this decides which clients run its calls.
type ending uint8

const (
	endedWell   ending = iota // the response ended regularly, or it has not ended yet
	endedCut                  // the token limit or a filter ended the response
	endedBroken               // the connection broke
	endedBare                 // the response ended without a finish reason, but the connection did not break
	endedOther                // the response ended in a way that was not tested with any program
)

func endingOf(t *stream.Turn) ending {
	switch t.Phase() {
	case stream.TurnTruncated:
		return endedCut
	case stream.TurnAborted:
		switch {
		case t.Failure != "" || t.EndedBy == stream.Client:
			return endedOther
		case t.EndedBy == stream.Network:
			return endedBroken
		}
		return endedBare
	case stream.TurnRejected, stream.TurnRefused:
		return endedOther
	}
	return endedWell
}

// RunBy returns sentences about the programs that run, or don't run, a complete call at rule x. It returns nil
// if these programs are unknown, and for any rule except AtSeal and AtEnd. If the program that sent the request
// is known, it lists only that program.
func RunBy(t *stream.Turn, c *stream.Call, x stream.RunRule) []string {
	return clientsOf(t, c, x, false)
}

// CarelessClients is like RunBy, but leaves out the sentences about programs that don't run the call.
func CarelessClients(t *stream.Turn, c *stream.Call, x stream.RunRule) []string {
	return clientsOf(t, c, x, true)
}

func clientsOf(t *stream.Turn, c *stream.Call, x stream.RunRule, runs bool) (say []string) {
	how, run := endingOf(t), t.RuleRun(c, x)
	switch s := c.Syntax(); {
	case x != stream.AtSeal && x != stream.AtEnd, how == endedOther, c.RunByProvider, c.Discarded,
		s != json.SyntaxObject && s != json.SyntaxEmpty && s != json.SyntaxFreeform:
		return nil
	case x == stream.AtSeal && run.Event == 0, x == stream.AtEnd && !t.Closed():
		return nil
	}
	named := ""
	if t.Request != nil {
		named = t.Request.Client
	}
	all, own := client.RunHabitsOf(t.Protocol, named)
	delta := "" // the delta that completed the arguments, if it is known
	if run.Event != 0 && run.Bytes != 0 && !run.Replaced {
		delta = fmt.Sprintf(" at delta %d", c.DeltaAt(run.Bytes-1)+1)
	}
	for _, rule := range runRules {
		if rule.at != x || rule.how != how || runs && !rule.runs {
			continue
		}
		for known := client.Ran; known <= client.Documented; known++ {
			who := slices.DeleteFunc(slices.Clone(all), func(r client.RunHabit) bool { return r.Known != known || !rule.is(r) })
			if len(who) == 0 {
				continue
			}
			does := strings.Replace(rule.many, " DELTA", delta, 1)
			if len(who) == 1 {
				does = ofOne.Replace(does)
			}
			text := programNames(who, own) + " " + does + knownWords[known]
			if rule.runs && own && c.LatestResult() != nil {
				text += "; it did: the call's result was sent back"
			}
			say = append(say, text)
		}
	}
	return say
}

// runRule is a sentence about programs, for one rule and one ending.
type runRule struct {
	at   stream.RunRule
	how  ending
	is   func(client.RunHabit) bool // selects the programs
	runs bool                       // the programs run the call
	many string                     // the sentence in the plural
}

// runRules are all rules with their sentences. In a sentence, DELTA is replaced by the number of the delta.
var runRules = []runRule{
	{stream.AtSeal, endedWell, func(r client.RunHabit) bool { return r.When == client.AtBlock }, true, "run it DELTA, while the response continues"},
	{stream.AtSeal, endedCut, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Cut == client.Once }, true, "run it DELTA, before the cut"},
	{stream.AtSeal, endedCut, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Cut == client.Never }, false, "do not run it: the response was cut"},
	{stream.AtSeal, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Broken == client.Once }, true, "run it DELTA, before the connection broke"},
	{stream.AtSeal, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Broken == client.Twice }, true,
		"run it DELTA, retry when the connection breaks, and run the new calls too"},
	{stream.AtSeal, endedBare, func(r client.RunHabit) bool { return r.When == client.AtBlock }, true, "run it DELTA, before the response ended"},
	{stream.AtEnd, endedBare, func(r client.RunHabit) bool { return r.Bare == client.Once }, true, "run it at the end, although no finish reason arrived"},
	{stream.AtEnd, endedBare, func(r client.RunHabit) bool { return r.Bare == client.Never }, false, "do not run it: no finish reason arrived"},
	{stream.AtEnd, endedWell, func(r client.RunHabit) bool { return r.When == client.AtStop }, true, "run it when the response has ended"},
	{stream.AtEnd, endedCut, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Cut == client.Once }, true, "run it at the end, although the response was cut"},
	{stream.AtEnd, endedCut, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Cut == client.Never }, false, "do not run it: the response was cut"},
	{stream.AtEnd, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Broken == client.Never }, false, "do not run it: the connection broke"},
	{stream.AtEnd, endedWell, func(r client.RunHabit) bool { return r.When == client.ByHand }, false, "leave the call to the application"},
}

// ofOne changes the verbs of a sentence to the singular.
var ofOne = strings.NewReplacer("do not run", "does not run", "leave the call to the application",
	"leaves the call to the application", "retry", "retries", "run it", "runs it", "run the", "runs the")

// programNames joins the names of programs. The parameter own means that the only program is the sender of
// the request.
func programNames(who []client.RunHabit, own bool) string {
	var names []string
	for _, r := range who {
		if title := client.MustFind(r.Client).Title; !slices.Contains(names, title) {
			names = append(names, title)
		}
	}
	switch n := len(names) - 1; {
	case own:
		return "this client, " + names[0] + ","
	case n > 0:
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return names[0]
}

// knownWords describe how a client's behaviour became known.
var knownWords = [...]string{
	client.Ran: " (seen when run)", client.Read: " (read in its source)", client.Documented: " (documented)",
}

// Gaps are the places at which toolscope missed bytes of requests and responses.
type Gaps struct {
	Places int
	Bytes  int64 // number of missed bytes, as far as it is known
}

// AddTurn adds the gaps in a turn and in its request. The gaps in the requests on a WebSocket aren't added.
func (g *Gaps) AddTurn(x *providers.Exchange, t *stream.Turn) {
	g.Places += t.Gaps()
	g.Bytes += t.Missed
	if x != nil && !x.HasManyRequests() && x.MissedRequestBytes() > 0 && x.TurnIndex(t) == 0 {
		g.Places++
		g.Bytes += x.MissedRequestBytes()
	}
}

// Text describes the gaps. It returns "" if there are none.
func (g Gaps) Text() string {
	switch {
	case g.Places == 0:
		return ""
	case g.Bytes == 0:
		return count.Of(g.Places, "gap") + " in the traffic"
	}
	return count.Of(g.Bytes, "byte") + " missed in " + count.Of(g.Places, "gap")
}

package present

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
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

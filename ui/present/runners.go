package present

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/client"
	"toolscope/stream"
	"toolscope/stream/json"
)

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

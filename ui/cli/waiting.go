package cli

import (
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/mcp"
)

// waitingLines writes a JSON line when an open exchange starts to wait, starts to wait for something else, or
// ends. It checks once a second, so it writes few lines about quick responses.
type waitingLines struct {
	to   *jsonPrinter
	file string
	last map[int]waitingLine // latest line, by exchange

	requests int            // number of requests to MCP servers and shells that were read
	runs     []*mcp.Request // tool runs that have not ended
}

// waitingLine is the latest line about an exchange.
type waitingLine struct {
	state   providers.TurnState
	stalled bool
	at      time.Time
}

const (
	waitingTime = time.Second      // interval between two checks
	stalledTime = 30 * time.Second // interval between two lines about a stall
)

// writeDue writes the lines that are due.
func (w *waitingLines) writeDue(in *providers.Inspector, now time.Time) {
	v := in.View()
	for _, x := range v.Exchanges() {
		last, known := w.last[x.Number]
		clock, timed := v.WallClock(x.Number, x.LastRecordAt())
		wait, waits := v.WaitingAt(x, x.LastRecordAt()+now.Sub(clock))
		if t := v.LatestOf(x.Number); known && (x.Ended || !waits && t != nil && t.Closed()) {
			delete(w.last, x.Number)
			o := w.beginLine(v, x, "client")
			o.text("state", ifElse(t != nil && providers.AwaitsApproval(t), "approval", "client"))
			w.to.writeObject(o)
		}
		if !timed || !waits {
			continue
		}
		same := known && last.state == wait.State && last.stalled == wait.Stalled
		if same && (!wait.Stalled || now.Sub(last.at) < stalledTime) {
			continue
		}
		w.last[x.Number] = waitingLine{wait.State, wait.Stalled, now}
		w.writeLine(v, x, &wait)
	}
	w.writeToolRuns(in, now)
}

// writeToolRuns writes a line about each tool run that has begun, and about each that has ended, since the last check.
// It writes nothing about a tool run that began and ended between two checks.
func (w *waitingLines) writeToolRuns(in *providers.Inspector, now time.Time) {
	v := in.View()
	write := func(r *mcp.Request, on string) {
		o := new(jsonObject)
		o.text("type", "waiting")
		o.text("file", w.file)
		o.int("exchange", r.Exchange)
		if a := in.ToolRun(r); a != nil && a.Call != nil {
			o.addCallRef(a.Call.Ref)
		}
		o.text("on", on)
		o.text("state", on)
		o.optionalText("tool", r.Tool)
		if began, timed := v.WallClock(r.Exchange, r.AskedAt); timed && on == "tool" {
			o.time("since_ms", now.Sub(began))
		}
		w.to.writeObject(o)
	}
	w.runs = slices.DeleteFunc(w.runs, func(r *mcp.Request) (ended bool) {
		if ended = !v.IsRunning(r); ended {
			write(r, "client")
		}
		return ended
	})
	all := v.Executed()
	for _, r := range all[w.requests:] {
		if v.IsRunning(r) {
			w.runs = append(w.runs, r)
			write(r, "tool")
		}
	}
	w.requests = len(all)
}

// beginLine begins a line about an exchange. The parameter on is the party for which the exchange is waiting.
func (w *waitingLines) beginLine(v *providers.View, x *providers.Exchange, on string) *jsonObject {
	o := new(jsonObject)
	o.text("type", "waiting")
	o.text("file", w.file)
	o.int("exchange", x.Number)
	if t := v.LatestOf(x.Number); t != nil {
		o.int("turn", int(t.Number)+1)
		if on != "client" && len(t.Calls) > 0 && t.Calls[len(t.Calls)-1].MayGrow() {
			o.int("call", len(t.Calls))
		}
		if t.Request != nil {
			o.optionalText("session", t.Request.Session)
			o.optionalText("agent", t.Request.Agent)
		}
	}
	o.text("on", on)
	return o
}

// writeLine writes the party for which an open exchange is waiting.
func (w *waitingLines) writeLine(v *providers.View, x *providers.Exchange, wait *providers.Waiting) {
	on := "provider"
	switch wait.State {
	case providers.SendingRequest:
		on = "client"
	case providers.Held:
		on = "toolscope"
	}
	o := w.beginLine(v, x, on)
	o.text("state", strings.ReplaceAll(wait.State.String(), " ", "_"))
	o.time("since_ms", wait.For)
	if wait.Gaps > 0 {
		o.time("usual_ms", wait.Usual)
		o.time("longest_ms", wait.Longest)
		o.int("of", wait.Gaps)
	}
	o.flagIf("stalled", wait.Stalled)
	w.to.writeObject(o)
}

package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/display"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

// textPrinter writes turns for people: a line per turn and a line for its usage, a line per call, the arguments as
// they arrived, and findings in words.
type textPrinter struct {
	lineWriter
	summaryTotals
	prices *price.Table
	source string // source of the last turn
}

// total writes the totals on one line.
func (p *textPrinter) total() { p.printPieces(p.summaryTotals.inPieces()) }

// writeSource writes a turn's wrapper and the facts that are missing from its source. It writes them only if
// they differ from those for the last turn.
func (p *textPrinter) writeSource(file string, x *providers.Exchange) {
	if x == nil {
		return
	}
	lacks := strings.Join(present.UnknownFacts(x), "; ")
	told := strings.Join([]string{file, x.Head.Wrappers, lacks}, "\n")
	if told == p.source {
		return
	}
	p.source = told
	if x.Head.Wrappers != "" {
		p.printLine("  %s %s", inMuted("found in"), x.Head.Wrappers)
	}
	if lacks != "" {
		p.writeWrapped("  unknown: ", lacks)
	}
}

// addTurn writes a turn and its calls.
func (p *textPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	p.add(x, t, p.prices)
	if x != nil && present.IsPlain(t) {
		p.printLine("%s  %s  %s  %s  %s", file, inBold(turnNumber(t)), inMuted(joinDots(t.Protocol, t.Request.Purpose)), turnPhase(x, t), inMuted(joinDots(present.TurnTitle(x, t), t.Finish)))
		p.writeFindings(present.WithCosts(v, p.prices, t, t.Findings))
		p.printLine("")
		return
	}
	cost := cmp.Or(present.CostOf(p.prices, x, t).String(), "cost unknown")
	p.printLine("%s  %s  %s  %s  %s", file, inBold(turnNumber(t)), inMuted(joinDots(t.Protocol, t.Model)), turnPhase(x, t), inMuted(joinDots(present.FinishText(t), present.CallCount(t), cost)))
	if t.Failure != "" {
		p.printLine("  %s    %s", inInk(badInk, "error"), t.Failure)
	}
	for _, f := range present.RetryFacts(v, t) {
		if f.Word != "" {
			p.printLine("  %s  %s", inMuted(f.Word), f.Text)
		}
	}
	p.writeSource(file, x)
	if told := t.Usage.String(); told != "" {
		p.printLine("  %s", inMuted("usage    "+told))
	}
	if len(t.Calls) == 0 && t.Phase() == stream.TurnAborted {
		p.writeLatency(v, t, nil)
	}
	for _, c := range t.Calls {
		p.writeCall(v, t, c)
	}
	p.writeFindings(present.WithCosts(v, p.prices, t, t.Findings))
	p.printLine("")
}

// writeCall writes a call: its state, arguments, times, latest result and findings.
func (p *textPrinter) writeCall(v *providers.View, t *stream.Turn, c *stream.Call) {
	said := append([]string{c.Phase().String(), c.Syntax().String()}, present.AboutCall(c)...)
	about := fmt.Sprintf("%d B in %s  (%s)", len(c.Args()), count.Of(c.Deltas(), "delta"), strings.Join(said, ", "))
	p.printLine("  %s %s  %s  %s", p.callState(c), inBold(present.CallName(c.Name)), inMuted(c.ID), inMuted(about))
	if len(c.Args()) > 0 {
		// Arguments that begin with a non-ASCII byte are sanitised together with the lead, because their first
		// character could combine with it.
		args := bytes.TrimRight(c.Args(), " ")
		switch {
		case len(args) == 0, args[0] >= utf8.RuneSelf:
			p.printLine("%s%s", argsIndent, args)
		case p.pen != nil:
			p.writeInkedArgs(c, args)
		default:
			p.writeLongLine(argsIndent, display.CleanParts(args))
		}
	}
	p.writeLatency(v, t, c)
	if r := c.LatestResult(); r != nil {
		p.writeResult(r)
	}
	if phase := t.Phase(); phase == stream.TurnTruncated || phase == stream.TurnAborted {
		for _, x := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
			for _, who := range present.RunBy(t, c, x) {
				p.printLine("    %s  %s", inMuted("runs"), who)
			}
		}
	}
	p.writeFindings(present.WithCosts(v, p.prices, t, present.OwnFindings(c)))
}

// writeLatency writes the times at which a call reached each phase, if the source has times. If c is nil, it writes the
// times of the turn.
func (p *textPrinter) writeLatency(v *providers.View, t *stream.Turn, c *stream.Call) {
	if !v.HasTimes(t) {
		return
	}
	l := v.Latency(t, c)
	var words []string
	for _, m := range l.TimePoints() {
		if m.At >= 0 {
			words = append(words, m.Name+" "+units.Time(m.At).String())
		}
	}
	if len(words) > 0 {
		p.printLine("    %s", inMuted("since the "+ifElse(l.RequestSeen, "request", "response began")+"  "+strings.Join(words, ", ")))
	}
}

// writeResult writes the beginning of a call's result. For an error result, it writes all text that was kept.
func (p *textPrinter) writeResult(r *stream.SentBackCall) {
	text, most, is := r.Result.Text, 512, inMuted("result")
	if r.ResultCode == stream.ResultFailed {
		most, is = stream.MaxResultBytes, ofRole(units.Caution, "error result")
	}
	size := fmt.Sprintf("%d B", r.Result.Bytes)
	if r.Result.Media > 0 {
		size += " and " + count.Of(r.Result.Media, "part") + " without text"
	}
	if n := min(most, len(text)); n < r.Result.Bytes {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	p.printLine("    %s  %s  %s", is, inMuted(size), text)
}

// writeFindings writes one line per finding.
func (p *textPrinter) writeFindings(list []stream.Finding) {
	const severity = 4 + 5 + 1 // in cells
	for _, f := range list {
		p.withHang(severity).printLine("    %-5s %s  %s", ofSeverity(f.Severity, f.Severity), ofCode(f.Severity, f.Code), f.Message)
	}
}

// ofCode makes the code of a finding bold, unless the finding's severity is info.
func ofCode(s stream.Severity, code string) any {
	return inInk(ifElse(s > stream.Info, boldInk, plainInk), code)
}

// turnNumber returns the number of a turn in words.
func turnNumber(t *stream.Turn) string { return fmt.Sprintf("turn %d", t.Number+1) }

// turnPhase returns a turn's phase in the colour for its verdict.
func turnPhase(x *providers.Exchange, t *stream.Turn) any {
	return ofRole(present.VerdictOfTurn(x, t).Role, t.Phase())
}

// sentBack writes a line for each call that a later request carries.
func (p *textPrinter) sentBack(calls []sentBackCall) {
	for _, r := range calls {
		where := fmt.Sprintf("in request %d", r.Exchange)
		if r.same {
			where = "later in the same exchange"
		}
		p.printLine("  %-13s %s  %s  %s  %s", inMuted("sent back"), inBold(present.CallName(r.name)), inMuted(r.id), ofRole(outcomeRole(r.Outcome), r.sentence()), inMuted(fmt.Sprintf("(turn %d, %s)", r.of.Turn+1, where)))
		if r.late {
			p.writeResult(&r.SentBackCall)
		}
		p.writeFindings(r.findings)
	}
	p.printLine("")
}

// others writes the number of log lines that belong to no exchange, and the last of these lines.
func (p *textPrinter) others(file string, lines providers.OtherLines) {
	p.printLine("%s  %s", file, count.Of(int(lines.Count), "other line"))
	for _, line := range lastFew(lines) {
		p.printLine("  %s", inMuted(line))
	}
	p.printLine("")
}

// lastFew returns the last of the lines, at most five.
func lastFew(lines providers.OtherLines) [][]byte {
	const few = 5
	return lines.Last[max(0, len(lines.Last)-few):]
}

// isPlain reports whether toolscope prints sentences instead of drawing a screen. It does so with --plain, or if the
// terminal can't show a screen.
func (pr *printing) isPlain() bool { return pr.app.flags.plain || os.Getenv("TERM") == "dumb" }

// onScreen reports whether input is shown as it arrives, either on a screen or in sentences.
func (pr *printing) onScreen() bool { return isTerminal(pr.app.output) || pr.app.flags.plain }

// plainPrinter prints one sentence per line, for screen readers and logs. It prints a line when a turn or call
// begins, is complete, has a problem or ends. It prints growing text only when the text is complete. It never redraws
// anything. The lines depend on the input, but not on when it arrives.
type plainPrinter struct {
	lineWriter
	in      *providers.Inspector
	prices  *price.Table
	events  int                 // number of printed events
	begun   int32               // turns below this number have been printed
	printed map[stream.Ref]bool // calls of open turns that have been printed
	words   map[string]bool     // alarms that have been printed, as text
}

// printLive prints the records of an inbox until the inbox ends or a signal arrives. If there are recent captures to
// choose from, it only lists them.
func (pr *printing) printLive(o ui.Options, feed func()) error {
	if len(o.Recent) > 0 {
		pr.app.stdout.printLine("%s. 'toolscope demo --plain' plays the demo.", count.Of(len(o.Recent), "capture"))
		dir, _ := captureFolder()
		for i, r := range o.Recent {
			if i == 10 {
				pr.app.stdout.printLine("More captures are in %s: %d.", dir, len(o.Recent)-i)
				break
			}
			pr.app.stdout.printLine("Capture of %s, %s: toolscope --plain %s", r.Written.Local().Format(time.DateTime), sizeText(r.Bytes), shellWord(dir+string(os.PathSeparator)+r.Name))
		}
		return nil
	}
	defer quitQuietly()()
	caught, stop := pr.app.catchEnd()
	defer stop()
	if pr.app.network != nil {
		pr.app.network.start(callDirect)
		defer pr.app.network.unwanted.Store(true)
	}
	if feed != nil {
		go feed()
	}
	t := &plainPrinter{lineWriter: pr.app.stdout, in: new(providers.Inspector), prices: o.Prices, printed: map[stream.Ref]bool{}, words: map[string]bool{}}
	t.in.Keep(providers.Retention{Bytes: maxPrintedBytes, Rows: maxPrintedRows, ReadOnce: true})
	if o.Prepare != nil {
		o.Prepare(t.in)
	}
	t.printLine("Source: %s.", o.Source)
	if o.Setup != nil {
		t.printLine("Waiting for clients at %s. 'toolscope proxy --print-env' prints how to point clients at the proxy.", o.Setup.URL)
	}
	for {
		over, err := t.printAll(o)
		if over {
			return err
		}
		select {
		case sig := <-caught:
			pr.app.endedBy(sig)
			return nil
		case <-o.Inbox.Wakeups():
		}
	}
}

// printAll prints everything that is in the inbox.
func (t *plainPrinter) printAll(o ui.Options) (over bool, err error) {
	for more := true; more; {
		var batch []stream.Record
		batch, more = o.Inbox.Take(1 << 16)
		for _, r := range batch {
			t.in.MakeRoom()
			t.in.Write(r)
			t.printNewEvents()
		}
	}
	if o.Status != nil {
		for _, w := range o.Status() {
			if w.Alarm && !t.words[w.Text] {
				t.words[w.Text] = true
				t.printLine("Source: %s.", w.Text)
			}
		}
	}
	if over, err = o.Inbox.Done(); !over {
		return false, nil
	}
	t.in.Close()
	t.printNewEvents()
	t.printLine("The source has ended.")
	return true, err
}

// printNewEvents prints the events that were added since the last call.
func (t *plainPrinter) printNewEvents() {
	s := t.in.Session()
	for ; t.events < t.in.Timeline.Len(); t.events++ {
		kind, of := t.in.Timeline.Subject(t.events)
		turn, call := s.Find(of)
		if turn == nil || present.IsPlain(turn) && kind != stream.TurnClose {
			continue
		}
		switch kind {
		case stream.TurnOpen:
			if turn.Number >= t.begun {
				t.begun = turn.Number + 1
				t.printLine("Turn %d begins: %s.", turn.Number+1, present.JoinWords(turn.Protocol, turn.Model))
			}
		case stream.CallOpen:
			if call != nil && !call.Discarded {
				t.printLine("%s: the arguments begin.", t.callLabel(turn, call))
			}
		case stream.Seal:
			t.printCall(turn, call)
		case stream.SentBack:
			e, _ := t.in.Timeline.Event(t.events)
			_, call = s.Find(stream.Ref{Turn: e.Turn, Call: e.Slot})
			t.sentBack(turn, call)
		case stream.TurnClose:
			t.printTurnEnd(turn)
		}
		t.printFindings(fmt.Sprintf("Turn %d", turn.Number+1), turn.Findings)
		if call != nil {
			t.printFindings(t.callLabel(turn, call), call.Findings)
		}
	}
}

// callLabel returns the number and name of a call.
func (t *plainPrinter) callLabel(turn *stream.Turn, c *stream.Call) string {
	name := c.Name
	if name == "" {
		name = "no name yet"
	}
	return fmt.Sprintf("Turn %d, call %d, %s", turn.Number+1, c.Number, name)
}

// printCall prints a call once, when its arguments have ended.
func (t *plainPrinter) printCall(turn *stream.Turn, c *stream.Call) {
	if c == nil || t.printed[c.Ref()] {
		return
	}
	t.printed[c.Ref()] = true
	lead := display.Clean(fmt.Sprintf("%s: %s, %s in %s%s", t.callLabel(turn, c), c.Status(), count.Of(len(c.Args()), "byte"), count.Of(c.Deltas(), "delta"), textIf(len(c.Args()) > 0, ": ")))
	if len(c.Args()) == 0 {
		t.printLine("%s.", lead.String())
		return
	}
	t.writeLongLine(lead, display.CleanParts(c.Args()))
}

// printFindings prints the findings in a list that belong to the current event.
func (t *plainPrinter) printFindings(who string, all []stream.Finding) {
	for _, f := range all {
		if f.Event == t.events {
			t.printLine("%s: %s %s: %s.", who, f.Severity, f.Code, f.Message)
		}
	}
}

// sentBack prints how a call was sent back, if the current event reports it.
func (t *plainPrinter) sentBack(turn *stream.Turn, c *stream.Call) {
	if c == nil {
		return
	}
	for _, r := range c.SentBack {
		if r.Event == t.events {
			t.printLine("%s: sent back by a later request, %s.", t.callLabel(turn, c), sentBackCall{SentBackCall: r}.sentence())
		}
	}
}

// printTurnEnd prints the remaining calls of a turn, and the end of the turn.
func (t *plainPrinter) printTurnEnd(turn *stream.Turn) {
	for _, c := range turn.Calls {
		t.printCall(turn, c)
		t.printFindings(t.callLabel(turn, c), c.Findings)
		delete(t.printed, c.Ref())
	}
	cost := present.CostOf(t.prices, t.in.Exchange(turn.Exchange), turn).String()
	text := textIf(len(turn.Text) > 0, count.Of(len(turn.Text), "byte")+" of text")
	t.printLine("Turn %d ends: %s.", turn.Number+1, present.JoinWords(turn.Phase().String(), present.FinishText(turn), turn.Failure, present.CallCount(turn), text, cost))
	// Print why the request was refused, advice, and the origin of the refused block.
	r, ok := present.RefusalOf(t.in.View(), turn)
	if !ok {
		return
	}
	who := fmt.Sprintf("Turn %d, refused request", turn.Number+1)
	if o, ok := present.CalloutOfTurn(t.in.View(), turn, nil); ok {
		t.printLine("%s: %s", who, o.Sentence)
		for _, row := range o.Rows {
			t.printLine("%s, %s: %s", who, row.Label, strings.TrimSuffix(row.Text, ".")+".")
		}
	}
	for _, row := range r.Origin {
		text := row.Text
		if row.Call != nil {
			text = "call " + row.Call.Name + " " + row.Call.ID
		}
		t.printLine("%s, origin: turn %d, %s.", who, row.Turn+1, text)
	}
}

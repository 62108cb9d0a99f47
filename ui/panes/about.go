package panes

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// EventTime returns the time of an event since its turn began, or "" if it is unknown.
func EventTime(v *providers.View, event int32) display.Text {
	e := v.EventPrefix(int(event), 0)
	if t := v.Session().Turn(e.Turn); t != nil {
		return screen.Time(screen.Elapsed(t.OpenedAt, e.At))
	}
	return display.Text{}
}

// maxTimedDeltas limits the deltas of a growing call whose times are shown, because computing the times means reading
// all silences between deltas.
const maxTimedDeltas = 1000

// latencyLines returns the lines below the run rules: the call's times and its longest silence. It returns nil if no
// time is known, or if the call still grows and has more than maxTimedDeltas deltas.
func latencyLines(s *Context, c Selection, w int) (lines []runRuleLine) {
	if c.Call.MayGrow() && c.Call.Deltas() > maxTimedDeltas {
		return nil
	}
	l := s.View.Latency(c.Turn, c.Call)
	var words []display.Text
	for _, m := range l.TimePoints() {
		if at := screen.Time(m.At); !at.Empty() {
			words = append(words, display.Format("%s %s", m.Name, at))
		}
	}
	if len(words) == 0 {
		return nil
	}
	add := func(role screen.Role, text display.Text) {
		for _, line := range display.Wrap(text, max(w-findingLeft, 8)) {
			lines = append(lines, runRuleLine{of: noRule, role: role, text: line.Between("   ", "")})
		}
	}
	from := sinceText(&l).Between("", ": ")
	if !l.RequestSeen {
		from = sinceText(&l).Between("", " (the request was not seen): ")
	}
	for i, word := range words {
		if i > 0 {
			from = display.Join(from, s.Pen.Glyph.Dot.Between(" ", " "))
		}
		from = display.Join(from, word)
	}
	add(screen.Muted, from)
	if l.Gap > 0 {
		role := screen.Muted
		text := display.Format("longest silence %s, before %s", screen.Time(l.Gap), deltaName(s.Pen.Drawer, l.GapAt))
		if l.GapAt >= c.Call.Deltas() {
			text = display.Format("longest silence %s, after the last delta", screen.Time(l.Gap))
		}
		if IsStalled(c.Turn) {
			role = screen.Caution
		}
		if l.Stalls > 0 {
			text = display.Join(text, display.Format("; %s of %s or more, %s in total", screen.Plural(l.Stalls, "stall"), screen.Time(providers.StallAfter), screen.Time(l.Stalled)))
		}
		add(role, text)
	}
	return lines
}

// sinceText names the moment from which the times of a call are measured.
func sinceText(l *providers.Latency) display.Text {
	if l.RequestSeen {
		return display.Lit("since the request")
	}
	return display.Lit("since the response began")
}

// sentBackSides maps outcomes of sent-back calls to comparison signs.
var sentBackSides = map[replay.Treatment]screen.Side{
	replay.Intact: screen.Same, replay.WasReformatted: screen.Alike, replay.WasMoved: screen.Alike,
	replay.WasRepaired: screen.Differs, replay.WasWrapped: screen.Differs, replay.WasEncoded: screen.Differs,
	replay.WasAltered: screen.Differs, replay.WasOrphaned: screen.Differs,
	replay.WasEmptied: screen.Nothing, replay.WasDropped: screen.Nothing,
}

// SentBackLook returns the role and the sign for an outcome.
func SentBackLook(p *screen.Pen, fate string) (screen.Role, display.Text) {
	if side, ok := sentBackSides[replay.Treatment(fate)]; ok {
		return screen.SideRoles[side], p.Clean(strings.TrimSpace(p.Glyph.Side[side].String())).Between("", " ")
	}
	return screen.Plain, p.Glyph.Dot.Between("", " ")
}

// SentBackLabel returns the label of the page that shows how a call was sent back. Its count is the number of times
// that the call was sent back, and its role is that of the worst outcome.
func SentBackLabel(c *stream.Call) Label {
	l := Label{Name: display.Lit("Sent back"), Short: display.Lit("Back"), Role: screen.Muted}
	if c == nil {
		return l
	}
	worst := screen.Same
	for _, r := range c.SentBack {
		worst = max(worst, sentBackSides[replay.Treatment(r.Outcome)])
	}
	if n := len(c.SentBack); n > 0 {
		l.Count, l.Role = screen.Count(n), screen.SideRoles[worst]
	}
	return l
}

// FirstSentBack names the request that first sent back a turn's calls.
func FirstSentBack(v *providers.View, t *stream.Turn) string {
	text := "in " + RequestName(v, t.SentBackIn)
	if v.TurnOf(t.SentBackIn) != nil {
		text += ": o shows it"
	}
	return text
}

// RequestName names an exchange's request: by the number of its turn in the list, or else by the number of
// the exchange. Negative numbers are toolscope's own requests.
func RequestName(v *providers.View, exchange int) string {
	if t := v.TurnOf(exchange); t != nil {
		return fmt.Sprintf("the request of turn %d", t.Number+1)
	}
	if exchange < 0 {
		return "toolscope's own request"
	}
	return fmt.Sprintf("request %d (without a response)", exchange)
}

// sentBackWords describes how a request sent a call back, without the outcome.
func sentBackWords(v *providers.View, r stream.SentBackCall) string {
	words := "in " + SentBackRequest(v, &r)
	switch names := strings.Split(r.Policies, ","); {
	case r.Policies == "":
	case len(names) == 1:
		words += ", as policy " + names[0] + " does"
	default:
		words += ", as policies " + strings.Join(names, ", ") + " do"
	}
	if r.KeptByProvider {
		words += ", by reference to the provider's copy"
	}
	switch r.ResultCode {
	case stream.ResultOK:
		words += "; with its result"
	case stream.ResultFailed:
		words += "; its result is an error"
	default:
		words += "; without a result"
	}
	return words
}

// sentBackLines returns the lines about how later requests sent a call back.
func sentBackLines(v *providers.View, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	for i, r := range c.SentBack {
		if i == 0 {
			lines = append(lines, findingLine{of: ours}, findingLine{of: ours, role: screen.Muted, text: display.Lit(" WHEN IT WAS SENT BACK")})
		}
		look, sign := SentBackLook(p, r.Outcome)
		text := display.Join(sign, p.Name(r.Outcome), display.Lit("  "), p.Name(sentBackWords(v, r)))
		if c.Syntax() == json.SyntaxDouble && r.Outcome == string(replay.Intact) {
			text = display.Join(text, display.Lit("; the model double-encoded the arguments"))
		}
		for j, line := range display.Wrap(text, max(width-4, 8)) {
			if j > 0 {
				line = line.Between("  ", "")
			}
			lines = append(lines, findingLine{of: ours, role: look, text: line.Between(" ", ""), to: &r})
		}
	}
	return lines
}

// drawSentBack draws an event that reports how a later request sent a call back. This event has no frame in the
// response. If which is true, the row also names the call.
func drawSentBack(p *screen.Pen, v *providers.View, e stream.Event, event int, g screen.Surface, which bool) {
	look, sign := SentBackLook(p, e.Text)
	p.TextOn(screen.Muted, g, p.Format("%-4s  ", e.Kind))
	resent := stream.PayloadOf[stream.SentBackReport](e)
	r := stream.SentBackCall{Exchange: resent.Exchange, Policies: resent.Policies, ResultCode: e.Code, KeptByProvider: resent.KeptByProvider, Event: event}
	if which {
		p.TextOn(screen.Plain, g, p.Format("call %d ", e.Slot))
	}
	p.TextOn(look, g, display.Join(sign, p.Name(e.Text)))
	p.TextOn(screen.Plain, g, p.Name(sentBackWords(v, r)).Between(" ", ""))
}

// speakers tracks how the turns in the list differ, because a column is not drawn if it would be empty or the same in
// all rows.
type speakers struct {
	several bool // whether there are several agents
	agent   string
	model   bool // whether any turn has a model
	timed   bool // whether any turn or call has a duration
	files   int  // number of different files, counted up to maxFiles
	file    string
	seen    map[string]bool
	before  string // the beginning that all file names share, up to and including the last separator
	after   string // the extension that all file names share
	longest int    // the width of the longest shortened name, measured when it was added
	agents  int    // the width of the longest agent name
	models  int    // the width of the longest model name
}

// maxFiles limits how many files are counted.
const maxFiles = 1 << 12

// addTurns adds new turns. If again is true, it starts from scratch with all turns.
func (w *speakers) addTurns(scene *Context, turns []*stream.Turn, again bool) {
	v := scene.View
	if again {
		*w = speakers{}
		turns = v.Session().Turns
	}
	for _, t := range turns {
		if name := agentName(t.Request); name != "" {
			w.several = w.several || w.agent != "" && w.agent != name
			w.agent = name
			w.agents = max(w.agents, utf8.RuneCountInString(name))
		}
		w.addTimes(t)
		if x := v.Exchange(t.Exchange); x != nil && x.Head.File != "" && x.Head.File != w.file {
			w.addFile(x.Head.File)
		}
	}
}

// addTimes records whether a turn has a model, whether the turn or one of its calls has a duration, and the width of
// the longest name of a model.
func (w *speakers) addTimes(t *stream.Turn) {
	w.model = w.model || t.Model != ""
	w.models = max(w.models, utf8.RuneCountInString(present.ShortModel(t.Model)))
	for i := 0; i < len(t.Calls) && !w.timed; i++ {
		w.timed = screen.CallTime(t.Calls[i]) >= 0
	}
	w.timed = w.timed || screen.Elapsed(t.OpenedAt, t.ClosedAt) > 0
}

// originCells returns an upper bound for the width of a turn's origin.
func (w *speakers) originCells() int {
	switch {
	case w.files > 1:
		return w.longest
	case w.several:
		return w.agents + 1 + w.models
	}
	return w.models
}

// addFile adds the name of a file, and shortens the parts that all names share.
func (w *speakers) addFile(name string) {
	switch w.file = name; {
	case w.files == 0:
		w.seen = map[string]bool{}
		w.before, w.after = name[:strings.LastIndexByte(name, '/')+1], path.Ext(name)
	case w.seen[name]:
		return
	}
	if len(w.seen) < maxFiles {
		w.seen[name] = true
		w.files++
	}
	for !strings.HasPrefix(name, w.before) {
		w.before = w.before[:strings.LastIndexByte(strings.TrimSuffix(w.before, "/"), '/')+1]
	}
	if !strings.HasSuffix(name, w.after) {
		w.after = ""
	}
	w.longest = max(w.longest, utf8.RuneCountInString(w.shortFile(name)))
}

// shortFile returns the name of a file without the parts that all names share.
func (w *speakers) shortFile(name string) string {
	short := strings.TrimSuffix(strings.TrimPrefix(name, w.before), w.after)
	if short == "" {
		return name
	}
	return short
}

// agentName returns the display name of a request's agent, or "" if there is none.
func agentName(a *stream.RequestInfo) string {
	switch {
	case a == nil || a.Agent == "":
		return ""
	case a.Title != "":
		return a.Title
	case a.Agent == "/root":
		return conversation.Main
	}
	return path.Base(a.Agent)
}

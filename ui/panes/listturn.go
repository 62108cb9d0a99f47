package panes

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"toolscope/providers"
	"toolscope/providers/lane"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// cast is who is in the list: rows say only what is not the same in all.
type cast struct {
	several bool // agents
	files   bool // several
	agent   string
	file    string
	widest  int // cells of the longest name of an agent
}

// mostAgent is how many cells the column of agents has at most.
const mostAgent = 8

// extend takes turns that are new, or all.
func (w *cast) extend(v *providers.View, turns []*stream.Turn, again bool) {
	if again {
		*w = cast{}
		turns = v.Session().Turns
	}
	for _, t := range turns {
		if name := agentName(t.Ask); name != "" {
			w.several = w.several || w.agent != "" && w.agent != name
			w.agent = name
			w.widest = max(w.widest, min(display.Clean(screen.Short(name)).Width(), mostAgent))
		}
		if x := v.Exchange(t.Exchange); x != nil && x.Head.File != "" {
			w.files = w.files || w.file != "" && w.file != x.Head.File
			w.file = x.Head.File
		}
	}
}

// agentName is what people call the agent of a request, "" where it has none.
func agentName(a *stream.Ask) string {
	switch {
	case a == nil || a.Agent == "":
		return ""
	case a.Title != "":
		return a.Title
	case a.Agent == "/root":
		return lane.Main
	}
	return path.Base(a.Agent)
}

// drawTurn writes a turn: its number and state, when it began, whose it is, the model, and what for;
// flush right how it went wrong, what it cost, and how long it took.
func (l *List) drawTurn(p *screen.Pen, t *stream.Turn, g screen.Ground, at grid) {
	st, look, word := turnState(t)
	if !bad(st) || isSide(t) {
		word = ""
	}
	if st == stream.Complete || isSide(t) {
		look = screen.Muted
	}
	p.Put(screen.Muted, g, flush(p, p.Format("%d", t.Number+1), at.number))
	l.drawState(p, g, t.Ref(), t.Findings, st, look, at)
	paid := display.Text{}
	if cost := l.scene.Bill.Of(t); cost.Known() {
		paid = shortCost(p, cost)
	} else if t.Closed() && !isSide(t) {
		paid = p.Glyph.None
	}
	if IsPlain(t) {
		paid = bodySize(l.scene.View, t)
	}
	r := row{word: p.Clean(word), look: look, size: paid, took: screen.Time(screen.Since(t.OpenedAt, t.ClosedAt)), role: screen.Plain, quiet: isSide(t)}
	room := p.Left - sizeCells - 1
	switch {
	case at.took && word != "":
		room -= tookCells + max(wordCells, r.word.Width()+1)
	case at.took:
		room -= tookCells
	case word != "":
		room = p.Left - r.word.Width() - 2
	}
	r.text = l.turnText(p, t, room, at)
	l.drawRow(p, g, at, r)
}

// turnState is the state of a turn: of its first bad call, else of its own end.
func turnState(t *stream.Turn) (stream.Status, screen.Role, string) {
	st, look, word := screen.TurnLook(t)
	if bad(st) {
		return st, look, st.String()
	}
	for _, c := range t.Calls[:min(len(t.Calls), mostJudged)] {
		if of := c.Status(); bad(of) {
			return of, screen.CallRole(c), of.String()
		}
	}
	for of, n := range t.Was {
		if n > 0 && bad(stream.Status(of)) {
			return stream.Status(of), screen.StatusRoles[of], stream.Status(of).String()
		}
	}
	return st, look, word
}

// mostJudged is how many calls of a turn are looked at for its row.
const mostJudged = 256

// leastModel is how much of a model's name stays where that makes room for what was said.
const leastModel = 10

// turnText is a turn in words, with less in it where there is less room. The first to go are the end
// of a long model's name, what was said, the model, the file, and of the agent's name all but its
// beginning.
func (l *List) turnText(p *screen.Pen, t *stream.Turn, room int, at grid) display.Text {
	when := turnTime(l.scene.View, t, !l.who.several || room > leastSeconds)
	agent, file := display.Text{}, display.Text{}
	if l.who.several {
		at.gap = display.Lit(" ")
		agent = p.Pad(p.Truncate(p.Name(agentName(t.Ask)), l.who.widest), l.who.widest)
	}
	if x := l.scene.View.Exchange(t.Exchange); x != nil && l.who.files {
		file = p.Name(path.Base(x.Head.File))
	}
	model, said := p.Name(ShortModel(t.Model)), l.purpose(p, t)
	for _, model := range []display.Text{model, p.Truncate(model, leastModel)} {
		lead := join(at.gap, when, agent, file, model)
		if left := room - lead.Width() - at.gap.Width(); left >= min(leastWords, said.Width()) && !said.Empty() {
			return join(at.gap, lead, p.Truncate(said, left))
		}
	}
	if lead := join(at.gap, when, agent, file, model); lead.Width() <= room {
		return lead
	}
	for _, less := range []display.Text{join(at.gap, when, agent, model), join(at.gap, when, agent), join(at.gap, when, p.Truncate(agent, 1)), model} {
		if less.Width() <= room && !less.Empty() {
			return less
		}
	}
	return p.Truncate(join(at.gap, when, model), max(room, 1))
}

// join puts a gap between the texts that are there.
func join(gap display.Text, parts ...display.Text) (all display.Text) {
	for _, part := range parts {
		switch {
		case part.Empty():
		case all.Empty():
			all = part
		default:
			all = display.Join(all, gap, part)
		}
	}
	return all
}

// purpose is what a turn's request is for: the user's words, the result that it answers, or what
// else its client wants; of a turn without a known request, what the turn is known by.
func (l *List) purpose(p *screen.Pen, t *stream.Turn) display.Text {
	a, x := t.Ask, l.scene.View.Exchange(t.Exchange)
	switch {
	case a == nil && t.Model == "":
		return p.Name(TurnTitle(x, t))
	case a == nil:
		return display.Text{}
	case IsPlain(t):
		return join(display.Lit(" "), p.Name(a.Purpose), p.Name(TurnTitle(x, t)), p.Clean(t.Finish))
	}
	words := display.Text{}
	switch {
	case a.Answers != "" && a.Words != "":
		words = display.Join(p.Glyph.Back, p.Name(a.Answers).Between(" ", ": "), p.Clean(a.Words))
	case a.Answers != "":
		words = display.Join(p.Glyph.Back, p.Name(a.Answers).Between(" ", ""))
	case a.Words != "":
		words = p.Clean(a.Words).Between(`"`, `"`)
	case t.Model == "":
		words = p.Name(TurnTitle(x, t))
	}
	if a.Purpose == lane.Turn {
		return words
	}
	return join(display.Lit(" "), p.Name(a.Purpose), words)
}

// IsPlain reports whether no model answered.
func IsPlain(t *stream.Turn) bool { return t.Dialect == "http" && t.Ask != nil }

// bodySize is how much was answered, nothing where that was let go of.
func bodySize(v *providers.View, t *stream.Turn) display.Text {
	if x := v.Exchange(t.Exchange); x != nil && t.Kept == stream.Whole {
		return screen.Bytes(int(x.Response.Size()))
	}
	return display.Text{}
}

// leastSeconds is the room from which on a clock has seconds beside an agent.
const leastSeconds = 48

// shortCost is a cost with as many digits as its column has room for.
func shortCost(p *screen.Pen, f price.Figure) display.Text {
	text := f.String()
	for digits := 5; len(text) > sizeCells && digits > 1; digits-- {
		if text = fmt.Sprintf("$%.*f", digits, f.USD); f.Approximate {
			text = "~" + text
		}
	}
	return p.Clean(text)
}

// turnTime is when a turn began: by the clock where its source has one.
func turnTime(v *providers.View, t *stream.Turn, seconds bool) display.Text {
	if at, ok := v.Clock(t.OpenedAt); ok && seconds {
		return display.Clean(at.Format("15:04:05"))
	} else if ok {
		return display.Clean(at.Format("15:04"))
	}
	d := t.OpenedAt
	switch {
	case d < 0:
		return display.Text{}
	case d.Minutes() >= 1:
		return display.Format("+%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return display.Format("+%.1f s", d.Seconds())
}

var modelDate = regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d{2}-\d{2})(?:-v\d+(?::\d+)?)?$|-v\d+(?::\d+)?$`)

// ShortModel is the name of a model without its vendor and date.
func ShortModel(model string) string {
	short := model[strings.LastIndexByte(model, '/')+1:]
	for _, vendor := range []string{"us.", "eu.", "apac.", "global.", "anthropic.", "claude-"} {
		short = strings.TrimPrefix(short, vendor)
	}
	if short = modelDate.ReplaceAllString(short, ""); short == "" {
		return model
	}
	return short
}

// TurnTitle is a turn in a few words: its request, or its file, or its model.
func TurnTitle(x *providers.Exchange, t *stream.Turn) string {
	switch {
	case t.Parent != "":
		return "inside " + t.Parent
	case x != nil && x.Head.Method != "" && x.Head.URL != "":
		return screen.Short(x.Head.Method) + " " + screen.Short(shortURL(x.Head.URL))
	case t.Model != "":
		return t.Model
	case x != nil && x.Head.File != "":
		return path.Base(x.Head.File)
	}
	return t.Dialect
}

// shortURL is a URL without scheme and host.
func shortURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return u
}

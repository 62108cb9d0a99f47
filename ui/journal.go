package ui

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// Journal keeps the latest notes and notices from this run, regardless of the moment that the screen shows.
// The screen and a log file show the same lines. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	all     []journalLine
	dropped int                             // number of older lines that were dropped
	to      func(at time.Time, text string) // receives each line as well; may be nil
}

// journalLine is a line of the journal.
type journalLine struct {
	at   time.Time
	role screen.Role
	text string
}

// maxJournalLines is the maximum number of lines that are kept.
const maxJournalLines = 1000

// Note adds a note from the program.
func (j *Journal) Note(at time.Time, text string) { j.add(journalLine{at, screen.Caution, text}) }

// ForwardTo calls write with each kept line, and later with each new one.
func (j *Journal) ForwardTo(write func(at time.Time, text string)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range j.all {
		write(n.at, n.text)
	}
	j.to = write
}

// add adds a line, unless it is empty or equals the last one.
func (j *Journal) add(line journalLine) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.all); line.text == "" || n > 0 && j.all[n-1].text == line.text {
		return
	}
	if len(j.all) >= 2*maxJournalLines {
		j.dropped += len(j.all) - maxJournalLines
		j.all = append(j.all[:0], j.all[len(j.all)-maxJournalLines:]...)
	}
	j.all = append(j.all, line)
	if j.to != nil {
		j.to(line.at, line.text)
	}
}

// lines returns the kept lines, and the number of lines dropped before them.
func (j *Journal) lines() (all []journalLine, gone int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := max(0, len(j.all)-maxJournalLines)
	return slices.Clone(j.all[n:]), j.dropped + n
}

// journalSeen records which data of the source is already in the journal.
type journalSeen struct {
	words                        []string // the latest status notes
	findings, exchanges, dropped int      // noted so far
	ended                        bool
}

func (m *Model) addJournalLine(role screen.Role, text display.Text) {
	m.journal.add(journalLine{m.opt.Now(), role, text.String()})
}

// noteNews adds lines about data that has arrived since the last call.
func (m *Model) noteNews() {
	h := &m.journalSeen
	found := m.in.Session().Findings
	if n := len(found) - h.findings; n > maxJournalLines {
		m.addJournalLine(screen.Muted, screen.Plural(n-maxJournalLines, "note").Between("", " about the source omitted"))
		h.findings = len(found) - maxJournalLines
	}
	for _, f := range found[min(h.findings, len(found)):] {
		m.addJournalLine(screen.SeverityRoles[f.Severity], m.draw.Clean(screen.ShortName(f.Message)))
	}
	h.findings = len(found)
	exchanges := m.in.Exchanges()
	for _, x := range exchanges[min(h.exchanges, len(exchanges)):] {
		if why := x.Refused(); why != "" {
			m.addJournalLine(screen.Caution, m.draw.Format("refused %s %s: %s", screen.ShortName(x.Head.Method), screen.ShortName(x.Head.URL), screen.ShortName(why)))
		}
	}
	h.exchanges = len(exchanges)
	if n := m.in.Dropped(); n > h.dropped {
		m.addJournalLine(screen.Muted, m.draw.Format("%s dropped, %s so far (--memory %s)", screen.Plural(n-h.dropped, "turn"), screen.Count(n), asFlag(m.opt.Keep)))
		h.dropped = n
	}
	// Add lines for the source's new alarms, but not for other status notes or for alarms that disappear.
	if m.opt.Status != nil || m.failure != nil {
		var words []string
		var all []StatusNote
		if m.opt.Status != nil {
			all = m.opt.Status()
		}
		if m.failure != nil {
			all = append(all, StatusNote{Text: m.failure.Error(), Alarm: true})
		}
		for _, w := range all {
			if words = append(words, w.Text); w.Alarm && !slices.Contains(h.words, w.Text) {
				m.addJournalLine(screen.Bad, m.draw.Clean(screen.ShortName(w.Text)))
			}
		}
		h.words = words
	}
	if m.hasSourceEnded() && !h.ended {
		m.addJournalLine(screen.Muted, display.Lit("the source has ended"))
	}
	h.ended = m.hasSourceEnded()
}

// logPage is the mode that shows the journal, or its matching lines.
type logPage struct {
	screen.Window
	m     *Model
	line  *screen.Input // the search text, or nil
	typed bool          // the search text is being typed
	rows  []logRow
	laid  logKey
}

// logRow is a display row. The first row of a journal line shows its time.
type logRow struct {
	journalLine
	line  display.Text
	first bool
}

// logKey has the values that the layout of the rows depends on.
type logKey struct {
	w, lines int
	query    string
	made     bool
}

func (m *Model) openLog() {
	m.noteNews()
	m.modeStack.pushMode(&logPage{m: m, Window: screen.Window{Stick: true}})
}

// Typing returns the input while the search text is being typed, or nil otherwise.
func (l *logPage) Typing() *screen.Input {
	if l.typed {
		return l.line
	}
	return nil
}

// Keys returns the keys that scroll, search, export and close. While the search text is being typed, it returns the
// keys for the input.
func (l *logPage) Keys() []screen.Binding {
	all := func() { l.line, l.typed = nil, false }
	if l.typed {
		return []screen.Binding{
			screen.Key("enter", "keep", "keep these lines", func() { l.typed = false }),
			screen.Key("esc", "show all", "show all", all),
		}
	}
	keys := []screen.Binding{
		screen.Key("/", "find", "show only matching lines", func() {
			l.line, l.typed = screen.NewInput(display.Text{}, "", 80), true
		}),
		screen.Key("esc q", "back", "close", func() {
			if l.line != nil {
				all()
				return
			}
			l.m.modeStack.closeTop()
		}),
	}
	keys = append(keys, l.m.exports.newExport().Keys(modeHost{l.m}, l.m.draw, l.shownBody)...)
	keys = append(keys, l.CursorKeys("scroll", l.MoveTo)...)
	keys[len(keys)-1].Do = l.End
	return keys
}

// shownBody returns the shown lines as text.
func (l *logPage) shownBody() modes.Body {
	var text strings.Builder
	for _, n := range l.matchingLines() {
		text.WriteString(n.at.Format("2006-01-02 15:04:05  ") + n.text + "\n")
	}
	if text.Len() == 0 {
		return modes.Body{What: display.Lit("no lines to export")}
	}
	return modes.Body{Data: []byte(text.String()), What: display.Lit("the log"), File: "log.txt"}
}

// matchingLines returns the lines that match the search.
func (l *logPage) matchingLines() (some []journalLine) {
	all, _ := l.m.journal.lines()
	query := l.queryText()
	for _, n := range all {
		if strings.Contains(strings.ToLower(n.text), query) {
			some = append(some, n)
		}
	}
	return some
}

func (l *logPage) queryText() string {
	if l.line == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(l.line.Value()))
}

// logTime is the width of the column with the time.
const logTime = 11

// Extend lays out the lines again if they, the search text or the width have changed.
func (l *logPage) Extend(_ *providers.View, w, h int) {
	all, gone := l.m.journal.lines()
	if key := (logKey{w, len(all) + gone, l.queryText(), true}); key != l.laid {
		l.laid, l.rows = key, nil
		for _, n := range l.matchingLines() {
			for i, line := range display.Wrap(l.m.draw.Clean(n.text), max(w-logTime-1, 8)) {
				l.rows = append(l.rows, logRow{n, line, i == 0})
			}
		}
	}
	l.Fit(len(l.rows), 1, h)
}

// Draw draws row y: the title, or part of a line.
func (l *logPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		l.drawTitle(p)
		return
	}
	n := l.RowAt(y)
	if n < 0 {
		if y == 1 && len(l.rows) == 0 {
			p.Text(screen.Muted, display.Lit(" nothing yet: toolscope's notes and errors appear here"))
		}
		return
	}
	row, g, mark := l.rows[n], screen.Bare, display.Lit(" ")
	if n == l.At {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	if row.first {
		p.TextOn(screen.Muted, g, p.Clean(row.at.Format("15:04:05")))
		p.Spaces(g, 2)
	} else {
		p.Spaces(g, logTime-1)
	}
	p.TextOn(row.role, g, row.line)
	p.Fill(g)
}

func (l *logPage) drawTitle(p *screen.Pen) {
	all, gone := l.m.journal.lines()
	note := p.ScrollInfo(l.Visible())
	if l.typed {
		modes.DrawInputRow(p, display.Lit("Log /"), l.line, note)
		return
	}
	p.Text(screen.Accent, display.Lit(" Log  "))
	p.Text(screen.Plain, screen.Plural(len(all), "line"))
	if gone > 0 {
		p.Text(screen.Muted, screen.Count(gone).Between("  ", " earlier ones dropped"))
	}
	if n := l.m.in.Others.Count; n > 0 {
		p.Text(screen.Muted, p.Format("  %s outside exchanges", screen.Plural(int(n), "line")))
	}
	if q := l.queryText(); q != "" {
		p.Text(screen.Accent, p.Name(q).Between("  /", ""))
	}
	p.Right(screen.Muted, screen.Bare, note.Between("  ", " "))
}

// A Crash is a bug that ends the program. It is reported after the terminal is restored. Goroutines outside
// Update send a Crash as a message.
type Crash struct {
	What       string
	Kind       string // the type of the panic's value, or the text of a runtime error, which quotes no data
	Stack      []byte
	RecentKeys []string // the latest keys and their actions, never typed text
}

// Error returns the text of the panic.
func (c *Crash) Error() string { return "a bug in toolscope: " + c.What }

// CrashOf makes a Crash from a value that recover returned. It returns nil for nil.
func CrashOf(p any) *Crash {
	if p == nil {
		return nil
	}
	kind := fmt.Sprintf("a panic of type %T", p)
	if err, is := p.(runtime.Error); is {
		kind = err.Error()
	}
	return &Crash{What: fmt.Sprint(p), Kind: kind, Stack: debug.Stack()}
}

// Crashed returns the bug that ended the program, or nil.
func (m *Model) Crashed() *Crash { return m.crash }

// RecentKeys returns the latest keys and their actions.
func (m *Model) RecentKeys() []string { return m.recentKeys }

// maxRecentKeys is the maximum number of recent keys in a Crash.
const maxRecentKeys = 20

// runBinding runs the action of a key, and records the key for a Crash.
func (m *Model) runBinding(b *screen.Binding) {
	if len(m.recentKeys) == maxRecentKeys {
		m.recentKeys = append(m.recentKeys[:0], m.recentKeys[1:]...)
	}
	m.recentKeys = append(m.recentKeys, b.Keys[0]+"  "+b.Does.String())
	b.Do()
}

// recoverCmd turns a command's panic into a Crash, because Bubble Tea would print the stack on the screen. It
// guards each command in a batch separately.
func recoverCmd(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if c := CrashOf(recover()); c != nil {
				msg = *c
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = recoverCmd(batch[i])
			}
		}
		return msg
	}
}

package ui

import (
	"slices"
	"time"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// journal is what the program noted and said in this session, the latest of it: it is of the program,
// and no moment of the source.
type journal struct {
	all  []noted
	gone int // before them

	words                        []string // of the source's state, as they were
	findings, exchanges, dropped int      // looked at so far
	ended                        bool
}

// noted is a line of it.
type noted struct {
	at   time.Time
	role screen.Role
	text display.Text
}

// mostNoted is how many lines are kept.
const mostNoted = 1000

// note adds a line, unless it says again what the last one does.
func (m *Model) note(role screen.Role, text display.Text) {
	j := &m.journal
	if n := len(j.all); text.Empty() || n > 0 && j.all[n-1].text.String() == text.String() {
		return
	}
	if len(j.all) >= 2*mostNoted {
		j.gone += len(j.all) - mostNoted
		j.all = append(j.all[:0], j.all[len(j.all)-mostNoted:]...)
	}
	j.all = append(j.all, noted{m.opt.Now(), role, text})
}

// lines are those that are kept, and how many went before them.
func (j *journal) lines() (all []noted, gone int) {
	n := max(0, len(j.all)-mostNoted)
	return j.all[n:], j.gone + n
}

// noteNews notes what has come of the source itself since the last time.
func (m *Model) noteNews() {
	j := &m.journal
	found := m.in.Session().Findings
	if n := len(found) - j.findings; n > mostNoted {
		m.note(screen.Muted, screen.Plural(n-mostNoted, "note").Between("", " of the source left out"))
		j.findings = len(found) - mostNoted
	}
	for _, f := range found[min(j.findings, len(found)):] {
		m.note(screen.SeverityRoles[f.Severity], m.draw.Clean(screen.Short(f.Message)))
	}
	j.findings = len(found)
	exchanges := m.in.Exchanges()
	for _, x := range exchanges[min(j.exchanges, len(exchanges)):] {
		if why := x.Refused(); why != "" {
			m.note(screen.Caution, m.draw.Format("refused %s %s: %s", screen.Short(x.Head.Method), screen.Short(x.Head.URL), screen.Short(why)))
		}
	}
	j.exchanges = len(exchanges)
	if n := m.in.Dropped(); n > j.dropped {
		m.note(screen.Muted, m.draw.Format("%s dropped, %s so far (--keep %s)", screen.Plural(n-j.dropped, "turn"), screen.Count(n), asFlag(m.opt.Keep)))
		j.dropped = n
	}
	m.noteWords()
	if m.settled() && !j.ended {
		m.note(screen.Muted, display.Lit("the source has ended"))
	}
	j.ended = m.settled()
}

// noteWords notes what is new in the state of the source: that a word is gone goes without saying.
func (m *Model) noteWords() {
	if m.opt.Status == nil && m.failure == nil {
		return
	}
	var words []string
	var all []Word
	if m.opt.Status != nil {
		all = m.opt.Status()
	}
	if m.failure != nil {
		all = append(all, Word{Text: m.failure.Error(), Alarm: true})
	}
	for _, w := range all {
		if words = append(words, w.Text); w.Alarm && !slices.Contains(m.journal.words, w.Text) {
			m.note(screen.Bad, m.draw.Clean(screen.Short(w.Text)))
		}
	}
	m.journal.words = words
}

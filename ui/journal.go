package ui

import (
	"slices"
	"sync"
	"time"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Journal keeps the latest notes and notices of this run, whatever moment is shown. The screen and a log
// file show the same lines. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	all     []journalLine
	dropped int                             // lines dropped before them
	to      func(at time.Time, text string) // also gets each line; may be nil
}

// journalLine is a line of the journal.
type journalLine struct {
	at   time.Time
	role screen.Role
	text string
}

// maxJournalLines is the maximum number of lines that are kept.
const maxJournalLines = 1000

// Note adds a note of the program.
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

// add adds a line, unless it equals the last one.
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

// lines returns the kept lines, and how many were dropped before them.
func (j *Journal) lines() (all []journalLine, gone int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := max(0, len(j.all)-maxJournalLines)
	return slices.Clone(j.all[n:]), j.dropped + n
}

// journalSeen records which data of the source is in the journal already.
type journalSeen struct {
	words                        []string // the latest status notes
	findings, exchanges, dropped int      // noted so far
	ended                        bool
}

// addJournalLine adds a line to the journal.
func (m *Model) addJournalLine(role screen.Role, text display.Text) {
	m.journal.add(journalLine{m.opt.Now(), role, text.String()})
}

// noteNews adds lines about new data of the source since the last call.
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
	m.noteStatus()
	if m.hasSourceEnded() && !h.ended {
		m.addJournalLine(screen.Muted, display.Lit("the source has ended"))
	}
	h.ended = m.hasSourceEnded()
}

// noteStatus adds lines for new status notes of the source. There are no lines for notes that disappear.
func (m *Model) noteStatus() {
	if m.opt.Status == nil && m.failure == nil {
		return
	}
	var words []string
	var all []StatusNote
	if m.opt.Status != nil {
		all = m.opt.Status()
	}
	if m.failure != nil {
		all = append(all, StatusNote{Text: m.failure.Error(), Alarm: true})
	}
	for _, w := range all {
		if words = append(words, w.Text); w.Alarm && !slices.Contains(m.journalSeen.words, w.Text) {
			m.addJournalLine(screen.Bad, m.draw.Clean(screen.ShortName(w.Text)))
		}
	}
	m.journalSeen.words = words
}

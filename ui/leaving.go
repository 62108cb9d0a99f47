package ui

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// quitOrAsk ends the program. If that cuts streams of clients, it asks first.
func (m *Model) quitOrAsk(last tea.Cmd) {
	if m.opt.Setup == nil || !m.hasLiveClients() {
		m.queueCmd(last)
		return
	}
	m.pushMode(&quitDialog{browse{m}})
}

// hasLiveClients reports whether clients would notice that the program ends.
func (m *Model) hasLiveClients() bool {
	return len(m.openExchanges()) > 0 || m.opt.Setup.Runs != nil && m.opt.Setup.Runs()
}

// quitDialog asks whether to quit while streams are open. The panes stay visible.
type quitDialog struct{ browse }

// Keys returns the choices. ^C means quit and cut.
func (l *quitDialog) Keys() []screen.Binding {
	return []screen.Binding{
		{Keys: []string{"q"}, Hint: display.Lit("q quit and cut"), Does: display.Lit("quit and cut them"), Do: func() { l.m.queueCmd(tea.Quit) }},
		{Keys: []string{"w"}, Hint: display.Lit("w quit when they end"), Does: display.Lit("quit when they end"), Do: l.quitLater},
		{Keys: []string{"esc"}, Hint: display.Lit("esc stay"), Does: display.Lit("stay"), Do: l.cancelQuit},
		{Keys: []string{"ctrl+c"}, Do: func() { l.m.queueCmd(tea.Interrupt) }},
	}
}

func (l *quitDialog) cancelQuit() {
	l.m.quitPending = false
	l.m.closeTop()
}

func (l *quitDialog) quitLater() {
	l.m.closeTop()
	l.m.quitPending = true
	l.m.quitWhenIdle()
}

// quitWhenIdle ends the program when no stream is open, if the user has chosen that.
func (m *Model) quitWhenIdle() {
	if m.quitPending && !m.hasLiveClients() {
		m.queueCmd(tea.Quit)
	}
}

func (l *quitDialog) Draw(p *screen.Pen, y int) {
	if y < l.m.bodyHeight()-1 {
		l.m.drawPanes(p, y)
		return
	}
	open := l.m.openExchanges()
	if len(open) == 0 {
		p.Text(screen.Caution, display.Lit(" the client still runs: q ends it"))
		return
	}
	verb := "streams are"
	if len(open) == 1 {
		verb = "stream is"
	}
	p.Text(screen.Caution, p.Format(" %d %s open (%s): q cuts %s", len(open), verb, p.Clean(byClient(open)), itOrThem(len(open))))
}

func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// byClient returns the number of streams of each client, e.g. "Claude Code 2, unknown 1".
func byClient(open []*providers.Exchange) string {
	count := map[string]int{}
	for _, x := range open {
		count[clientOf(x)]++
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		words = append(words, display.Format("%s %d", display.Clean(name), count[name]).String())
	}
	return strings.Join(words, ", ")
}

// pathOnly returns the path of a URL.
func pathOnly(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Path
}

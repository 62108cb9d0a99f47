package ui

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// openRoutes opens the table of the proxy's upstreams.
func (m *Model) openRoutes() {
	if m.opt.Setup == nil || len(m.opt.Setup.Routes) == 0 {
		m.showNotice(display.Lit("only a proxy has upstreams"))
		return
	}
	m.modeStack.pushMode(&routesPage{m: m})
}

// routesPage is the mode that lists the proxy's upstreams with their traffic. Used upstreams come first.
type routesPage struct {
	screen.Window
	m       *Model
	rows    []routeRow
	counted routesKey // the data that the rows were counted from
	by      int       // the sorted column, as an index of routeHeads
}

// routesKey changes when the rows must be counted again: after new events or, in a long run, four times a second.
// Counting a long run takes longer than drawing a frame.
type routesKey struct {
	events int
	tick   time.Duration
}

// maxEventsPerFrame is the number of events up to which the rows are counted again for each frame.
const maxEventsPerFrame = 50_000

// routeRow is an upstream and its traffic.
type routeRow struct {
	path     string // prefix of the path at the proxy
	upstream string // URL
	open     int    // open streams
	turns    int
	bad      int           // turns with a bad verdict, or with a call with a bad verdict
	silence  time.Duration // longest silence of an open stream
}

// Keys returns the keys that filter, copy, close, and move the cursor.
func (s *routesPage) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "its turns", "show only the turns of this host", s.filterBySelected),
		screen.Key("y", "copy base URL", "copy the base URL for clients", func() {
			if s.At < len(s.rows) {
				s.m.copyText([]byte(s.m.opt.Setup.URL + s.rows[s.At].path))
			}
		}),
		screen.Key("s", "sort", "sort by the next column", func() {
			s.by, s.counted = (s.by+1)%len(routeHeads), routesKey{}
		}),
		screen.Key("esc q", "back", "close", s.m.modeStack.closeTop),
	}, s.CursorKeys("", s.MoveTo)...)
}

func (s *routesPage) filterBySelected() {
	if s.At >= len(s.rows) {
		return
	}
	u, err := url.Parse(s.rows[s.At].upstream)
	if err != nil {
		return
	}
	s.m.modeStack.closeTop()
	s.m.filtering.runFilter("host:" + u.Hostname())
}

// Extend counts the traffic of each upstream if there is new traffic.
func (s *routesPage) Extend(_ *providers.View, _, h int) {
	key := routesKey{s.m.in.Timeline.Len(), s.m.sourceNow() / (250 * time.Millisecond)}
	if key.events > maxEventsPerFrame {
		key.events = 0
	}
	if key != s.counted || s.rows == nil {
		s.counted = key
		s.countTraffic()
	}
	s.Fit(len(s.rows), 2, h)
}

// countTraffic counts the traffic of each upstream. The selection stays on its upstream.
func (s *routesPage) countTraffic() {
	routes := s.m.opt.Setup.Routes
	all := make([]routeRow, len(routes))
	for i, r := range routes {
		all[i] = routeRow{path: r[0], upstream: r[1]}
	}
	byExchange := map[int]*routeRow{}
	for _, x := range s.m.in.Exchanges() {
		row := routeOf(all, x.Head.URL)
		if row == nil {
			continue
		}
		byExchange[x.Number] = row
		if !x.Ended {
			row.open++
			row.silence = max(row.silence, s.m.sourceNow()-x.LastRecordAt())
		}
	}
	for _, t := range s.m.view.Session().Turns {
		if row := byExchange[t.Exchange]; row != nil {
			row.turns++
			if present.VerdictOfTurn(s.m.view.Exchange(t.Exchange), t).Harm.IsBad() ||
				slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return present.VerdictOfCall(c).Harm.IsBad() }) {
				row.bad++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b routeRow) int {
		order := [len(routeHeads)]int{cmp.Compare(b.open, a.open), cmp.Compare(b.turns, a.turns), cmp.Compare(b.bad, a.bad), cmp.Compare(b.silence, a.silence)}
		return cmp.Or(order[s.by], order[0], order[1])
	})
	at := 0
	if s.At < len(s.rows) {
		at = slices.IndexFunc(all, func(r routeRow) bool { return r.path == s.rows[s.At].path })
	}
	s.rows = all
	if at != s.At {
		s.MoveTo(at)
	}
}

// routeOf returns the row whose upstream URL is the longest prefix of the address, or nil if there is none.
func routeOf(all []routeRow, address string) (found *routeRow) {
	for i := range all {
		rest, ok := strings.CutPrefix(address, strings.TrimSuffix(all[i].upstream, "/"))
		if ok && (rest == "" || rest[0] == '/' || rest[0] == '?') && (found == nil || len(all[i].upstream) > len(found.upstream)) {
			found = &all[i]
		}
	}
	return found
}

// shortUpstream returns an upstream's URL without https, which most of them have.
func shortUpstream(upstream string) string { return strings.TrimPrefix(upstream, "https://") }

// routeHeads are the heads of the columns by which the rows can be sorted.
var routeHeads = [...]display.Text{display.Lit("OPEN"), display.Lit("TURNS"), display.Lit("BAD"), display.Lit("LONGEST SILENCE")}

// Widths of the columns of numbers, in cells.
const (
	routeCountCells   = 7
	routeSilenceCells = 17
)

// Draw draws row y.
func (s *routesPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	row := s.Top + y - 2
	switch {
	case y == 0:
		note := display.Lit("s sort")
		if shown := p.ScrollInfo(s.Visible()); !shown.Empty() {
			note = display.Join(note, shown.Between("  ", ""))
		}
		p.HeavyTitle(display.Lit("Hosts"), p.Clean(s.m.opt.Setup.URL), note)
	case y == 1:
		heads := [6]display.Text{display.Lit("   HOST"), display.Lit("PATH")}
		for i, head := range routeHeads {
			if i == s.by {
				head = display.Join(head, p.Glyph.Unfold)
			}
			heads[2+i] = head
		}
		s.drawCells(p, screen.Bare, screen.Muted, heads)
	case row < len(s.rows):
		s.drawRoute(p, row)
	}
}

func (s *routesPage) drawRoute(p *screen.Pen, row int) {
	r, g, mark := s.rows[row], screen.Bare, display.Lit("   ")
	if row == s.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", "  ")
	}
	role, silence := screen.Plain, display.Text{}
	if r.turns+r.open == 0 {
		role = screen.Muted
	}
	if r.open > 0 {
		if silence = screen.Time(r.silence); r.silence >= 10*time.Second {
			silence = screen.WholeSeconds(r.silence)
		}
	}
	s.drawCells(p, g, role, [...]display.Text{
		display.Join(mark, p.Name(shortUpstream(r.upstream))), p.Name(r.path),
		screen.Count(r.open), screen.Count(r.turns), screen.Count(r.bad), silence,
	})
}

// drawCells draws a row of the table. A narrow screen has no room for the path and the silence.
func (s *routesPage) drawCells(p *screen.Pen, g screen.Surface, role screen.Role, cells [6]display.Text) {
	host, path := 0, 0
	for _, r := range s.rows {
		host, path = max(host, p.Name(shortUpstream(r.upstream)).Width()+5), max(path, p.Name(r.path).Width()+2)
	}
	numbers := 3 * routeCountCells
	isWide := p.Left >= 70
	if isWide {
		numbers += routeSilenceCells + path
	}
	host = max(12, min(host, p.Left-numbers-1))
	p.TextOn(role, g, p.Pad(p.Truncate(cells[0], host-1), host))
	if isWide {
		p.TextOn(role, g, p.Pad(cells[1], path))
	}
	for _, number := range cells[2:5] {
		p.TextOn(role, g, padLeft(p, number, routeCountCells))
	}
	if isWide {
		p.TextOn(role, g, padLeft(p, cells[5], routeSilenceCells))
	}
	p.Fill(g)
}

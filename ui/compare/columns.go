package compare

import (
	"path"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// column is one turn. Its exchange may have nothing to show yet.
type column struct {
	exchange *providers.Exchange
	name     string     // whose answer it is
	turn     stream.Ref // NoRef until it opens
	calls    map[stream.Ref]*panes.Document
	text     *layout.Text
	failure  []display.Text
}

// columnsOf are those of the marked turns, a single one beside the chosen turn; or else of the
// exchanges that ask for the same as the chosen one.
func columnsOf(h modes.Host, marks Marks) (all []column) {
	v := h.View()
	add := func(x *providers.Exchange, turn stream.Ref) {
		all = append(all, column{exchange: x, name: whose(x), turn: turn, calls: map[stream.Ref]*panes.Document{}})
	}
	for _, r := range marks {
		if t, _ := v.Find(r); t != nil {
			add(v.Exchange(t.Exchange), r)
		}
	}
	chosen, _ := v.Find(h.Chosen())
	if len(all) == 1 && chosen != nil && chosen.Ref() != all[0].turn {
		add(v.Exchange(chosen.Exchange), chosen.Ref())
	}
	if len(all) < 2 {
		all = nil
		for _, x := range alike(v.Exchanges(), chosen) {
			add(x, stream.NoRef)
		}
	}
	return all
}

// find is the turn, nil until it opens.
func (c *column) find(v *providers.View) *stream.Turn {
	if c.turn == stream.NoRef {
		t := v.TurnOf(c.exchange.Number)
		if t == nil {
			return nil
		}
		c.turn = t.Ref()
	}
	t, _ := v.Find(c.turn)
	return t
}

// whose is who answered an exchange, as far as that is known.
func whose(x *providers.Exchange) string {
	label := x.Head.File // as those have that were asked from here
	name, _, _ := strings.Cut(label, "/")
	if _, err := host.Find(name); err == nil {
		return label
	}
	if _, rest, ok := strings.Cut(x.Head.URL, "://"); ok {
		name, _, _ = strings.Cut(rest, "/")
		return name
	}
	return path.Base(label)
}

// mostAlike is how many exchanges before and after the chosen one are looked at.
const mostAlike = 16

// alike are the exchanges that ask for the same as the chosen turn's, it among them, in order;
// without a turn, as the last one's.
func alike(list []*providers.Exchange, chosen *stream.Turn) (all []*providers.Exchange) {
	at := len(list) - 1
	if chosen != nil {
		at = slices.IndexFunc(list, func(x *providers.Exchange) bool { return x.Number == chosen.Exchange })
	}
	if at < 0 {
		return nil
	}
	own := list[at].Asks()
	if own == 0 {
		return nil
	}
	from, to := max(0, at-mostAlike), min(len(list), at+mostAlike+1)
	for i := from; i < to; i++ {
		if x := list[i]; i == at || x.MayAsk(list[at]) && x.Asks() == own {
			if all = append(all, x); len(all) > most && i > at {
				return all[:most]
			}
		}
	}
	for len(all) > most && all[0] != list[at] {
		all = all[1:]
	}
	return all[:min(len(all), most)]
}

// mostFailure is how many rows an error may have: the other turns go on.
const mostFailure = 4

// extendColumn lays out what is new in a column.
func (c *comparison) extendColumn(v *providers.View, col *column, width int) {
	t := col.find(v)
	if t == nil {
		return
	}
	inner := max(1, width-panes.Margin)
	if len(t.Calls) < len(col.calls) { // they are not kept any more
		clear(col.calls)
	}
	for _, call := range t.Calls {
		d := col.calls[call.Ref()]
		if d == nil {
			d = &panes.Document{When: func(event int32) display.Text { return panes.EventTime(c.host.View(), event) }}
			col.calls[call.Ref()] = d
		}
		d.Raw = c.raw
		d.Show(call, inner, c.draw)
		d.Extend(1)
	}
	if col.text == nil || col.text.Width() != inner || col.text.Len() > len(t.Text) {
		col.text = layout.NewText(inner, c.draw)
	}
	col.text.Extend(t.Text, t.Closed())
	col.failure = nil
	if t.Failure != "" {
		if col.failure = display.Wrap(c.draw.Clean(screen.Short(t.Failure)), inner); len(col.failure) > mostFailure {
			col.failure = append(col.failure[:mostFailure-1:mostFailure-1], display.Lit("... enter shows all of it"))
		}
	}
}

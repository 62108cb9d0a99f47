package modes

import (
	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// protocolPicker selects the protocol as which the response of the selected turn is read. The first row
// detects it from the bytes.
type protocolPicker struct {
	screen.Window
	host     Host
	exchange *providers.Exchange
	reread   func(exchange int, as *protocol.Protocol)
}

// Protocols returns the entry of the protocol picker. reread reads an exchange again as a protocol, or
// detects the protocol if as is nil.
func Protocols(reread func(exchange int, as *protocol.Protocol)) Entry {
	key := screen.Binding{Keys: []string{"D"}, Does: display.Lit("read as another protocol")}
	return Entry{key, func(h Host) (Mode, display.Text) {
		t, _ := h.View().Find(h.Chosen())
		if t == nil {
			return nil, display.Lit("no response to choose a protocol for")
		}
		d := &protocolPicker{host: h, exchange: h.View().Exchange(t.Exchange), reread: reread}
		d.Resize(1+len(providers.All), 1+len(providers.All))
		for i := range providers.All {
			if d.exchange.Protocol != nil && providers.All[i].Name == d.exchange.Protocol.Name {
				d.MoveTo(i + 1)
			}
		}
		return d, display.Text{}
	}}
}

func (d *protocolPicker) Keys() []screen.Binding {
	return append([]screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter use it"), Does: display.Lit("read it as this protocol"), Do: d.rereadSelected},
		{Keys: []string{"esc", "q", "D"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: d.host.Close},
	}, d.CursorKeys(display.Text{}, d.MoveTo)...)
}

// rereadSelected reads the exchange again as the selected protocol.
func (d *protocolPicker) rereadSelected() {
	var as *protocol.Protocol
	if d.At > 0 {
		as = &providers.All[d.At-1]
	}
	d.host.Close()
	d.reread(d.exchange.Number, as)
}

func (d *protocolPicker) Extend(_ *providers.View, _, h int) { d.Fit(d.Rows, 1, h) }

const protocolColumn = 22 // cells before a protocol's title

func (d *protocolPicker) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, display.Lit(" READ THE RESPONSE AS"))
		return
	}
	row := d.Top + y - 1
	if row >= d.Rows {
		return
	}
	g, mark := screen.Bare, display.Lit("  ")
	if row == d.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	name, title := "auto", "detect it"
	if row > 0 {
		name, title = providers.All[row-1].Name, providers.All[row-1].Title
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Format("%-*s", protocolColumn, name))
	p.TextOn(screen.Muted, g, p.Clean(title))
	if d.exchange.Protocol != nil && name == d.exchange.Protocol.Name {
		p.TextOn(screen.Live, g, display.Lit("  now: "))
		p.Untrusted(screen.Live, g, d.exchange.Why)
	}
	p.Fill(g)
}

package modes

import (
	"cmp"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// ExportForm is a format in which the selected turn or call can be exported.
type ExportForm struct {
	Key  string // its key in the menu
	What display.Text
	File string // the default file name
	Make func(v *providers.View, r stream.Ref) ([]byte, error)
}

// ExportItem is an item in the export menu. Its data is either ready, or made when the item is selected.
type ExportItem struct {
	Key  string
	What display.Text
	File string
	Data []byte
	Make func() ([]byte, error) // nil if Data is ready
}

// ExportVerb is the action on an exported item.
type ExportVerb uint8

// The verbs.
const (
	Copy ExportVerb = iota // copy to the clipboard
	Save                   // save to a new file
	Edit                   // open in the user's editor
	Pipe                   // pipe to a command
)

// verbs are the actions and texts for each ExportVerb.
var verbs = [...]struct{ action, title, hint string }{{"copy", "Copy", "copy"}, {"save", "Write", "write"}, {"edit", "Edit", "open"}, {"pipe", "Pipe", "pipe"}}

// exportMenu is the menu of export items, with parts on the left and reports on the right.
type exportMenu struct {
	screen.Window
	host   Host
	verb   ExportVerb
	outlet Exporter
	of     display.Text
	items  []ExportItem
	parts  int           // number of items on the left
	wide   bool          // two columns
	typed  *screen.Input // input for the name of the file, or for the command to pipe to; or nil
	draw   display.Drawer
}

// ExportMenu returns the entry that opens the menu for a verb. The function what returns the items and the name of
// their source.
func ExportMenu(verb ExportVerb, outlet Exporter, what func() ([]ExportItem, display.Text), draw display.Drawer) Entry {
	key := screen.Do(verbs[verb].action, nil)
	return Entry{Binding: key, New: func(h Host) (Mode, display.Text) {
		t := &exportMenu{host: h, verb: verb, outlet: outlet, draw: draw}
		if t.items, t.of = what(); len(t.items) == 0 {
			return nil, display.Lit("nothing selected to export")
		}
		if !outlet.hasVerb(verb) {
			return nil, draw.Format("%s: not here", key.Does)
		}
		t.items = partsFirst(t.items)
		for t.parts < len(t.items) && t.items[t.parts].Make == nil {
			t.parts++
		}
		t.Resize(len(t.items), len(t.items))
		return t, display.Text{}
	}}
}

// partsFirst returns the items in menu order: parts, then reports.
func partsFirst(items []ExportItem) (all []ExportItem) {
	for _, reports := range []bool{false, true} {
		for _, p := range items {
			if (p.Make != nil) == reports {
				all = append(all, p)
			}
		}
	}
	return all
}

// Typing returns the input for the file name or command, or nil.
func (t *exportMenu) Typing() *screen.Input { return t.typed }

// Keys returns a key for each item, and the keys that select an item. While a name or command is being typed, it
// returns the keys for the input.
func (t *exportMenu) Keys() []screen.Binding {
	switch {
	case t.typed != nil && t.verb == Save:
		return []screen.Binding{
			screen.Key("enter", "write it", "write the file", t.acceptInput),
			screen.Key("esc", "back", "back to the menu", func() { t.typed = nil }),
		}
	case t.typed != nil:
		return []screen.Binding{
			screen.Key("enter", "run it", "run the command", t.acceptInput),
			screen.Key("esc", "close", "close", t.host.Close),
		}
	}
	keys := []screen.Binding{
		screen.Key("enter", verbs[t.verb].hint, "export the selection", func() { t.chooseItem(t.At) }),
		screen.Key("up", "", "up", func() { t.MoveTo(t.At - 1) }),
		screen.Key("down", "", "down", func() { t.MoveTo(t.At + 1) }),
		screen.Key("left", "", "parts", func() { t.moveColumn(-1) }),
		screen.Key("right", "", "reports", func() { t.moveColumn(1) }),
	}
	switch {
	case t.verb == Copy && t.outlet.hasVerb(Save):
		keys = append(keys, screen.Key("w", "to a file instead", "write to a file instead", func() { t.verb = Save }))
	case t.verb == Save && t.outlet.hasVerb(Copy):
		keys = append(keys, screen.Key("y", "copy instead", "copy instead", func() { t.verb = Copy }))
	}
	keys = append(keys, screen.Key("esc q", "close", "close", t.host.Close))
	for i, p := range t.items {
		keys = append(keys, screen.Key(p.Key, "", p.What.String(), func() { t.chooseItem(i) }))
	}
	return keys
}

// moveColumn moves the cursor to the same row of the other column, or to that column's last row.
func (t *exportMenu) moveColumn(by int) {
	switch {
	case by < 0 && t.At >= t.parts && t.parts > 0:
		t.MoveTo(min(t.At-t.parts, t.parts-1))
	case by > 0 && t.At < t.parts && t.parts < len(t.items):
		t.MoveTo(min(t.At+t.parts, len(t.items)-1))
	}
}

// chooseItem exports an item. If the item is to be piped, it first asks for a command. If the item is to be saved and
// no name is set, it first asks for a name.
func (t *exportMenu) chooseItem(i int) {
	switch t.MoveTo(i); {
	case t.verb == Pipe:
		t.typed = screen.NewInput(display.Text{}, "", 400)
	case t.verb == Save && t.outlet.Name == "":
		t.typed = screen.NewInput(display.Text{}, t.outlet.fileName(t.items[i].File), 400)
	default:
		t.exportSelected(t.outlet.Name)
	}
}

func (t *exportMenu) acceptInput() {
	if t.typed.Value() != "" {
		t.exportSelected(t.typed.Value())
	}
}

// exportSelected exports the selected item and reports the result. The parameter input is the file name or
// the command.
func (t *exportMenu) exportSelected(input string) {
	p, h := t.items[t.At], t.host
	if t.verb == Save {
		p.File = input
	}
	data := p.Data
	if p.Make != nil {
		made, err := p.Make()
		if err != nil {
			h.Say(t.draw.Clean(err.Error()))
			return
		}
		data = made
	}
	h.Close()
	what := t.draw.Format("%s (%s)", p.What, screen.Bytes(len(data)))
	t.outlet.deliverBody(h, t.draw, t.verb, Body{Data: data, What: what, File: p.File}, input)
}

// Extend lays out the menu. It reads no new data, because the items are fixed when the menu opens.
func (t *exportMenu) Extend(_ *providers.View, w, h int) {
	t.wide = w >= OverlayWidth && 1+max(t.parts, len(t.items)-t.parts) <= h && t.parts > 0 && t.parts < len(t.items)
	if t.wide {
		t.Fit(len(t.items), 1, 1+len(t.items))
		return
	}
	t.Fit(len(t.items), 1, t.WantedRows(h))
}

// WantedRows returns the number of rows: one for the title, and one for each item or, in two columns, for each pair
// of items.
func (t *exportMenu) WantedRows(h int) int {
	if t.wide {
		return min(1+max(t.parts, len(t.items)-t.parts), h)
	}
	return min(1+len(t.items), max(h/2, 5))
}

// Click selects the item at a position in the menu, and reports whether it was already selected.
func (t *exportMenu) Click(x, y int) (again bool) {
	row := t.RowAt(y)
	if t.wide && x >= partsWidth {
		row += t.parts
	}
	if y < 1 || row < 0 || row >= len(t.items) || t.wide && x < partsWidth && row >= t.parts {
		return false
	}
	again = row == t.At
	t.MoveTo(row)
	return again
}

// partsWidth is the width of the left column.
const partsWidth = 29

// Draw draws row y.
func (t *exportMenu) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	switch {
	case y == 0 && t.typed != nil && t.verb == Save:
		DrawInputRow(p, p.Format("Write %s to", t.items[t.At].What), t.typed, display.Text{})
	case y == 0 && t.typed != nil:
		DrawInputRow(p, p.Format("| %s to", t.items[t.At].What), t.typed, display.Text{})
	case y == 0:
		about := t.of.Between("from ", "")
		if note := t.outlet.Note; t.verb == Copy && !note.Empty() {
			about = display.Join(about, p.Glyph.Dot.Between(" ", " "), note)
		}
		p.HeavyTitle(p.Clean(verbs[t.verb].title), about, display.Text{})
	case !t.wide:
		if row := t.Top + y - 1; row < len(t.items) {
			t.drawItem(p, row)
		}
	default:
		rest := max(0, p.Left-partsWidth)
		p.Left -= rest
		if y-1 < t.parts {
			t.drawItem(p, y-1)
		}
		p.Fill(screen.Bare)
		if p.Left = rest; t.parts+y-1 < len(t.items) {
			t.drawItem(p, t.parts+y-1)
		}
	}
}

// drawItem draws an item: its letter, its name and, if known, its size.
func (t *exportMenu) drawItem(p *screen.Pen, row int) {
	piece, g, mark := t.items[row], screen.Bare, display.Lit(" ")
	if row == t.At {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Accent, g, p.Clean(piece.Key))
	var size display.Text
	if piece.Make == nil {
		size = screen.Bytes(len(piece.Data)).Between("  ", " ")
	}
	room := p.Left - size.Width()
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(piece.What, room-1).Between(" ", ""), room))
	p.TextOn(screen.Muted, g, size)
	p.Fill(g)
}

// usableItems leaves out empty items, and items whose letter an earlier item uses.
func usableItems(pieces []ExportItem) (all []ExportItem) {
	for _, p := range pieces {
		if (p.Make != nil || len(p.Data) > 0) && !slices.ContainsFunc(all, func(q ExportItem) bool { return q.Key == p.Key }) {
			all = append(all, p)
		}
	}
	return all
}

// ExportItems returns the export items for the selected turn or call: the items at the cursor (at), the items
// of the selection itself, and the forms.
func ExportItems(v *providers.View, r stream.Ref, at []ExportItem, forms []ExportForm) []ExportItem {
	t, c := v.Find(r)
	if t == nil {
		return nil
	}
	all := slices.Clone(at)
	if c != nil {
		all = append(all,
			ExportItem{Key: "a", What: display.Lit("all arguments"), File: "arguments.json", Data: c.Args()},
			ExportItem{Key: "i", What: display.Lit("id of the call"), File: "id.txt", Data: []byte(c.ID)})
	}
	if x := v.Exchange(t.Exchange); x != nil {
		all = append(all,
			ExportItem{Key: "r", What: display.Lit("raw frames"), File: "turn.raw", Data: frameBytes(x, t)},
			ExportItem{Key: "o", What: display.Lit("body of the request"), File: "request.json", Data: x.RequestBody()})
	}
	for _, f := range forms {
		all = append(all, ExportItem{Key: f.Key, What: f.What, File: f.File, Make: func() ([]byte, error) { return f.Make(v, r) }})
	}
	return usableItems(all)
}

// frameBytes returns the decoded bytes of a turn's frames, or nil if they are not in memory.
func frameBytes(x *providers.Exchange, t *stream.Turn) []byte {
	if t.Retention != stream.InMemory || int(cmp.Or(t.LastFrame, t.FirstFrame)) >= x.Response.Frames() {
		return nil
	}
	start, _ := x.Response.FrameSpan(t.FirstFrame)
	_, end := x.Response.FrameSpan(t.LastFrame)
	return x.Response.Bytes(start, end)
}

// Exporter copies, saves, edits or pipes the content of a mode. Any of its functions may be nil.
type Exporter struct {
	Copy func(text []byte) (ways string, err error)                   // copies to the clipboard
	Save func(name string, data []byte) (path string, err error)      // saves to a new file with a name like the given one
	Edit func(name string, data []byte, done func(error))             // opens the user's editor, which controls the terminal until done is called
	Pipe func(command string, data []byte) (output []byte, err error) // runs a shell command
	Show func(panes.Literal)                                          // shows the command's output

	Name   string // name of the file to write; "" to ask for a name
	Prefix string // prefix of the default file names
	Saved  func() // called after a file was written; may be nil

	Note display.Text // describes the limits of copying
}

// Body is the content to export.
type Body struct {
	Data []byte
	What display.Text // a description
	File string       // the default file name
}

// SaveBody writes a body to a new file.
func (o Exporter) SaveBody(h Host, draw display.Drawer, b Body) {
	if !o.hasVerb(Save) {
		h.Say(display.Lit("files can't be written here"))
		return
	}
	o.deliverBody(h, draw, Save, b, "")
}

// fileName returns the default name for a file: the prefix, followed by the name. For a report, it is the
// prefix and the file extension.
func (o Exporter) fileName(name string) string {
	if o.Prefix == "" {
		return name
	}
	if ending, ok := strings.CutPrefix(name, "report."); ok {
		return o.Prefix + "." + ending
	}
	return o.Prefix + "-" + name
}

func (o Exporter) hasVerb(v ExportVerb) bool {
	return [...]bool{Copy: o.Copy != nil, Save: o.Save != nil, Edit: o.Edit != nil, Pipe: o.Pipe != nil}[v]
}

// deliverBody exports a body in the background and reports the result.
func (o Exporter) deliverBody(h Host, draw display.Drawer, v ExportVerb, b Body, command string) {
	switch v {
	case Copy:
		o.runAndReport(h, draw, b, "copied", ", by", func() (string, error) { return o.Copy(b.Data) })
	case Save:
		o.runAndReport(h, draw, b, "saved", ":", func() (string, error) { return o.Save(b.File, b.Data) })
	case Edit:
		o.Edit(b.File, b.Data, func(err error) {
			if err != nil {
				h.Say(draw.Format("not opened: %s", err))
			}
		})
	case Pipe:
		h.Do(func() func() {
			output, err := o.Pipe(command, b.Data)
			return func() {
				if err != nil {
					h.Say(draw.Format("%s: %s", screen.ShortName(command), err))
				}
				if len(output) > 0 {
					o.Show(panes.Literal{Path: "| " + command, Text: string(output)})
				}
			}
		})
	}
}

// runAndReport runs how in the background and reports the result.
func (o Exporter) runAndReport(h Host, draw display.Drawer, b Body, done, where string, how func() (string, error)) {
	h.Do(func() func() {
		place, err := how()
		said := draw.Format("%s %s%s %s", done, b.What, where, place)
		if err != nil {
			said = draw.Format("not %s: %s", done, err)
		}
		return func() {
			if h.Say(said); err == nil && done == "saved" && o.Saved != nil {
				o.Saved()
			}
		}
	})
}

// Keys returns the keys that export a body. Pressing a key calls body. If the returned Data is nil, What is shown as
// the reason.
func (o Exporter) Keys(h Host, draw display.Drawer, body func() Body) []screen.Binding {
	press := func(v ExportVerb) func() {
		return func() {
			switch b := body(); {
			case b.Data == nil:
				h.Say(b.What)
			case o.hasVerb(v):
				o.deliverBody(h, draw, v, b, "")
			}
		}
	}
	return []screen.Binding{
		screen.Key("y", "copy", "copy the selection, or a part of it", press(Copy)),
		screen.Key("w", "save", "save to a new file", press(Save)),
	}
}

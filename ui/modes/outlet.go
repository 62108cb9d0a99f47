package modes

import (
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Exporter copies, saves, edits or pipes the content of a mode. Any function may be nil.
type Exporter struct {
	Copy func(text []byte) (ways string, err error)                   // to the clipboard
	Save func(name string, data []byte) (path string, err error)      // to a new file with a name like the given one
	Edit func(name string, data []byte, done func(error))             // in the user's editor, which controls the terminal meanwhile
	Pipe func(command string, data []byte) (output []byte, err error) // to a shell command
	Show func(panes.Literal)                                          // shows the command's output
	Note display.Text                                                 // the limits of copying
}

// Body is the content to export.
type Body struct {
	Data []byte
	What display.Text // its description
	File string       // the default file name
}

func (o Exporter) hasVerb(v ExportVerb) bool {
	return [...]bool{Copy: o.Copy != nil, Save: o.Save != nil, Edit: o.Edit != nil, Pipe: o.Pipe != nil}[v]
}

// deliverBody exports a body in the background and reports the result.
func (o Exporter) deliverBody(h Host, draw display.Drawer, v ExportVerb, b Body, command string) {
	switch v {
	case Copy:
		o.runAndReport(h, draw, b, "copied", "by", func() (string, error) { return o.Copy(b.Data) })
	case Save:
		o.runAndReport(h, draw, b, "saved", "as", func() (string, error) { return o.Save(b.File, b.Data) })
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
		said := draw.Format("%s %s %s %s", done, b.What, where, place)
		if err != nil {
			said = draw.Format("not %s: %s", done, err)
		}
		return func() { h.Say(said) }
	})
}

// Keys returns the keys that export a body. Each calls body when it is pressed. If the Data of the body is
// nil, its What is the reason.
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
		{Keys: []string{"y"}, Hint: display.Lit("y copy"), Does: display.Lit("copy it, or a part of it"), Do: press(Copy)},
		{Keys: []string{"w"}, Hint: display.Lit("w save"), Does: display.Lit("save to a new file"), Do: press(Save)},
	}
}

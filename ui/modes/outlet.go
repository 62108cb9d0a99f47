package modes

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Outlet is where a body that a mode shows can be taken. Either way may be nil.
type Outlet struct {
	Copy func(text []byte) (ways string, err error)              // into the clipboard
	Save func(name string, data []byte) (path string, err error) // into a new file, of about that name
}

// Body is what would be sent.
type Body struct {
	Data []byte
	What display.Text // in words
	File string       // what it is called when it is saved
}

// Keys are those that take a body. It is asked for when one is pressed, and nil Data says that
// there is none, and What why.
func (o Outlet) Keys(h Host, draw display.Drawer, body func() Body) []screen.Binding {
	take := func(can bool, done, where string, how func(Body) (string, error)) {
		b := body()
		switch {
		case b.Data == nil:
			h.Say(b.What)
		case can:
			h.Do(func() func() {
				place, err := how(b)
				said := draw.Format("%s %s %s %s", done, b.What, where, place)
				if err != nil {
					said = draw.Format("not %s: %s", done, err)
				}
				return func() { h.Say(said) }
			})
		}
	}
	return []screen.Binding{
		{Keys: []string{"y"}, Hint: display.Lit("y copy"), Does: display.Lit("copy what would be sent"), Do: func() {
			take(o.Copy != nil, "copied", "by", func(b Body) (string, error) { return o.Copy(b.Data) })
		}},
		{Keys: []string{"w"}, Hint: display.Lit("w save"), Does: display.Lit("save it in a new file"), Do: func() {
			take(o.Save != nil, "saved", "as", func(b Body) (string, error) { return o.Save(b.File, b.Data) })
		}},
	}
}

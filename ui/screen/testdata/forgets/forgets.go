// Package forgets draws what came from outside without cleaning it, in every
// way there is. Each line that tries must not compile.
package forgets

import (
	"fmt"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

type mine struct {
	s     string
	cells int
}

type word string

const typed word = "typed"

func forget(outside string, b []byte) (all []display.Text) {
	all = append(all, display.Lit("fine"), display.Format("%s too", outside), display.Clean(outside))

	all = append(all, outside)                                 // want: cannot use outside
	all = append(all, display.Lit(outside))                    // want: cannot use outside
	all = append(all, display.Lit(string(b)))                  // want: cannot use string(b)
	all = append(all, display.Lit("a"+outside))                // want: cannot use "a" + outside
	all = append(all, display.Lit(typed))                      // want: cannot use typed
	all = append(all, display.Lit(fmt.Sprint(b)))              // want: cannot use fmt.Sprint(b)
	all = append(all, display.literal(outside))                // want: literal not exported
	all = append(all, display.Text(outside))                   // want: cannot convert outside
	all = append(all, display.Text("constant"))                // want: cannot convert "constant"
	all = append(all, display.Text(mine{outside, 1}))          // want: cannot convert mine
	all = append(all, display.Text{outside, 1})                // want: implicit assignment to unexported field
	all = append(all, display.Text{s: outside})                // want: cannot refer to unexported field s
	all = append(all, display.Format(outside))                 // want: cannot use outside
	all = append(all, display.Lit("a").Between("", outside))   // want: cannot use outside
	all = append(all, display.Join(display.Lit("a"), outside)) // want: cannot use outside
	var t display.Text
	t.s = outside   // want: t.s undefined
	t = t + outside // want: mismatched types
	return append(all, t)
}

// draw is of a pane that draws a provider's error without cleaning it.
func draw(p *screen.Pen, t *stream.Turn) {
	p.Untrusted(screen.Bad, screen.Bare, t.Failure)
	p.Bytes(screen.Bad, screen.Bare, []byte(t.Failure))
	p.Text(screen.Bad, p.Format("failed: %s", t.Failure))

	p.TextOn(screen.Bad, screen.Bare, t.Failure)             // want: cannot use t.Failure
	p.Text(screen.Bad, t.Failure)                            // want: cannot use t.Failure
	p.Text(screen.Bad, fmt.Sprintf("failed: %s", t.Failure)) // want: cannot use fmt.Sprintf
	p.Right(screen.Bad, screen.Bare, display.Lit(t.Failure)) // want: cannot use t.Failure
	p.Text(screen.Bad, p.Format(t.Failure))                  // want: cannot use t.Failure
	p.Paint(screen.Paint{on: t.Failure}, display.Lit("x"))   // want: cannot refer to unexported field on
	p.b = append(p.b, t.Failure...)                          // want: p.b undefined
}

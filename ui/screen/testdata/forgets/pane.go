package forgets

import (
	"fmt"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

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

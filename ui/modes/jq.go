package modes

import (
	"bytes"
	"context"
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/screen"
)

// JQ shows the results of a jq expression for the arguments of one call or of several calls.
type JQ struct {
	screen.Window
	host    Host
	draw    display.Drawer
	expr    *filter.JQExpr
	text    string // the expression as the user typed it
	scopes  []Scope
	scope   int
	answers *answers // nil while the expression runs
	started bool
}

// Scope is a set of calls on which the expression is run.
type Scope struct {
	Name  display.Text
	Calls func() []JQCall
}

// NewJQ returns a view of an expression's results for the calls in the first scope. If the expression is
// invalid, it returns nil and the reason.
func NewJQ(h Host, expr string, scopes []Scope, draw display.Drawer) (*JQ, display.Text) {
	e, err := filter.ParseJQ(expr)
	if err != nil {
		return nil, draw.Format("jq %s", err)
	}
	return &JQ{host: h, draw: draw, expr: e, text: expr, scopes: scopes}, display.Text{}
}

// Keys returns the keys that go to a call and change the scope.
func (j *JQ) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "go there", "go to that call", j.goThere),
		screen.Key("tab s", "this call or all", "run on this call, or all", func() {
			j.scope = (j.scope + 1) % len(j.scopes)
			j.answers, j.started = nil, false
		}),
		screen.Key("esc q", "back", "close", j.host.Close),
	}, j.CursorKeys("row", j.MoveTo)...)
}

func (j *JQ) goThere() {
	if j.answers == nil || j.At >= len(j.answers.list) {
		return
	}
	of := j.answers.list[j.At].of
	j.host.Close()
	j.host.Choose(of)
}

// Extend runs the expression in the background if it hasn't run yet.
func (j *JQ) Extend(_ *providers.View, _, h int) {
	if !j.started {
		j.started = true
		calls, expr := j.scopes[j.scope].Calls(), j.expr
		j.host.Do(func() func() {
			all := runJQ(expr, calls, filter.JQTimeout)
			return func() { j.answers = &all }
		})
	}
	rows := 0
	if j.answers != nil {
		rows = len(j.answers.list)
	}
	j.Fit(rows, 1, h)
}

// Draw draws row y: the title, or a call and its result.
func (j *JQ) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		j.drawTitle(p)
		return
	}
	n := j.Top + y - 1
	if j.answers == nil || n >= len(j.answers.list) {
		return
	}
	a, g, mark := j.answers.list[n], screen.Bare, display.Lit(" ")
	if n == j.At {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Muted, g, p.Format("%5s  ", screen.Count(int(a.of.Turn)+1)))
	name := jqName
	if p.Left < 3*jqName {
		name = jqName / 2
	}
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(p.Name(a.name), name-2), name))
	if a.why != "" {
		p.Untrusted(screen.Caution, g, a.why)
	} else {
		p.CutBytes(screen.Plain, g, a.value, len(a.value))
	}
	p.Fill(g)
}

const jqName = 22 // cells for a call's name

// drawTitle draws the expression, the scope, and the numbers of results and failures.
func (j *JQ) drawTitle(p *screen.Pen) {
	p.Text(screen.Accent, display.Lit(" JQ  "))
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(p.Name(j.text), max(8, p.Left/3)))
	p.Text(screen.Muted, j.scopes[j.scope].Name.Between("  of ", ""))
	if j.answers == nil {
		p.Text(screen.Live, display.Lit("  running"))
		return
	}
	p.Text(screen.Muted, display.Join(display.Lit("  "), screen.Plural(len(j.answers.list)-j.answers.unparsed, "result"), display.Lit(" from "), screen.Plural(j.answers.queried, "call")))
	if n := j.answers.unparsed; n > 0 {
		p.Text(screen.Caution, p.Format("  %s not JSON", screen.Count(n)))
	}
	if n := j.answers.evicted; n > 0 {
		p.Text(screen.Caution, p.Format("  %s not in memory", screen.Count(n)))
	}
	if j.answers.stopped != "" {
		p.Text(screen.Caution, p.Format("  stopped: %s", j.answers.stopped))
	}
}

// JQCalls returns the calls of the turns for which shown returns true.
func JQCalls(turns []*stream.Turn, shown func(*stream.Turn) bool) (calls []JQCall) {
	for _, t := range turns {
		if !shown(t) {
			continue
		}
		for _, c := range t.Calls {
			calls = append(calls, NewJQCall(t, c))
		}
	}
	return calls
}

// NewJQCall returns a call with its current arguments, which later deltas don't change.
func NewJQCall(t *stream.Turn, c *stream.Call) JQCall {
	return JQCall{Of: c.Ref(), Name: c.Name, Args: slices.Clip(c.Args()), Evicted: t.Retention != stream.InMemory && c.ArgsLen() > 0}
}

// JQCall is a call and the arguments to query.
type JQCall struct {
	Of      stream.Ref
	Name    string
	Args    []byte
	Evicted bool // the arguments are not in memory
}

// answer is a result for one call: a value or an error.
type answer struct {
	of    stream.Ref
	name  string
	value []byte
	why   string
}

// answers are the results for all calls.
type answers struct {
	list     []answer
	unparsed int    // calls whose arguments are not JSON
	evicted  int    // calls whose arguments are not in memory
	queried  int    // calls queried so far
	stopped  string // why some calls were not queried; "" if none was left out
}

// Limits for all results, and for one value.
const (
	maxJQAnswers = 5000
	maxJQValue   = 4 << 10
)

// runJQ runs the expression on each call. The limits apply to all calls together.
func runJQ(expr *filter.JQExpr, calls []JQCall, limit time.Duration) (all answers) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, c := range calls {
		switch {
		case ctx.Err() != nil:
			all.stopped = "jq took longer than " + limit.String()
			return all
		case len(all.list) >= maxJQAnswers:
			all.stopped = "there are too many results"
			return all
		}
		all.queried++
		all.runCall(ctx, expr, c)
	}
	return all
}

func (all *answers) runCall(ctx context.Context, expr *filter.JQExpr, c JQCall) {
	if c.Evicted {
		all.evicted++
		return
	}
	for value, err := range expr.Run(ctx, c.Args) {
		a := answer{of: c.Of, name: c.Name, value: bytes.Clone(value[:min(len(value), maxJQValue)])}
		if err != nil {
			a.why = err.Error()
			if filter.IsNotJSON(err) {
				all.unparsed++
			}
		}
		if all.list = append(all.list, a); len(all.list) >= maxJQAnswers {
			return
		}
	}
}

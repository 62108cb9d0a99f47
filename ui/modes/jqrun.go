package modes

import (
	"context"
	"time"

	"toolscope/stream"
	"toolscope/ui/jq"
)

// Asked is a call whose arguments are asked.
type Asked struct {
	Of   stream.Ref
	Name string
	Args []byte
	Gone bool // they were let go of
}

// answer is what came of one call: a value, or why there is none.
type answer struct {
	of    stream.Ref
	name  string
	value []byte
	why   string
}

// answers are what came of all.
type answers struct {
	list     []answer
	unparsed int    // calls whose arguments are no JSON
	gone     int    // or are not there
	asked    int    // calls, so far
	stopped  string // why not all were
}

// Limits of what comes of it, and of one value.
const (
	jqAnswers = 5000
	jqValue   = 4 << 10
)

// ask asks each call, all of them within a time.
func ask(expr *jq.Expr, calls []Asked, limit time.Duration) (all answers) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, c := range calls {
		switch {
		case ctx.Err() != nil:
			all.stopped = "it took longer than " + limit.String()
			return all
		case len(all.list) >= jqAnswers:
			all.stopped = "there are too many answers"
			return all
		}
		all.asked++
		all.askOne(ctx, expr, c)
	}
	return all
}

func (all *answers) askOne(ctx context.Context, expr *jq.Expr, c Asked) {
	if c.Gone {
		all.gone++
		return
	}
	for value, err := range expr.Run(ctx, c.Args) {
		a := answer{of: c.Of, name: c.Name, value: value[:min(len(value), jqValue)]}
		if err != nil {
			a.why = err.Error()
			if jq.IsNotJSON(err) {
				all.unparsed++
			}
		}
		if all.list = append(all.list, a); len(all.list) >= jqAnswers {
			return
		}
	}
}

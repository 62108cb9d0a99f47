package modes

import (
	"context"
	"time"

	"toolscope/stream"
	"toolscope/ui/jq"
)

// JQCall is a call whose arguments are asked.
type JQCall struct {
	Of      stream.Ref
	Name    string
	Args    []byte
	Evicted bool // they were let go of
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
	evicted  int    // or are not there
	queried  int    // calls, so far
	stopped  string // why not all were
}

// Limits of what comes of it, and of one value.
const (
	maxJQAnswers = 5000
	maxJQValue   = 4 << 10
)

// runJQ asks each call, all of them within a time.
func runJQ(expr *jq.Expr, calls []JQCall, limit time.Duration) (all answers) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, c := range calls {
		switch {
		case ctx.Err() != nil:
			all.stopped = "it took longer than " + limit.String()
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

func (all *answers) runCall(ctx context.Context, expr *jq.Expr, c JQCall) {
	if c.Evicted {
		all.evicted++
		return
	}
	for value, err := range expr.Run(ctx, c.Args) {
		a := answer{of: c.Of, name: c.Name, value: value[:min(len(value), maxJQValue)]}
		if err != nil {
			a.why = err.Error()
			if jq.IsNotJSON(err) {
				all.unparsed++
			}
		}
		if all.list = append(all.list, a); len(all.list) >= maxJQAnswers {
			return
		}
	}
}

package modes

import (
	"bytes"
	"context"
	"time"

	"toolscope/stream"
	"toolscope/ui/jq"
)

// JQCall is a call and the arguments to query.
type JQCall struct {
	Of      stream.Ref
	Name    string
	Args    []byte
	Evicted bool // the arguments are not in memory
}

// answer is a result for one call: a value, or an error.
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
	stopped  string // why not all were queried
}

// Limits of all results, and of one value.
const (
	maxJQAnswers = 5000
	maxJQValue   = 4 << 10
)

// runJQ runs the expression on each call. The limits hold for all calls together.
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
		a := answer{of: c.Of, name: c.Name, value: bytes.Clone(value[:min(len(value), maxJQValue)])}
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

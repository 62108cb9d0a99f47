package capture

import (
	"context"
	"sync"
)

// exchangeLimit is the highest exchange number that a capture may name.
const exchangeLimit = 1 << 30

// numbers hands out exchange numbers, each once.
type numbers struct {
	all  int          // every number up to this one is in use, or is never given out any more
	used map[int]bool // those in use above it
	last int          // the highest number in use
}

// mostHoles is how many numbers are remembered above one that is free. With more of them those that are
// free below the highest stay so.
const mostHoles = 1 << 16

// claim takes want if it is free, and otherwise the next number that never was in use.
func (n *numbers) claim(want int) int {
	if n.used == nil {
		n.used = map[int]bool{}
	}
	if want <= n.all || n.used[want] {
		want = n.last + 1
	}
	n.used[want] = true
	n.last = max(n.last, want)
	if len(n.used) > mostHoles {
		n.all, n.used = n.last, map[int]bool{}
	}
	for n.used[n.all+1] {
		n.all++
		delete(n.used, n.all)
	}
	return want
}

// names gives the exchanges of one input numbers that are unique among several inputs. Exchange 1
// of the input becomes the next free number, 2 the one behind it, and so on, as far as nobody else
// took them meanwhile.
type names struct {
	numbers *numbers
	base    int
	known   map[int]int
}

func (n *numbers) names() names { return names{n, n.last, map[int]int{}} }

func (n names) of(exchange int) int {
	unique, ok := n.known[exchange]
	if !ok {
		unique = n.numbers.claim(n.base + exchange)
		n.known[exchange] = unique
	}
	return unique
}

// Concat reads one source after the other. Exchanges are numbered anew, so that those of different
// sources differ. The first error ends the whole.
func Concat(srcs ...Source) Source {
	return func(yield func(Record, error) bool) {
		var numbers numbers
		for _, src := range srcs {
			names := numbers.names()
			for r, err := range src {
				if err == nil {
					r.Exchange = names.of(r.Exchange)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// Merge reads all sources at the same time and passes their records on as they come; a source waits
// until its record was taken. Exchanges are numbered anew, so that those of different sources
// differ. The first error ends the whole.
//
// Each source runs in a goroutine of its own until Merge ends. One that is waiting for bytes just
// then can only be woken by its own context: open the sources with ctx, or with a child of it, and
// cancel that when done.
func Merge(ctx context.Context, srcs ...Source) Source {
	return func(yield func(Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		merged := fanIn(ctx, srcs)
		var numbers numbers
		of := make([]names, len(srcs))
		for i := range of {
			of[i] = numbers.names()
		}
		for {
			select {
			case <-ctx.Done():
				return
			case t, ok := <-merged:
				if !ok {
					return
				}
				if t.err == nil {
					t.record.Exchange = of[t.source].of(t.record.Exchange)
				}
				if !yield(t.record, t.err) || t.err != nil {
					return
				}
			}
		}
	}
}

// taken is one element of one of several sources.
type taken struct {
	source int
	record Record
	err    error
}

// fanIn closes its channel when all sources have ended.
func fanIn(ctx context.Context, srcs []Source) <-chan taken {
	merged := make(chan taken)
	var running sync.WaitGroup
	for i, src := range srcs {
		running.Go(func() {
			for r, err := range src {
				select {
				case merged <- taken{i, r, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		running.Wait()
		close(merged)
	}()
	return merged
}

package capture

import (
	"context"
	"sync"
)

// maxExchange is the highest exchange number that a capture may name.
const maxExchange = 1 << 30

// exchangeNumbers hands out exchange numbers, each once.
type exchangeNumbers struct {
	all  int          // every number up to this one is in use, or is never given out any more
	used map[int]bool // those in use above it
	last int          // the highest number in use
}

// maxUnusedNumbers is how many numbers are remembered above one that is free. With more of them those that are
// free below the highest stay so.
const maxUnusedNumbers = 1 << 16

// claimNumber takes want if it is free, and otherwise the next number that never was in use.
func (n *exchangeNumbers) claimNumber(want int) int {
	if n.used == nil {
		n.used = map[int]bool{}
	}
	if want <= n.all || n.used[want] {
		want = n.last + 1
	}
	n.used[want] = true
	n.last = max(n.last, want)
	if len(n.used) > maxUnusedNumbers {
		n.all, n.used = n.last, map[int]bool{}
	}
	for n.used[n.all+1] {
		n.all++
		delete(n.used, n.all)
	}
	return want
}

// numberMap gives the exchanges of one input numbers that are unique among several inputs. Exchange 1
// of the input becomes the next free number, 2 the one behind it, and so on, as far as nobody else
// took them meanwhile.
type numberMap struct {
	numbers *exchangeNumbers
	base    int
	known   map[int]int
}

func (n *exchangeNumbers) newMap() numberMap { return numberMap{n, n.last, map[int]int{}} }

func (n numberMap) numberOf(exchange int) int {
	unique, ok := n.known[exchange]
	if !ok {
		unique = n.numbers.claimNumber(n.base + exchange)
		n.known[exchange] = unique
	}
	return unique
}

// Concat reads one source after the other. Exchanges are numbered anew, so that those of different
// sources differ. The first error ends the whole.
func Concat(srcs ...Source) Source {
	return func(yield func(Record, error) bool) {
		var numbers exchangeNumbers
		for _, src := range srcs {
			names := numbers.newMap()
			for r, err := range src {
				if err == nil {
					r.Exchange = names.numberOf(r.Exchange)
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
		var numbers exchangeNumbers
		of := make([]numberMap, len(srcs))
		for i := range of {
			of[i] = numbers.newMap()
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
					t.record.Exchange = of[t.source].numberOf(t.record.Exchange)
				}
				if !yield(t.record, t.err) || t.err != nil {
					return
				}
			}
		}
	}
}

// sourceItem is one element of one of several sources.
type sourceItem struct {
	source int
	record Record
	err    error
}

// fanIn closes its channel when all sources have ended.
func fanIn(ctx context.Context, srcs []Source) <-chan sourceItem {
	merged := make(chan sourceItem)
	var running sync.WaitGroup
	for i, src := range srcs {
		running.Go(func() {
			for r, err := range src {
				select {
				case merged <- sourceItem{i, r, err}:
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

package capture

import (
	"context"
	"sync"
)

// maxExchange is the highest exchange number that a capture may name.
const maxExchange = 1 << 30

// exchangeNumbers assigns exchange numbers, each once.
type exchangeNumbers struct {
	all  int          // every number up to this one is in use or never assigned again
	used map[int]bool // the numbers in use above all
	last int          // the highest number in use
}

// maxUnusedNumbers is how many numbers in use are stored above a free one. Beyond that, the free numbers
// below the highest are never assigned.
const maxUnusedNumbers = 1 << 16

// claimNumber takes want if it is free, and otherwise the number after the highest in use.
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

// numberMap gives the exchanges of one input numbers that are unique among several inputs. Exchange 1 of
// the input becomes the next free number, 2 the one after it, and so on, unless another input has taken
// them meanwhile.
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

// Concat reads one source after the other. Exchanges are renumbered, so that those of different sources
// differ. The first error ends the combined source.
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

// Merge reads all sources at the same time and passes their records on as they arrive. A source waits
// until its record was taken. Exchanges are renumbered, so that those of different sources differ. The
// first error ends the combined source.
//
// Each source runs in its own goroutine until Merge ends. Only its own context can wake a source that
// waits for bytes at that moment: open the sources with ctx or a child of it, and cancel that when done.
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

// fanIn reads all sources into one channel. It closes the channel when all have ended.
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

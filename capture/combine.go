package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"
)

// maxExchange is the highest exchange number that a capture may name.
const maxExchange = 1 << 30

// exchangeNumbers assigns exchange numbers, each once.
type exchangeNumbers struct {
	all  int          // every number up to this one is in use, or will never be assigned
	used map[int]bool // the numbers in use above the number in the field all
	last int          // the highest number in use
}

// maxUnusedNumbers is the maximum length of used. Beyond that, the free numbers below the highest one in use are
// never assigned.
const maxUnusedNumbers = 1 << 16

// claimNumber assigns the wanted number if it is free, otherwise the number after the highest in use. It returns the
// assigned number.
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

// numberMap gives the exchanges of one input numbers that are unique among several inputs. Exchange 1 of the input
// gets the next free number, exchange 2 the number after that, and so on, unless another input has taken the number
// meanwhile.
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

// Concat reads one source after another. Exchanges are renumbered, so that exchanges of different sources have
// different numbers. The first error ends the combined source.
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

// Merge reads all sources at the same time and passes their records on as they arrive. A source waits until
// its record is taken. Exchanges are renumbered, so that exchanges of different sources have different
// numbers. The first error ends the combined source.
//
// Each source runs in its own goroutine until Merge ends. If a source is then waiting for bytes, only its own
// context can wake it. So open the sources with ctx or with a child of ctx, and cancel that context when done.
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

// A run produces several captures: one with the model traffic, and one for each tool server. The times in a
// capture count from its own beginning, which is in its first line. The captures are read as one source, in
// wall clock order.

// ByServer is the `by` value in a capture of one server, or of one shell command.
const ByServer = "toolscope mcp"

// ByAgent is the `by` value in a capture of a connection between an editor and an agent.
const ByAgent = "toolscope acp"

// maxRunFiles is the maximum number of files that are read as one run, because the beginnings of all its files are
// read first.
const maxRunFiles = 1 << 14

// IsRun reports whether files are the captures of one run: there are from 2 to maxRunFiles, all are toolscope's own,
// and at least one is from a server that a program started, from a shell command, or from a connection between an
// editor and an agent.
func IsRun(files []FoundFile) bool {
	if len(files) < 2 || len(files) > maxRunFiles {
		return false
	}
	served := false
	for _, f := range files {
		began, server := beginningOf(f.Path)
		if began.IsZero() {
			return false
		}
		served = served || server
	}
	return served
}

// beginningOf returns the time at which a capture began, and whether it is the capture of a server, a shell command,
// or a connection between an editor and an agent. The time is zero if the file is not a capture.
func beginningOf(path string) (began time.Time, server bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return began, false
	}
	f, err := os.Open(path)
	if err != nil {
		return began, false
	}
	defer f.Close()
	first := make([]byte, 16<<10)
	n, _ := io.ReadFull(f, first)
	line, _, _ := bytes.Cut(first[:n], []byte("\n"))
	var h struct {
		Version int       `json:"toolscope"`
		Created time.Time `json:"created"`
		By      string    `json:"by"`
	}
	if json.Unmarshal(line, &h) != nil || h.Version == 0 {
		return began, false
	}
	return h.Created, h.By == ByServer || h.By == ByAgent
}

// onWall adds a duration, the parameter later, to all times of a source.
func onWall(src Source, later time.Duration) Source {
	return func(yield func(Record, error) bool) {
		for r, err := range src {
			if err == nil && r.At >= 0 {
				r.At += later
				for i := range r.Chunks {
					r.Chunks[i].At += later
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// oneRun reads captures as one source, in wall clock order. Exchanges are renumbered. A file is open only
// while it is being read, because a run may have thousands of very short files.
func oneRun(paths []string, all []Source) Source {
	order, began := make([]int, len(all)), make([]time.Time, len(all))
	for i, path := range paths {
		order[i] = i
		began[i], _ = beginningOf(path)
	}
	slices.SortStableFunc(order, func(a, b int) int { return began[a].Compare(began[b]) })
	return func(yield func(Record, error) bool) {
		var numbers exchangeNumbers
		var heads []*sourceHead
		defer func() {
			for _, h := range heads {
				h.stop()
			}
		}()
		for next := 0; ; {
			var least *sourceHead
			for _, h := range heads {
				if least == nil || h.at < least.at {
					least = h
				}
			}
			if next < len(order) {
				i := order[next]
				if later := began[i].Sub(began[order[0]]); least == nil || later <= least.at {
					h := &sourceHead{names: numberMap{&numbers, 0, map[int]int{}}, at: later}
					h.next, h.stop = iter.Pull2(iter.Seq2[Record, error](onWall(all[i], later)))
					heads = append(heads, h)
					if !h.readNext() {
						heads = heads[:len(heads)-1]
					}
					next++
					continue
				}
			}
			if least == nil {
				return
			}
			if least.err == nil {
				least.record.Exchange = least.names.numberOf(least.record.Exchange)
				least.record.ofRun(paths[order[0]])
			}
			if !yield(least.record, least.err) || least.err != nil {
				return
			}
			if !least.readNext() {
				heads = slices.DeleteFunc(heads, func(h *sourceHead) bool { return h == least })
			}
		}
	}
}

// ofRun sets the run in the record's head.
func (r *Record) ofRun(run string) {
	if r.Head != nil {
		r.Head.Run = run
	}
}

// onWallRun is the run of all followed files, which share one clock.
const onWallRun = "followed"

// sourceHead is the next record of one of several sources.
type sourceHead struct {
	next   func() (Record, error, bool)
	stop   func()
	names  numberMap
	record Record
	err    error
	at     time.Duration // highest time of its records so far; before the first record, the time when its capture began
}

// readNext reads the next record or error. It returns false if there is none.
func (h *sourceHead) readNext() (more bool) {
	if h.record, h.err, more = h.next(); more && h.record.At > h.at {
		h.at = h.record.At
	}
	return more
}

// onOneWall makes the times of followed captures count from the beginning of the earliest one that exists
// now. Files without a known beginning keep their times.
func onOneWall(src Source, paths []string) Source {
	var first time.Time
	files, _, _ := Find(paths)
	for _, f := range files[:min(len(files), maxRunFiles)] {
		if began, _ := beginningOf(f.Path); !began.IsZero() && (first.IsZero() || began.Before(first)) {
			first = began
		}
	}
	return func(yield func(Record, error) bool) {
		first, later := first, map[int]time.Duration{}
		for r, err := range src {
			if err == nil && r.Head != nil && r.Head.File != "" && later[r.Exchange] == 0 {
				if began, _ := beginningOf(r.Head.File); !began.IsZero() {
					if first.IsZero() {
						first = began
					}
					later[r.Exchange] = began.Sub(first)
				}
			}
			r.ofRun(onWallRun)
			if d := later[r.Exchange]; err == nil && r.At >= 0 && d != 0 {
				r.At = max(0, r.At+d)
			}
			if !yield(r, err) {
				return
			}
			if r.End != "" {
				delete(later, r.Exchange)
			}
		}
	}
}

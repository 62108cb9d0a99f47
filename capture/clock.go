package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"os"
	"slices"
	"time"
)

// Recordings of one run are several files: of the models' answers, and of each server of tools one. Each
// counts its times from its own beginning, which its first line tells. They are read as one: by the
// clock on the wall, what came first first.

// ByServer is who writes a recording of a server alone, or of a command of a shell.
const ByServer = "toolscope mcp"

// maxRunFiles is how many files are read as one run at most: the beginning of each is looked at first.
const maxRunFiles = 1 << 14

// IsRun reports whether files are recordings of one run: ours, and one of them of a server that a
// program started, or of a command of its shell.
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

// beginningOf is when a recording of ours began, zero where it is none, and whether it is of a server.
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
	return h.Created, h.By == ByServer
}

// onWall has the times of a recording count from another beginning than its own.
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

// oneRun reads recordings as one, in the order of the clock on the wall. Exchanges are numbered anew. A
// file is open from when it began until its end: a run may have thousands, of a moment each.
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

// ofRun says of which run the record's file is.
func (r *Record) ofRun(run string) {
	if r.Head != nil {
		r.Head.Run = run
	}
}

// onWallRun is all that is followed by one clock.
const onWallRun = "followed"

// sourceHead is the next record of one of several sources.
type sourceHead struct {
	next   func() (Record, error, bool)
	stop   func()
	names  numberMap
	record Record
	err    error
	at     time.Duration // of the latest record that has a time
}

// readNext moves on to the next record; false where there is none.
func (h *sourceHead) readNext() (more bool) {
	if h.record, h.err, more = h.next(); more && h.record.At > h.at {
		h.at = h.record.At
	}
	return more
}

// onOneWall has the times of recordings that are followed count from the beginning of the first, as far
// as they are ours and tell when they began.
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

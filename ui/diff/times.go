package diff

import (
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// Times contains the times of a turn's first bytes and of its end. They are relative to the request or, if the time
// of the request is unknown, to the turn's first event. A missing time is NoTime.
type Times struct {
	First time.Duration // time of the first byte of the response
	Arg   time.Duration // time of the first argument byte
	End   time.Duration // time of the end, or of the last data so far
	Over  bool
	Asked bool               // times are relative to the request
	Args  [][2]time.Duration // times of each call's first and last argument byte
}

// TimesOf returns the times of a turn.
func TimesOf(v *providers.View, t *stream.Turn) Times {
	l := v.Latency(t, nil)
	since := func(at time.Duration) time.Duration {
		if at < 0 || l.From < 0 || at < l.From {
			return stream.NoTime
		}
		return at - l.From
	}
	times := Times{First: since(t.OpenedAt), Arg: stream.NoTime, End: l.End, Over: t.Closed(), Asked: l.RequestSeen}
	if l.FirstToken >= 0 {
		times.First = l.FirstToken
	}
	last := times.First
	for _, c := range t.Calls {
		from, to := since(c.FirstArgAt), since(c.LastArgAt)
		if from < 0 {
			continue
		}
		times.Args = append(times.Args, [2]time.Duration{from, to})
		if times.Arg < 0 || from < times.Arg {
			times.Arg = from
		}
		last = max(last, to)
	}
	if x := v.Exchange(t.Exchange); !times.Over && x != nil {
		times.End = max(last, since(x.LastRecordAt()))
	}
	return times
}

// BarCell says what happened during one cell of a bar.
type BarCell uint8

const (
	Blank   BarCell = iota // outside the turn
	Nothing                // no response yet
	Silent                 // a response, but no arguments
	Coming                 // arguments arrived
)

// Bar returns a turn's time as a row of cells, or nil if its end is unknown. Each cell stands for the given
// duration. A call's arguments fill at least one cell.
func (t *Times) Bar(cell time.Duration) (bar []BarCell) {
	if t.End < 0 || cell <= 0 {
		return nil
	}
	bar = make([]BarCell, max(1, int((t.End+cell-1)/cell)))
	for i := range bar {
		from, to := time.Duration(i)*cell, time.Duration(i+1)*cell
		bar[i] = Silent
		if to <= t.First || t.First < 0 {
			bar[i] = Nothing
		}
		for _, a := range t.Args {
			if a[0] < to && a[1] >= from {
				bar[i] = Coming
			}
		}
	}
	return bar
}

// Phases returns the number of cells in each phase of a turn: before the response begins, before arguments arrive,
// and the rest.
func (t *Times) Phases(cell time.Duration) (n [3]int) {
	if t.End < 0 || cell <= 0 {
		return n
	}
	cells := func(from, to time.Duration) int {
		if from < 0 || to <= from {
			return 0
		}
		return max(1, int((to-from+cell/2)/cell))
	}
	first, arg := max(t.First, 0), t.Arg
	if t.First < 0 {
		first = t.End
	}
	if arg < 0 {
		arg = t.End
	}
	return [3]int{cells(0, first), cells(first, arg), cells(arg, t.End)}
}

// ByPhase returns bars in which each phase starts at the same cell for all turns. The longest turn in a phase
// determines the phase's width.
func ByPhase(all []Times, cell time.Duration) (bars [][]BarCell) {
	var widest [3]int
	for i := range all {
		for part, n := range all[i].Phases(cell) {
			widest[part] = max(widest[part], n)
		}
	}
	for i := range all {
		var bar []BarCell
		for part, n := range all[i].Phases(cell) {
			for k := range widest[part] {
				piece := Blank
				if k < n {
					piece = [...]BarCell{Nothing, Silent, Coming}[part]
				}
				bar = append(bar, piece)
			}
		}
		for len(bar) > 0 && bar[len(bar)-1] == Blank {
			bar = bar[:len(bar)-1]
		}
		bars = append(bars, bar)
	}
	return bars
}

// Scale returns the duration of one cell at which the longest turn fits in the given number of cells. If byPhase is
// true, the longest phases must fit together. It returns 0 if there is no time to show or no room.
func Scale(all []Times, cells int, byPhase bool) time.Duration {
	var longest time.Duration
	var parts [3]time.Duration
	for i := range all {
		t := &all[i]
		longest = max(longest, t.End)
		parts[0] = max(parts[0], t.First)
		if t.Arg >= 0 {
			parts[1], parts[2] = max(parts[1], t.Arg-t.First), max(parts[2], t.End-t.Arg)
		} else {
			parts[1] = max(parts[1], t.End-max(t.First, 0))
		}
	}
	if byPhase {
		longest, cells = parts[0]+parts[1]+parts[2], cells-2 // the length of each phase is rounded
	}
	if longest <= 0 || cells <= 0 {
		return 0
	}
	return (longest + time.Duration(cells) - 1) / time.Duration(cells)
}

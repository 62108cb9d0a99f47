package diff

import (
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// Times is when what of a turn came, since it was asked, or where that is not known, since its first
// event. What has no time is NoTime.
type Times struct {
	First time.Duration // of anything of the response
	Arg   time.Duration // of the first argument byte
	End   time.Duration // or as far as it has come
	Over  bool
	Asked bool               // since it was asked
	Args  [][2]time.Duration // when arguments came, of each call: its first byte and its last
}

// TimesOf are those of a turn.
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

// BarCell is what came in one cell of a bar.
type BarCell uint8

const (
	Blank   BarCell = iota // before or behind it all
	Nothing                // nothing had come yet
	Silent                 // no arguments came
	Coming                 // arguments came
)

// Bar is a turn's time in cells, of which each is so long. At least one cell shows that arguments
// came at all.
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

// Phases are how many cells each part of a turn takes: until anything came, until arguments came,
// and from then on.
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

// ByPhase are the bars of turns whose parts begin together: each part is as wide in all of them as
// where it is widest.
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

// Scale is how long a cell is, for the longest of some turns to take so many cells: by phase, all of
// their longest parts.
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
		longest, cells = parts[0]+parts[1]+parts[2], cells-2 // each part is rounded
	}
	if longest <= 0 || cells <= 0 {
		return 0
	}
	return (longest + time.Duration(cells) - 1) / time.Duration(cells)
}

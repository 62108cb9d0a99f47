package screen

import (
	"math"
	"strconv"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// Bytes formats a size. From 10,000 on it uses larger units, with at most three digits and no rounding.
func Bytes(n int) display.Text {
	if n < 10_000 {
		return Count(n).Between("", " B")
	}
	size, unit := float64(n)/1000, 0
	for ; size >= 1000 && unit < len(byteUnits)-1; unit++ {
		size /= 1000
	}
	if size >= 100 {
		return display.Format("%d %s", int(size), byteUnits[unit])
	}
	return display.Format("%.1f %s", math.Trunc(size*10)/10, byteUnits[unit])
}

var byteUnits = []string{"kB", "MB", "GB", "TB"}

// Count formats n with a thousands separator.
func Count(n int) display.Text {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return display.Clean(s)
}

// Time formats a duration, with at most three digits below a minute and no rounding. NoTime is empty.
func Time(d time.Duration) display.Text {
	switch {
	case d < 0:
		return display.Text{}
	case d < time.Second:
		return display.Format("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return display.Format("%.2f s", d.Truncate(10*time.Millisecond).Seconds())
	case d < time.Minute:
		return display.Format("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	return longTime(d)
}

// RoughTime formats a duration like Time, with only one decimal place for seconds. It is for a duration that
// still grows, or for a sum.
func RoughTime(d time.Duration) display.Text {
	if d >= time.Second && d < 10*time.Second {
		return display.Format("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	return Time(d)
}

// longTime formats a duration of a minute or more.
func longTime(d time.Duration) display.Text {
	if d < time.Hour {
		return display.Format("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return display.Format("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Elapsed returns the time between two moments. It returns NoTime if either is unknown, or to is before from.
func Elapsed(from, to time.Duration) time.Duration {
	if from < 0 || to < 0 || to < from {
		return stream.NoTime
	}
	return to - from
}

// CallTime returns the time from the start of a call to the end of its arguments. Before that end it is the
// time to the last byte so far, or NoTime.
func CallTime(c *stream.Call) time.Duration {
	if c.SealedAt >= 0 {
		return Elapsed(c.OpenedAt, c.SealedAt)
	}
	return Elapsed(c.OpenedAt, c.LastArgAt)
}

// Plural returns "1 thing" or "2 things".
func Plural(n int, thing string) display.Text {
	return display.Clean(Count(n).String() + " " + count.Noun(n, thing))
}

package price

import (
	"fmt"
	"math"
	"strings"
	"time"

	"toolscope/stream"
)

// Source is the origin of a figure.
type Source uint8

const (
	Unknown      Source = iota // no figure
	FromTable                  // computed from a price
	FromProvider               // reported by the provider
	Free                       // costs nothing
)

func (s Source) String() string { return [...]string{"unknown", "table", "provider", "free"}[s] }

// Figure is the cost of a turn. USD is meaningful unless Source is Unknown.
type Figure struct {
	USD         float64
	Source      Source
	Approximate bool
	AsOf        string // the date of the price, when Source is FromTable
	Why         string // why there is no figure, or why it is approximate
}

// Known reports whether there is a figure.
func (f Figure) Known() bool { return f.Source != Unknown }

// String returns the figure as one word: $0.0028, ~$0.0028, free, or "" if unknown.
func (f Figure) String() string {
	switch {
	case f.Source == Unknown:
		return ""
	case f.Source == Free:
		return "free"
	case f.Approximate:
		return "~" + USD(f.USD)
	}
	return USD(f.USD)
}

// Turn returns the cost of a turn so far. head has the URL of the request and the day of the response.
// Until the turn ends, the figure is approximate: counts before the last one are placeholders or
// partial.
func (t *Table) Turn(turn *stream.Turn, head stream.Head) Figure {
	var p Price
	if !turn.Usage.CostReported {
		p = t.priceOf(turn, head)
	}
	f := Cost(turn.Usage, p)
	if f.Source != FromTable && f.Source != FromProvider {
		return f
	}
	switch {
	case !turn.Closed():
		f.markApproximate("so far")
	case turn.Phase() == stream.TurnAborted:
		f.markApproximate("it was cut off: usage may be missing")
	case turn.HasGap():
		f.markApproximate("bytes of it were missed: usage may be missing")
	}
	return f
}

// priceOf returns the price that applies to a turn.
func (t *Table) priceOf(turn *stream.Turn, head stream.Head) Price {
	return t.Lookup(turn.Protocol, hostOf(head.URL), turn.Model).onDay(dayOf(head), turn.Usage.Input.N, strings.ToLower(turn.Usage.Tier))
}

// Rates returns the rates that apply to a turn, in dollars per million tokens, if Turn returns a figure
// from the table.
func (t *Table) Rates(turn *stream.Turn, head stream.Head) (r Rates) {
	r, factor, _ := t.priceOf(turn, head).ratesFor(turn.Usage.Input.N, strings.ToLower(turn.Usage.Tier))
	for _, rate := range []*Rate{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite, &r.CacheWriteHour} {
		rate.USD *= factor
	}
	return r
}

// dayOf returns the day of a response from its own header, "" if unknown.
func dayOf(head stream.Head) string {
	for _, text := range head.Header["Date"] {
		if at, err := time.Parse(time.RFC1123, text); err == nil {
			return at.UTC().Format(time.DateOnly)
		}
	}
	return ""
}

// Cost returns the cost of tokens at a price.
func Cost(u stream.Usage, p Price) Figure {
	switch {
	case u.CostReported:
		return Figure{USD: u.CostUSD, Source: FromProvider}
	case p.Free:
		return Figure{Source: Free}
	case p.Why != "":
		return Figure{Why: p.Why}
	case !u.Input.Reported && !u.Output.Reported:
		return Figure{Why: "the response reports no usage"}
	case u.Input.N == 0 && u.Output.N == 0:
		return Figure{Why: "the reported usage is 0 tokens"}
	}
	r, factor, ok := p.ratesFor(u.Input.N, strings.ToLower(u.Tier))
	if !ok {
		return Figure{Why: fmt.Sprintf("the price of service tier %q is unknown", u.Tier)}
	}
	f := Figure{Source: FromTable, AsOf: p.AsOf}
	f.USD = roundMicros(f.sumMicros(u, r) * factor)
	f.markApproximate(p.Doubt)
	f.markApproximate(u.Doubt)
	switch {
	case !u.Input.Reported:
		f.markApproximate("the response reports no input tokens")
	case !u.Output.Reported:
		f.markApproximate("the response reports no output tokens")
	}
	return f
}

// roundMicros returns dollars from millionths of dollars, without the noise of the last bits.
func roundMicros(sum float64) float64 { return math.Round(sum*1e6) / 1e12 }

// sumMicros returns the cost of tokens at their rates, in millionths of a dollar.
func (f *Figure) sumMicros(u stream.Usage, r Rates) float64 {
	count := func(c stream.Count) float64 { return float64(max(0, c.N)) }
	read, write := count(u.CacheRead), count(u.CacheWrite)
	if u.SeenInput.Reported {
		read, write = 0, 0 // they count processed tokens, not billed ones
	}
	hour := min(count(u.CacheWriteHour), write)
	plain := count(u.Input) - read - write
	if plain < 0 {
		f.markApproximate(fmt.Sprintf("%.0f tokens read from and written to the cache, but only %.0f input tokens", read+write, count(u.Input)))
		plain = 0
	}
	return plain*r.Input.USD +
		read*f.firstRate(read, "reading the cache", r.CacheRead, r.Input) +
		(write-hour)*f.firstRate(write-hour, "writing the cache", r.CacheWrite, r.Input) +
		hour*f.firstRate(hour, "writing the cache for an hour", r.CacheWriteHour, r.CacheWrite, r.Input) +
		count(u.Output)*r.Output.USD
}

// firstRate returns the first known rate. If it is not the first in the list, the figure is approximate,
// unless there are no tokens.
func (f *Figure) firstRate(tokens float64, what string, rates ...Rate) float64 {
	for i, r := range rates {
		if !r.Known {
			continue
		}
		if i > 0 && tokens > 0 {
			f.markApproximate("the price of " + what + " is unknown: another rate is used")
		}
		return r.USD
	}
	return 0
}

// markApproximate makes the figure approximate, unless why is "".
func (f *Figure) markApproximate(why string) {
	if why == "" {
		return
	}
	f.Approximate = true
	if f.Why != "" {
		why = f.Why + "; " + why
	}
	f.Why = why
}

package stream

import (
	"fmt"
	"strconv"
	"strings"
)

// Count is a number of tokens that the wire may not report.
type Count struct {
	N        int64
	Reported bool
}

// Tokens returns a reported count.
func Tokens(n int64) Count { return Count{n, true} }

// Usage is the token counts of a turn, in one form for all protocols. Input is every input token billed,
// including cached ones. Output is every output token billed, including reasoning. The other counts are
// parts of those, except SeenInput and SeenOutput.
type Usage struct {
	Input, CacheRead, CacheWrite Count
	CacheWriteHour               Count // the part of CacheWrite that is kept for an hour, at another price
	Output, Reasoning            Count
	SeenInput, SeenOutput        Count   // tokens processed, if the provider bills a different number (Cohere)
	Tier                         string  // the service tier that answered: flex, priority, batch, fast …
	CostUSD                      float64 // the provider's own figure, if CostReported
	CostReported                 bool
	Doubt                        string // why a price of these counts is only approximate; "" if it is not
}

// String formats what the wire reported, for tests and dumps.
func (u Usage) String() string {
	var parts []string
	for _, c := range [...]struct {
		name  string
		count Count
	}{
		{"input", u.Input}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}, {"cache_write_hour", u.CacheWriteHour},
		{"output", u.Output}, {"reasoning", u.Reasoning}, {"seen_input", u.SeenInput}, {"seen_output", u.SeenOutput},
	} {
		if c.count.Reported {
			parts = append(parts, fmt.Sprintf("%s=%d", c.name, c.count.N))
		}
	}
	if u.Tier != "" {
		quoted := strconv.Quote(u.Tier) // the wire's own word
		parts = append(parts, "tier="+quoted[1:len(quoted)-1])
	}
	if u.CostReported {
		parts = append(parts, fmt.Sprintf("cost=%g", u.CostUSD))
	}
	if u.Doubt != "" {
		parts = append(parts, fmt.Sprintf("doubt=%q", u.Doubt))
	}
	return strings.Join(parts, " ")
}

// Merge returns u with everything that later reports: the last value wins, nothing is summed. Doubt is
// always later's, even if empty: later counts may have resolved it.
func (u Usage) Merge(later Usage) Usage {
	for _, f := range [...]struct{ to, from *Count }{
		{&u.Input, &later.Input}, {&u.CacheRead, &later.CacheRead}, {&u.CacheWrite, &later.CacheWrite},
		{&u.CacheWriteHour, &later.CacheWriteHour},
		{&u.Output, &later.Output}, {&u.Reasoning, &later.Reasoning},
		{&u.SeenInput, &later.SeenInput}, {&u.SeenOutput, &later.SeenOutput},
	} {
		if f.from.Reported {
			*f.to = *f.from
		}
	}
	if later.Tier != "" {
		u.Tier = later.Tier
	}
	if later.CostReported {
		u.CostUSD, u.CostReported = later.CostUSD, true
	}
	u.Doubt = later.Doubt
	return u
}

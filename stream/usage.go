package stream

// Count is a number of tokens that the wire may not have told.
type Count struct {
	N    int64
	Told bool
}

// Tokens is a told count.
func Tokens(n int64) Count { return Count{n, true} }

// Usage is what a turn cost, in the one form all dialects are brought to:
// Input is every input token billed, cached ones included, and Output every
// output token billed, reasoning included; the other counts are parts of those.
type Usage struct {
	Input, CacheRead, CacheWrite Count
	Output, Reasoning            Count
	CostUSD                      float64 // the provider's own figure, when CostTold
	CostTold                     bool
}

// Merge returns u with everything later tells: the last value wins, nothing is summed.
func (u Usage) Merge(later Usage) Usage {
	for _, f := range [...]struct{ to, from *Count }{
		{&u.Input, &later.Input}, {&u.CacheRead, &later.CacheRead}, {&u.CacheWrite, &later.CacheWrite},
		{&u.Output, &later.Output}, {&u.Reasoning, &later.Reasoning},
	} {
		if f.from.Told {
			*f.to = *f.from
		}
	}
	if later.CostTold {
		u.CostUSD, u.CostTold = later.CostUSD, true
	}
	return u
}

package jq

import (
	"context"
	"testing"
	"time"
)

// TestMemory: an endless expression ends by its memory, and a long one that only makes garbage does not.
func TestMemory(t *testing.T) {
	for expr, want := range map[string]error{
		"[repeat(1)]":          ErrMemory,
		"def f: [., .] | f; f": ErrMemory,
		"last(range(100000) | [range(10)] | length)":    nil,
		"reduce range(40) as $i ([1]; [., .]) | length": nil,
		"reduce range(40) as $i ([1]; [., .])":          ErrMemory, // 2^40 ones, of 40 arrays
		`"x" * 10000000`:                                ErrMemory,
		`"x" * 1000000 | length`:                        nil,
		`[range(100000)] | length`:                      nil,
	} {
		e, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		e.maxMemory = 8 << 20
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // nothing takes so long
		var got error
		for _, err := range e.Run(ctx, []byte("null")) {
			got = err
		}
		if cancel(); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

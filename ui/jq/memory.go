package jq

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"time"
)

// maxMemory is by how much a run may make the program's memory grow, and the maximum length of a result.
const maxMemory = 256 << 20

// ErrMemory says that a run exceeded maxMemory.
var ErrMemory = errors.New("it needed more than " + fmt.Sprint(maxMemory>>20) + " MiB of memory")

// memoryCheckTime is the time between two checks of the memory. Most runs end before the first check.
const memoryCheckTime = 10 * time.Millisecond

// limitMemory returns a context that ends with ErrMemory when the program's memory has grown by limit.
// The caller must call stop.
//
// gojq doesn't count its memory, so the heap is watched. Garbage doesn't count as growth: the size of the
// heap at the first check, with its garbage, is compared with the live heap after later collections.
func limitMemory(ctx context.Context, limit uint64) (limited context.Context, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		clock := time.NewTicker(memoryCheckTime)
		defer clock.Stop()
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
		for first := uint64(0); ; {
			select {
			case <-clock.C:
			case <-limited.Done():
				return
			}
			metrics.Read(heap)
			if first == 0 {
				first = heap[0].Value.Uint64()
			}
			if heap[1].Value.Uint64() > first+limit {
				cancel(ErrMemory)
			}
		}
	}()
	return limited, func() { cancel(nil) }
}

// valueBytes is the size of a value in an array, without what it refers to.
const valueBytes = 16

// isSmallerThan reports whether a value, written out, is smaller than a limit, and subtracts its size
// from the limit. A value can be very large when it is written out, and still take little memory, if it
// contains the same part often.
func isSmallerThan(v any, limit *int) bool {
	switch v := v.(type) {
	case string:
		*limit -= len(v)
	case []any:
		for _, element := range v {
			if !isSmallerThan(element, limit) {
				return false
			}
		}
	case map[string]any:
		for name, value := range v {
			if *limit -= len(name) + len(`"":`); !isSmallerThan(value, limit) {
				return false
			}
		}
	}
	*limit -= valueBytes
	return *limit > 0
}

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Between two collections the heap grows by half, but by no less than leastSlack and no more than
// heapSlack: most of what is kept are bytes and numbers, which cost the collector little, and of a
// heap that is small there is little to collect. A heap that is big all the same, with very many
// turns, grows by a part of it: else the collector would do more than all others.
const (
	leastSlack  = 16 << 20
	heapSlack   = 24 << 20
	liveMetric  = "/gc/heap/live:bytes"
	gcOwnChoice = "GOGC"
	ofBigHeap   = 6
)

// SteadyMemory keeps the heap from growing to twice what is kept, unless the environment says how
// often to collect.
func SteadyMemory() {
	if os.Getenv(gcOwnChoice) != "" {
		return
	}
	debug.SetGCPercent(percentFor(0))
	afterEachGC(func() {
		live := []metrics.Sample{{Name: liveMetric}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
		}
	})
}

// percentFor is by how many percent a heap of that many bytes may grow.
func percentFor(live uint64) int {
	slack := max(min(max(live/2, leastSlack), heapSlack), live/ofBigHeap)
	return int(slack * 100 / max(live, 4<<20))
}

// afterEachGC calls f after each collection, which is when an object that nobody holds goes.
func afterEachGC(f func()) {
	type witness struct{ _ [16]byte }
	runtime.SetFinalizer(new(witness), func(*witness) {
		f()
		afterEachGC(f)
	})
}

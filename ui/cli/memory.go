package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Between two collections the heap grows by minSlack: most of its content is bytes and numbers, which cost
// the collector little. A large heap, with very many turns, grows by a fraction of its size, or the collector
// would do most of the work. The fraction is a half above bigHeap: a heap of this size comes from fast input,
// and it is pruned whenever it has grown.
const (
	minSlack    = 16 << 20
	liveMetric  = "/gc/heap/live:bytes"
	gcOwnChoice = "GOGC"
	ofHeap      = 8
	bigHeap     = 128 << 20
)

// SteadyMemory keeps the heap from growing to twice the live memory, unless GOGC is set.
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

// percentFor returns by how many percent a heap with live bytes may grow.
func percentFor(live uint64) int {
	slack := max(minSlack, live/ofHeap)
	if live > bigHeap {
		slack = max(slack, (live-bigHeap)/2)
	}
	return int(slack * 100 / max(live, 4<<20))
}

// afterEachGC calls f after each collection, when an unreachable object is finalised.
func afterEachGC(f func()) {
	type witness struct{ _ [16]byte }
	runtime.SetFinalizer(new(witness), func(*witness) {
		f()
		afterEachGC(f)
	})
}

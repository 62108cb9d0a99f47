package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Between two collections the heap grows by leastSlack: most of what is kept are bytes and numbers,
// which cost the collector little. A heap that is big all the same, with very many turns, grows by a
// part of it: else the collector would do more than all others. Beyond bigHeap that part is a half: so
// much is kept only of what comes fast, and is looked through whenever the heap has grown.
const (
	minSlack    = 16 << 20
	liveMetric  = "/gc/heap/live:bytes"
	gcOwnChoice = "GOGC"
	ofHeap      = 8
	bigHeap     = 128 << 20
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
	slack := max(minSlack, live/ofHeap)
	if live > bigHeap {
		slack = max(slack, (live-bigHeap)/2)
	}
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

package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// factOf returns the packed event whose fields are the bytes of p.
func factOf(p []byte) packedEvent {
	n := binary.LittleEndian
	return packedEvent{
		turn: int32(n.Uint32(p)), frame: int32(n.Uint32(p[4:])), at: n.Uint32(p[8:]), call: n.Uint16(p[12:]),
		kind: EventKind(p[14]), code: Code(p[15]),
	}
}

func checkFacts(t *testing.T, all []packedEvent) {
	t.Helper()
	var l packedEvents
	for _, f := range all {
		l.add(f)
	}
	for range 2 {
		for i, want := range all {
			if got := l.at(i); got != want || l.turnAt(i) != want.turn {
				t.Fatalf("fact %d of %d (packed: %t) is %+v, want %+v", i, len(all), l.packed != nil, got, want)
			}
			if kind, at := l.kindAndTimeAt(i); kind != want.kind || at != want.at {
				t.Fatalf("fact %d of %d (packed: %t) has kind %d and time %d, want %+v", i, len(all), l.packed != nil, kind, at, want)
			}
		}
		if l.packed == nil {
			l.packOpen()
		}
	}
}

// FuzzFacts checks that packing doesn't change events, whatever their values.
func FuzzFacts(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, wide := range []int{0, 1, 3, 8} {
		p := make([]byte, 16*100)
		for i := range p {
			p[i] = byte(rng.IntN(1 << wide))
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var all []packedEvent
		for ; len(p) >= 16 && len(all) < blockEvents; p = p[16:] {
			all = append(all, factOf(p))
		}
		if len(all) > 0 {
			checkFacts(t, all)
		}
	})
}

// TestFactsTakeLittle checks that events of 200 calls that alternate take at most eight bytes each when they are
// packed.
func TestFactsTakeLittle(t *testing.T) {
	tl := manyTurns(50_000, 4<<10, 200)
	size, n := 0, 0
	for _, b := range tl.blocks[:len(tl.blocks)-1] {
		size, n = size+8*cap(b.events.packed), n+b.events.n
	}
	if each := float64(size) / float64(n); each > 8 || n < 40_000 {
		t.Errorf("%.1f bytes each of %d facts", each, n)
	}
	checkFacts(t, []packedEvent{{turn: NoTurn, frame: -1}, {turn: 1<<31 - 1, frame: 1<<31 - 1, at: 1<<32 - 1, call: 1<<16 - 1, kind: 1<<8 - 1, code: 1<<8 - 1}})
}

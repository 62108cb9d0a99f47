package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// roomy is a limit that always leaves a reserve in which exchanges can begin.
const roomy = 4 * 100 * endRoom

// TestGap checks that bytes that don't fit are left out and reported at their place in the stream, in one gap for
// each stream. Other streams are not affected.
func TestGap(t *testing.T) {
	b := NewQueue(gaps(roomy))
	one, two := QueueStream{Exchange: 1}, QueueStream{Exchange: 2}
	asked := QueueStream{Exchange: 2, Request: true}
	b.Put(letter{stream: one, head: true, data: "abc"})
	b.Put(data(3, roomy-200))
	b.Put(letter{stream: asked, head: true, data: strings.Repeat("x", 300)}) // the gap is after its head
	b.Put(data(1, 400))
	b.Put(data(2, 500))
	b.Put(letter{stream: asked, data: "de"}) // there would be room, but the queue counts as full until a quarter is free
	b.Put(data(1, 600))
	b.Put(letter{stream: one, end: true})
	b.Put(letter{stream: two, head: true})                                // completes the gap before it
	b.Put(letter{stream: two, data: strings.Repeat("x", 700), end: true}) // this is a gap of its own
	if s := b.State(); s.Lost != 300+400+500+2+600+700 || s.Gaps != 4 || s.Dropped != 0 {
		t.Errorf("%+v", s)
	}
	expectQueued(t, all(b), fmt.Sprintf(`1 head abc
3 +%d
2< head -302
1 -1000
2 -500
1 end
2 head
2 -700 end`, roomy-200))
	b.Put(data(3, 4))
	expectQueued(t, all(b), "3 +4")
}

// TestGapGrows checks that a waiting gap grows with the losses of its stream. A later loss is another gap.
func TestGapGrows(t *testing.T) {
	b := NewQueue(gaps(roomy))
	b.Put(data(1, roomy-100))
	b.Put(data(2, 100))
	b.Put(data(2, 100))
	batch, _ := b.Take(1)
	expectQueued(t, batch, fmt.Sprintf("1 +%d", roomy-100))
	b.Put(data(2, roomy)) // too large for an empty queue
	expectQueued(t, all(b), fmt.Sprintf("2 -%d", roomy+200))
	b.Put(data(2, roomy))
	b.Put(data(2, 1))
	expectQueued(t, all(b), fmt.Sprintf("2 -%d\n2 x", roomy))
}

// TestGapAfterGap checks that a gap that was taken doesn't grow, and that a gap that waits does.
func TestGapAfterGap(t *testing.T) {
	b := NewQueue(gaps(roomy))
	one := QueueStream{Exchange: 1}
	b.Put(data(2, roomy-100))
	b.Put(data(1, 200))
	b.Put(letter{stream: one, head: true})
	b.Put(data(1, 300))
	b.Take(1)
	batch, _ := b.Take(1)
	expectQueued(t, batch, "1 -200")
	b.Put(data(1, roomy))
	expectQueued(t, all(b), fmt.Sprintf("1 head\n1 -%d", 300+roomy))
	if s := b.State(); s.Gaps != 2 {
		t.Errorf("%+v", s)
	}
}

// TestRoomAgain checks that a full queue has room for bytes again when a quarter of it is free, and not
// before. Items in the reserve don't make it full.
func TestRoomAgain(t *testing.T) {
	const unit = roomy / 8
	b := NewQueue(gaps(roomy))
	for range 7 {
		b.Put(data(1, unit-letterCost))
	}
	b.Put(letter{stream: QueueStream{Exchange: 1}, head: true})
	for range unit / letterCost {
		b.Put(letter{stream: QueueStream{Exchange: 2}, head: true})
	}
	b.Take(1)
	b.Put(data(3, unit-2*letterCost))
	if s := b.State(); s.Lost > 0 || s.Full {
		t.Errorf("%+v", s)
	}
	b.Put(data(3, unit))
	b.Take(1)
	b.Put(data(3, 1))
	if s := b.State(); s.Lost != unit+1 || !s.Full {
		t.Errorf("%+v", s)
	}
	b.Take(1)
	if s := b.State(); !s.Full || s.Cost != 6*unit+letterCost {
		t.Errorf("%+v", s)
	}
	b.Take(1)
	if s := b.State(); s.Full {
		t.Errorf("%+v", s)
	}
	b.Put(data(3, 2))
	if s := b.State(); s.Lost != unit+1 || s.Full {
		t.Errorf("%+v", s)
	}
}

// TestBeginsWithTooMuch checks that an exchange is admitted when there is room for its head, however many
// bytes its first item has.
func TestBeginsWithTooMuch(t *testing.T) {
	b := NewQueue(gaps(roomy))
	b.Put(letter{stream: QueueStream{1, true}, head: true, data: strings.Repeat("x", 2*roomy)})
	expectQueued(t, all(b), fmt.Sprintf("1< head -%d", 2*roomy))
}

// TestReserveUsedUp checks that nothing of an exchange is kept if the exchange begins when the reserve is used up. An
// exchange that was admitted earlier is kept until its end.
func TestReserveUsedUp(t *testing.T) {
	b := NewQueue(gaps(4 * 2 * endRoom)) // with a reserve for two exchanges
	for x := range 3 {
		b.Put(letter{stream: QueueStream{x, true}, head: true})
	}
	b.Put(data(2, 5))
	for x := range 3 {
		b.Put(letter{stream: QueueStream{x, false}, end: true})
	}
	if s := b.State(); s.Lost != 5 || s.Dropped != 3 || s.Gaps != 0 || len(b.begun) != 0 || b.reserved != 0 {
		t.Errorf("%+v, %d begun", s, len(b.begun))
	}
	expectQueued(t, all(b), "0< head\n1< head\n0 end\n1 end")
	b.Put(letter{stream: QueueStream{3, true}, head: true})
	expectQueued(t, all(b), "3< head")
}

// TestReserve checks that heads and ends may exceed the limit by a quarter. Beyond that, heads are dropped
// and counted, but ends are still kept.
func TestReserve(t *testing.T) {
	const limit = 4 * 10 * endRoom
	b := NewQueue(gaps(limit))
	one := QueueStream{Exchange: 1}
	b.Put(letter{stream: QueueStream{Exchange: 3}, head: true})
	for range 2*limit/letterCost - 1 {
		b.Put(letter{stream: one, head: true})
	}
	b.Put(letter{stream: QueueStream{Exchange: 3}, end: true})
	b.Put(data(1, 7))
	b.Put(letter{stream: one, head: true, data: "1234567"})
	b.Put(letter{stream: one, data: "abc", end: true})
	b.Put(letter{stream: QueueStream{Exchange: 2}, head: true}) // begins too late
	b.Put(letter{stream: QueueStream{Exchange: 2}, end: true})
	heads := limit * 5 / 4 / letterCost
	s := b.State()
	if s.Cost != limit*5/4+3*letterCost || s.Dropped != int64(2*limit/letterCost-heads+3) || s.Lost != 17 || s.Gaps != 1 {
		t.Errorf("%+v", s)
	}
	expectQueued(t, all(b)[heads:], "3 end\n1 -17\n1 end")
}

// FuzzGaps checks that, whatever is put and however it is taken, admitted exchanges are complete except for
// their gaps. The gaps are in the right places and have the right sizes. The exchanges end, and the queue
// holds at most one and a half times its limit.
func FuzzGaps(f *testing.F) {
	f.Add([]byte("\x00\x10\x20\x30\x41\x52\x63\x74\x85\x96\xa7\xb8\xc9\xda\xeb\xfc"))
	f.Add(bytes.Repeat([]byte{1, 0x31, 0x21, 0x11, 2, 0x32, 0x22, 0x12, 0xff}, 20))
	f.Add(bytes.Repeat([]byte{0x3f, 0x2f, 0x1f, 0x37, 0x27, 0x17, 0xf0, 0x30}, 200))
	f.Fuzz(func(t *testing.T, script []byte) {
		const limit = 4 * 3 * endRoom
		const letters = "abcdefghijklmnopqrstuvwxyz"
		text := strings.Repeat(letters, limit/len(letters)+2)
		b := NewQueue(gaps(limit))
		sent := map[QueueStream]int64{}
		over := map[int]bool{}
		var taken []letter
		lost, exchange := int64(0), [4]int{0, 1, 2, 3}
		for i, op := range script {
			if op >= 0xe0 {
				batch, _ := b.Take(int(op&0x1f) << 8)
				taken = append(taken, batch...)
				continue
			}
			slot := int(op & 3)
			l := letter{stream: QueueStream{exchange[slot], op&4 != 0}, head: op&8 != 0}
			size := []int{0, 1, 500, 3000, limit - 100, limit, 7}[op>>5]
			at := int(sent[l.stream] % int64(len(letters)))
			l.data = text[at : at+size]
			if l.end = op&16 != 0 && !l.stream.Request; l.end {
				over[l.stream.Exchange] = true
				exchange[slot] = 4 + i
			}
			sent[l.stream] += int64(size)
			b.Put(l)
			if s := b.State(); s.Cost > limit+limit/2 {
				t.Fatalf("%+v", s)
			}
		}
		taken = append(taken, all(b)...)
		came, ended, seen := map[QueueStream]int64{}, map[int]bool{}, map[int]bool{}
		for _, l := range taken {
			came[l.stream] += l.lost
			lost += l.lost
			at := int(came[l.stream] % int64(len(letters)))
			if want := text[at : at+len(l.data)]; l.data != want {
				t.Fatalf("%v: from byte %d on it is %q, not %q", l.stream, came[l.stream], l.data, want)
			}
			came[l.stream] += int64(len(l.data))
			x := l.stream.Exchange
			if seen[x] = true; ended[x] {
				t.Fatalf("%v comes after its end", l)
			}
			ended[x] = l.end
		}
		for s, n := range sent {
			switch {
			case !seen[s.Exchange]:
				lost += n
			case came[s] != n || ended[s.Exchange] != over[s.Exchange]:
				t.Errorf("%v: %d bytes of %d, ended: %t", s, came[s], n, ended[s.Exchange])
			}
		}
		if s := b.State(); s.Lost != lost || s.Waiting != 0 || s.Cost != 0 {
			t.Errorf("%d are missing: %+v", lost, s)
		}
		if open := slices.Collect(func(yield func(int) bool) {
			for x := range b.begun {
				if over[x] && !yield(x) {
					return
				}
			}
		}); len(open) > 0 {
			t.Errorf("%v are remembered", open)
		}
	})
}

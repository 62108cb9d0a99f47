package capture

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// letter is an item that the tests put into queues.
type letter struct {
	stream QueueStream
	head   bool
	data   string
	end    bool
	lost   int64
}

func (l letter) String() string {
	text := fmt.Sprint(l.stream.Exchange)
	if l.stream.Request {
		text += "<"
	}
	if l.head {
		text += " head"
	}
	if l.lost > 0 {
		text += fmt.Sprintf(" -%d", l.lost)
	}
	if len(l.data) > 3 {
		text += fmt.Sprintf(" +%d", len(l.data))
	} else if l.data != "" {
		text += " " + l.data
	}
	if l.end {
		text += " end"
	}
	return text
}

const letterCost = 10

// waits returns the rules of a queue in which Put waits; gaps returns the rules of a queue with gaps.
func waits(limit int) QueueRules[letter] {
	return QueueRules[letter]{Limit: limit, Cost: func(l letter) int { return letterCost + len(l.data) }}
}

func gaps(limit int) QueueRules[letter] {
	r := waits(limit)
	r.PartOf = func(l letter) QueuePart { return QueuePart{l.stream, int64(len(l.data)) + l.lost, l.end} }
	r.WithoutBytes = func(l letter) (letter, bool) {
		l.data, l.lost = "", 0
		return l, l.head || l.end
	}
	r.Gap = func(lost int64, near letter) letter {
		near.lost = lost
		return near
	}
	return r
}

func data(exchange, n int) letter {
	return letter{stream: QueueStream{Exchange: exchange}, data: strings.Repeat("x", n)}
}

// all takes all items from a queue that is not closed.
func all[T any](b *Queue[T]) (taken []T) {
	for {
		batch, more := b.Take(1)
		if taken = append(taken, batch...); !more {
			return taken
		}
	}
}

func expectQueued(t *testing.T, got []letter, want string) {
	t.Helper()
	var lines []string
	for _, l := range got {
		lines = append(lines, l.String())
	}
	if text := strings.Join(lines, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestPutWaits checks that a queue without gaps loses nothing, and that Put waits only as long as necessary.
func TestPutWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewQueue(waits(100))
		put := 0
		go func() {
			for n := range 10 {
				b.Put(data(n, 30))
				put++
			}
			b.Close(nil)
		}()
		synctest.Wait()
		if s := b.State(); put != 2 || s.Waiting != 2 || s.Cost != 80 {
			t.Errorf("%d were put of 40 into 100: %+v", put, s)
		}
		var taken []letter
		for l := range b.All {
			taken = append(taken, l)
			synctest.Wait()
		}
		for n, l := range taken {
			if l.stream.Exchange != n {
				t.Fatalf("not in order: %v", taken)
			}
		}
		if len(taken) != 10 || b.State() != (QueueState{}) {
			t.Errorf("%d were taken, and left is %+v", len(taken), b.State())
		}
	})
}

// TestTooBig checks that an item that is larger than the limit finds room when nothing else waits.
func TestTooBig(t *testing.T) {
	b := NewQueue(waits(100))
	if !b.Put(data(1, 1000)) {
		t.Error("not put")
	}
	expectQueued(t, all(b), "1 +1000")
}

// TestClose checks that Close ends the wait of Put. The waiting items can still be taken; then the queue has
// ended.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewQueue(waits(20))
		b.Put(data(1, 9))
		refused := false
		go func() { refused = !b.Put(data(2, 9)) }()
		synctest.Wait()
		if ended, _ := b.Done(); ended || refused {
			t.Error("it ended early")
		}
		why := errors.New("why")
		b.Close(why)
		b.Close(nil)
		synctest.Wait()
		if ended, _ := b.Done(); ended || !refused || b.Put(data(3, 1)) {
			t.Error("closed, with one that waits:", ended, refused)
		}
		expectQueued(t, all(b), "1 +9")
		if ended, err := b.Done(); !ended || err != why {
			t.Error(ended, err)
		}
	})
}

// TestBell checks that the channel of Wakeups receives once for any number of items, for the end, and when Wake is
// called.
func TestBell(t *testing.T) {
	b := NewQueue(gaps(1 << 20))
	rang := func() bool {
		select {
		case <-b.Wakeups():
			return true
		default:
			return false
		}
	}
	for n := range 3 {
		b.Put(data(n, 1))
	}
	if !rang() || rang() {
		t.Error("it rings once for what was put")
	}
	if all(b); rang() {
		t.Error("it rings for what was taken")
	}
	if b.Wake(); !rang() {
		t.Error("it does not ring")
	}
	if b.Close(nil); !rang() {
		t.Error("it does not ring at the end")
	}
}

// TestTake checks that Take takes items up to the wanted cost, and at least one.
func TestTake(t *testing.T) {
	for most, want := range map[int]string{0: "[1 1 1 1 1]", 20: "[1 1 1 1 1]", 21: "[2 2 1]", 1000: "[5]"} {
		b := NewQueue(waits(1 << 20))
		for n := range 5 {
			b.Put(data(n, 10))
		}
		var sizes []int
		for more := true; more; {
			var batch []letter
			batch, more = b.Take(most)
			sizes = append(sizes, len(batch))
		}
		if fmt.Sprint(sizes) != want {
			t.Errorf("%d: %v", most, sizes)
		}
		if batch, more := b.Take(100); len(batch) > 0 || more {
			t.Error(batch, more)
		}
	}
}

// TestForgets checks that items that were taken are not held any longer, and that the memory of a flood is
// freed.
func TestForgets(t *testing.T) {
	b := NewQueue(waits(1 << 20))
	for n := range 7 {
		b.Put(data(n, 10))
	}
	for left := 6; left >= 0; left-- {
		b.Take(1)
		held := 0
		for _, l := range b.queue[:cap(b.queue)] {
			if l.data != "" {
				held++
			}
		}
		if held != left {
			t.Errorf("%d are held of %d that wait", held, left)
		}
	}
	b.Take(1)
	for _, l := range b.batch[:cap(b.batch)] {
		if l.data != "" {
			t.Error("the latest batch is held")
		}
	}
	for n := range 10_000 {
		b.Put(data(n, 10))
	}
	for range 30 { // a few items after the flood
		b.Take(1 << 20)
		b.Put(data(1, 10))
	}
	if cap(b.queue) > idleSlots || cap(b.batch) > idleSlots {
		t.Errorf("room for %d and %d", cap(b.queue), cap(b.batch))
	}
	for n := range 40_000 {
		b.Put(data(n, 10))
	}
	if b.Take(1 << 30); cap(b.queue) > floodSlots {
		t.Errorf("room for %d right after a flood", cap(b.queue))
	}
}

// TestAllocations checks that an item that passes through allocates no memory.
func TestAllocations(t *testing.T) {
	for name, rules := range map[string]QueueRules[letter]{"waits": waits(1 << 20), "gaps": gaps(1 << 20)} {
		b := NewQueue(rules)
		l := data(1, 100)
		if n := testing.AllocsPerRun(1000, func() {
			for range 7 {
				b.Put(l)
			}
			b.Take(300)
			b.Take(1 << 20)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		flood := func() {
			for range 3 * idleSlots {
				b.Put(letter{})
			}
			b.Take(1 << 20)
		}
		flood()
		if n := testing.AllocsPerRun(100, flood); n != 0 {
			t.Errorf("%s: %v allocations in a flood", name, n)
		}
	}
}

// TestManyPut checks that no item is lost or repeated when several goroutines put at once.
func TestManyPut(t *testing.T) {
	b := NewQueue(waits(500))
	var putting sync.WaitGroup
	for x := range 8 {
		putting.Go(func() {
			for n := range 200 {
				b.Put(letter{stream: QueueStream{Exchange: x}, data: fmt.Sprint(n, " ")})
			}
		})
	}
	go func() {
		putting.Wait()
		b.Close(nil)
	}()
	var got [8]bytes.Buffer
	for l := range b.All {
		got[l.stream.Exchange].WriteString(l.data)
	}
	want := ""
	for n := range 200 {
		want += fmt.Sprint(n, " ")
	}
	for x := range got {
		if got[x].String() != want {
			t.Errorf("%d: %s", x, got[x].String())
		}
	}
}

// BenchmarkBox measures the cost of passing one item through a queue, alone and in batches.
func BenchmarkBox(b *testing.B) {
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			box, l := NewQueue(gaps(1<<20)), data(1, 100)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				box.Put(l)
				if n%batch == 0 {
					box.Take(1 << 20)
				}
			}
		})
	}
}

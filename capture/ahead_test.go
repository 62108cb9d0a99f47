package capture

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// numbered returns a source of n records, followed by the error in the parameter end, if that isn't nil. It counts
// the records that were requested from it.
func numbered(n int, end error, asked *atomic.Int64) Source {
	return func(yield func(Record, error) bool) {
		for i := range n {
			asked.Store(int64(i + 1))
			if !yield(Record{Exchange: i + 1, Data: make([]byte, 1000)}, nil) {
				return
			}
		}
		if end != nil {
			yield(Record{}, end)
		}
	}
}

// TestAhead checks that reading ahead returns the same records as the source, in the same order, and ends in the same
// way.
func TestAhead(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5000} {
		for _, end := range []error{nil, errors.New("it ends")} {
			got := 0
			var asked atomic.Int64
			var failed error
			for r, err := range ReadAhead(numbered(n, end, &asked)) {
				if failed = err; err == nil {
					if got++; r.Exchange != got {
						t.Fatalf("record %d came as number %d", r.Exchange, got)
					}
				}
			}
			if got != n || failed != end {
				t.Errorf("%d records of %d, then %v", got, n, failed)
			}
		}
	}
}

// TestAheadStops checks that a consumer that stops leaves no goroutine running, and that the source was read
// only up to a limit.
func TestAheadStops(t *testing.T) {
	before := runtime.NumGoroutine()
	var asked atomic.Int64
	for r := range ReadAhead(numbered(1<<20, nil, &asked)) {
		if r.Exchange == 3 {
			break
		}
	}
	for n := 0; runtime.NumGoroutine() > before; n++ {
		if n == 1000 {
			t.Fatal("a goroutine is left")
		}
		time.Sleep(time.Millisecond)
	}
	if most := 3 * aheadBytes / 1000; int(asked.Load()) > most {
		t.Errorf("%d records were read for three", asked.Load())
	}
}

// TestAheadPanics checks that a panic in the source is raised in the consumer.
func TestAheadPanics(t *testing.T) {
	defer func() {
		if p := recover(); !strings.Contains(fmt.Sprint(p), "a bug") {
			t.Errorf("recovered %v", p)
		}
	}()
	n := 0
	for range ReadAhead(func(yield func(Record, error) bool) {
		yield(Record{}, nil)
		panic("a bug")
	}) {
		n++
	}
	t.Errorf("%d records, and no panic", n)
}

// TestAheadLive checks that a record arrives at once if the consumer is waiting for it.
func TestAheadLive(t *testing.T) {
	seen := make(chan int)
	src := ReadAhead(func(yield func(Record, error) bool) {
		for i := range 100 {
			if !yield(Record{Exchange: i + 1}, nil) || <-seen != i+1 {
				return
			}
		}
	})
	n := 0
	for r := range src {
		n++
		seen <- r.Exchange
	}
	if n != 100 {
		t.Errorf("%d records came", n)
	}
}

// TestAheadBusy checks that a record that arrives while the consumer is busy is not delayed until the next record
// arrives.
func TestAheadBusy(t *testing.T) {
	came, seen := make(chan struct{}), make(chan struct{})
	n := 0
	for r := range ReadAhead(func(yield func(Record, error) bool) {
		yield(Record{Exchange: 1}, nil)
		yield(Record{Exchange: 2}, nil)
		close(came)
		<-seen // nothing more arrives until the second record has been received
	}) {
		if n++; r.Exchange == 1 {
			<-came
		} else {
			close(seen)
		}
	}
	if n != 2 {
		t.Errorf("%d records came", n)
	}
}

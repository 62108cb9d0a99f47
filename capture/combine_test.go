package capture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// noGoroutineLeft calls run and waits until the goroutines started by run have ended.
func noGoroutineLeft(t *testing.T, run func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	run()
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("goroutines left:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func text(exchange int, s string) Record { return Record{Exchange: exchange, Data: []byte(s)} }

func TestConcat(t *testing.T) {
	recs := collect(t, Concat(of(text(1, "a"), text(2, "b"), text(1, "A")), of(), of(text(2, "d"), text(1, "c"), text(2, "D"))))
	expect(t, outline(recs), `1 "aA"
2 "b"
4 "dD"
3 "c"`)
}

func TestConcatStops(t *testing.T) {
	broken := func(yield func(Record, error) bool) { yield(Record{}, errors.New("broken")) }
	n := 0
	for _, err := range Concat(of(text(1, "a")), broken, of(text(1, "b"))) {
		if n++; (err != nil) != (n == 2) {
			t.Errorf("element %d: %v", n, err)
		}
	}
	if n != 2 {
		t.Errorf("%d elements, want 2", n)
	}
	for range Concat(of(text(1, "a")), of(text(1, "b"))) {
		break
	}
}

// TestNumbersNeverCollide checks that two exchanges never get the same number, however many inputs claim numbers, and
// in whatever order.
func TestNumbersNeverCollide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var n exchangeNumbers
	var inputs []numberMap
	owner := map[int]string{}
	for range 5000 {
		if len(inputs) == 0 || r.IntN(100) == 0 {
			inputs = append(inputs, n.newMap())
		}
		i, x := r.IntN(len(inputs)), 1+r.IntN(50)
		me, got := fmt.Sprint(i, "/", x), inputs[i].numberOf(x)
		if was, ok := owner[got]; ok && was != me {
			t.Fatalf("%d is %s and %s", got, was, me)
		}
		owner[got] = me
	}
}

func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(every time.Duration, s string) Source {
			return func(yield func(Record, error) bool) {
				for _, c := range s {
					time.Sleep(every)
					if !yield(text(1, string(c)), nil) {
						return
					}
				}
			}
		}
		recs := collect(t, Merge(t.Context(), slow(30*time.Millisecond, "abc"), slow(20*time.Millisecond, "xyz")))
		order := ""
		for _, r := range recs {
			order += string(r.Data)
		}
		if !strings.HasPrefix(order, "xay") || !strings.HasSuffix(order, "c") || len(order) != 6 {
			t.Errorf("order %s", order)
		}
		if got := outline(recs); !strings.Contains(got, `"abc"`) || !strings.Contains(got, `"xyz"`) {
			t.Error(got)
		}
	})
}

// endless yields records as fast as possible and counts them.
func endless(n *atomic.Int32) Source {
	return func(yield func(Record, error) bool) {
		for yield(text(1, "x"), nil) {
			n.Add(1)
		}
	}
}

func TestMergeHoldsBack(t *testing.T) {
	noGoroutineLeft(t, func() {
		var a, b atomic.Int32
		taken := 0
		for range Merge(context.Background(), endless(&a), endless(&b)) {
			if taken++; taken == 10 {
				break
			}
		}
		if n := a.Load() + b.Load(); n > 12 {
			t.Errorf("the sources ran ahead: %d records for %d", n, taken)
		}
	})
}

func TestMergeEndsOnCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := func(yield func(Record, error) bool) { <-ctx.Done() }
		time.AfterFunc(time.Second, cancel)
		if recs := collect(t, Merge(ctx, waiting, waiting)); len(recs) != 0 {
			t.Errorf("%+v", recs)
		}
	})
}

func TestMergeEndsOnError(t *testing.T) {
	broken := func(yield func(Record, error) bool) { yield(Record{}, errors.New("broken")) }
	noGoroutineLeft(t, func() {
		var n atomic.Int32
		var last error
		for _, err := range Merge(context.Background(), endless(&n), broken) {
			last = err
		}
		if last == nil || last.Error() != "broken" {
			t.Errorf("error %v", last)
		}
	})
}

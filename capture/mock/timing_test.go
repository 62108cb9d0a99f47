package mock

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture/fault"
)

// stage is a response writer that records when it was written to.
type stage struct {
	httptest.ResponseRecorder
	began time.Time
	times []int // time of each write in milliseconds
	data  []string
}

func (s *stage) Write(p []byte) (int, error) {
	s.times = append(s.times, int(time.Since(s.began).Milliseconds()))
	s.data = append(s.data, string(p))
	return s.ResponseRecorder.Write(p)
}

// played makes a provider answer once, in simulated time, and reports how long that took and whether the
// connection broke.
func played(o Options, ctx context.Context) (s *stage, took time.Duration, broken bool) {
	s = &stage{ResponseRecorder: *httptest.NewRecorder(), began: time.Now()}
	defer func() {
		took = time.Since(s.began)
		if r := recover(); r != nil && r != http.ErrAbortHandler {
			panic(r)
		} else if r != nil {
			broken = true
		}
	}()
	New(o).ServeHTTP(s, httptest.NewRequestWithContext(ctx, "POST", "/x", nil))
	return s, 0, false
}

// TestTiming checks that the intervals between chunks are divided by the speed, and that a fault's pause is the same
// at any speed.
func TestTiming(t *testing.T) {
	const ms = time.Millisecond
	x := Exchange{HeadAfter: 50 * ms, EndAfter: 500 * ms, Chunks: []Chunk{
		{100 * ms, []byte("data: 1\n\n: c\n\n")}, {100 * ms, []byte("da")}, {300 * ms, []byte("ta: 2\n\n")},
	}}
	for _, c := range []struct {
		speed  float64
		faults []string
		times  []int
		took   time.Duration
	}{
		{1, nil, []int{100, 100, 300}, 500 * ms},
		{0.5, nil, []int{200, 200, 600}, 1000 * ms},
		{10, nil, []int{10, 10, 30}, 50 * ms},
		{0, nil, []int{0, 0, 0}, 0},
		{0, []string{"delay=20ms"}, []int{20, 40, 40}, 40 * ms},
		{1, []string{"delay=20ms"}, []int{120, 140, 340}, 540 * ms},
		{1, []string{"cut@1"}, []int{100}, 100 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			faults, err := fault.ParseFaults(c.faults...)
			if err != nil {
				t.Fatal(err)
			}
			s, took, _ := played(Options{Exchanges: []Exchange{x}, Speed: c.speed, Faults: faults}, t.Context())
			if !slices.Equal(s.times, c.times) || took != c.took {
				t.Errorf("speed %g, %v: %v and the end at %v, want %v and %v", c.speed, c.faults, s.times, took, c.times, c.took)
			}
		})
	}
}

// TestClientGone checks that the provider doesn't wait for a client that is gone.
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		x := Exchange{Chunks: []Chunk{{time.Second, []byte("a")}, {time.Hour, []byte("b")}}, EndAfter: 1 << 62}
		if s, took, _ := played(Options{Exchanges: []Exchange{x}, Speed: 1e-9}, ctx); took != 3*time.Second || s.data != nil {
			t.Error(s.data, took)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if s, took, _ := played(Options{Exchanges: []Exchange{x}, Speed: 1}, ctx); took != 3*time.Second || len(s.data) != 1 {
			t.Error(s.data, took)
		}
	})
}

package capture

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func at(ms ...int) Source {
	var recs []Record
	for _, m := range ms {
		at := NoTime
		if m >= 0 {
			at = time.Duration(m) * time.Millisecond
		}
		recs = append(recs, Record{Exchange: 1, At: at})
	}
	return of(recs...)
}

// played returns the times, in milliseconds, at which the records of the source were passed on while script changed
// the player.
func played(t *testing.T, src Source, speed float64, script func(p *Player)) []int {
	t.Helper()
	var got []int
	synctest.Test(t, func(t *testing.T) {
		p := NewPlayer(speed)
		time.Sleep(time.Minute) // a player that was made long before plays in the same way
		began := time.Now()
		if script != nil {
			go script(p)
		}
		for range Play(t.Context(), src, p) {
			got = append(got, int(time.Since(began).Round(time.Millisecond).Milliseconds()))
		}
	})
	return got
}

func TestPaced(t *testing.T) {
	sleep := func(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }
	tests := []struct {
		name   string
		src    Source
		speed  float64
		script func(p *Player)
		want   []int
	}{
		{"as recorded", at(0, 100, 100, 350), 1, nil, []int{0, 100, 100, 350}},
		{"faster", at(0, 100, 400), 4, nil, []int{0, 25, 100}},
		{"slower", at(100, 200), 0.5, nil, []int{200, 400}},
		{"no times", at(-1, 100, -1, -1), 1, nil, []int{0, 100, 100, 100}},
		{"two captures", Concat(at(0, 100), at(50, 80)), 1, nil, []int{0, 100, 100, 130}},
		{"slightly out of order", at(100, 99, 200, 199, 300), 1, nil, []int{100, 100, 200, 200, 300}},
		{
			"speed changes while waiting", at(0, 1000), 1,
			func(p *Player) { sleep(200); p.SetSpeed(4) }, []int{0, 400},
		},
		{
			"pause while waiting", at(0, 1000), 1,
			func(p *Player) { sleep(300); p.Pause(true); sleep(5000); p.Pause(false) }, []int{0, 6000},
		},
		{
			"speed changes while paused", at(0, 1000), 1,
			func(p *Player) { sleep(500); p.Pause(true); p.SetSpeed(2); sleep(100); p.Pause(false) }, []int{0, 850},
		},
		{
			"paused twice", at(0, 1000), 1,
			func(p *Player) { p.Pause(true); sleep(10); p.Pause(true); sleep(10); p.Pause(false) }, []int{0, 1020},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := played(t, tt.src, tt.speed, tt.script)
			if len(got) != len(tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("got %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestPacedEndsOnCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, paused := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			p := NewPlayer(1)
			p.Pause(paused)
			time.AfterFunc(50*time.Millisecond, cancel)
			began := time.Now()
			if recs := collect(t, Play(ctx, at(math.MaxInt32), p)); len(recs) != 0 {
				t.Errorf("%+v", recs)
			}
			if took := time.Since(began); took != 50*time.Millisecond {
				t.Errorf("took %v", took)
			}
		}
	})
}

func TestPlayerBounds(t *testing.T) {
	p := NewPlayer(0)
	if p.Speed() != MinSpeed || p.Paused() {
		t.Errorf("speed %v, paused %v", p.Speed(), p.Paused())
	}
	for speed, want := range map[float64]float64{1: 1, 3: 3, 100: MaxSpeed, -1: MinSpeed, math.Inf(1): MaxSpeed} {
		if p.SetSpeed(speed); p.Speed() != want {
			t.Errorf("SetSpeed(%v): %v", speed, p.Speed())
		}
	}
	if p.SetSpeed(math.NaN()); p.Speed() != MinSpeed {
		t.Errorf("not a number: %v", p.Speed())
	}
	if p.Pause(true); !p.Paused() {
		t.Error("not paused")
	}
}

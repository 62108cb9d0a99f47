package ui

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// counted is a model whose updates and views are counted.
type counted struct {
	*Model
	updates, views atomic.Int64
}

func (c *counted) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	c.updates.Add(1)
	_, cmd := c.Model.Update(msg)
	return c, cmd
}

func (c *counted) View() string {
	c.views.Add(1)
	return c.Model.View()
}

// terminal counts the bytes that are written to it.
type terminal struct{ bytes atomic.Int64 }

func (t *terminal) Write(p []byte) (int, error) {
	t.bytes.Add(int64(len(p)))
	return len(p), nil
}

// TestIdleScreen checks that the real program handles no message, draws no frame and writes no byte in an hour
// without data. It checks this on an empty screen, after streams have ended, and in modes. While a stream is open,
// the screen updates its idle time each second, with at most 200 bytes. Memory doesn't grow. Without TOOLSCOPE_LONG,
// the stream is open for ten minutes instead of an hour.
func TestIdleScreen(t *testing.T) {
	for _, c := range []struct {
		what string
		feed func(*box)
		keys string
	}{
		{"empty", func(*box) {}, ""},
		{"ended", func(b *box) { put(b, exchangeOf(1)...); b.Close(nil) }, ""},
		{"between streams", func(b *box) { put(b, exchangeOf(1)...) }, ""},
		{"in a stream", func(b *box) { put(b, exchangeOf(1)[:3]...) }, ""},
		{"help", func(b *box) { put(b, exchangeOf(1)...) }, "?"},
		{"replay", func(b *box) { put(b, exchangeOf(1)...) }, "p"},
		{"search", func(b *box) { put(b, exchangeOf(1)...) }, "/"},
		{"paused", func(b *box) { put(b, exchangeOf(1)...) }, " "},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inbox, screen := newBox(), new(terminal)
				m := &counted{Model: New(Options{Inbox: inbox})}
				p := tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(screen), tea.WithAltScreen(), tea.WithoutSignalHandler())
				ended := make(chan error)
				go func() { _, err := p.Run(); ended <- err }()
				c.feed(inbox)
				p.Send(tea.WindowSizeMsg{Width: 120, Height: 40})
				for _, r := range c.keys {
					p.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if u, v, b := m.updates.Load(), m.views.Load(), screen.bytes.Load(); u == 0 || v == 0 || b < 1000 {
					t.Fatalf("%d messages, %d frames, %d bytes before", u, v, b)
				}
				idle := time.Hour
				if thin() > 1 && c.what == "in a stream" {
					idle = 10 * time.Minute
				}
				ticks := int64(0)
				if c.what == "in a stream" {
					ticks = int64(idle / time.Second)
				}
				// The runtime can need more memory once, for example for its pools. A leak grows in each period.
				grown := make([]int64, 0, 3)
				for len(grown) < cap(grown) {
					updates, views, bytes, heap := m.updates.Load(), m.views.Load(), screen.bytes.Load(), held()
					time.Sleep(idle)
					synctest.Wait()
					if u, v, b := m.updates.Load()-updates, m.views.Load()-views, screen.bytes.Load()-bytes; u > ticks || v > ticks || b > 200*ticks || u < ticks-1 {
						t.Errorf("%d messages, %d frames and %d bytes on an idle screen", u, v, b)
					}
					more := held() - heap
					if grown = append(grown, more); more <= 64<<10 {
						break
					}
				}
				if least := slices.Min(grown); least > 64<<10 {
					t.Errorf("after each %v without data, at least %d bytes more are held: %d", idle, least, grown)
				}
				p.Quit()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				inbox.Close(nil)
				time.Sleep(2 * time.Second) // until the last tick has ended
			})
		})
	}
}

// held returns the number of bytes in use on the heap.
func held() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func put(b *box, records ...stream.Record) {
	for _, r := range records {
		b.Put(r)
	}
}

package ui

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// program replaces Bubble Tea. It runs the pending command, passes its message to the model, and counts the batches.
type program struct {
	*Model
	batches int
	at      []time.Duration // the time of each batch
	ended   bool
}

// run runs commands until the source has ended.
func (p *program) run() {
	start := time.Now()
	for cmd := p.Init(); cmd != nil; {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			msg = batch[0]() // the other command in the batch reads the clock
		}
		p.batches++
		p.at = append(p.at, time.Since(start))
		_, cmd = p.Update(msg)
	}
	p.ended = true
}

func newProgram(inbox Inbox) *program { return &program{Model: New(Options{Inbox: inbox})} }

func numbered(n int) stream.Record {
	return stream.Record{Data: fmt.Appendf(nil, "data: {\"n\":%d}\n\n", n)}
}

// TestInboxBatches checks that the first record is read at once, that later records are read once per frame, and that
// all are in order. Writers never wait.
func TestInboxBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox := newBox()
		p := newProgram(inbox)
		go p.run()
		synctest.Wait()
		start := time.Now()
		for n := range 1000 {
			inbox.Put(numbered(n))
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("putting took %v", took)
		}
		inbox.Close(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if p.at[0] != 0 {
			t.Errorf("the first record waited %v", p.at[0])
		}
		for i := 1; i < len(p.at); i++ {
			if gap := p.at[i] - p.at[i-1]; gap < frameTime {
				t.Errorf("batch %d came %v after the one before", i, gap)
			}
		}
		if p.batches < 55 || p.batches > 62 {
			t.Errorf("%d batches in a second", p.batches)
		}
		wire := p.in.Exchange(0).Response
		if wire.Records() != 1000 || !p.ended {
			t.Fatalf("%d records, ended: %t", wire.Records(), p.ended)
		}
		var want []byte
		for n := range 1000 {
			want = append(want, numbered(n).Data...)
		}
		if string(wire.Bytes(0, wire.Size())) != string(want) {
			t.Error("the records are not in order")
		}
	})
}

// TestInboxIdle checks that a single record causes one update, and that an idle screen causes none.
func TestInboxIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox := newBox()
		p := newProgram(inbox)
		go p.run()
		synctest.Wait()
		inbox.Put(numbered(1))
		time.Sleep(time.Minute)
		synctest.Wait()
		if before := p.batches; before != 1 {
			t.Errorf("%d updates for one record", before)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.batches != 1 {
			t.Errorf("%d updates on an idle screen", p.batches-1)
		}
		inbox.Close(nil)
		synctest.Wait()
	})
}

// TestInboxBatchSize checks that a batch has a limit, and that the remaining records follow at once.
func TestInboxBatchSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox := newBox()
		for range 5 {
			inbox.Put(stream.Record{Data: make([]byte, batchBytes/2)})
		}
		inbox.Close(errors.New("cut"))
		p := newProgram(inbox)
		p.run()
		if p.batches != 3 || p.at[2] != 0 || p.Err() == nil {
			t.Errorf("%d batches, the last after %v; %v", p.batches, p.at[2], p.Err())
		}
	})
}

// TestInboxManySources checks that no record is lost or duplicated when many goroutines write at once.
func TestInboxManySources(t *testing.T) {
	inbox := newBox()
	p := newProgram(inbox)
	var all sync.WaitGroup
	for source := range 8 {
		all.Go(func() {
			for n := range 200 {
				r := numbered(n)
				r.Exchange = source
				inbox.Put(r)
			}
		})
	}
	go func() {
		all.Wait()
		inbox.Close(nil)
	}()
	p.run()
	for source := range 8 {
		wire := p.in.Exchange(source).Response
		if wire.Records() != 200 {
			t.Errorf("source %d: %d records", source, wire.Records())
		}
		var want []byte
		for n := range 200 {
			want = append(want, numbered(n).Data...)
		}
		if string(wire.Bytes(0, wire.Size())) != string(want) {
			t.Errorf("source %d: not in order", source)
		}
	}
}

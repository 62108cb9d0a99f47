package fleet

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"toolscope/capture/record"
	"toolscope/stream/count"
)

const (
	maxOrphanTries = 2               // number of failures after which it is the next spool's turn
	orphanPause    = 2 * time.Second // wait before spools that could not be sent are tried again
	maxOrphanPause = time.Minute
)

// orphanSender sends the spools that earlier runs left for a hub, one at a time. A spool that can't be sent doesn't
// block the rest.
type orphanSender struct {
	o       *PublishOptions
	keep    time.Duration        // how long a sent spool is kept
	look    time.Duration        // interval at which sent spools are checked again
	all     []record.OrphanSpool // the oldest first
	renewed chan struct{}        // receives a value at each new connection
	again   bool                 // whether a spool was sent and must be checked again

	mu      sync.Mutex
	now     *sender          // the spool that is being sent
	waits   map[string]int64 // number of bytes that the hub doesn't have, by spool name
	stuck   map[string]error // the reason why a spool could not be sent, by spool name
	counted map[string]bool  // spools that were sent and whose losses were counted, by name
	losses  Losses           // losses in the sent spools
	index   IndexState       // state of the index for the sent spools
}

func findOrphans(o *PublishOptions, began time.Time) *orphanSender {
	l := &orphanSender{o: o, keep: keepSent, look: keepSent + maxOrphanPause, renewed: newBell(), waits: map[string]int64{}, stuck: map[string]error{}, counted: map[string]bool{}}
	l.all = record.OrphanSpools(o.Spool, began, func(name string) bool {
		_, ok := spoolOrigin(name)
		return ok
	})
	for _, one := range l.all {
		l.waits[one.Name] = one.Waits
	}
	return l
}

// retryAll ends the current wait. While sent spools are kept, run then checks them again, because the hub may have
// lost their data.
func (l *orphanSender) retryAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil {
		l.now.retryNow()
	}
	select {
	case l.renewed <- struct{}{}:
	default:
	}
}

// run sends all spools. After a while, it checks them again and sends bytes that the hub has lost. Then it
// deletes the spools.
func (l *orphanSender) run(ctx context.Context, to *link) {
	over := time.After(l.look)
	for next, pause := l.all, orphanPause; ; pause = min(2*pause, maxOrphanPause) {
		var stuck []record.OrphanSpool
		for _, one := range next {
			if ctx.Err() != nil {
				return
			}
			if !l.sendSpool(ctx, to, one) {
				stuck = append(stuck, one)
			}
		}
		if l.again {
			l.again, over = false, time.After(l.look)
		}
		var again <-chan time.Time
		switch next = stuck; {
		case len(stuck) > 0:
			again = time.After(pause)
		case over == nil:
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-over:
			over, next = nil, l.all
		case <-l.renewed:
			if pause = orphanPause; over != nil {
				next = l.all
			}
		}
	}
}

// sendSpool sends one spool, unless another program uses it. If the spool was sent some time ago, it is deleted
// instead. If it must be tried again, the result done is false.
func (l *orphanSender) sendSpool(ctx context.Context, to *link, one record.OrphanSpool) (done bool) {
	spool, ok := record.TakeSpool(l.o.Spool, one.Name, time.Now())
	if !ok {
		l.forgetSpool(one.Name)
		return true
	}
	if sent := spool.Mark().Sent; !sent.IsZero() && time.Since(sent) > l.keep {
		spool.Remove()
		l.forgetSpool(one.Name)
		return true
	}
	of, _ := spoolOrigin(one.Name)
	s := newSender(spool, of, l.o.Linger)
	s.ending, s.tries = true, maxOrphanTries
	if s.began.IsZero() {
		s.began = createdOf(spool)
	}
	l.beginSpool(one.Name, s)
	err := s.run(ctx, to)
	if err == nil {
		// If some of the spool's calls are in the index already, readers of the index drop the duplicates.
		if l.o.Index != nil && s.canReindex(s.had) {
			over := make(chan struct{})
			close(over)
			x := newIndexSender(s, over, l.o.Index)
			s.mu.Lock()
			s.index = x
			s.mu.Unlock()
			x.run(ctx, to)
		}
		if !s.wasSent() { // the run that left the spool could not send this heartbeat
			s.sendOver(to)
		}
	}
	if foreign := (*foreignCaptureError)(nil); errors.As(err, &foreign) {
		err, s.had = nil, foreign.are
		if !l.isCounted(one.Name) {
			l.reportf("%s, left by an earlier run: the hub has %s more than this disk, so nothing is sent", one.Name, count.Of(foreign.has-foreign.are, "byte"))
		}
	}
	l.again = l.again || err == nil && !s.wasSent()
	l.endSpool(one.Name, s, err)
	if unmarked := s.releaseSpool(err == nil, time.Now()); unmarked != nil {
		l.reportf("%s, left by an earlier run, may be sent again: %v", one.Name, plainReason(unmarked))
	}
	return err == nil
}

func (l *orphanSender) reportf(format string, args ...any) {
	if l.o.Report != nil {
		l.o.Report(fmt.Sprintf(format, args...))
	}
}

// isCounted reports whether a spool was sent and its losses were counted.
func (l *orphanSender) isCounted(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counted[name]
}

// forgetSpool drops a spool from the state.
func (l *orphanSender) forgetSpool(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, name)
	delete(l.stuck, name)
}

// beginSpool begins a spool's turn. The trouble from its earlier turn is reported until some of its bytes are sent.
func (l *orphanSender) beginSpool(name string, s *sender) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = s
	s.setTrouble(l.stuck[name])
}

// endSpool ends a spool's turn. The spool's losses are counted once the rest of it is sent.
func (l *orphanSender) endSpool(name string, s *sender, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = nil
	waits, lost, trouble := s.progress()
	if err != nil {
		if l.waits[name] = waits; trouble != nil {
			l.stuck[name] = trouble
		}
		return
	}
	delete(l.waits, name)
	delete(l.stuck, name)
	if l.counted[name] {
		return
	}
	l.counted[name] = true
	for _, one := range lost {
		l.losses.add(one.Bytes, one.Why)
	}
	l.index.addSender(s)
}

// addProgress adds the progress of all spools that earlier runs left.
func (l *orphanSender) addProgress(to *PublishState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil {
		name := l.now.spool.Name()
		l.waits[name], _, l.stuck[name] = l.now.progress()
	}
	for _, one := range l.all {
		to.Orphaned += l.waits[one.Name]
		if trouble := l.stuck[one.Name]; trouble != nil && to.OrphanedTrouble == "" {
			what, remedy := inWords(trouble)
			to.OrphanedTrouble, to.Remedy = one.Name+": "+what, cmp.Or(to.Remedy, remedy)
		}
	}
	to.Spooled += to.Orphaned
	to.OrphanedLosses = slices.Clone(l.losses)
	to.Index.addState(l.index)
}

// maxHeaderBytes is larger than the first line of any capture.
const maxHeaderBytes = 64 << 10

// createdOf returns the time when a spool's capture began, or the zero time. It reads the time from the first
// line.
func createdOf(s *record.Spool) time.Time {
	line, _ := bufio.NewReader(io.NewSectionReader(s, 0, maxHeaderBytes)).ReadBytes('\n')
	var header struct {
		Created time.Time `json:"created"`
	}
	_ = json.Unmarshal(line, &header) // if this fails, the time is unknown
	return header.Created
}

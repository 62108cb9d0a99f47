package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolscope/capture/fleet"
)

const (
	// positionFile is the file in a hub's folder with the position of the collector.
	positionFile = "otlp-told"
	// savePositionEvery is how often it is written.
	savePositionEvery = time.Second
	// catchUp is the part of finishTime in which a hub that ends may read its data. The next start sends
	// the remaining data.
	catchUp = 2 * time.Second
)

// hubTraces sends the turns that a hub receives to a collector. It saves its position in the hub's folder,
// and only once the collector has everything before it; the next start continues there. Turns that are sent
// twice are the same spans.
type hubTraces struct {
	*traceSender
	view *fleet.View
	file string
	at   time.Time // time of the position, by the hub's clock
	due  int64     // number of spans that the collector must answer before the position is saved
}

// watchHub sends the turns of a hub to a collector, from the saved position, or from began without one. end
// stops it.
func (a *app) watchHub(hub *fleet.Hub, t *traceSender, store string, began time.Time) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	h := &hubTraces{traceSender: t, file: filepath.Join(store, positionFile)}
	t.patient = true // the hub keeps the data
	ctx, cancel := context.WithCancel(context.Background())
	t.until = ctx.Done()
	h.at = h.resumeTime(began)
	if h.view, err = hub.Watch(ctx, h.at); err == nil {
		err = h.savePosition() // the next start continues there, even if this one is killed
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	go t.followSource(h.view.Source(ctx))
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		h.keepSaving(ctx, a)
	}()
	return func() {
		all, over := context.WithTimeout(context.Background(), finishTime)
		defer over()
		soon, read := context.WithTimeout(all, catchUp)
		h.view.AwaitRead(soon)
		read()
		cancel()
		<-t.done
		<-kept
		if s := h.view.State(); !s.Complete() {
			a.printNote("--otlp: some data of the hub was missed: %s", missingWords(&s))
			a.code = exitGaps
		}
		h.readPosition()
		t.Close(all)
		t.printMissing(a)
		_ = h.savePosition() // after a failure the next start sends some turns again
	}, nil
}

// resumeTime returns the saved position, or began if there is none.
func (h *hubTraces) resumeTime(began time.Time) time.Time {
	text, err := os.ReadFile(h.file)
	at, wrong := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil || wrong != nil || at.After(began) {
		return began
	}
	return at
}

// keepSaving saves the position until ctx ends.
func (h *hubTraces) keepSaving(ctx context.Context, a *app) {
	tick := time.NewTicker(savePositionEvery)
	defer tick.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := h.savePosition(); err != nil && !failed {
			failed = true
			a.printNote("--otlp: %v; the next start sends some turns again", err)
		}
		if h.at.IsZero() {
			h.readPosition()
		}
	}
}

// readPosition takes the current position.
func (h *hubTraces) readPosition() {
	_, at := h.view.Read()
	if h.holds.Load() {
		return
	}
	s := h.State() // includes all turns up to at
	h.at, h.due = at, s.Taken+s.Refused+s.Waiting
}

// savePosition saves the position, if the collector has everything before it.
func (h *hubTraces) savePosition() error {
	if s := h.State(); h.at.IsZero() || s.Taken+s.Refused < h.due {
		return nil
	}
	at := h.at
	h.at = time.Time{}
	if err := writeOwn(h.file, []byte(at.Format(time.RFC3339Nano)+"\n")); err != nil {
		return fmt.Errorf("can't save the position: %w", err)
	}
	return nil
}

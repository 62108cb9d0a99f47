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
	// positionFile is in the folder of a hub: up to which of its messages a collector was told.
	positionFile = "otlp-told"
	// savePositionEvery is how often that is written.
	savePositionEvery = time.Second
	// catchUp is how much of tellTime a hub that ends may take to read what it has. What it does not tell in
	// that time the next start does.
	catchUp = 2 * time.Second
)

// hubTraces tells a collector of the turns that come to a hub. Where it is it keeps in the hub's
// folder, and only once the collector has all that is before it: the next start goes on from there.
// What is told twice by that is the same spans.
type hubTraces struct {
	*traceSender
	view *fleet.View
	file string
	at   time.Time // of the message that was looked at, by the hub's clock
	due  int64     // spans that the collector has answered once it has all that is before it
}

// watchHub tells a collector of what comes to a hub, from where it was told last; the first time, from
// began. end ends that.
func (a *app) watchHub(hub *fleet.Hub, t *traceSender, store string, began time.Time) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	h := &hubTraces{traceSender: t, file: filepath.Join(store, positionFile)}
	t.patient = true // the hub keeps what is to be read
	ctx, cancel := context.WithCancel(context.Background())
	t.until = ctx.Done()
	h.at = h.resumeTime(began)
	if h.view, err = hub.Watch(ctx, h.at); err == nil {
		err = h.savePosition() // the next start goes on from there, even if this one is killed
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
			a.printNote("--otlp: of what came to the hub not all was seen: %s", missingWords(&s))
			a.code = exitGaps
		}
		h.readPosition()
		t.Close(all)
		t.printMissing(a)
		_ = h.savePosition() // else some are told twice
	}, nil
}

// resumeTime is where it was told last, or began where nobody knows.
func (h *hubTraces) resumeTime(began time.Time) time.Time {
	text, err := os.ReadFile(h.file)
	at, wrong := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil || wrong != nil || at.After(began) {
		return began
	}
	return at
}

// keepSaving keeps where it is until ctx ends.
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
			a.printNote("--otlp: %v; the next start tells some turns twice", err)
		}
		if h.at.IsZero() {
			h.readPosition()
		}
	}
}

// readPosition takes where it is now.
func (h *hubTraces) readPosition() {
	_, at := h.view.Read()
	if h.holds.Load() {
		return
	}
	s := h.State() // of all turns up to there
	h.at, h.due = at, s.Taken+s.Refused+s.Waiting
}

// savePosition keeps where it was looked at, if the collector has all that is before it.
func (h *hubTraces) savePosition() error {
	if s := h.State(); h.at.IsZero() || s.Taken+s.Refused < h.due {
		return nil
	}
	at := h.at
	h.at = time.Time{}
	if err := writeOwn(h.file, []byte(at.Format(time.RFC3339Nano)+"\n")); err != nil {
		return fmt.Errorf("how far it is cannot be kept: %w", err)
	}
	return nil
}

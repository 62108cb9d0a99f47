package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"toolscope/capture/proxy"
	"toolscope/ui"
)

// statusNotes returns notes about the state of the input for the status line.
func (l *liveInput) statusNotes() (words []ui.StatusNote) {
	alarm := func(text string) { words = append(words, ui.StatusNote{Text: text, Alarm: true}) }
	if l.redactor.KeepsSecrets() {
		alarm("SECRETS KEPT")
	}
	if limit := l.redactor.Limit(); limit != "" {
		alarm("SECRETS MAY PASS: " + limit)
	}
	if l.faults != "" {
		alarm("BENT " + l.faults)
	}
	if l.proxy != nil {
		if holds := l.proxy.Holds(); len(holds) > 0 {
			alarm(fmt.Sprintf("HELD %d for %s: b", len(holds), time.Since(holds[0].Since).Truncate(time.Second)))
		}
	}
	var stats proxy.Stats
	if l.proxy != nil {
		stats = l.proxy.Stats()
	}
	if stats.Refused > 0 {
		words = append(words, ui.StatusNote{Text: fmt.Sprintf("%d refused", stats.Refused)})
	}
	missed, unseen := l.arrived.State(), l.shown.State()
	if l.rec != nil {
		state := l.rec.State()
		if state.Trouble != "" {
			alarm("NOT RECORDED: " + state.Trouble)
		}
		if state.Damage != "" {
			alarm("CAPTURE LOST: " + state.Damage)
		}
		missed.Lost += state.Lost
	}
	if missed.Lost > 0 || missed.Gaps+missed.Dropped > 0 {
		alarm("GAP " + sizeText(missed.Lost))
	}
	if unseen.Lost > 0 {
		alarm("NOT SHOWN " + sizeText(unseen.Lost))
	}
	if l.sent != nil {
		words = append(words, l.sent.statusNotes()...)
	}
	words = append(words, l.traced.statusNotes()...)
	if state := l.client.Load(); state != nil {
		words = append(words, ui.StatusNote{Text: *state})
	}
	if l.rec != nil {
		words = append(words, ui.StatusNote{Text: "rec " + filepath.Base(l.rec.presentPath()) + " " + sizeText(l.rec.State().Bytes)})
	}
	return words
}

// lookTime is how often the state is checked while nothing arrives.
const lookTime = time.Second / 4

// wakeScreen wakes the screen when the state changes without a record.
func (l *liveInput) wakeScreen(ctx context.Context) { ringOnChange(ctx, l.statusNotes, l.shown.Wake) }

// ringOnChange calls bell when the notes change, until ctx ends.
func ringOnChange(ctx context.Context, wordsOf func() []ui.StatusNote, bell func()) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	var last []ui.StatusNote
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if words := wordsOf(); !slices.Equal(words, last) {
			last = words
			bell()
		}
	}
}

// sizeText formats a size in a suitable unit.
func sizeText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

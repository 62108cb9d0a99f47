package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"toolscope/capture/queue"
	"toolscope/stream/count"
	"toolscope/ui"
)

// finishTime is how long the collector may take for what is left when the program ends, and how long it may
// take to make spans of what has come.
const finishTime = 4 * time.Second

// finishAndReport has the collector be told of what is left, and says what it does not have.
func (t *traceSender) finishAndReport(a *app) {
	if t == nil {
		return
	}
	t.finishSending()
	t.printMissing(a)
}

// finishSending has the collector be told of what is left. What is read can wait for it, as long as it takes
// something.
func (t *traceSender) finishSending() {
	if t == nil {
		return
	}
	if t.in != nil {
		t.in.Close(nil)
		select {
		case <-t.done:
		case <-time.After(finishTime):
		}
	}
	if t.patient {
		t.Finish()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	t.Close(ctx)
}

// printMissing says once what the collector does not have.
func (t *traceSender) printMissing(a *app) {
	if t == nil || !t.reported.CompareAndSwap(false, true) {
		return
	}
	s := t.Sender.State()
	var lost []string
	for _, n := range []struct {
		n    int64
		what string
	}{{s.Refused, "refused"}, {s.Dropped, "left out, as there was no room"}, {s.Left + s.Waiting, "not acknowledged"}} {
		if n.n > 0 {
			lost = append(lost, fmt.Sprintf("%s %s", count.Of(int(n.n), "span"), n.what))
		}
	}
	if len(lost) > 0 {
		text := fmt.Sprintf("--otlp %s: %s; %d taken", t.to, strings.Join(lost, ", "), s.Taken)
		if s.Trouble != "" {
			text += ": " + s.Trouble
		}
		a.printNote("%s", text)
		a.code = exitGaps
	} else if s.Trouble != "" {
		a.printNote("--otlp %s: %s", t.to, s.Trouble)
	}
	if missed := t.missedText(); missed != "" {
		a.printNote("--otlp: no span tells of %s: what makes them was too slow", missed)
		a.code = exitGaps
	}
	if limit := t.redactor.Limit(); t.Content && limit != "" {
		a.printNote("--otlp-content: secrets may have been sent: %s", limit)
		a.code = exitGaps
	}
}

// missedText is what came and is in no span, "" where that is nothing.
func (t *traceSender) missedText() string {
	var s queue.State
	for _, box := range t.boxes {
		of := box.State()
		s.Lost += of.Lost
		s.Dropped += of.Dropped
	}
	if t.in != nil {
		s.Dropped += int64(t.in.State().Waiting) // the end came before they were looked at
	}
	switch {
	case s.Lost > 0:
		return sizeText(s.Lost) + " of what came"
	case s.Dropped > 0:
		return count.Of(int(s.Dropped), "record") + " of what came"
	}
	return ""
}

// statusNotes are how telling is going.
func (t *traceSender) statusNotes() (words []ui.StatusNote) {
	if t == nil {
		return nil
	}
	s := t.Sender.State()
	if n := s.Missing(); n > 0 {
		words = append(words, ui.StatusNote{Text: "NOT TRACED " + count.Of(int(n), "span"), Alarm: true})
	}
	if t.in != nil {
		if lost := t.in.State(); lost.Lost > 0 {
			words = append(words, ui.StatusNote{Text: "NOT TRACED " + sizeText(lost.Lost), Alarm: true})
		}
	}
	text := "otlp " + t.to
	if s.Trouble != "" {
		text += ": " + s.Trouble
	}
	if s.Waiting > 0 && s.Trouble != "" {
		text += ", " + count.Of(int(s.Waiting), "span") + " wait"
	}
	return append(words, ui.StatusNote{Text: text})
}

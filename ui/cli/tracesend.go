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

// finishTime limits the time for sending the remaining spans when the program ends, and the time for the
// conversion of turns to spans.
const finishTime = 4 * time.Second

// finishAndReport sends the remaining spans, and reports the spans that the collector lacks.
func (t *traceSender) finishAndReport(a *app) {
	if t == nil {
		return
	}
	t.finishSending()
	t.printMissing(a)
}

// finishSending sends the remaining spans. If the source can wait, it continues as long as the collector
// accepts spans.
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

// printMissing reports, once, the spans that the collector lacks.
func (t *traceSender) printMissing(a *app) {
	if t == nil || !t.reported.CompareAndSwap(false, true) {
		return
	}
	s := t.Sender.State()
	var lost []string
	for _, n := range []struct {
		n    int64
		what string
	}{{s.Refused, "refused"}, {s.Dropped, "dropped because the queue was full"}, {s.Left + s.Waiting, "not acknowledged"}} {
		if n.n > 0 {
			lost = append(lost, fmt.Sprintf("%s %s", count.Of(int(n.n), "span"), n.what))
		}
	}
	if len(lost) > 0 {
		text := fmt.Sprintf("--otlp %s: %s; %d accepted", t.to, strings.Join(lost, ", "), s.Taken)
		if s.Trouble != "" {
			text += ": " + s.Trouble
		}
		a.printNote("%s", text)
		a.code = exitGaps
	} else if s.Trouble != "" {
		a.printNote("--otlp %s: %s", t.to, s.Trouble)
	}
	if missed := t.missedText(); missed != "" {
		a.printNote("--otlp: %s in no span: building the spans was too slow", missed)
		a.code = exitGaps
	}
	if limit := t.redactor.Limit(); t.Content && limit != "" {
		a.printNote("--otlp-content: secrets may have been sent: %s", limit)
		a.code = exitGaps
	}
}

// missedText describes the data that is in no span, "" for none.
func (t *traceSender) missedText() string {
	var s queue.State
	for _, box := range t.boxes {
		of := box.State()
		s.Lost += of.Lost
		s.Dropped += of.Dropped
	}
	if t.in != nil {
		s.Dropped += int64(t.in.State().Waiting) // the program ended before they were read
	}
	switch {
	case s.Lost > 0:
		return sizeText(s.Lost)
	case s.Dropped > 0:
		return count.Of(int(s.Dropped), "record")
	}
	return ""
}

// statusNotes returns the state of sending.
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
		text += ", " + count.Of(int(s.Waiting), "span") + " waiting"
	}
	return append(words, ui.StatusNote{Text: text})
}

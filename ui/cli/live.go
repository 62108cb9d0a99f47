package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/redact"
	"toolscope/ui"
)

const (
	recordUsage = "record into this new `FILE`.tsc, or into a new one in this directory"
	keepUsage   = "show and record keys and other secrets as they are"
)

// live is what becomes of records that come from the network before they are
// shown: their secrets are replaced, and they are recorded.
type live struct {
	redactor *redact.Redactor
	rec      *recording
	proxy    *proxy.Proxy           // nil where records do not come from one
	refusal  atomic.Pointer[string] // why the last request was not admitted
	began    time.Time              // what the times of records count from
}

func (a *app) live(to string, began time.Time, by string, keepSecrets bool) (l *live, err error) {
	l = &live{began: began}
	a.network = l
	if keepSecrets {
		a.say("toolscope: --keep-secrets: keys are shown and recorded as they are")
		l.redactor = redact.KeepAll()
	} else {
		l.redactor = newRedactor()
	}
	l.rec, err = a.record(to, began, by)
	return l, err
}

// learn has the credentials of a request be sought in everything, also where no
// request is seen.
func (l *live) learn(h http.Header) { l.redactor.Header(h) }

// clean is a text without secrets.
func (l *live) clean(text string) string { return l.redactor.Text(text) }

// source is src as it may be seen, and is being recorded.
func (l *live) source(src capture.Source) capture.Source {
	return l.rec.source(func(yield func(capture.Record, error) bool) {
		for clean, err := range redact.Source(src, l.redactor) {
			if !yield(clean.Record(), err) {
				return
			}
		}
	})
}

// pass is a record as it may be seen, which is recorded too; of what waits for
// more of its exchange nothing, and then all at once.
func (l *live) pass(rec capture.Record) []capture.Record {
	var all []capture.Record
	for _, clean := range l.redactor.Take(rec) {
		if l.rec != nil {
			l.rec.Record(clean.Record())
		}
		all = append(all, clean.Record())
	}
	return all
}

// words are what there is to know besides the records.
func (l *live) words() (words []ui.Word) {
	if l.redactor.Keeps() {
		words = append(words, ui.Word{Text: "SECRETS KEPT", Alarm: true})
	}
	var stats proxy.Stats
	if l.proxy != nil {
		stats = l.proxy.Stats()
	}
	if why := l.refusal.Load(); why != nil {
		words = append(words, ui.Word{Text: fmt.Sprintf("%d refused", stats.Refused), Why: *why})
	}
	if l.rec != nil {
		state := l.rec.State()
		if state.Trouble != "" {
			words = append(words, ui.Word{Text: "NOT RECORDED: " + state.Trouble, Alarm: true})
		}
		if lost := state.Lost + stats.LostBytes; lost > 0 || stats.Gaps > 0 {
			words = append(words, ui.Word{Text: "GAP " + sizeText(lost), Alarm: true})
		}
		words = append(words, ui.Word{Text: "rec " + l.rec.name + " " + sizeText(state.Bytes)})
	}
	return words
}

// lookTime is how often the words are looked at while nothing arrives.
const lookTime = time.Second / 4

// ring has the screen show words that have changed without a record.
func (l *live) ring(ctx context.Context, inbox *ui.Inbox) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	var last []ui.Word
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if words := l.words(); !slices.Equal(words, last) {
			last = words
			inbox.Ring()
		}
	}
}

// sizeText is a size in the unit that suits it.
func sizeText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

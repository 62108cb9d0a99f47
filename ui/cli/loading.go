package cli

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/stream/count"
	"toolscope/ui"
)

// loadProgress is the progress of reading files, for the screen.
type loadProgress struct {
	capture.Progress
	began   time.Time
	ctx     context.Context // done when the estimate is no longer needed
	once    sync.Once       // starts the estimate
	answers atomic.Int64    // estimate; 0 until it is known
}

// shortLoad is how long reading must take before it is shown.
const shortLoad = time.Second / 2

// statusNotes returns the progress, nothing once everything is read.
func (l *loadProgress) statusNotes() []ui.StatusNote {
	read, size := l.State()
	took := time.Since(l.began)
	if read >= size || took < shortLoad {
		return nil
	}
	if size >= minSurveyedBytes {
		l.once.Do(func() { go l.estimateTurns() })
	}
	words := []ui.StatusNote{{Text: loadText(read, size, took)}}
	if n := l.answers.Load(); n > 0 {
		words = append(words, ui.StatusNote{Text: "about " + count.Of(int(n), "turn")})
	}
	return words
}

// minSurveyedBytes is the smallest size for which the number of turns is estimated. Smaller files are read
// soon enough.
const minSurveyedBytes = 64 << 20

// estimateTurns estimates the number of turns in the files, while another goroutine reads them.
func (l *loadProgress) estimateTurns() {
	n := l.Survey(l.ctx, formats.Marks(), 1)
	if l.ctx.Err() == nil {
		l.answers.Store(n.Responses)
	}
}

// loadText describes the progress after a time: the part that was read, the speed, and the remaining time.
func loadText(read, size int64, took time.Duration) string {
	rate := float64(read) / took.Seconds()
	text := fmt.Sprintf("reading %d %% of %s, %s/s", 100*read/max(size, 1), sizeText(size), sizeText(int64(rate)))
	if left := float64(size-read) / max(rate, 1); left < 100*3600 {
		text += fmt.Sprintf(", %s left", (time.Duration(left*float64(time.Second)) + time.Second).Truncate(time.Second))
	}
	return text
}

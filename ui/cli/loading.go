package cli

import (
	"fmt"
	"time"

	"toolscope/capture"
	"toolscope/ui"
)

// loading is how far reading files is, in words.
type loading struct {
	capture.Progress
	began time.Time
}

// shortLoad is how long reading lasts before anything is said of it.
const shortLoad = time.Second / 2

// words are nothing when all is read.
func (l *loading) words() []ui.Word {
	read, size := l.State()
	took := time.Since(l.began)
	if read >= size || took < shortLoad {
		return nil
	}
	return []ui.Word{{Text: loadText(read, size, took)}}
}

// loadText is how much was read in that time, how fast, and how long the rest will take.
func loadText(read, size int64, took time.Duration) string {
	rate := float64(read) / took.Seconds()
	text := fmt.Sprintf("reading %d %% of %s, %s/s", 100*read/max(size, 1), sizeText(size), sizeText(int64(rate)))
	if left := float64(size-read) / max(rate, 1); left < 100*3600 {
		text += fmt.Sprintf(", %s left", (time.Duration(left*float64(time.Second)) + time.Second).Truncate(time.Second))
	}
	return text
}

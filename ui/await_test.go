package ui

import (
	"strings"
	"testing"
)

func waiting(words *[]Word) func(*Options) {
	return func(o *Options) {
		o.Source = "proxy 127.0.0.1:45678"
		o.Await = &Await{
			URL:  "http://127.0.0.1:45678",
			Ways: [][2]string{{"Claude Code", "export ANTHROPIC_BASE_URL=http://127.0.0.1:45678/anthropic"}, {"Gemini SDKs", "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini"}},
			More: "Others: a base URL with /openrouter",
		}
		o.Status = func() []Word { return *words }
	}
}

// TestAwait: how to send a client here is there whole where there is room, and all of it is on the
// smallest screens.
func TestAwait(t *testing.T) {
	words := []Word{{Text: "1 refused", Why: "the Host \x1b[2J is refused"}, {Text: "rec a.tsc 0 B"}, {Text: "SECRETS KEPT", Alarm: true}}
	for _, size := range [][2]int{{80, 24}, {140, 40}, {54, 20}, {40, 10}} {
		for _, change := range [][]func(*Options){{waiting(&words)}, {waiting(&words), ascii, colourless}} {
			s := newScreen(t, size[0], size[1], change...)
			checkFrame(t, s)
			s.shows("Waiting", "http://127.0.0.1:45678", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "q quit", "SECRETS KEPT")
			if size[0] >= 80 {
				s.shows("Gemini SDKs  export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini", "Others: a base URL", "1 refused: the Host", "rec a.tsc 0 B")
			}
		}
	}
}

// TestStatus: words change without a record, alarms come first, and what has no room is left out.
func TestStatus(t *testing.T) {
	var words []Word
	s := newScreen(t, 80, 24, waiting(&words)).feed(body("agent.sse")(t)...)
	s.hides("Waiting", "rec a.tsc")
	words = []Word{{Text: "rec a.tsc 12 kB"}, {Text: "GAP 1,000 B", Alarm: true}}
	s.inbox.Ring()
	s.send(arrived{})
	rows := s.rows()
	last := rows[len(rows)-1]
	if gap, rec := strings.Index(last, "GAP 1,000 B"), strings.Index(last, "rec a.tsc 12 kB"); gap < 0 || rec < gap {
		t.Errorf("%q", last)
	}
	checkFrame(t, s)
	checkFrame(t, s.resize(40, 10))
	s.shows("GAP 1,000 B").hides("rec a.tsc")
}

package ui

import (
	"strings"
	"testing"
)

// answersWithin is the number of rows in which the answer to a question about a call is.
const answersWithin = 17

// TestQuestions: at 80 x 24, each question about a call has its answer on one screen, after at most one key. Those
// without a key have it in the upper rows.
func TestQuestions(t *testing.T) {
	for _, q := range []struct {
		question, sample, keys string
		answers                []string
	}{
		{"what is wrong with this call", "malformed", "", []string{"▎ ✗ Not JSON from byte 87 on: expected a comma or }, got 's'."}},
		{"who caused it", "malformed", "", []string{"▎   cause  the model"}},
		{"who caused it", "cut", "", []string{"▎   cause  the provider"}},
		{"what do I do", "malformed", "", []string{"▎   do     Report the error to the model in a tool result."}},
		{"at which byte and delta", "malformed", "", []string{"^ expected , or }, got s  byte 87, delta 14"}},
		{"is it safe to run", "early", "5", []string{"!! as soon as it parses", "30 B too soon", "only if complete and valid"}},
		{"what would a careless client have run", "malformed", "5", []string{"WOULD HAVE RUN", "not JSON: it fails"}},
		{"what was really sent back", "history", "gjjo", []string{"∅ {} was sent", "the request carried", "cause  the client"}},
		{"what did the tool get and answer", "executed", "7", []string{"[Result"}},
		{"which agent asked this", "parallel", "", []string{"turn 1 · "}},
		{"what does the turn cost, and how sure is it", "malformed", "ggh2", []string{"cost     $0.0070"}},
	} {
		s := newScreen(t, 80, 24).feed(demo(t, q.sample)...).end().press(q.keys).shows(q.answers...)
		if upper := strings.Join(s.rows()[:answersWithin], "\n"); q.keys == "" {
			for _, answer := range q.answers {
				if !strings.Contains(upper, answer) {
					t.Errorf("%s: %q is not in the upper %d rows:\n%s", q.question, answer, answersWithin, s.text())
				}
			}
		}
	}
}

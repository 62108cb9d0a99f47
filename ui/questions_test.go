package ui

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// answersWithin is the number of rows at the top that must contain the answer if no key is needed.
const answersWithin = 17

// static marks the source as one that doesn't grow. Such a source opens at the worst call.
func static(o *Options) { o.Static = true }

// recording names the capture of a live source.
func recording(o *Options) { o.Capture = func() string { return "captures/1120-1402.tsc" } }

// recordedFile returns a response from a capture.
func recordedFile(t testing.TB) []stream.Record {
	return fromFiles(demo(t, "parallel"), func(int) string { return "captures/1120-1402.tsc" })
}

// TestRecordingInFirstRow checks that from 160 columns on, the first row names the capture of live traffic.
func TestRecordingInFirstRow(t *testing.T) {
	note := func(o *Options) {
		o.Status = func() []StatusNote { return []StatusNote{{Text: "rec 1120-1402.tsc 12.4 kB"}} }
	}
	for _, w := range []int{160, 250} {
		s := newScreen(t, w, 40, awaiting, note)
		threeStreams(s)
		if row := s.rows()[0]; !strings.Contains(row, "rec 1120-1402.tsc 12.4 kB") {
			t.Errorf("%d columns: %q", w, row)
		}
	}
}

// TestRateInFirstRow checks that the first row keeps the rate when the name of the capture no longer fits.
func TestRateInFirstRow(t *testing.T) {
	const note = "rec 2026-11-29T20-49-32.tsc 12.4 kB"
	s := newScreen(t, 100, 40, awaiting, func(o *Options) {
		o.Status = func() []StatusNote { return []StatusNote{{Text: note}} }
	})
	threeStreams(s)
	s.now = s.now.Add(time.Second)
	s.send(rateTick(s.now))
	if row := s.rows()[0]; !regexp.MustCompile(`\d B/s|kB/s`).MatchString(row) || strings.Contains(row, note) {
		t.Errorf("%q", row)
	}
	if row := s.resize(160, 40).rows()[0]; !strings.Contains(row, note) {
		t.Errorf("160 columns: %q", row)
	}
}

// TestQuestions checks that at 80 x 24, each question is answered on one screen, after at most one key from a fresh
// start. If no key is needed, the answer is in the upper rows.
func TestQuestions(t *testing.T) {
	sample := func(name string) func(*rig) { return feeding(demoRecords(name)) }
	for _, q := range []struct {
		question string
		source   func(*rig)
		live     bool
		keys     string
		answers  []string
	}{
		{"what is wrong with this call", sample("malformed"), false, "", []string{"▎ ✗ Not JSON from byte 87 on: expected a comma or }, got 's'."}},
		{"who caused it: the model", sample("malformed"), false, "", []string{"▎   cause  the model"}},
		{"who caused it: the provider", sample("cut"), false, "", []string{"▎   cause  the provider"}},
		{"what do I do", sample("malformed"), false, "", []string{"▎   do     Report the error to the model in a tool result."}},
		{"at which byte and delta", sample("malformed"), false, "", []string{"^ expected , or }, got s  byte 87, delta 14"}},
		{"which calls are bad, worst first", feeding(failures), false, "", []string{"Calls  3 bad first, then 1 doubtful ━", "s worst first", "▌   2  ✗  malformed     run_shell", "4  ▲  cut short     write_file", "5  ⊘  aborted       deploy", "5  ◇  not an object notify", "─── 2 healthy, 1 turn without a call ─"}},
		{"how many of how many", feeding(failures), false, "", []string{"5 turns · 6 calls  3 bad  ✗1 ▲1 ⊘1   ◇1"}},
		{"where in the run", feeding(manyAnswers), false, "", []string{" ···✗······✗······✗"}},
		{"is it safe to run", sample("early"), false, "5", []string{"!! as soon as it parses", "30 B too soon", "only if complete and valid"}},
		{"what would a careless client have run", sample("malformed"), false, "5", []string{"WOULD HAVE RUN", "not JSON: it fails"}},
		{"which client is careless", sample("early"), false, "5", []string{"careless: clients of the kinds marked ! or !!; none is known"}},
		{"what would another provider get", sample("malformed"), false, "p", []string{"∅ Sent as {} to 5 of 10 providers", "PROVIDER          GETS              ACCEPTED?        LOST", "mistral           =  the same text  not known"}},
		{"what was really sent back", sample("history"), false, "o", []string{"∅ {} was sent, not the 55 bytes that the model wrote", "the request carried  2 B", "cause  the client  like OpenClaw before #61956; accepted"}},
		{"why was my request refused", feeding(refusedSession), false, "!", []string{"The provider refused messages[1].content[0]", "cause  your client", "since  From turn 3 on, the call or its result is missing."}},
		{"whom do we wait on, and since when", threeStreams, true, "", []string{"Waiting on  providers 3   longest silence 41 s  turn 2   next 1 s  turn 3"}},
		{"which stream is slowest now", threeStreams, true, "s", []string{"IDLE", "2  ◐  looks done    run_tests         gpt-5.2              2 B   41 s"}},
		{"what is the request made of, and what costs", feeding(measuredSession), false, "6", []string{"Part of the request", "$ NOW", "tools: forge      █", "~1.5k ~$0.0055"}},
		{"which model differs, in what", sample("compare"), false, "=", []string{"≠ No two agree.", "gpt-5.2 made one call of two", "mistral-large-latest wrote .days as a", "one call fewer", `≠ "5"  ! wrong type`}},
		{"what did the tool get and answer", sample("executed"), false, "7", []string{"was run with the first 4 of 69 bytes", "[Result 28 B]", `the tool got only the first 4 B of 69 B: "{\"ur"`, "the tool's result, in the request of turn 2", "Failed to scrape all 1 URLs."}},
		{"which agent asked this", feeding(session), false, "", []string{"AGENT", "4  ●                └ ls              Explore"}},
		{"which agent asked this: none is named", feeding(session), false, "", []string{"1  ●                HEAD /            —", "── turn 1  agent not known · HEAD / ─"}},
		{"which agent asked this: its title", feeding(session), false, "jjj", []string{"── ls  turn 4 · agent Explore · sonnet-4-5 ─"}},
		{"where is the recording: a file", feeding(recordedFile), false, "h", []string{"file     captures/1120-1402.tsc"}},
		{"where is the recording: of live traffic", threeStreams, true, "h", []string{"file     recorded to captures/1120-1402.tsc"}},
		{"what does the turn cost, and how sure is it", sample("history"), false, "h", []string{"cost     $0.002194 exact   in $1.75, out $14.00 per million", "as of 2026-11-10"}},
	} {
		s := newScreen(t, 80, 24, static)
		if q.live {
			s = newScreen(t, 80, 24, awaiting, recording)
		}
		q.source(s)
		s.press(q.keys)
		rows := s.rows()
		if q.keys == "" {
			rows = rows[:answersWithin]
		}
		for _, answer := range q.answers {
			if !strings.Contains(strings.Join(rows, "\n"), answer) {
				t.Errorf("%s: %q is not in rows 1 to %d:\n%s", q.question, answer, len(rows), s.text())
			}
		}
	}
}

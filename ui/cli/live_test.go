package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
)

// gatedDisk is a file whose writes wait while its gate is shut.
type gatedDisk struct {
	gate chan struct{}
	file bytes.Buffer
}

func (d *gatedDisk) Write(p []byte) (int, error) {
	if d.gate != nil {
		<-d.gate
	}
	return d.file.Write(p)
}

// recorded returns a live input that records to a disk.
func recorded(t *testing.T, d *gatedDisk) *liveInput {
	t.Helper()
	r, err := record.New(d, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	l := newLiveInput(newRedactor(), time.Now())
	l.rec = &captureWriter{r, "a.tsc", "a.tsc"}
	return l
}

// printerOf returns a printer in a format, with the built-in prices.
func printerOf(t *testing.T, a *app, format string) printer {
	t.Helper()
	return a.printerOf(a.stdout.withBuffer(), format, price.Embedded())
}

// rest takes all records from an inbox until the inbox is closed.
func rest(in *screenInbox) (recs []capture.Record) {
	for r := range in.All {
		recs = append(recs, r)
	}
	return recs
}

// wordsOf returns the contents of one exchange's records as text.
func wordsOf(recs []capture.Record, exchange int) (text string) {
	for _, r := range recs {
		if r.Exchange != exchange {
			continue
		}
		if r.Head != nil {
			text += fmt.Sprint("head ", r.Head.Header, " ")
		}
		text += string(r.Data)
		if r.End != "" {
			text += " " + string(r.End)
		}
	}
	return text
}

// TestLive checks that all data from the network is passed to the disk and to the reader, without secrets. The source
// and the responses to the screen's requests can end at different times.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(gatedDisk)
		l := recorded(t, disk)
		saw := 0
		l.seen = func(capture.Record) { saw++ }
		header := http.Header{"X-Api-Key": {canary}}
		const sent = sentFrom + 1
		for _, r := range []capture.Record{
			{Exchange: 1, Side: capture.Request, Head: &capture.Head{Header: header}, Data: []byte("ask ")},
			{Exchange: sent, Side: capture.Request, Head: &capture.Head{Header: header}, Data: []byte("send ")},
			{Exchange: 1, Data: []byte("no " + canary[:9])},
			{Exchange: 1, Data: []byte(canary[9:] + " here"), End: capture.EndEOF},
		} {
			l.addRecord(r)
		}
		l.start(callDirect)
		l.start(func(func()) { t.Error("it passes twice") })
		why := errors.New("why")
		l.endSource(why)
		l.endSource(nil)
		synctest.Wait()
		shown := rest(l.shown)
		if over, err := l.shown.Done(); !over || err != why || saw != len(shown) {
			t.Errorf("the source ended: %v, %v; seen were %d of %d", over, err, saw, len(shown))
		}
		if over, _ := l.answers.Done(); over || l.answers.Waiting() == 0 {
			t.Error("no answers")
		}
		l.addRecord(capture.Record{Exchange: sent, Data: []byte("back"), End: capture.EndEOF})
		a := (&app{}).linkParts()
		a.endLive(l)
		if got := wordsOf(rest(l.answers), -1); !strings.HasSuffix(got, "send back eof") || strings.Contains(got, canary) {
			t.Errorf("answers: %s", got)
		}
		all := again(t, disk.file.String())
		for name, got := range map[string]string{"shown": wordsOf(shown, 1), "recorded": wordsOf(all, 1)} {
			if !strings.Contains(got, "ask no [redacted:x-api-key:") || !strings.HasSuffix(got, " here eof") || strings.Contains(got, canary) {
				t.Errorf("%s: %s", name, got)
			}
		}
		if got := wordsOf(all, sent); !strings.HasSuffix(got, "send back eof") || a.code != 0 {
			t.Errorf("recorded of what was sent: %s; exit %d", got, a.code)
		}
	})
}

// TestLiveKeepsNothingBack checks that records that were not passed on while the program ran are recorded at its
// end.
func TestLiveKeepsNothingBack(t *testing.T) {
	disk := new(gatedDisk)
	l := recorded(t, disk)
	l.addRecord(capture.Record{Exchange: 1, Data: []byte("is sk-")})
	a := (&app{}).linkParts()
	a.endLive(l)
	if got := wordsOf(again(t, disk.file.String()), 1); got != "is sk- cut" || a.code != 0 {
		t.Errorf("%q, exit %d", got, a.code)
	}
}

// TestHurriedEnd checks that a run that must end at once omits bodies that the redactor has not read. Each stream
// must have one gap, heads and ends must be kept, and the exit code must report the gaps.
func TestHurriedEnd(t *testing.T) {
	disk := new(gatedDisk)
	l := recorded(t, disk)
	l.hurried.Store(true)
	for _, r := range []capture.Record{
		{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: "POST", URL: "http://a/b"}, Data: []byte("12345")},
		{Exchange: 1, Side: capture.Request, Data: []byte("67")},
		{Exchange: 1, Head: &capture.Head{Status: 200}},
		{Exchange: 1, Data: []byte("1234")},
		{Exchange: 2, Side: capture.Request, Data: []byte("123")},
		{Exchange: 1, Data: []byte("56")},
		{Exchange: 1, Data: []byte("7"), End: capture.EndCut},
	} {
		l.addRecord(r)
	}
	a, so := appOf(t)
	a.endLive(l)
	var got []string
	for _, r := range again(t, disk.file.String()) {
		if len(r.Data) > 0 {
			t.Errorf("bytes: %q", r.Data)
		}
		if r.Lost > 0 || r.End != "" {
			got = append(got, fmt.Sprintf("%d %s lost %d %s %s", r.Exchange, r.Side, r.Lost, r.End, r.Note))
		}
	}
	if want := []string{
		"1 request lost 5  gap: 5 bytes of exchange 1 were not recorded: toolscope was ended by a signal",
		"1 request lost 2  gap: 2 bytes of exchange 1 were not recorded: toolscope was ended by a signal",
		"1  lost 7 cut gap: 7 bytes of exchange 1 were not recorded: toolscope was ended by a signal",
		"2 request lost 3  gap: 3 bytes of exchange 2 were not recorded: toolscope was ended by a signal",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if got := so(); got.code != exitGaps || !strings.Contains(got.stderr, "--record: the capture has gaps: 17 B were not recorded") {
		t.Errorf("%+v", got)
	}
}

// TestHeldPings checks that the screen and the readers of the capture learn that bytes arrive while the search for
// secrets holds all of them back. They must be notified at most once a second.
func TestHeldPings(t *testing.T) {
	disk := new(gatedDisk)
	l := recorded(t, disk)
	const ping = ": ping\n\n"
	begin := `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"key\": \"ghp_0aB1"}}` + "\n\n"
	l.addRecord(capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}})
	head := &capture.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}}
	l.addRecord(capture.Record{Exchange: 1, Side: capture.Response, At: time.Second, Head: head, Data: []byte(begin)})
	for _, at := range []time.Duration{5000, 5900, 6000, 7000} {
		l.addRecord(capture.Record{Exchange: 1, Side: capture.Response, At: at * time.Millisecond, Data: []byte(ping)})
	}
	l.addRecord(capture.Record{Exchange: 1, Side: capture.Response, At: 9 * time.Second, End: capture.EndEOF})
	if err := l.drainRecords(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.rec.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	src, err := capture.Open(t.Context(), "-", capture.Options{Stdin: &disk.file})
	if err != nil {
		t.Fatal(err)
	}
	var written []capture.Record
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, r)
	}
	for name, records := range map[string][]capture.Record{"shown": rest(l.shown), "recorded": written} {
		var arrivals []time.Duration
		var text strings.Builder
		for _, r := range records {
			if r.IsArrival() {
				arrivals = append(arrivals, r.At)
			}
			text.Write(r.Data)
		}
		if want := []time.Duration{5 * time.Second, 6 * time.Second, 7 * time.Second}; !slices.Equal(arrivals, want) {
			t.Errorf("%s: bytes arrived at %v, want %v", name, arrivals, want)
		}
		if strings.Count(text.String(), ping) != 4 {
			t.Errorf("%s: %q", name, text.String())
		}
	}
}

// TestLiveLimit checks that a redactor that reaches its limit is reported: in red on the screen, once on standard
// error, and by the exit code.
func TestLiveLimit(t *testing.T) {
	l := newLiveInput(newRedactor(), time.Now())
	l.addRecord(capture.Record{Exchange: 1, Data: []byte("x"), End: capture.EndEOF})
	if words := l.statusNotes(); len(words) != 0 {
		t.Error(words)
	}
	for n := 0; l.redactor.Limit() == ""; n++ {
		l.redactor.Header(http.Header{"X-Api-Key": {fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(n))))}})
	}
	if words := l.statusNotes(); len(words) != 1 || !words[0].Alarm || words[0].Text != "SECRETS MAY PASS: "+l.redactor.Limit() {
		t.Error(words)
	}
	a, so := appOf(t)
	if err := l.drainRecords(t.Context()); err != nil {
		t.Error(err)
	}
	_ = l.printTurns(a, new(providers.Inspector), "proxy", printerOf(t, a, "text"), func(err error) { t.Error(err) })
	a.endLive(l)
	if got := so(); got.code != exitGaps || got.stderr != "toolscope: secrets may remain in the traffic from here on: "+l.redactor.Limit()+"\n" {
		t.Errorf("%+v", got)
	}
}

// TestLiveUnwanted checks that records are not passed on if no reader needs them. If there is a capture, it must be
// complete.
func TestLiveUnwanted(t *testing.T) {
	for _, records := range []bool{false, true} {
		disk := new(gatedDisk)
		l := recorded(t, disk)
		if !records {
			l.rec = nil
		}
		a, _ := appOf(t)
		deaf := create(t, t.TempDir(), "out")
		deaf.Close()
		a.stdout = lineWriter{to: deaf}
		answer := []byte(anthropicAnswer)
		l.addRecord(capture.Record{Exchange: 1, Data: answer, End: capture.EndEOF})
		l.start(callDirect)
		told := make(chan error, 2)
		printed := make(chan error)
		go func() {
			printed <- l.printTurns(a, new(providers.Inspector), "proxy", printerOf(t, a, "text"), func(err error) { told <- err })
		}()
		why := <-told
		l.addRecord(capture.Record{Exchange: 2, Data: answer, End: capture.EndEOF})
		l.endSource(nil)
		if err := <-printed; err != why || len(told) > 0 {
			t.Errorf("%v, told was %v and %d more", err, why, len(told))
		}
		a.endLive(l)
		if got := wordsOf(again(t, disk.file.String()), 2); records != strings.HasPrefix(got, anthropicAnswer) || a.code != 0 {
			t.Errorf("recording %t: %q, exit %d", records, got, a.code)
		}
	}
}

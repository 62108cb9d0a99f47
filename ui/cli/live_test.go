package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/capture/mailbox"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
)

// gatedDisk is a file whose writes wait for its gate, once it is shut.
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

// recorded is a live that records to a disk.
func recorded(t *testing.T, d *gatedDisk) *live {
	t.Helper()
	r, err := record.New(d, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	l := newLive(newRedactor(), time.Now())
	l.rec = &recording{r, "a.tsc"}
	return l
}

// again is a capture as it is read.
func again(t *testing.T, file string) (recs []capture.Record) {
	t.Helper()
	src, err := capture.Open(context.Background(), "-", capture.Options{Stdin: strings.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// rest empties an inbox that is or will be closed.
func rest(in *inbox) (recs []capture.Record) {
	for r := range in.All {
		recs = append(recs, r)
	}
	return recs
}

// words are what records say, of one exchange.
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

// TestLive: all that comes from the network takes one way, without its secrets,
// to the disk and to who looks at it; the source and the answers end each at its
// own time.
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
			l.take(r)
		}
		l.start(here)
		l.start(func(func()) { t.Error("it passes twice") })
		why := errors.New("why")
		l.endSource(why)
		l.endSource(nil)
		synctest.Wait()
		shown := rest(l.shown)
		if over, err := l.shown.Ended(); !over || err != why || saw != len(shown) {
			t.Errorf("the source ended: %v, %v; seen were %d of %d", over, err, saw, len(shown))
		}
		if over, _ := l.answers.Ended(); over || l.answers.Waiting() == 0 {
			t.Error("no answers")
		}
		l.take(capture.Record{Exchange: sent, Data: []byte("back"), End: capture.EndEOF})
		a := &app{}
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

// TestLiveKeepsNothingBack: what nobody passes on while the program runs is
// recorded at its end all the same.
func TestLiveKeepsNothingBack(t *testing.T) {
	disk := new(gatedDisk)
	l := recorded(t, disk)
	l.take(capture.Record{Exchange: 1, Data: []byte("is sk-")})
	a := &app{}
	a.endLive(l)
	if got := wordsOf(again(t, disk.file.String()), 1); got != "is sk- cut" || a.code != 0 {
		t.Errorf("%q, exit %d", got, a.code)
	}
}

// TestLiveLimit: a redactor that can remember no more says so in red, on standard
// error once, and with the exit code.
func TestLiveLimit(t *testing.T) {
	l := newLive(newRedactor(), time.Now())
	l.take(capture.Record{Exchange: 1, Data: []byte("x"), End: capture.EndEOF})
	if words := l.words(); len(words) != 0 {
		t.Error(words)
	}
	for n := 0; l.redactor.Limit() == ""; n++ {
		l.learn(http.Header{"X-Api-Key": {fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(n))))}})
	}
	if words := l.words(); len(words) != 1 || !words[0].Alarm || words[0].Text != "SECRETS MAY PASS: "+l.redactor.Limit() {
		t.Error(words)
	}
	dir := t.TempDir()
	a := &app{stdout: create(t, dir, "out"), stderr: create(t, dir, "err")}
	if err := l.finish(t.Context()); err != nil {
		t.Error(err)
	}
	_ = l.printTurns(a, new(providers.Inspector), "proxy", a.printerOf("text", price.Embedded()), func(err error) { t.Error(err) })
	a.endLive(l)
	if said := contents(t, a.stderr.(*os.File)); a.code != exitGaps || said != "toolscope: from here on secrets may pass: "+l.redactor.Limit()+"\n" {
		t.Errorf("exit %d: %s", a.code, said)
	}
}

// piece is n bytes of a side from a place on: each tells its place.
func piece(from, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = " abcdefg"[(from+i)*7/3%8]
	}
	return text
}

// TestLiveTooSlow: everybody is too slow, one after the other: who passes on, the
// disk, who looks. Nobody who puts something in waits, all is there but for the
// holes, and each is at its place and as large as it says.
func TestLiveTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const exchanges, pieces, size = 20, 40, 3000
		disk := new(gatedDisk)
		l := recorded(t, disk)
		l.arrived = mailbox.New(record.Rules(600_000, "are missing"))
		l.shown = newInbox(record.Rules(400_000, "are missing"))
		disk.gate = make(chan struct{})
		flood := func(from int) {
			for n := from; n < from+pieces; n++ {
				for x := 1; x <= exchanges; x++ {
					for _, side := range []capture.Side{capture.Request, capture.Response} {
						r := capture.Record{Exchange: x, Side: side, At: time.Duration(n), Data: piece(n*size, size)}
						if n == 0 {
							r.Head = &capture.Head{URL: "/"}
						}
						l.take(r)
					}
				}
			}
		}
		flood(0)
		l.start(here)
		synctest.Wait()
		flood(pieces)
		synctest.Wait()
		for x := 1; x <= exchanges; x++ {
			l.take(capture.Record{Exchange: x, End: capture.EndEOF})
		}
		l.endSource(nil)
		close(disk.gate)
		words := fmt.Sprint(l.words())
		shown := rest(l.shown)
		a := &app{stderr: create(t, t.TempDir(), "err")}
		a.endLive(l)
		if said := contents(t, a.stderr.(*os.File)); a.code != exitGaps || !strings.Contains(said, "--record: the capture has gaps: ") {
			t.Errorf("exit %d, %s", a.code, said)
		}
		if !strings.Contains(words, "GAP ") || !strings.Contains(words, "NOT SHOWN ") {
			t.Error(words)
		}
		for name, recs := range map[string][]capture.Record{"shown": shown, "recorded": again(t, disk.file.String())} {
			lost := wantWhole(t, name, recs, 2*pieces*size)
			if lost == 0 || len(holesIn(recs)) != 2*exchanges {
				t.Errorf("%s: %d bytes are missing, on %d sides", name, lost, len(holesIn(recs)))
			}
		}
	})
}

type sideOf struct {
	exchange int
	side     capture.Side
}

// holesIn are the sides that lack something.
func holesIn(recs []capture.Record) map[sideOf]int64 {
	lost := map[sideOf]int64{}
	for _, r := range recs {
		if r.Lost > 0 {
			lost[sideOf{r.Exchange, r.Side}] += r.Lost
		}
	}
	return lost
}

// wantWhole checks that each side that records tell of is made of pieces of so
// many bytes, but for the holes; it returns how many bytes are missing.
func wantWhole(t *testing.T, name string, recs []capture.Record, size int) (lost int64) {
	t.Helper()
	at, ended := map[sideOf]int{}, map[int]bool{}
	for _, r := range recs {
		s := sideOf{r.Exchange, r.Side}
		if ended[r.Exchange] {
			t.Fatalf("%s: %d goes on behind its end", name, r.Exchange)
		}
		at[s] += int(r.Lost)
		lost += r.Lost
		if r.Lost > 0 && !strings.Contains(r.Note, fmt.Sprintf("gap: %d bytes of exchange %d ", r.Lost, r.Exchange)) {
			t.Errorf("%s: %d bytes of %v are lost, and the note is %s", name, r.Lost, s, r.Note)
		}
		if want := piece(at[s], len(r.Data)); !bytes.Equal(want, r.Data) {
			t.Fatalf("%s: %v at %d: other bytes", name, s, at[s])
		}
		at[s] += len(r.Data)
		ended[r.Exchange] = r.End != ""
	}
	for s, n := range at {
		if n != size || !ended[s.exchange] {
			t.Errorf("%s: %d bytes of %d of %v, ended: %t", name, n, size, s, ended[s.exchange])
		}
	}
	return lost
}

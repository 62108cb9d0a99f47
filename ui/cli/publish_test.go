//go:build linux && !nohub

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/capture/redact"
)

// publishesTo returns an app that publishes a followed source.
func publishesTo(t *testing.T, url, spool, limit string) (a *app, so func() outcome) {
	t.Helper()
	a, so = appOf(t)
	a.sends = publishFlags{to: url, host: "web1", agent: "log", spool: spool, limit: limit, linger: time.Millisecond, noIndex: true}
	return a, so
}

// noted returns the reported problems, each with the second of its report. The input has one problem per second.
func noted(troubles ...string) (all string) {
	var c troubleNotice
	for second, trouble := range troubles {
		if c.isDue(time.Unix(int64(second), 0), trouble) {
			all += fmt.Sprintf("%d%s ", second, trouble)
		}
	}
	return all
}

// TestChange checks that a change is reported once, and only after it has lasted for some time. Changes back and
// forth must be reported less and less often.
func TestChange(t *testing.T) {
	seconds := func(n int, troubles ...string) (all []string) {
		for i := range n {
			all = append(all, troubles[i%len(troubles)])
		}
		return all
	}
	if got := noted(append(seconds(3, "a"), seconds(40, "")...)...); got != "2a 12 " {
		t.Error(got)
	}
	if got := noted(append(seconds(30, "a"), seconds(30, "b")...)...); got != "2a 32b " {
		t.Error(got)
	}
	if got := noted(seconds(1000, "", "a")...); got != "" {
		t.Error(got)
	}
	if got := noted(seconds(100_000, "", "", "", "a", "a", "a")...); strings.Count(got, " ") > 180 || strings.Count(got, " ") < 100 {
		t.Errorf("%d notes in 28 hours: %s", strings.Count(got, " "), got)
	}
	if got := noted(append(append(seconds(20, "a"), seconds(1000, "")...), seconds(20, "a")...)...); got != "2a 22 1022a " {
		t.Error(got)
	}
}

// TestPublishNotes checks the notes about publishing. During the run, the reason why the hub receives no data must be
// reported once. At the end, the waiting data of this run and of earlier runs must be reported.
func TestPublishNotes(t *testing.T) {
	spool := t.TempDir()
	a, so := publishesTo(t, "nats://"+nobodyAt(t), spool, "1MB")
	p, err := a.startPublishing(&a.sends, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p.noteChanges(now)
	p.notes.printPending(a)
	if got := so(); got.stderr != "" {
		t.Errorf("it is told before it has lasted: %s", got.stderr)
	}
	lines := 0
	for n := range 400 {
		for _, c := range newRedactor().Take(capture.Record{Exchange: 1, Data: []byte(fmt.Sprintf("%01000d", n))}) {
			p.Put(c)
			lines++
		}
	}
	for p.State().Records+p.State().Lost < int64(lines) {
		time.Sleep(time.Millisecond)
	}
	for i := range 100 {
		p.noteChanges(now.Add(time.Duration(i) * time.Second))
		p.notes.printPending(a)
	}
	if got := so().stderr; strings.Count(got, "the traffic doesn't reach the hub: the hub can't be reached") != 1 || strings.Count(got, "\n") > 2 {
		t.Error(got)
	}
	a.sending = p
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := p.finishSending(ctx, a); err != nil {
		t.Error(err)
	}
	if got := so().stderr; !strings.Contains(got, " are waiting in "+p.Path+"; the next run sends this data: the hub can't be reached") || strings.Contains(got, "earlier runs") {
		t.Error(got)
	}
	next, err := a.startPublishing(&a.sends, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := next.finishSending(ctx, a); err != nil {
		t.Error(err)
	}
	if got := so().stderr; !strings.Contains(got, " from earlier runs are waiting in "+filepath.Dir(p.Path)+"; the next run sends this data: the hub can't be reached") {
		t.Error(got)
	}
}

// TestPublishLoss checks that lost data is reported once, as soon as the loss is known. The hub's return must be
// reported too.
func TestPublishLoss(t *testing.T) {
	addr := nobodyAt(t)
	a, so := publishesTo(t, "nats://"+addr, t.TempDir(), "1MB")
	p, err := a.startPublishing(&a.sends, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2000 {
		for _, c := range redact.KeepAll().Take(capture.Record{Exchange: 1, Data: fmt.Appendf(nil, "%01000d", n)}) {
			p.Put(c)
		}
	}
	for p.State().Records < 2000 {
		time.Sleep(time.Millisecond)
	}
	now := time.Now()
	for i := range 100 {
		p.noteChanges(now.Add(time.Duration(i) * time.Second))
	}
	aHub(t, addr)
	for p.Progress().Spooled > 0 || p.Progress().Trouble != "" {
		time.Sleep(time.Millisecond)
	}
	for i := range 100 {
		p.noteChanges(now.Add(time.Duration(100+i) * time.Second))
	}
	p.notes.printPending(a)
	const lost = "--publish: data is lost from here on: the bytes never reached the hub: the spool was full\n"
	if got := so().stderr; strings.Count(got, lost) != 1 || strings.Count(got, "--publish: the traffic reaches the hub again\n") != 1 || strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := p.finishSending(ctx, a); err == nil || !strings.Contains(err.Error(), "of the capture never reached the hub: the spool was full") {
		t.Error(err)
	}
}

// TestFollowedWaits checks that a file larger than the spool's limit is read only as fast as the hub accepts its
// data. No data may be lost.
func TestFollowedWaits(t *testing.T) {
	addr := nobodyAt(t)
	a, so := publishesTo(t, "nats://"+addr, t.TempDir(), "1MB")
	const records = 3000
	read := make(chan int, records)
	src := func(yield func(capture.Record, error) bool) {
		for n := range records {
			read <- n
			if !yield(capture.Record{Exchange: 1, Data: []byte(strings.Repeat("word ", 200))}, nil) {
				return
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	from, end, err := a.publishFollowed(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	over := readUntilFull(a, from)
	if n := len(read); n == records {
		t.Error("all of it is read while nobody takes it")
	}
	aHub(t, addr)
	<-over
	cancel()
	end()
	if got := so(); got.code != 0 || strings.Contains(got.stderr, "lost") || strings.Contains(got.stderr, "never reached") {
		t.Error(got)
	}
}

// readUntilFull begins to read a published source, and returns when the spool has no more room. The channel over is
// closed when everything has been read.
func readUntilFull(a *app, from capture.Source) (over chan struct{}) {
	over = make(chan struct{})
	go func() {
		defer close(over)
		for range from {
		}
	}()
	for !a.sending.isFull() {
		time.Sleep(time.Millisecond)
	}
	return over
}

// TestFollowedStops checks that a source that waits for the hub can be stopped.
func TestFollowedStops(t *testing.T) {
	a, so := publishesTo(t, "nats://"+nobodyAt(t), t.TempDir(), "1MB")
	ctx, cancel := context.WithCancel(context.Background())
	from, end, err := a.publishFollowed(ctx, func(yield func(capture.Record, error) bool) {
		for ctx.Err() == nil && yield(capture.Record{Exchange: 1, Data: []byte("word word ")}, nil) {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	over := readUntilFull(a, from)
	cancel()
	<-over
	end()
	if got := so(); got.code != 0 || !strings.Contains(got.stderr, "the next run sends this data") {
		t.Error(got)
	}
}

// TestFollowedTail checks that data from a followed source is published even if it arrives after the cancellation but
// before the end of the source. This includes the data that the redactor holds back.
func TestFollowedTail(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	spool := t.TempDir()
	a, so := publishesTo(t, url, spool, "1MB")
	ctx, cancel := context.WithCancel(context.Background())
	from, end, err := a.publishFollowed(ctx, func(yield func(capture.Record, error) bool) {
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // the followed source ends with a delay
		yield(capture.Record{Exchange: 1, Data: []byte("the last word sk-ant-api03-")}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range from {
		}
	}()
	for !a.sending.feed.Load() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	end()
	text := ""
	_ = filepath.WalkDir(spool, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == record.Extension {
			b, _ := os.ReadFile(path)
			text += string(b)
		}
		return nil
	})
	if got := so(); got.code != 0 || got.stderr != "" || !strings.Contains(text, "the last word") || !strings.Contains(text, "sk-ant-api03-") {
		t.Errorf("%+v\n%s", got, text)
	}
}

// TestPublishedGaps checks that a run whose published data has gaps exits with 3, regardless of how it ended. Gaps
// occur if too much data arrives, or if data could not be written.
func TestPublishedGaps(t *testing.T) {
	a, so := publishesTo(t, "nats://"+nobodyAt(t), t.TempDir(), "1MB")
	l := newLiveInput(newRedactor(), time.Now())
	l.arrived = capture.NewQueue(record.QueueRules(5_000, "were not recorded: the queue is full"))
	var err error
	if l.sent, err = a.startPublishing(&a.sends, l.began, "test"); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		l.addRecord(capture.Record{Exchange: 1, Data: piece(n*1000, 1000)})
	}
	a.code = 143
	a.endLive(l)
	if got := so(); got.code != exitGaps || !strings.Contains(got.stderr, "--publish: the capture has gaps: ") || strings.Contains(got.stderr, "--record") {
		t.Error(got)
	}

	a, so = publishesTo(t, "nats://"+nobodyAt(t), t.TempDir(), "1MB")
	from, end, err := a.publishFollowed(context.Background(), func(yield func(capture.Record, error) bool) {
		yield(capture.Record{Exchange: 0, Data: []byte("no capture has such a record")}, nil)
		yield(capture.Record{}, errors.New("it ends"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for range from {
	}
	a.code = 143
	end()
	if got := so(); got.code != exitGaps || !strings.Contains(got.stderr, "the capture has gaps") {
		t.Error(got)
	}
}

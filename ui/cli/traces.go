package cli

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/backoff"
	"toolscope/capture/queue"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/otlp"
	"toolscope/ui/panes"
	"toolscope/ui/report"
)

// traceFlags say which collector is told of turns, and how much.
type traceFlags struct {
	to, key string
	content bool
}

func (a *app) traceFlags(cmd *cobra.Command, f *traceFlags, table string) {
	to := cmd.Flags()
	to.StringVar(&f.to, "otlp", "", "tell the collector at `URL`, as http://collector:4318, of each turn and its calls as spans")
	to.BoolVar(&f.content, "otlp-content", false, "with --otlp: what models and tools said goes along, without secrets")
	to.StringVar(&f.key, "otlp-key", "", "with --otlp: the key of the hashes of arguments, in the file `@FILE`; otherwise one that nobody knows")
	markSettings(to, table, "otlp", "otlp-content")
	markSecretSetting(to, "", "otlp-key")
}

// traceSender is what tells a collector of turns. A nil one tells nobody.
type traceSender struct {
	report.Tracer
	*otlp.Sender
	machine  stream.Machine // that turns are of, where their exchanges do not say
	to       string
	redactor *redact.Redactor               // of contents
	in       *screenInbox                   // of what comes from the network; nil where somebody else reads
	boxes    []*queue.Queue[capture.Record] // what they had no room for is in no span
	done     chan struct{}
	patient  bool            // what is read can wait for the collector
	until    <-chan struct{} // that is closed; nil for as long as it takes
	reported atomic.Bool     // what the collector does not have
	holds    atomic.Bool     // of what follow read a turn that has ended waits to be told
}

// startTracing begins to tell a collector, nil where nobody asks for that. say is told when that fails; it
// may be nil.
func (a *app) startTracing(f *traceFlags, of stream.Machine, say func(string)) (*traceSender, error) {
	if f == nil || f.to == "" {
		if f != nil && (f.content || f.key != "") {
			return nil, usageErrorf("--otlp-content and --otlp-key are for --otlp URL")
		}
		return nil, nil
	}
	t := &traceSender{machine: of, to: safeAddress(f.to), redactor: newRedactor(), done: make(chan struct{})}
	t.Content, t.Clean, t.Now = f.content, t.redactor.Text, time.Now
	var err error
	if t.Key, err = a.traceKey(f.key); err != nil {
		return nil, err
	}
	t.Sender, err = otlp.New(otlp.Options{Endpoint: f.to, Getenv: os.Getenv, Version: versionText(), Report: say})
	if err != nil {
		return nil, usageErrorf("--otlp: %w", err)
	}
	return t, nil
}

// minKeyBytes is how many bytes a key has at least.
const minKeyBytes = 16

// traceKey is the key of the hashes of arguments: the bytes of a file, or of a variable, or one that
// nobody knows.
func (a *app) traceKey(text string) (key []byte, err error) {
	if text == "" {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		return key, nil
	}
	key = []byte(text)
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		if key, err = os.ReadFile(expandHome(path)); err != nil {
			return nil, fmt.Errorf("--otlp-key: %w", err)
		}
	} else if _, elsewhere := a.origin["otlp-key"]; !elsewhere {
		return nil, usageErrorf("--otlp-key: the command line is no place for it: all programs can read that\nwanted is @FILE, or the variable TOOLSCOPE_OTLP_KEY")
	}
	if key = bytes.TrimSpace(key); len(key) < minKeyBytes {
		return nil, usageErrorf("--otlp-key: the key is too short: what is hashed could be guessed\nwanted are at least %s", count.Of(minKeyBytes, "byte"))
	}
	return key, nil
}

// traceNotices says that the collector does not take what it is told, less and less often where that goes to
// and fro. The screen has that among its own words, and is not written over.
func (a *app) traceNotices(to string) func(string) {
	often := backoff.Backoff{First: firstPause, Max: maxPause}
	return func(why string) {
		if !often.Allow(time.Now()) {
			return
		}
		text := fmt.Sprintf("--otlp %s: %s; what is not taken is tried again, or counted", safeAddress(to), why)
		if a.drawing.Load() {
			a.journal.Note(time.Now(), text)
			return
		}
		a.printNote("%s", text)
	}
}

func tracesTo(f *traceFlags) string {
	if f == nil {
		return ""
	}
	return f.to
}

// thisMachine is the machine we run on, under the names that it is published by.
func thisMachine(f *publishFlags) (m stream.Machine) {
	if f != nil {
		m = stream.Machine{Host: f.host, Agent: f.agent}
	}
	if m.Host == "" {
		m.Host, _ = os.Hostname()
	}
	return m
}

// tracedTurn is a turn with what its trace needs.
func tracedTurn(v *providers.View, t *stream.Turn, file string) *report.TracedTurn {
	of := &report.TracedTurn{Turn: t, File: file, RequestAt: stream.NoTime, LastBytesAt: stream.NoTime}
	of.Clock = func(at time.Duration) time.Time {
		clock, _ := v.WallClock(t.Exchange, at) // zero where nobody knows
		return clock
	}
	of.EventAt = func(event int) time.Duration { return v.Event(event).At }
	x := v.Exchange(t.Exchange)
	if x == nil {
		return of
	}
	of.URL, of.AnsweredHere, of.RequestedModel, of.RequestAt, of.TurnOfExchange = x.Head.URL, x.AnsweredByToolscope(), v.RequestedModel(t.Exchange), x.RequestStart(t), x.TurnIndex(t)
	if n := x.Response.Records(); n > 0 {
		_, of.LastBytesAt = x.Response.Record(n - 1)
	}
	if !of.AnsweredHere { // nobody else said 502
		of.Status = x.Head.Status
	}
	method := strings.ToLower(x.Path()[strings.LastIndexByte(x.Path(), '/')+1:]) // as in converse-stream
	of.Streaming = protocol.Raw(x.RequestOf(t)).Get("stream").IsTrue() || strings.Contains(method, "stream")
	if x.Head.Origin != nil {
		of.Machine = *x.Head.Origin
	}
	if parent := x.RequestHeader["Traceparent"]; len(parent) == 1 {
		of.TraceParent, of.TraceState = parent[0], strings.Join(x.RequestHeader["Tracestate"], ",")
	}
	return of
}

// hasSpan reports whether a collector is told of a turn: not where no model was asked, or toolscope itself
// refused. Of a request that asks nothing, a model answered only where its answer says so.
func hasSpan(x *providers.Exchange, of *stream.Turn) bool {
	if x != nil && (x.Refused() != "" || x.AsksNothing() && (x.Head.Status == 0 || x.Head.Status >= 400)) {
		return false
	}
	return isRecognised(x, of) && !panes.IsPlain(of)
}

// addTurn tells of a turn that has ended, or of which nothing more comes.
func (t *traceSender) addTurn(v *providers.View, file string, of *stream.Turn) {
	x := v.Exchange(of.Exchange)
	if t == nil || !hasSpan(x, of) {
		return
	}
	about := tracedTurn(v, of, file)
	if about.Machine == (stream.Machine{}) {
		about.Machine = t.machine
	}
	if t.Content && x != nil { // of a file that was not redacted
		t.redactor.Header(x.RequestHeader)
		t.redactor.URL(x.Head.URL)
	}
	if t.patient {
		t.Await(t.until)
	}
	t.Put(t.Spans(about))
}

func (t *traceSender) sentBack([]sentBackCall) {}
func (t *traceSender) flush() error            { return nil }

// watchNetwork tells of the turns of what comes from the network. What it was too slow for is missing in
// them, and they say so.
func (t *traceSender) watchNetwork() {
	t.in = liveInbox()
	t.boxes = append(t.boxes, t.in.Queue)
	go func() {
		defer close(t.done)
		in := new(providers.Inspector)
		q := newTurnPrinter(in, "", t)
		for r := range t.in.All {
			in.Write(coreRecord(r))
			_ = q.printEnded(false)
			in.MakeRoom()
		}
		in.Close()
		_ = q.printEnded(true)
	}()
}

// followSource tells of the turns of a source until the context ends.
func (t *traceSender) followSource(src capture.Source) {
	defer close(t.done)
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "", t)
	_ = inspectSource(src, in, func() bool {
		err := q.printEnded(false)
		t.holds.Store(len(q.ended) > 0)
		return err == nil
	})
}

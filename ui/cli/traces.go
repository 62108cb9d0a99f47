package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui"
	"toolscope/ui/otlp"
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
	settle(to, table, "otlp", "otlp-content")
	settleSecret(to, table, "otlp-key")
}

// tracing is what tells a collector of turns. A nil one tells nobody.
type tracing struct {
	report.Tracer
	*otlp.Sender
	machine stream.Machine // that turns are of, where their exchanges do not say
	to      string
	in      *inbox // of what comes from the network; nil where somebody else reads
	done    chan struct{}
	patient bool        // what is read can wait
	holds   atomic.Bool // of what follow read a turn that has ended waits to be told
}

// tellTime is how long the collector may take for what is left when the program ends.
const tellTime = 4 * time.Second

// traces begins to tell a collector, nil where nobody asks for that. say is told when that fails; it
// may be nil.
func (a *app) traces(f *traceFlags, of stream.Machine, say func(string)) (*tracing, error) {
	if f == nil || f.to == "" {
		if f != nil && (f.content || f.key != "") {
			return nil, usagef("--otlp-content and --otlp-key are for --otlp URL")
		}
		return nil, nil
	}
	t := &tracing{machine: of, to: safeAddress(f.to), done: make(chan struct{})}
	t.Content, t.Clean, t.Now, t.Key = f.content, newRedactor().Text, time.Now, make([]byte, 32)
	_, _ = rand.Read(t.Key) // it never fails
	if f.key != "" {
		if _, elsewhere := a.origin["otlp-key"]; !elsewhere && !strings.HasPrefix(f.key, "@") {
			return nil, usagef("--otlp-key: the command line is no place for it: all programs can read that\nwanted is @FILE, or the variable TOOLSCOPE_OTLP_KEY")
		}
		key, err := textOrFile(f.key)
		if err != nil {
			return nil, fmt.Errorf("--otlp-key: %w", err)
		}
		if t.Key = []byte(strings.TrimSpace(key)); len(t.Key) < leastKey {
			return nil, usagef("--otlp-key: the key is too short: what is hashed could be guessed\nwanted are at least %s", count.Of(leastKey, "sign"))
		}
	}
	var err error
	t.Sender, err = otlp.New(otlp.Options{Endpoint: f.to, Version: version(), Say: say})
	if err != nil {
		return nil, usagef("--otlp: %w", err)
	}
	return t, nil
}

// leastKey is how long a key is at least.
const leastKey = 16

// sayTraces says that the collector does not take what it is told.
func (a *app) sayTraces(to string) func(string) {
	return func(why string) {
		a.notef("--otlp %s: %s; what is not taken is tried again, or counted", safeAddress(to), why)
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

// traced is a turn with what its trace needs.
func traced(v *providers.View, t *stream.Turn, file string) *report.Traced {
	of := &report.Traced{Turn: t, File: file, At: stream.NoTime}
	of.Clock = func(at time.Duration) time.Time {
		clock, _ := v.Clock(t.Exchange, at) // zero where nobody knows
		return clock
	}
	of.When = func(event int) time.Duration { return v.Event(event).At }
	x := v.Exchange(t.Exchange)
	if x == nil {
		return of
	}
	of.URL, of.Status, of.Asked, of.At, of.Nth = x.Head.URL, x.Head.Status, v.AskedModel(t.Exchange), x.AskedAt(t), x.Nth(t)
	if x.Head.Origin != nil {
		of.Machine = *x.Head.Origin
	}
	if parent := x.AskHeader["Traceparent"]; len(parent) == 1 {
		of.Parent = parent[0]
	}
	return of
}

// turn tells of a turn that has ended, or of which nothing more comes.
func (t *tracing) turn(v *providers.View, file string, of *stream.Turn) {
	if t == nil || !recognised(v.Exchange(of.Exchange), of) {
		return
	}
	about := traced(v, of, file)
	if about.Machine == (stream.Machine{}) {
		about.Machine = t.machine
	}
	if t.patient {
		t.Await()
	}
	t.Put(t.Spans(about))
}

func (t *tracing) sentBack([]returned) {}
func (t *tracing) flush() error        { return nil }

// watch tells of the turns of what comes from the network. What it was too slow for is missing in
// them, and they say so.
func (t *tracing) watch() {
	t.in = liveInbox()
	go func() {
		defer close(t.done)
		in := new(providers.Inspector)
		q := newQueue(in, "", t)
		for r := range t.in.All {
			in.Write(coreRecord(r))
			_ = q.print(false)
			in.MakeRoom()
		}
		in.Close()
		_ = q.print(true)
	}()
}

// follow tells of the turns of a source until the context ends.
func (t *tracing) follow(src capture.Source) {
	defer close(t.done)
	in := new(providers.Inspector)
	q := newQueue(in, "", t)
	_ = inspect(src, in, func() bool {
		err := q.print(false)
		t.holds.Store(len(q.ended) > 0)
		return err == nil
	})
}

// end has the collector be told of what is left, and says what it does not have.
func (t *tracing) end(a *app) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	if t.in != nil {
		t.in.Close(nil)
		<-t.done
	}
	t.Close(ctx)
	s := t.Sender.State()
	if s.Missing() == 0 {
		return
	}
	var lost []string
	for _, n := range []struct {
		n    int64
		what string
	}{{s.Refused, "refused"}, {s.Dropped, "left out, as there was no room"}, {s.Left, "not acknowledged"}} {
		if n.n > 0 {
			lost = append(lost, fmt.Sprintf("%s %s", count.Of(int(n.n), "span"), n.what))
		}
	}
	text := fmt.Sprintf("--otlp %s: %s; %d taken", t.to, strings.Join(lost, ", "), s.Taken)
	if s.Trouble != "" {
		text += ": " + s.Trouble
	}
	a.notef("%s", text)
	a.code = max(a.code, exitGaps)
}

// words are how telling is going.
func (t *tracing) words() (words []ui.Word) {
	if t == nil {
		return nil
	}
	s := t.Sender.State()
	if n := s.Missing(); n > 0 {
		words = append(words, ui.Word{Text: "NOT TRACED " + count.Of(int(n), "span"), Alarm: true})
	}
	text := "otlp " + t.to
	if s.Trouble != "" {
		text += ": " + s.Trouble
	}
	if s.Waiting > 0 && s.Trouble != "" {
		text += ", " + count.Of(int(s.Waiting), "span") + " wait"
	}
	return append(words, ui.Word{Text: text})
}

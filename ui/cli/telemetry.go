package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/proxy"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/ui"
	"toolscope/ui/display"
	"toolscope/ui/otlp"
	"toolscope/ui/present"
	"toolscope/ui/report"
	"toolscope/ui/stats"
)

// traceFlags are the flags for sending turns to a collector as spans.
type traceFlags struct {
	to, key string
	content bool
}

func (lv *liveSession) traceFlags(cmd *cobra.Command, f *traceFlags) {
	to := cmd.Flags()
	to.StringVar(&f.to, "otlp", "", "")
	to.BoolVar(&f.content, "otlp-content", false, "")
	to.StringVar(&f.key, "otlp-key", "", "")
}

// traceSender sends turns to a collector as spans. A nil traceSender sends nothing.
type traceSender struct {
	report.Tracer
	*otlp.Sender
	machine  stream.Machine // machine of turns whose exchanges don't name a machine
	to       string
	redactor *redact.Redactor                 // removes secrets from content
	in       *screenInbox                     // records from the network; nil if another reader passes on turns
	boxes    []*capture.Queue[capture.Record] // queues whose losses are not in any span
	done     chan struct{}
	patient  bool            // reading the source may wait until the collector accepts spans
	until    <-chan struct{} // ends that wait; nil for no limit
	reported atomic.Bool     // printMissing has been called
	holds    atomic.Bool     // some turns of followSource have ended but have not been sent yet
}

// startTracing starts sending to a collector. It returns nil if --otlp is not set. The function say receives
// failures; it may be nil.
func (lv *liveSession) startTracing(f *traceFlags, of stream.Machine, say func(string)) (*traceSender, error) {
	if f == nil || f.to == "" {
		if f != nil && (f.content || f.key != "") {
			return nil, usageErrorf("--otlp-content and --otlp-key: need --otlp URL")
		}
		return nil, nil
	}
	t := &traceSender{machine: of, to: safeAddress(f.to), redactor: newRedactor(), done: make(chan struct{})}
	t.Content, t.Clean, t.Now = f.content, t.redactor.Text, time.Now
	var err error
	if t.Key, err = lv.traceKey(f.key); err != nil {
		return nil, err
	}
	t.Sender, err = otlp.New(otlp.Options{Endpoint: f.to, Getenv: os.Getenv, Version: versionText(), Report: say})
	if err != nil {
		return nil, usageErrorf("--otlp: %w", err)
	}
	return t, nil
}

// minKeyBytes is the minimum length of a key.
const minKeyBytes = 16

// traceKey returns the key for the hashes of arguments. The key comes from a file or a variable, or is random.
func (lv *liveSession) traceKey(text string) (key []byte, err error) {
	if text == "" {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		return key, nil
	}
	key = []byte(text)
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		if key, err = os.ReadFile(expandHome(path)); err != nil {
			return nil, fmt.Errorf("--otlp-key: %w", err)
		}
	} else if _, elsewhere := lv.app.origin["otlp-key"]; !elsewhere {
		return nil, usageErrorf("--otlp-key: not allowed on the command line, which all programs can read\nuse @FILE, or the variable TOOLSCOPE_OTLP_KEY")
	}
	if key = bytes.TrimSpace(key); len(key) < minKeyBytes {
		return nil, usageErrorf("--otlp-key: the key is too short, so hashed values could be guessed\nuse at least %s", count.Of(minKeyBytes, "byte"))
	}
	return key, nil
}

// traceNotices returns a function that reports failures of the collector. Repeated failures are reported less
// and less often. While the screen is open, they are written only to the journal, because the screen itself
// shows them.
func (lv *liveSession) traceNotices(to string) func(string) {
	often := capture.Backoff{First: firstPause, Max: maxPause}
	return func(why string) {
		if !often.Allow(time.Now()) {
			return
		}
		text := fmt.Sprintf("--otlp %s: %s; spans that the collector doesn't accept are sent again or counted as missing", safeAddress(to), why)
		if lv.app.drawing.Load() {
			lv.app.journal.Note(time.Now(), text)
			return
		}
		lv.app.printNote("%s", text)
	}
}

// thisMachine returns this machine with the names under which it publishes.
func thisMachine(f *publishFlags) (m stream.Machine) {
	if f != nil {
		m = stream.Machine{Host: f.host, Agent: f.agent}
	}
	if m.Host == "" {
		m.Host, _ = os.Hostname()
	}
	return m
}

// tracedTurn returns a turn with the facts that its spans need.
func tracedTurn(v *providers.View, t *stream.Turn, file string) *report.TracedTurn {
	of := &report.TracedTurn{Turn: t, File: file, RequestAt: stream.NoTime, LastBytesAt: stream.NoTime}
	of.Clock = func(at time.Duration) time.Time {
		clock, _ := v.WallClock(t.Exchange, at) // zero if unknown
		return clock
	}
	of.EventAt = func(event int) time.Duration { return v.Event(event).At }
	x := v.Exchange(t.Exchange)
	if x == nil {
		return of
	}
	of.URL, of.AnsweredHere, of.RequestedModel, of.RequestAt, of.TurnOfExchange = x.Head.URL, x.AnsweredHere, v.RequestedModel(t.Exchange), x.RequestStart(t), x.TurnIndex(t)
	of.Provider = providers.NameProvider(x.Head.URL, t.Protocol)
	if n := x.Response.Records(); n > 0 {
		_, of.LastBytesAt = x.Response.Record(n - 1)
	}
	if !of.AnsweredHere { // a response from toolscope itself does not have the provider's status
		of.Status = x.Head.Status
	}
	method := strings.ToLower(x.Path()[strings.LastIndexByte(x.Path(), '/')+1:]) // e.g. converse-stream
	of.Streaming = json.Value(x.RequestOf(t)).Get("stream").IsTrue() || strings.Contains(method, "stream")
	if x.Head.Origin != nil {
		of.Machine = *x.Head.Origin
	}
	if parent := x.RequestHeader["Traceparent"]; len(parent) == 1 {
		of.TraceParent, of.TraceState = parent[0], strings.Join(x.RequestHeader["Tracestate"], ",")
	}
	return of
}

// hasSpan reports whether a turn becomes a span. The request must have gone to a model, and toolscope must not have
// refused it. If the request contains no input for a model, only the response can show that it went to a model.
func hasSpan(x *providers.Exchange, of *stream.Turn) bool {
	if x != nil && (x.Refused() != "" || x.AsksNothing() && (x.Head.Status == 0 || x.Head.Status >= 400)) {
		return false
	}
	return isRecognised(x, of) && !present.IsPlain(of)
}

// addTurn sends a turn that has ended. A turn also counts as ended once its source has ended.
func (t *traceSender) addTurn(v *providers.View, file string, of *stream.Turn) {
	x := v.Exchange(of.Exchange)
	if t == nil || !hasSpan(x, of) {
		return
	}
	about := tracedTurn(v, of, file)
	if about.Machine == (stream.Machine{}) {
		about.Machine = t.machine
	}
	if t.Content && x != nil { // headers and URLs may still contain secrets
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

// watchNetwork sends the turns in the network's records. If it is too slow, records are dropped, and the turns have
// marked gaps.
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

// followSource sends the turns of a source until it ends.
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

// finishTime is the maximum time for sending the remaining spans when the program ends. It is also the
// maximum time for converting the remaining turns to spans.
const finishTime = 4 * time.Second

// finishAndReport sends the remaining spans and reports the spans that the collector did not get.
func (t *traceSender) finishAndReport(a *app) {
	if t == nil {
		return
	}
	t.finishSending()
	t.printMissing(a)
}

// finishSending sends the remaining spans. If reading the source may wait, finishSending continues as long as the
// collector accepts spans.
func (t *traceSender) finishSending() {
	if t == nil {
		return
	}
	if t.in != nil {
		t.in.Close(nil)
		select {
		case <-t.done:
		case <-time.After(finishTime):
		}
	}
	if t.patient {
		t.Finish()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	t.Close(ctx)
}

// printMissing reports the spans that the collector did not get, but only once.
func (t *traceSender) printMissing(a *app) {
	if t == nil || !t.reported.CompareAndSwap(false, true) {
		return
	}
	s := t.Sender.State()
	var lost []string
	for _, n := range []struct {
		n    int64
		what string
	}{{s.Refused, "refused"}, {s.Dropped, "dropped because the queue was full"}, {s.Left + s.Waiting, "not acknowledged"}} {
		if n.n > 0 {
			lost = append(lost, fmt.Sprintf("%s %s", count.Of(int(n.n), "span"), n.what))
		}
	}
	if len(lost) > 0 {
		text := fmt.Sprintf("--otlp %s: %s; %d accepted", t.to, strings.Join(lost, ", "), s.Taken)
		if s.Trouble != "" {
			text += ": " + s.Trouble
		}
		a.printNote("%s", text)
		a.code = exitGaps
	} else if s.Trouble != "" {
		a.printNote("--otlp %s: %s", t.to, s.Trouble)
	}
	if missed := t.missedText(); missed != "" {
		a.printNote("--otlp: the spans lack %s: building the spans was too slow", missed)
		a.code = exitGaps
	}
	if limit := t.redactor.Limit(); t.Content && limit != "" {
		a.printNote("--otlp-content: secrets may have been sent: %s", limit)
		a.code = exitGaps
	}
}

// missedText describes the data that is not in any span. It returns "" if there is none.
func (t *traceSender) missedText() string {
	var s capture.QueueState
	for _, box := range t.boxes {
		of := box.State()
		s.Lost += of.Lost
		s.Dropped += of.Dropped
	}
	if t.in != nil {
		s.Dropped += int64(t.in.State().Waiting) // the program ended before these records were read
	}
	switch {
	case s.Lost > 0:
		return sizeText(s.Lost)
	case s.Dropped > 0:
		return count.Of(int(s.Dropped), "record")
	}
	return ""
}

// statusNotes returns notes about the state of sending.
func (t *traceSender) statusNotes() (words []ui.StatusNote) {
	if t == nil {
		return nil
	}
	s := t.Sender.State()
	if n := s.Missing(); n > 0 {
		words = append(words, ui.StatusNote{Text: "NOT TRACED " + count.Of(int(n), "span"), Alarm: true})
	}
	if t.in != nil {
		if lost := t.in.State(); lost.Lost > 0 {
			words = append(words, ui.StatusNote{Text: "NOT TRACED " + sizeText(lost.Lost), Alarm: true})
		}
	}
	text := "otlp " + t.to
	if s.Trouble != "" {
		text += ": " + s.Trouble
	}
	if s.Waiting > 0 && s.Trouble != "" {
		text += ", " + count.Of(int(s.Waiting), "span") + " waiting"
	}
	return append(words, ui.StatusNote{Text: text})
}

// metricsServer serves metrics about live traffic in Prometheus' text format.
type metricsServer struct {
	*stats.Metrics
	prices *price.Table
	in     *screenInbox // records from the network; nil if the source is a hub
	server *http.Server
	done   chan struct{} // closed when no more turns can be added
}

// startMetrics starts serving metrics at an address on this machine. It returns nil if the address is "". Other
// machines can't read the metrics, which contain costs and the names of models and tools.
func (a *app) startMetrics(address string, prices *price.Table) (*metricsServer, error) {
	if address == "" {
		return nil, nil
	}
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usageErrorf("--metrics %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:9464", address, err)
	}
	if !addr.IP.IsLoopback() {
		return nil, usageErrorf("--metrics %s: other machines could read the metrics\nuse 127.0.0.1:%d for this machine only", address, addr.Port)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w\nuse --metrics %s for a free port", address, err, net.JoinHostPort(addr.IP.String(), "0"))
	}
	m := &metricsServer{Metrics: stats.NewMetrics(versionText()), prices: prices, in: liveInbox(), done: make(chan struct{})}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /metrics", m.serveText)
	rules := proxy.GuardRules{Purpose: "this server serves only metrics"}
	m.server = &http.Server{
		Handler:           rules.Handler(pages, "toolscope --metrics", func(*proxy.Refusal) {}), // the response itself states the reason
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = m.server.Serve(listener) }() // returns an error only after the server is closed
	a.printNote("metrics: http://%s/metrics", listener.Addr())
	return m, nil
}

// serveText serves the current metrics.
func (m *metricsServer) serveText(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	var text strings.Builder
	for _, line := range m.Lines() {
		text.WriteString(display.Clean(line).String() + "\n")
	}
	_, _ = io.WriteString(w, text.String())
}

// countSource counts the turns of a source until it ends.
func (m *metricsServer) countSource(src capture.Source) {
	defer close(m.done)
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "", &statsCollector{set: m, prices: m.prices})
	_ = inspectSource(src, in, func() bool { return q.printEnded(false) == nil }) // the source's reader reports its errors
	_ = q.printEnded(true)
}

// countNetwork counts the turns in the records that are added to m.in.
func (m *metricsServer) countNetwork() {
	m.countSource(func(yield func(capture.Record, error) bool) {
		for r := range m.in.All {
			if !yield(r, nil) {
				return
			}
		}
	})
}

// close stops the server.
func (m *metricsServer) close() {
	if m == nil {
		return
	}
	m.server.Close()
	m.in.Close(nil)
}

// watchHub counts the turns that a hub receives after the given time. The returned function stops the count.
func (m *metricsServer) watchHub(hub *fleet.Hub, began time.Time) (end func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	view, err := hub.Watch(ctx, began)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	go m.countSource(view.Source(ctx))
	return func() {
		cancel()
		<-m.done
	}, nil
}

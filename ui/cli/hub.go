package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
)

const hubHelp = `A hub collects traffic from proxies and followed logs on many machines. The hub
keeps the traffic for a day by default, and any number of screens can show it.
A hub is a NATS server with JetStream, built into toolscope. You can also use any other
NATS server with JetStream.

Other machines can connect (to tls://hub:4222) only if you set --public, which requires
--auth, --tls-cert and --tls-key. --new-key creates a key for a machine or a viewer.
'toolscope help hubs' lists the permissions that these keys need.`

// hubCommandFlags are the flags of the hub command.
type hubCommandFlags struct {
	fleet.HubOptions
	bytes, sync string
	newKey      string
	metrics     string
	traces      traceFlags
}

func (a *app) hubCommand() *cobra.Command {
	var f hubCommandFlags
	cmd := &cobra.Command{
		Use: "hub", Short: "Run a hub that collects traffic from many machines", Long: hubHelp, Args: noArgs,
		Example: "toolscope hub\ntoolscope hub --metrics 127.0.0.1:9464\ntoolscope proxy --publish nats://127.0.0.1:4222\ntoolscope open 'nats://127.0.0.1:4222?since=15m'\ntoolscope print 'nats://127.0.0.1:4222?until=now' --format jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.newKey != "" {
				// Write the secret half of a new key to a file, and print the public half for the hub's configuration.
				seed, public, err := fleet.NewKey()
				if err == nil {
					_, err = saveInto(filepath.Dir(f.newKey), filepath.Base(f.newKey), append(seed, '\n'))
				}
				if err != nil {
					return fmt.Errorf("--new-key: %w", err)
				}
				a.stdout.printLine("%s", public)
				return nil
			}
			return a.runHub(cmd.Context(), &f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.Listen, "listen", "127.0.0.1:4222", "")
	to.StringVar(&f.Store, "store", "", "")
	to.DurationVar(&f.Keep, "max-age", 24*time.Hour, "")
	to.StringVar(&f.bytes, "max-bytes", "20GB", "")
	f.sync = "1s"
	to.Var(&enumFlag{&f.sync, []string{"1s", "always"}, "1s"}, "sync", "")
	to.BoolVar(&f.Public, "public", false, "")
	to.StringVar(&f.Auth, "auth", "", "")
	to.StringVar(&f.Cert, "tls-cert", "", "")
	to.StringVar(&f.Key, "tls-key", "", "")
	to.StringVar(&f.metrics, "metrics", "", "")
	to.StringVar(&f.newKey, "new-key", "", "")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	a.traceFlags(cmd, &f.traces)
	return cmd
}

// runHub runs a hub until a signal arrives.
func (a *app) runHub(ctx context.Context, f *hubCommandFlags) (err error) {
	addr, err := net.ResolveTCPAddr("tcp", f.Listen)
	switch {
	case err != nil:
		return usageErrorf("--listen %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:4222", f.Listen, err)
	case f.Public && (f.Auth == "" || f.Cert == ""):
		return usageErrorf("--public: needs --auth, --tls-cert and --tls-key\nwithout them, everyone who can reach this machine could read and write")
	case !f.Public && !addr.IP.IsLoopback():
		return usageErrorf("--listen %s: other machines could connect\nallow that with --public, or use 127.0.0.1:%d for this machine only", f.Listen, addr.Port)
	case f.Keep < time.Second:
		return usageErrorf("--max-age %s: too short\nuse a time of at least 1s", f.Keep)
	}
	if f.KeepBytes, err = sizeOf("--max-bytes", f.bytes); err != nil {
		return err
	}
	if f.Store == "" {
		if f.Store, err = inStateFolder("hub"); err != nil {
			return err
		}
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	metrics, err := a.startMetrics(f.metrics, prices)
	if err != nil {
		return err
	}
	defer metrics.close()
	traces, err := a.startTracing(&f.traces, stream.Machine{}, a.traceNotices(f.traces.to))
	if err != nil {
		return err
	}
	f.SyncAlways, f.Log = f.sync == "always", func(text string) { a.printNote("%s", text) }
	caught, stop := a.catchEnd()
	defer stop()
	defer quitQuietly()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, started := time.Now(), make(chan error, 1)
	var hub *fleet.Hub
	go func() {
		var err error
		hub, err = fleet.StartHub(ctx, f.HubOptions)
		started <- err
	}()
	signalled, err := a.waitForEnd(started, caught)
	if signalled {
		cancel()
		err = <-started
	}
	switch {
	case signalled && errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return fmt.Errorf("hub: %w", err)
	}
	defer hub.Close()
	uncount, err := metrics.watchHub(hub, began)
	if err != nil {
		return err
	}
	defer uncount()
	unwatch, err := a.watchHub(hub, traces, f.Store, began)
	if err != nil {
		return err
	}
	defer unwatch()
	if !signalled {
		a.stdout.printLine("%s", hub.URL())
		_, _ = a.waitForEnd(nil, caught)
	}
	return nil
}

const (
	// positionFile is the file in a hub's folder with the position up to which the collector has the data.
	positionFile = "otlp-told"
	// savePositionEvery is the interval at which the position is saved.
	savePositionEvery = time.Second
	// catchUp is the part of finishTime in which an ending hub may still read its data. After its next start, the hub
	// sends the remaining data.
	catchUp = 2 * time.Second
)

// hubTraces sends the turns that a hub receives to a collector. It saves its position in the hub's folder,
// but only when the collector has everything before that position. After a restart, it continues at the saved
// position. If a turn is sent twice, its spans are the same.
type hubTraces struct {
	*traceSender
	view *fleet.View
	file string
	at   time.Time // time of the position, by the hub's clock
	due  int64     // number of spans that must be delivered or refused before the position is saved
}

// watchHub sends a hub's turns to a collector, until end is called. It starts at the saved position, or at began if
// there is none. If t is nil, watchHub does nothing.
func (a *app) watchHub(hub *fleet.Hub, t *traceSender, store string, began time.Time) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	h := &hubTraces{traceSender: t, file: filepath.Join(store, positionFile)}
	t.patient = true // the sender can wait, because the hub keeps the data
	ctx, cancel := context.WithCancel(context.Background())
	t.until = ctx.Done()
	h.at = h.resumeTime(began)
	if h.view, err = hub.Watch(ctx, h.at); err == nil {
		err = h.savePosition() // the next start continues there, even if this process is killed
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	go t.followSource(h.view.Source(ctx))
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		h.keepSaving(ctx, a)
	}()
	return func() {
		all, over := context.WithTimeout(context.Background(), finishTime)
		defer over()
		soon, read := context.WithTimeout(all, catchUp)
		h.view.AwaitRead(soon)
		read()
		cancel()
		<-t.done
		<-kept
		if s := h.view.State(); !s.Complete() {
			a.printNote("--otlp: some of the hub's data was missed: %s", missingWords(&s))
			a.code = exitGaps
		}
		h.readPosition()
		t.Close(all)
		t.printMissing(a)
		_ = h.savePosition() // if this fails, the next start sends some turns again
	}, nil
}

// resumeTime returns the saved position. If it is missing, invalid or later than began, it returns began.
func (h *hubTraces) resumeTime(began time.Time) time.Time {
	text, err := os.ReadFile(h.file)
	at, wrong := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil || wrong != nil || at.After(began) {
		return began
	}
	return at
}

// keepSaving saves the position until ctx ends.
func (h *hubTraces) keepSaving(ctx context.Context, a *app) {
	failed := false
	everyTick(ctx, savePositionEvery, func(time.Time) {
		if err := h.savePosition(); err != nil && !failed {
			failed = true
			a.printNote("--otlp: %v; the next start sends some turns again", err)
		}
		if h.at.IsZero() {
			h.readPosition()
		}
	})
}

// readPosition reads the current position, unless ended turns before it have not been sent yet.
func (h *hubTraces) readPosition() {
	_, at := h.view.Read()
	if h.holds.Load() {
		return
	}
	s := h.State() // includes all turns before this position
	h.at, h.due = at, s.Taken+s.Refused+s.Waiting
}

// savePosition saves the position if the collector has taken or refused everything before it.
func (h *hubTraces) savePosition() error {
	if s := h.State(); h.at.IsZero() || s.Taken+s.Refused < h.due {
		return nil
	}
	at := h.at
	h.at = time.Time{}
	if err := writeOwn(h.file, []byte(at.Format(time.RFC3339Nano)+"\n")); err != nil {
		return fmt.Errorf("can't save the position: %w", err)
	}
	return nil
}

// indexer builds the lines for a hub's index while a capture arrives. They have the same form as the lines of
// print.
type indexer struct {
	in    *providers.Inspector
	q     *turnPrinter
	calls []fleet.Call
}

// newIndexers returns a function that makes an indexer for a capture. The indexers apply the flags for
// reading.
func (in *inputs) newIndexers() (func(string) fleet.Indexer, error) {
	prepare, err := in.reading.inspectorSetup()
	if err != nil {
		return nil, err
	}
	return func(file string) fleet.Indexer {
		x := &indexer{in: new(providers.Inspector)}
		prepare(x.in)
		x.q = newTurnPrinter(x.in, file, x)
		return x
	}, nil
}

// Write decodes a record. The lines do not depend on how the bytes are divided into records.
func (x *indexer) Write(r capture.Record) {
	x.in.MakeRoom()
	x.in.Write(coreRecord(r))
	_ = x.q.printEnded(false) // writes to memory can't fail
}

// Calls returns the calls of the turns that were printed since the last call of Calls. If all is true, it
// first ends and prints the open turns.
func (x *indexer) Calls(all bool) []fleet.Call {
	if all {
		x.in.Close()
		_ = x.q.printEnded(true)
	}
	calls := x.calls
	x.calls = nil
	return calls
}

// Holds reports whether there are ended turns that are not printed yet. A later call of Calls returns their calls.
func (x *indexer) Holds() bool { return len(x.q.ended) > 0 }

// addTurn makes a line for each call of a turn.
func (x *indexer) addTurn(v *providers.View, file string, t *stream.Turn) {
	calls, _ := present.Calls(t)
	for _, c := range calls {
		var line bytes.Buffer
		p := jsonPrinter{lineWriter: lineWriter{to: &line}}
		p.writeCall(v, file, t, c)
		x.calls = append(x.calls, fleet.Call{Exchange: t.Exchange, Model: t.Model, Status: c.Status().String(), Line: line.Bytes()})
	}
}

func (x *indexer) sentBack([]sentBackCall) {}
func (x *indexer) flush() error            { return nil }

// reportIndex reports the calls that are missing from the hub's index.
func (p *hubPublisher) reportIndex(a *app) {
	s := p.Progress().Index
	if s.Why == "" {
		return
	}
	what := nonEmpty([]string{
		textIf(s.Calls > 0, count.Of(s.Calls, "call")),
		textIf(s.Bytes > 0, "the calls in "+count.Of(s.Bytes, "byte")),
	})
	why, how, _ := strings.Cut(s.Why, "\n")
	a.printNote("--publish: the hub's index lacks %s: %s", strings.Join(what, " and "), why)
	if how != "" {
		a.printNote("%s", how)
	}
}

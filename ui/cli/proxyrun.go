package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui"
)

// running is a proxy that listens, and what becomes of its records.
type running struct {
	*live
	app     *app
	format  string
	ways    []way
	url     string
	prices  *price.Table
	waiting *backlog       // records for the screen or the printer
	caught  chan os.Signal // signals that end it, where there is no screen
}

// running makes what takes the records of a proxy.
func (a *app) running(l *live, all []way, prices *price.Table, format string) *running {
	return &running{live: l, app: a, format: format, ways: all, prices: prices, waiting: newBacklog(backlogLimit)}
}

// stand makes the proxy, which nobody can reach yet.
func (r *running) stand(o proxy.Options, screen bool) (err error) {
	o.Record = r.take
	o.Refused = func(status int, why string) {
		why = r.clean(why)
		r.refusal.Store(&why)
		if !screen {
			r.app.say(fmt.Sprintf("toolscope: refused with %d: %s", status, why))
		}
	}
	if !screen {
		o.Log = log.New(firstLine{r.app}, "", 0)
		r.caught = catchEnd() // before anybody can know that it listens
	}
	r.proxy, err = proxy.New(o)
	return err
}

// run serves on a listener until it is over.
func (r *running) run(ctx context.Context, listener net.Listener, screen bool) error {
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(ctx, listener) }()
	if screen {
		return r.show(ctx)
	}
	return r.print(served)
}

// announce says where the proxy listens, and how to send clients there.
func (r *running) announce(f *proxyFlags) {
	a := r.app
	out := io.Writer(a.stdout)
	if f.format == "jsonl" {
		var o object
		o.text("type", "proxy")
		o.text("url", r.url)
		_, _ = a.stdout.Write(o.line())
		out = a.stderr
	} else {
		fmt.Fprintln(a.stdout, r.url)
	}
	base := r.url
	if f.token != "" {
		base += "/" + f.token
		r.url += "/TOKEN" // the screen is no place for it
	}
	if f.printEnv {
		fmt.Fprintln(out, strings.Join(environment(r.ways, base), "\n"))
	}
	if f.public {
		a.say("toolscope: other machines can reach this proxy; what they send, keys too, can be read on the way")
	}
}

// take is what the proxy's records go through, one after the other.
func (r *running) take(rec capture.Record) {
	r.pass(r.redactor.Take(rec))
}

func (r *running) pass(recs []redact.Clean) {
	for _, clean := range recs {
		rec := clean.Record()
		if r.rec != nil {
			r.rec.Record(rec)
		}
		r.waiting.put(rec)
	}
}

// close cuts what is going on; what that makes known is passed on.
func (r *running) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	defer r.waiting.end()
	if err := r.proxy.Close(ctx); err != nil {
		r.app.complain(fmt.Errorf("the proxy did not end: %w", err))
		return
	}
	r.pass(r.redactor.Flush())
	if s := r.proxy.Stats(); r.rec != nil && s.Gaps > 0 {
		r.app.complain(fmt.Errorf("--record: the capture has gaps: %s were not recorded", sizeText(s.LostBytes)))
		r.app.code = max(r.app.code, exitGaps)
	}
}

// show runs the screen until the user leaves it, which ends the proxy.
func (r *running) show(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := ui.Options{
		Source: "proxy " + strings.TrimPrefix(r.url, "http://"), Inbox: ui.NewInbox(0), Prices: r.prices,
		Status: r.words, Await: await(r.ways, r.url),
	}
	go r.ring(ctx, o.Inbox)
	err := r.app.show(o, r.waiting.source)
	r.close()
	return err
}

// readTime is how long a reader of what is printed may take for the rest of it.
const readTime = 2 * time.Second

// print prints turns as they end until a signal; the next one ends the program
// whatever is going on.
func (r *running) print(served <-chan error) error {
	defer quitQuietly()()
	printed := make(chan error, 1)
	go func() { printed <- r.printTurns() }()
	var failed error
	select {
	case failed = <-served:
	case sig := <-r.caught:
		if n, ok := sig.(syscall.Signal); ok {
			r.app.code = 128 + int(n)
		}
	}
	signal.Stop(r.caught)
	r.close()
	select {
	case err := <-printed:
		if failed == nil {
			failed = err
		}
	case <-time.After(readTime): // nobody reads it
	}
	return failed
}

// printTurns prints until there are no more records. When that fails, the proxy
// goes on.
func (r *running) printTurns() error {
	out := bufio.NewWriter(r.app.stdout)
	var to printer = &textPrinter{lines{out}, r.prices}
	if r.format == "jsonl" {
		to = &jsonPrinter{out, r.prices}
	}
	in := new(providers.Inspector)
	q := queue{in: in, path: "proxy", to: to, printed: map[*stream.Turn]bool{}}
	var failed error
	told := r.rec == nil // that the recording has gaps
	for rec := range r.waiting.source {
		if !told {
			if trouble := r.rec.State().Trouble; trouble != "" {
				told = true
				r.app.say("toolscope: --record: the capture has gaps from here on: " + r.clean(trouble))
			}
		}
		if strings.HasPrefix(rec.Note, "gap:") {
			r.app.say("toolscope: " + rec.Note)
		}
		if in.Write(record(rec)); failed == nil {
			if failed = q.print(false); failed != nil {
				r.app.complain(fmt.Errorf("printing stopped: %w", failed))
			}
		}
	}
	in.Close()
	if failed == nil {
		failed = q.print(true)
	}
	return failed
}

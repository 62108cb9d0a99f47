package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"syscall"

	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
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
	caught  chan os.Signal // signals that end it, where there is no screen
	uncatch func()
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
		r.caught, r.uncatch = r.app.catchEnd() // before anybody can know that it listens
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

// close cuts what is going on; what that makes known is passed on.
func (r *running) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		r.app.complain(fmt.Errorf("the proxy did not end: %w", err))
	}
	_ = r.finish(ctx) // endLive says what is missing
}

// show runs the screen until the user leaves it, which ends the proxy.
func (r *running) show(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := ui.Options{
		Source: "proxy " + strings.TrimPrefix(r.url, "http://"), Inbox: r.shown, Prices: r.prices,
		Status: r.words, Await: await(r.ways, r.url),
	}
	go r.ring(ctx)
	err := r.app.show(o, nil)
	r.close()
	return err
}

// print prints turns as they end until a signal; the next one ends the program
// whatever is going on.
func (r *running) print(served <-chan error) error {
	defer quitQuietly()()
	defer r.uncatch()
	printed := make(chan error, 1)
	r.start(here)
	go func() {
		printed <- r.printTurns(r.app, new(providers.Inspector), "proxy", r.app.printerOf(r.format, r.prices), func(err error) {
			r.app.complain(fmt.Errorf("printing stopped: %w", err))
		})
	}()
	var failed error
	select {
	case failed = <-served:
	case sig := <-r.caught:
		if n, ok := sig.(syscall.Signal); ok {
			r.app.code = 128 + int(n)
		}
	}
	r.close()
	if err := <-printed; failed == nil {
		failed = err
	}
	return failed
}

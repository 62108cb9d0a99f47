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
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui"
)

// proxyFlags are those of a proxy.
type proxyFlags struct {
	listen, record, token, format string
	to, origins                   []string
	headless, printEnv            bool
	keepSecrets, public           bool
}

const proxyHelp = `Stands between clients and providers: passes on what they say, byte by byte and at
once, and shows the calls while they stream. Clients are sent here by their base URL;
on the screen, and with --print-env, stand the variables that do so.

  toolscope proxy --listen 127.0.0.1:8080
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080/anthropic claude
  toolscope proxy --record captures/ --headless --format jsonl
  toolscope proxy --to https://api.example.com/v1

The first part of the path says which provider a request is for, by its name in
'toolscope help hosts': /anthropic, /openai, /gemini, /ollama, /openrouter …. What
follows is put behind the provider's address. --to URL sends everything to one
upstream; --to NAME=URL sends /NAME to another address. Where a variable names a
provider's address (ANTHROPIC_BASE_URL, OLLAMA_HOST …), that is where it goes.

Without a terminal, with --headless or with --format, calls are printed as turns end.
Keys, and what else looks like a secret, are replaced before anything is shown or
recorded. Only this machine can connect, unless --public, which wants a --token: clients
show it as the first part of the path.

Exit codes: 0 when a signal ends it, 3 when the recording has gaps.`

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use: "proxy", Short: "Stand in front of providers: watch and record what passes", Long: proxyHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.proxy(cmd.Context(), &f) },
	}
	to := cmd.Flags()
	to.StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDR` to listen on; port 0 picks a free one")
	to.StringArrayVar(&f.to, "to", nil, "the upstream `[NAME=]URL`; may be given several times")
	to.StringVar(&f.record, "record", "", recordUsage)
	to.BoolVar(&f.headless, "headless", false, "no screen: print the calls")
	to.BoolVar(&f.printEnv, "print-env", false, "print the lines that send clients here")
	to.BoolVar(&f.keepSecrets, "keep-secrets", false, keepUsage)
	to.BoolVar(&f.public, "public", false, "listen where other machines reach it; wants a --token")
	to.StringVar(&f.token, "token", "", "every request has to show `T`, or what is in the file @T")
	to.StringArrayVar(&f.origins, "origin", nil, "let pages of `ORIGIN` send requests; may be given several times")
	to.StringVar(&f.format, "format", "", "print, screen or not: text, or jsonl")
	a.pricesFlag(cmd)
	a.flags.add(to)
	return cmd
}

// running is a proxy that listens, and what becomes of its records.
type running struct {
	*live
	app     *app
	format  string
	ways    []way
	url     string
	prices  *price.Table
	records chan capture.Record // to the screen or the printer
	left    chan struct{}       // closed when nobody takes them any more
	leave   func()              // closes it
}

// recordsWaiting is how many records may wait for the printer before the proxy's
// own queue fills.
const recordsWaiting = 1 << 10

// proxy forwards and records until a signal, or until the user leaves the screen.
func (a *app) proxy(ctx context.Context, f *proxyFlags) error {
	screen := !f.headless && f.format == "" && isTerminal(a.stdout)
	o, all, err := a.proxyOptions(f)
	if err != nil {
		return err
	}
	prices, err := a.prices()
	if err != nil {
		return err
	}
	addr, err := listenAddress(f.listen, f.public)
	if err != nil {
		return err
	}
	began := time.Now()
	l, err := a.live(f.record, began, "toolscope proxy", f.keepSecrets)
	if err != nil {
		return err
	}
	defer a.endRecording(l.rec)
	l.learnToken(f.token)
	r := &running{live: l, app: a, format: f.format, ways: all, prices: prices, records: make(chan capture.Record, recordsWaiting), left: make(chan struct{})}
	r.leave = sync.OnceFunc(func() { close(r.left) })
	o.Record, o.Began = r.take, began
	if !screen {
		o.Log = log.New(firstLine{a}, "", 0)
		o.Refused = r.refused
	}
	p, err := proxy.New(o)
	if err != nil {
		return err
	}
	l.proxy = p
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	r.url = "http://" + listener.Addr().String()
	r.announce(f)
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, listener) }()
	if screen {
		err = r.show(ctx)
	} else {
		err = r.print(served)
	}
	return err
}

// proxyOptions reads what the proxy needs to know from the flags.
func (a *app) proxyOptions(f *proxyFlags) (o proxy.Options, all []way, err error) {
	switch f.format {
	case "", "text", "jsonl":
	default:
		return o, nil, usagef("--format %q: text or jsonl", f.format)
	}
	if err := a.flags.check(); err != nil {
		return o, nil, err
	}
	if f.token, err = textOrFile(f.token); err != nil {
		return o, nil, fmt.Errorf("--token: %w", err)
	}
	f.token = strings.TrimSpace(f.token)
	if strings.Trim(f.token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") != "" || f.token != "" && len(f.token) < leastToken {
		return o, nil, usagef("--token: no token\nwanted are at least %d letters, digits, or any of - . _ ~", leastToken)
	}
	if f.public && f.token == "" {
		return o, nil, usagef("--public: whoever reaches this machine could use the proxy\n--token T keeps strangers out")
	}
	if all, err = ways(f.to, os.Getenv); err != nil {
		return o, nil, err
	}
	return proxy.Options{Routes: routes(all), Public: f.public, Token: f.token, Origins: f.origins}, all, nil
}

// leastToken is how long a token has to be: one cannot be guessed then.
const leastToken = 8

// learnToken keeps the token of the proxy itself from being seen.
func (l *live) learnToken(token string) {
	if l.redactor != nil && token != "" {
		l.redactor.Learn(token, "token")
	}
}

// announce says where the proxy listens, and how to send clients there.
func (r *running) announce(f *proxyFlags) {
	a := r.app
	url := r.url
	if f.token != "" {
		r.url += "/TOKEN" // the screen and the log are no place for it
		if f.printEnv {
			url += "/" + f.token
		}
	}
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
	if f.printEnv {
		fmt.Fprintln(out, strings.Join(environment(r.ways, url), "\n"))
	}
	if f.public {
		a.say("toolscope: other machines can reach this proxy; what they send, keys too, can be read on the way")
	}
}

// take is what the proxy's records go through, one after the other.
func (r *running) take(rec capture.Record) {
	recs := []capture.Record{rec}
	if r.redactor != nil {
		recs = r.redactor.Redact(rec)
	}
	r.pass(recs)
}

func (r *running) pass(recs []capture.Record) {
	for _, rec := range recs {
		if r.rec != nil {
			r.rec.Record(rec)
		}
		select {
		case r.records <- rec:
		case <-r.left:
		}
	}
}

// taken is the records as the screen or the printer takes them.
func (r *running) taken(yield func(capture.Record, error) bool) {
	for rec := range r.records {
		if !yield(rec, nil) {
			return
		}
	}
}

// close cuts what is going on; what that makes known is passed on. Whoever does
// not take it in time gets no more, so that it can be recorded.
func (r *running) close() {
	if err := r.end(readTime); err != nil {
		r.leave()
		if err := r.end(closeTime); err != nil {
			r.app.complain(fmt.Errorf("the proxy did not end: %w", err))
			return
		}
	}
	if r.redactor != nil {
		r.pass(r.redactor.Flush())
	}
	close(r.records)
	if s := r.proxy.Stats(); r.rec != nil && s.Gaps > 0 {
		r.app.complain(fmt.Errorf("--record: the capture has gaps: %s were not recorded", sizeText(s.LostBytes)))
		r.app.code = max(r.app.code, exitGaps)
	}
}

// readTime is how long a reader of what is printed may take for the rest of it.
const readTime = 2 * time.Second

func (r *running) end(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return r.proxy.Close(ctx)
}

// refused tells of a request that was not admitted.
func (r *running) refused(status int, why string) {
	r.app.say(fmt.Sprintf("toolscope: refused with %d: %s", status, r.clean(why)))
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
	err := r.app.show(o, r.taken)
	r.leave()
	r.close()
	return err
}

// print prints turns as they end until a signal; the next one ends the program
// whatever is going on.
func (r *running) print(served <-chan error) error {
	defer quitQuietly()()
	caught := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as under nohup
			signal.Notify(caught, sig)
		}
	}
	printed := make(chan error, 1)
	go func() { printed <- r.printTurns() }()
	var failed error
	select {
	case failed = <-served:
	case <-caught:
	}
	signal.Stop(caught)
	r.close()
	select {
	case err := <-printed:
		if failed == nil {
			failed = err
		}
	case <-time.After(readTime): // nobody reads
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
	for rec := range r.records {
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

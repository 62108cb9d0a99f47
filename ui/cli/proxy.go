package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream/count"
	"toolscope/ui"
)

// proxyFlags are the flags of a proxy.
type proxyFlags struct {
	liveFlags
	faultFlags
	breakFlags
	tlsFlags
	listen, token, metrics     string
	to, origins                []string
	headless, printEnv, public bool
	probe                      bool
}

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use: "proxy", Short: "Run a recording proxy in front of providers", Args: noArgs,
		Example: "toolscope proxy --listen 127.0.0.1:8080\nANTHROPIC_BASE_URL=http://127.0.0.1:8080/anthropic claude\ntoolscope proxy --record captures/ --headless --format jsonl\ntoolscope proxy --to https://api.example.com/v1",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runProxy(cmd.Context(), &f) },
	}
	to := cmd.Flags()
	to.StringVar(&f.listen, "listen", "127.0.0.1:0", "")
	to.StringVar(&f.metrics, "metrics", "", "")
	to.StringArrayVar(&f.to, "to", nil, "")
	to.BoolVar(&f.headless, "headless", false, "")
	to.BoolVar(&f.printEnv, "print-env", false, "")
	to.BoolVar(&f.probe, "probe", false, "")
	to.BoolVar(&f.public, "public", false, "")
	to.StringVar(&f.token, "token", "", "")
	to.StringArrayVar(&f.origins, "origin", nil, "")
	f.faultFlags.add(to)
	f.breakFlags.add(to)
	f.tlsFlags.add(to)
	a.liveFlags(cmd, &f.liveFlags)
	a.keptFlags(cmd, &f.liveFlags)
	f.liveFlags.publish = new(publishFlags)
	a.publishFlags(cmd, f.liveFlags.publish, "proxy")
	f.liveFlags.traces = new(traceFlags)
	a.traceFlags(cmd, f.liveFlags.traces)
	a.flags.addKeep(to)
	return cmd
}

// runProxy forwards and records requests until a signal arrives, or until the user leaves the screen.
func (a *app) runProxy(ctx context.Context, f *proxyFlags) error {
	if f.probe {
		return probeAddress(f.listen)
	}
	prices, p, screen, err := a.outputOptions(&f.liveFlags)
	if err != nil {
		return err
	}
	if err := f.tlsFlags.checkFlags(map[string]bool{"--to": len(f.to) > 0, "--public": f.public, "--print-env": f.printEnv}); err != nil {
		return err
	}
	screen = screen && !f.headless
	o, all, err := proxyOptions(f)
	if err != nil {
		return err
	}
	point, err := f.newBreakpoint(screen, prices)
	if err != nil {
		return err
	}
	listener, err := listenAt(f.listen, f.public)
	if err != nil {
		return err
	}
	defer listener.Close()
	metrics, err := a.startMetrics(f.metrics, prices)
	if err != nil {
		return err
	}
	defer metrics.close()
	l, err := a.startLive("toolscope proxy", &f.liveFlags)
	if err != nil {
		return err
	}
	defer a.endLive(l)
	if l.metrics = metrics; metrics != nil {
		go metrics.countNetwork()
	}
	o.Began = l.began
	f.announceFaults(l, a)
	if f.token != "" {
		l.redactor.Learn(f.token, "token")
	}
	r := &runningProxy{liveInput: l, app: a, routes: all, point: point, url: "http://" + listener.Addr().String()}
	var served <-chan error
	if f.tls {
		r.tunnel = f.newTunnel(f.token, l.addRecord)
		r.tunnel.learnSecret(l.redactor)
		o.Routes, o.Token = nil, ""
	}
	if err := r.createProxy(o, screen); err != nil {
		return err
	}
	if f.tls {
		var remove func()
		if served, remove, err = r.startTunnel(ctx, listener, f.format); err != nil {
			return err
		}
		defer remove()
	} else {
		r.announceProxy(f)
		served = r.startServing(ctx, listener)
	}
	if screen {
		return r.showScreen(ctx, prices)
	}
	return r.printUntilEnd(served, p)
}

// proxyOptions returns the options that the flags set, and the routes.
func proxyOptions(f *proxyFlags) (o proxy.Options, all []route, err error) {
	if f.token, err = textOrFile(f.token); err != nil {
		return o, nil, fmt.Errorf("--token: %w", err)
	}
	f.token = strings.TrimSpace(f.token)
	if strings.Trim(f.token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") != "" || f.token != "" && len(f.token) < minTokenLen {
		return o, nil, usageErrorf("--token: too short, or has an unsupported character\nuse at least %d letters, digits or -._~", minTokenLen)
	}
	if f.public && f.token == "" {
		return o, nil, usageErrorf("--public: needs --token\nwithout it, everyone who can reach this machine could use the proxy")
	}
	if all, err = buildRoutes(f.to, os.Getenv); err != nil {
		return o, nil, err
	}
	faults, err := f.parse()
	if err != nil {
		return o, nil, err
	}
	return proxy.Options{Routes: proxyRoutes(all), Public: f.public, Token: f.token, Origins: f.origins, Faults: faults}, all, nil
}

// minTokenLen is the minimum length of a token. Shorter tokens could be guessed.
const minTokenLen = 8

// runningProxy is a listening proxy, with the input for its records.
type runningProxy struct {
	*liveInput
	app     *app
	routes  []route
	url     string
	point   *breakpoint
	tunnel  *tlsTunnel     // nil without --tls
	caught  chan os.Signal // signals that end the proxy when there is no screen
	uncatch func()
}

// createProxy creates the proxy. The proxy does not serve yet.
func (r *runningProxy) createProxy(o proxy.Options, screen bool) (err error) {
	preferNetwork()
	o.Record = r.addRecord
	if r.tunnel != nil {
		o.Record = r.tunnel.filter.Put
	}
	o.Advise = suggestRoute(r.routes)
	o.Refused = func(status int, why string) {
		why = r.redactor.Text(why)
		r.refusal.Store(&why)
		if !screen {
			r.app.printRefused(status, why)
		}
	}
	if !screen {
		o.Log = log.New(firstLine{r.app}, "", 0)
		r.caught, r.uncatch = r.app.catchEnd() // before the address is printed, because signals may arrive after that
	}
	if r.point != nil {
		r.point.clean = r.redactor.Text
		o.Watch, o.HoldTime = r.point.newWatch, r.point.limit
	}
	if r.proxy, err = proxy.New(o); r.point != nil {
		r.point.proxy = r.proxy
	}
	return err
}

// startServing serves on a listener. The channel receives the error when serving ends.
func (r *runningProxy) startServing(ctx context.Context, listener net.Listener) <-chan error {
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(ctx, listener) }()
	return served
}

// announceProxy prints the address of the proxy, and instructions for pointing clients at it.
func (r *runningProxy) announceProxy(f *proxyFlags) {
	a := r.app
	out := a.stdout
	if f.format == "jsonl" {
		var o jsonObject
		o.text("type", "proxy")
		o.text("url", r.url)
		a.stdout.writeObject(&o)
		out = a.stderr
	} else {
		a.stdout.printLine("%s", r.url)
	}
	base := r.url
	if f.token != "" {
		base += "/" + f.token
		r.url += "/TOKEN" // the screen doesn't show the token
	}
	if f.printEnv {
		for _, line := range envLines(r.routes, base) {
			out.printLine("%s", line)
		}
	}
	if f.public {
		a.printNote("other machines can reach this proxy; their requests, including keys, are not encrypted")
	}
}

// redactTime is the maximum time for redacting the waiting bodies after a signal. Bodies that still wait
// after this time are omitted.
const redactTime = 400 * time.Millisecond

// close ends the open exchanges and passes on their last records.
func (r *runningProxy) close() {
	if r.app.signalled {
		defer time.AfterFunc(redactTime, func() { r.hurried.Store(true); r.redactor.Hurry() }).Stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		r.app.printError(fmt.Errorf("the proxy did not stop: %w", err))
	}
	_ = r.drainRecords(ctx) // endLive reports the missing data
}

// showScreen shows the screen until the user leaves it. It then ends the proxy.
func (r *runningProxy) showScreen(ctx context.Context, prices *price.Table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := ui.Options{
		Source: "proxy " + strings.TrimPrefix(r.url, "http://"), Inbox: r.shown, Prices: prices,
		Status: r.statusNotes, Setup: r.setupText(), Break: r.point, Capture: r.capturePath(),
	}
	go r.wakeScreen(ctx)
	err := r.app.showScreen(o, nil)
	r.close()
	r.noteCapture()
	return err
}

// noteCapture prints how many requests were recorded, and the command that opens the capture.
func (r *runningProxy) noteCapture() {
	if n := r.proxy.Stats().Requests; r.rec != nil && n > 0 {
		r.app.printNote("recorded %s: toolscope %s", count.Of(int(n), "request"), commandLine(pathsOf(r.rec.presentPath())))
	}
}

// setupText returns the text that the screen shows until the first request arrives.
func (r *runningProxy) setupText() *ui.SetupGuide {
	if r.tunnel != nil {
		return &ui.SetupGuide{URL: r.url, Ways: r.tunnel.ways, More: fmt.Sprintf("no request has arrived; TLS to %s is decrypted", count.Of(len(r.tunnel.hosts), "host"))}
	}
	return setupGuide(r.routes, r.url)
}

// printUntilEnd prints turns as they end, until a signal arrives. A second signal ends the program at once.
func (r *runningProxy) printUntilEnd(served <-chan error, p printer) error {
	defer quitQuietly()()
	defer r.uncatch()
	defer r.watchCapture(r.app)()
	if r.sent != nil {
		defer r.sent.watchChanges(r.app)()
	}
	printed := make(chan error, 1)
	r.start(callDirect)
	go func() {
		printed <- r.printTurns(r.app, new(providers.Inspector), "proxy", p, func(err error) {
			r.app.printError(fmt.Errorf("printing stopped: %w", err))
		})
	}()
	_, failed := r.app.waitForEnd(served, r.caught)
	stopped := make(chan struct{})
	defer time.AfterFunc(printTime, func() { r.stopPrinting(stopped) }).Stop()
	r.close()
	err := errPrintingStopped
	select {
	case err = <-printed:
	case <-stopped:
		select {
		case err = <-printed:
		default: // the printer is still busy with a large turn
		}
	}
	if errors.Is(err, errPrintingStopped) {
		r.app.printNote("%s", err)
		err = nil
	}
	r.noteCapture()
	return cmp.Or(failed, err)
}

// errPrintingStopped is the error if stopPrinting stopped the printer before the printer had printed
// everything.
var errPrintingStopped = errors.New("printing stopped at the signal: the last turns are missing from this output")

// These constants limit printing after a signal. The first maxQuickBytes of input are always printed, even on a
// slow machine.
const (
	printTime     = 500 * time.Millisecond
	maxQuickBytes = 1 << 20
)

// stopPrinting stops the printer and closes stopped if the printer has already received many bytes, because printing
// them may take a long time. Otherwise the printer stops when it has received that many bytes.
func (l *liveInput) stopPrinting(stopped chan<- struct{}) {
	l.printLess.Store(true)
	if l.printed.Load() > maxQuickBytes {
		l.unwanted.Store(true)
		close(stopped)
	}
}

// probeTime is the maximum time for connecting to a proxy on this machine.
const probeTime = time.Second

// probeAddress returns an error if nothing listens at an address. It is for container images that have no other
// program for health checks.
func probeAddress(address string) error {
	conn, err := net.DialTimeout("tcp", address, probeTime)
	if err != nil {
		return fmt.Errorf("--probe: nothing listens at %s", address)
	}
	return conn.Close()
}

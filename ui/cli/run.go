package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream/count"
	"toolscope/ui"
)

// runFlags are the flags of run.
type runFlags struct {
	liveFlags
	faultFlags
	breakFlags
	tlsFlags
	to               []string
	screen, headless bool
	noServers        bool
	unrecorded       bool
	ask              bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [flags] -- COMMAND [ARG…]", Short: "Run an agent behind a recording proxy",
		Example: "toolscope run -- claude -p \"what is in this folder?\"\ntoolscope run -- codex exec \"add a test\"\ntoolscope run --to openai=http://127.0.0.1:8000/v1 -- ./my-agent",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runThroughProxy(cmd.Context(), args, &f) },
	}
	to := cmd.Flags()
	to.SetInterspersed(false)
	to.StringArrayVar(&f.to, "to", nil, "")
	to.BoolVar(&f.screen, "screen", false, "")
	to.BoolVar(&f.headless, "headless", false, "")
	to.BoolVar(&f.noServers, "no-mcp", false, "")
	to.BoolVar(&f.unrecorded, "unrecorded", false, "")
	to.BoolVar(&f.ask, "ask", false, "")
	f.faultFlags.add(to)
	f.breakFlags.add(to)
	f.tlsFlags.add(to)
	a.liveFlags(cmd, &f.liveFlags)
	_ = to.MarkHidden("format") // standard output belongs to the client
	a.keptFlags(cmd, &f.liveFlags)
	f.liveFlags.traces = new(traceFlags)
	a.traceFlags(cmd, f.liveFlags.traces)
	a.flags.addKeep(to)
	cmd.MarkFlagsMutuallyExclusive("screen", "headless")
	cmd.MarkFlagsMutuallyExclusive("ask", "no-record")
	return cmd
}

// runThroughProxy runs a client behind a proxy. toolscope then exits with the client's exit code.
func (a *app) runThroughProxy(ctx context.Context, args []string, f *runFlags) error {
	if len(args) == 0 {
		return usageErrorf("run: needs a COMMAND\ne.g. toolscope run -- claude")
	}
	prices, _, terminal, err := a.outputOptions(&f.liveFlags)
	switch {
	case err != nil:
		return err
	case f.format != "":
		return usageErrorf("--format: standard output belongs to the client\nuse toolscope print --format %s CAPTURE after the client has ended", f.format)
	case f.screen && !terminal:
		return usageErrorf("--screen: standard output is not a terminal")
	}
	if err := f.tlsFlags.checkFlags(map[string]bool{"--to": len(f.to) > 0, "--unrecorded": f.unrecorded}); err != nil {
		return err
	}
	if _, err := exec.LookPath(args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		a.printError(errors.New("run: " + commandError(err, args, newRedactor().Argv(args))))
		a.code = exitNoCommand
		return nil
	}
	fit := newClientLaunch(args, os.Getenv)
	var all []route
	if !f.tls {
		if all, err = buildRoutes(f.to, fit.lookupEnv); err != nil {
			return err
		}
		if err := fit.checkSetup(all); err != nil && !f.unrecorded {
			return err
		}
	}
	if !f.noServers && !f.kept.none {
		fit.findServers(ctx)
		if err := fit.openPorts(); err != nil {
			return err
		}
	}
	defer fit.removeFiles()
	faults, err := f.parse()
	if err != nil {
		return err
	}
	point, err := f.newBreakpoint(f.screen, prices)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	l, err := a.startLive("toolscope run", &f.liveFlags)
	if err != nil {
		return err
	}
	f.announceFaults(l, a)
	r := &runningProxy{liveInput: l, app: a, routes: all, point: point, url: "http://" + listener.Addr().String()}
	if f.tls {
		r.tunnel = f.newTunnel("", l.addRecord)
		r.tunnel.learnSecret(l.redactor)
	}
	o := proxy.Options{Routes: proxyRoutes(all), Began: l.began, Faults: faults}
	err = r.runClient(ctx, listener, o, fit, f, terminal, prices)
	code := a.code
	a.endLive(l)
	a.code = code // exit code of the client
	return err
}

// exitNoCommand is the exit code that shells return for a command that does not exist.
const exitNoCommand = 127

// runClient runs the client, and serves its requests until the client ends.
func (r *runningProxy) runClient(ctx context.Context, listener net.Listener, o proxy.Options, fit *clientLaunch, f *runFlags, terminal bool, prices *price.Table) error {
	if err := r.createProxy(o, true); err != nil {
		return err
	}
	askNote := ""
	if f.ask {
		askNote = r.addAskServer(fit)
	}
	served, err := r.serveClient(ctx, listener, fit)
	if err != nil {
		r.close()
		return err
	}
	for i := range fit.servers {
		if s := &fit.servers[i]; s.port != nil {
			go r.serveServer(ctx, s.port, fit.proxiedURL(s))
		}
	}
	if r.rec != nil && !f.noServers {
		leave, err := record.MakeCompanionDir(r.rec.path)
		if err != nil {
			fit.noteUnrecorded("MCP servers are not recorded: %s", err)
		} else {
			defer leave()
			fit.wrapServers(record.CompanionDir(r.rec.path))
		}
	}
	a := r.app
	if r.tunnel != nil {
		a.printNote("%s", r.tunnel.tunnelNote(fit.name()))
	} else if len(fit.did) == 0 {
		a.printNote("%s doesn't use the proxy: its requests to models are not recorded", fit.name())
	} else {
		a.printNote("%s uses the proxy at %s; set by %s", fit.name(), r.url, strings.Join(fit.did, ", "))
	}
	fit.reportServers(func(format string, args ...any) { a.printNote("%s", r.redactor.Text(fmt.Sprintf(format, args...))) })
	if r.rec != nil {
		a.printNote("recording to %s", r.rec.path)
	}
	if askNote != "" {
		a.printNote("%s", askNote)
	}
	if f.screen {
		err = r.runBehind(ctx, fit, prices)
	} else {
		err = r.runInFront(fit, terminal && !f.headless)
	}
	select {
	case failed := <-served:
		return errors.Join(err, failed)
	default:
		return err
	}
}

// serveClient starts to serve the client's requests. It makes the command send them to the proxy or, with --tls,
// through the tunnel.
func (r *runningProxy) serveClient(ctx context.Context, listener net.Listener, fit *clientLaunch) (served <-chan error, err error) {
	if r.tunnel == nil {
		return r.startServing(ctx, listener), fit.pointAt(r.routes, r.url)
	}
	if served, err = r.serveTunnel(ctx, listener); err == nil {
		err = fit.useTunnel(listener.Addr().String(), r.tunnel)
	}
	return served, err
}

// serveServer forwards the requests that arrive at toolscope's port for an MCP server.
func (r *runningProxy) serveServer(ctx context.Context, port net.Listener, at *url.URL) {
	if err := r.proxy.ServeOnly(ctx, port, &url.URL{Scheme: at.Scheme, Host: at.Host}); err != nil {
		r.app.printError(err)
	}
}

// runInFront runs the client in toolscope's terminal. Notes are printed only after the client has ended, so that
// they don't change its screen.
func (r *runningProxy) runInFront(fit *clientLaunch, terminal bool) error {
	a := r.app
	if terminal && r.rec != nil {
		a.openScreenBeside(r.rec.path)
	}
	c, err := startClient(fit.execCmd(os.Stdin, os.Stdout, os.Stderr), true)
	if err != nil {
		r.close()
		return fmt.Errorf("run: %w", err)
	}
	later := a.deferOutput()
	r.start(callDirect)
	in, seen, printed := new(providers.Inspector), new(turnCounter), make(chan error, 1)
	go func() { printed <- r.printTurns(a, in, "run", seen, func(error) {}) }()
	a.code = c.wait()
	later()
	r.waitForOthers(fit.name())
	r.close()
	<-printed
	if n := r.proxy.Stats().Refused; n > 0 {
		r.app.printNote("%s refused: %s", count.Of(int(n), "request"), *r.refusal.Load())
	}
	words := fmt.Sprintf("%s, %s", count.Of(seen.turns, "turn"), count.Of(seen.calls, "call"))
	if seen.bad > 0 {
		words += fmt.Sprintf(", %d of them bad", seen.bad)
	}
	if r.rec != nil {
		words += ": toolscope " + commandLine(pathsOf(r.rec.presentPath()))
	}
	if r.tunnel != nil {
		r.printTunnelUse(fit.name(), words, a.code >= 128)
		r.noteLeftProcesses(fit.name(), c.leftProcesses())
		return nil
	}
	r.app.printNote("%s", words)
	if s := r.proxy.Stats(); s.Requests+s.Refused == 0 && len(fit.did) > 0 {
		r.app.printNote("no request arrived at the proxy: %s may ignore %s; see 'toolscope help clients'", fit.name(), fit.did[0])
	}
	if c.leftProcesses() {
		a.printNote("processes that %s started are still running, but the proxy has ended: their requests to %s are refused", fit.name(), r.url)
	}
	return nil
}

// othersTime is the time within which a client's requests must end after the client has ended. If requests are still
// open then, a note is printed.
const othersTime = 300 * time.Millisecond

// waitForOthers waits for the requests from other processes that the client started. A signal ends the wait.
func (r *runningProxy) waitForOthers(client string) {
	if r.proxy.Stats().Live == 0 {
		return
	}
	caught, stop := r.app.catchEnd()
	defer stop()
	tick := time.NewTicker(othersTime / 10)
	defer tick.Stop()
	notice := time.After(othersTime)
	for r.proxy.Stats().Live > 0 {
		select {
		case <-caught:
			return
		case <-notice:
			r.app.printNote("%s has ended: waiting for %s from processes that it started; press ^C to stop waiting", client, count.Of(int(r.proxy.Stats().Live), "request"))
		case <-tick.C:
		}
	}
}

// runBehind runs the client while the screen is open. The client's output goes to a file instead of the
// terminal. The screen stays open after the client has ended. Leaving the screen ends the client.
func (r *runningProxy) runBehind(ctx context.Context, fit *clientLaunch, prices *price.Table) error {
	a := r.app
	out, err := createOutput(r.liveInput)
	if err != nil {
		r.close()
		return fmt.Errorf("run: %w", err)
	}
	defer out.Close()
	c, err := startClient(fit.execCmd(nil, out, out), false)
	if err != nil {
		r.close()
		return fmt.Errorf("run: %w", err)
	}
	ended, runs, over := make(chan int, 1), "client runs", "client ended"
	r.client.Store(&runs)
	go func() {
		code := c.wait()
		r.client.Store(&over)
		ended <- code
	}()
	o := ui.Options{Source: "run " + fit.name(), Inbox: r.shown, Prices: prices, Status: r.statusNotes, Setup: r.setupText(), Break: r.point, Capture: r.capturePath()}
	o.Setup.Runs = func() bool { return r.client.Load() != &over }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.wakeScreen(ctx)
	err = a.showScreen(o, nil)
	c.end()
	a.code = <-ended
	r.close()
	a.printNote("the output of the client is in %s", out.Name())
	if r.tunnel != nil {
		r.printTunnelUse(fit.name(), "the client has ended", a.code >= 128)
		r.noteLeftProcesses(fit.name(), false)
	}
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream/count"
	"toolscope/ui"
)

// runFlags are those of a client that is run.
type runFlags struct {
	liveFlags
	faultFlags
	breakFlags
	to               []string
	screen, headless bool
	noServers        bool
}

const runHelp = `Starts a client whose requests go through a proxy of its own, and records them:
the shortest way to see what an agent does.

  toolscope run -- claude -p "what is in this folder?"
  toolscope run -- codex exec "add a test"
  toolscope run --to openai=http://127.0.0.1:8000/v1 -- ./my-agent

The client owns the terminal. Inside tmux the screen opens beside it; elsewhere
the line is printed that shows it in another terminal. With --screen the screen
owns the terminal, and what the client prints goes into a file.

A client that is known is sent to the proxy by its variables, and by flags or
settings of its own where it wants them, which is said; 'toolscope help clients'
lists them. Any other command is given the variables of all. The user's files
are never changed; an address that stands in them gives way, and --to NAME=URL
is where it goes then. Logins pass as they are: Claude Code's, Codex's with
ChatGPT, and Gemini CLI's.

What the client asks the MCP servers that it has is recorded too, and when shell
commands of Claude Code ran: each writes a file of its own, into the folder
beside the recording, a.mcp beside a.tsc, which the variable TOOLSCOPE_RUN names
to what runs. Which servers are, and which are not and why, is said first.
--no-mcp leaves it off; 'toolscope help executed' has more.

--fault has the client get something else than the provider sent, to see what it
makes of it: see 'toolscope proxy --help'.

Exit code: the client's, or 128+n when signal n ended it. Signals are passed on
to it.`

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [flags] -- COMMAND [ARG…]", Short: "Start a client, and watch and record what it says", Long: runHelp,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runThroughProxy(cmd.Context(), args, &f) },
	}
	to := cmd.Flags()
	to.SetInterspersed(false)
	to.StringArrayVar(&f.to, "to", nil, "the upstream `[NAME=]URL`; may be given several times")
	to.BoolVar(&f.screen, "screen", false, "the screen here; what the client prints goes into a file")
	to.BoolVar(&f.headless, "headless", false, "no screen, in tmux either")
	to.BoolVar(&f.noServers, "no-mcp", false, "do not record what the client asks MCP servers, and when its shell commands run")
	markSettings(to, "run", "to", "no-mcp")
	f.faultFlags.add(to)
	f.breakFlags.add(to)
	a.liveFlags(cmd, &f.liveFlags)
	_ = to.MarkHidden("format") // standard output is the client's
	a.keptFlags(cmd, &f.liveFlags)
	f.liveFlags.traces = new(traceFlags)
	a.traceFlags(cmd, f.liveFlags.traces, "run")
	a.flags.addKeep(to)
	cmd.MarkFlagsMutuallyExclusive("screen", "headless")
	return cmd
}

// runThroughProxy starts a client and ends with its exit code.
func (a *app) runThroughProxy(ctx context.Context, args []string, f *runFlags) error {
	if len(args) == 0 {
		return usageErrorf("run: no COMMAND\ntoolscope run -- claude, for one")
	}
	prices, _, terminal, err := a.outputOptions(&f.liveFlags)
	switch {
	case err != nil:
		return err
	case f.format != "":
		return usageErrorf("--format: standard output is the client's\ntoolscope print --format %s RECORDING, when it has ended", f.format)
	case f.screen && !terminal:
		return usageErrorf("--screen: standard output is no terminal")
	}
	if _, err := exec.LookPath(args[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		a.printError(fmt.Errorf("run: %w", err))
		a.code = exitNoCommand
		return nil
	}
	fit := newClientLaunch(args, os.Getenv)
	all, err := buildRoutes(f.to, fit.lookupEnv)
	if err != nil {
		return err
	}
	if !f.noServers && !f.kept.none {
		fit.findServers(ctx)
		all = append(all, fit.serverRoutes()...)
	}
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
	o := proxy.Options{Routes: proxyRoutes(all), Began: l.began, Faults: faults}
	err = r.runClient(ctx, listener, o, fit, f, terminal, prices)
	code := a.code
	a.endLive(l)
	a.code = code // the client's
	return err
}

// exitNoCommand is what shells end with where there is no such command.
const exitNoCommand = 127

// runClient serves while the client runs.
func (r *runningProxy) runClient(ctx context.Context, listener net.Listener, o proxy.Options, fit *clientLaunch, f *runFlags, terminal bool, prices *price.Table) error {
	if err := r.createProxy(o, true); err != nil {
		return err
	}
	served := r.startServing(ctx, listener)
	if err := fit.pointAt(r.routes, r.url); err != nil {
		r.close()
		return err
	}
	defer fit.removeFiles()
	if r.rec != nil && !f.noServers {
		leave, err := record.MakeCompanionDir(r.rec.path)
		if err != nil {
			fit.noteUnrecorded("MCP servers are not recorded: %s", err)
		} else {
			defer leave()
			fit.wrapServers(record.CompanionDir(r.rec.path), r.url)
		}
	}
	r.printLaunch(fit)
	var err error
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

// printLaunch says what is done to the client.
func (r *runningProxy) printLaunch(fit *clientLaunch) {
	a := r.app
	a.printNote("%s goes through %s, by %s", fit.name(), r.url, strings.Join(fit.did, ", "))
	fit.reportServers(func(format string, args ...any) { a.printNote("%s", r.redactor.Text(fmt.Sprintf(format, args...))) })
	if r.rec != nil {
		a.printNote("recorded into %s", r.rec.path)
	}
}

// runInFront runs the client where we are. What there is to say is said when it has ended, so that
// it is not written into what the client draws.
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
	r.close()
	<-printed
	later()
	r.printSummary(seen)
	return nil
}

// printSummary says what there was, and how to see it.
func (r *runningProxy) printSummary(seen *turnCounter) {
	if n := r.proxy.Stats().Refused; n > 0 {
		r.app.printNote("%s refused: %s", count.Of(int(n), "request"), *r.refusal.Load())
	}
	words := fmt.Sprintf("%s, %s", count.Of(seen.turns, "turn"), count.Of(seen.calls, "call"))
	if seen.bad > 0 {
		words += fmt.Sprintf(", %d of them bad", seen.bad)
	}
	if r.rec != nil {
		words += ": toolscope " + commandLine(pathsOf(r.rec.path))
	}
	r.app.printNote("%s", words)
}

// runBehind runs the client behind the screen, with a file in place of the terminal. The screen
// stays when the client has ended; a client that is left running is ended.
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
	ended, over := make(chan int, 1), "client ended"
	r.client.Store(stringPtr("client runs"))
	go func() {
		code := c.wait()
		r.client.Store(&over)
		ended <- code
	}()
	o := ui.Options{Source: "run " + fit.name(), Inbox: r.shown, Prices: prices, Status: r.statusNotes, Setup: setupGuide(r.routes, r.url), Break: r.point}
	o.Setup.Runs = func() bool { return r.client.Load() != &over }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.wakeScreen(ctx)
	err = a.showScreen(o, nil)
	c.end()
	a.code = <-ended
	r.close()
	a.printNote("what the client printed is in %s", out.Name())
	return err
}

func stringPtr(s string) *string { return &s }

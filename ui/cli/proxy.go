package cli

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/ui"
)

// proxyFlags are those of a proxy.
type proxyFlags struct {
	liveFlags
	faultFlags
	breakFlags
	listen, token              string
	to, origins                []string
	headless, printEnv, public bool
	probe                      bool
}

const proxyHelp = `Stands between clients and providers: passes on what they say, byte by byte and
at once, and shows the calls while they stream. Clients are sent here by their
base URL; on the screen, and with --print-env, stand the variables that do so.

  toolscope proxy --listen 127.0.0.1:8080
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080/anthropic claude
  toolscope proxy --record captures/ --headless --format jsonl
  toolscope proxy --to https://api.example.com/v1

The first part of the path says which provider a request is for, by its name in
'toolscope help hosts': /anthropic, /openai, /gemini, /ollama, /openrouter ….
What follows is put behind the provider's address. --to URL sends everything to
one upstream; --to NAME=URL sends /NAME to another address. Where a variable
names a provider's address (ANTHROPIC_BASE_URL, OLLAMA_HOST …), that is where it
goes.

What passes is recorded into a folder of toolscope's own, unless --record names
another place or --no-record says not to.

Without a terminal, with --headless or with --format, calls are printed as turns
end. Keys, and what else looks like a secret, are replaced before anything is
shown or recorded. Only this machine can connect, unless --public, which wants a
--token: clients show it as the first part of the path.

--fault has clients get something else than the provider sent, to see what they
make of it; what is shown and recorded is the provider's, with a note. Providers
are asked for answers without compression then.

--break has an answer wait before the client gets the event with which a call
fits, as in --break tool:run_shell: on the screen, b shows what is held, lets it
go, by one event or for good, or cuts it. A client that reads an event stream is
told to wait by comments, one that has a WebSocket by pings.

--publish URL sends what is recorded to a hub, where others watch it beside that
of other machines: see 'toolscope help fleet'. What the hub does not have yet
waits in a spool, and the traffic never waits for either.

Exit codes: 3 when the recording has gaps or secrets may have passed, because
there were too many to look for; otherwise 128+n when signal n ends it.`

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use: "proxy", Short: "Stand in front of providers: watch and record what passes", Long: proxyHelp + "\n\n" + strings.TrimRight(helpPage(faultTable), "\n"), Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runProxy(cmd.Context(), &f) },
	}
	to := cmd.Flags()
	to.StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDR` to listen on; port 0 picks a free one")
	to.StringArrayVar(&f.to, "to", nil, "the upstream `[NAME=]URL`; may be given several times")
	to.BoolVar(&f.headless, "headless", false, "no screen: print the calls")
	to.BoolVar(&f.printEnv, "print-env", false, "print the lines that send clients here")
	to.BoolVar(&f.probe, "probe", false, "no proxy: tell by the exit code whether one listens at --listen")
	to.BoolVar(&f.public, "public", false, "listen where other machines reach it; wants a --token")
	to.StringVar(&f.token, "token", "", "every request has to show `T`, or what is in the file @T")
	to.StringArrayVar(&f.origins, "origin", nil, "let pages of `ORIGIN` send requests; may be given several times")
	f.faultFlags.add(to)
	f.breakFlags.add(to)
	a.liveFlags(cmd, &f.liveFlags)
	markSettings(to, "proxy", "listen", "to", "headless", "print-env", "origin", "format")
	markSecretSetting(to, "proxy", "token")
	a.keptFlags(cmd, &f.liveFlags)
	f.liveFlags.publish = new(publishFlags)
	a.publishFlags(cmd, f.liveFlags.publish, "proxy")
	markSettings(to, "proxy", "publish", "agent")
	f.liveFlags.traces = new(traceFlags)
	a.traceFlags(cmd, f.liveFlags.traces, "proxy")
	a.flags.addKeep(to)
	return cmd
}

// runProxy forwards and records until a signal, or until the user leaves the screen.
func (a *app) runProxy(ctx context.Context, f *proxyFlags) error {
	if f.probe {
		return probeAddress(f.listen)
	}
	prices, p, screen, err := a.outputOptions(&f.liveFlags)
	if err != nil {
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
	l, err := a.startLive("toolscope proxy", &f.liveFlags)
	if err != nil {
		return err
	}
	defer a.endLive(l)
	o.Began = l.began
	f.announceFaults(l, a)
	if f.token != "" {
		l.redactor.Learn(f.token, "token")
	}
	r := &runningProxy{liveInput: l, app: a, routes: all, point: point, url: "http://" + listener.Addr().String()}
	if err := r.createProxy(o, screen); err != nil {
		return err
	}
	r.announceProxy(f)
	served := r.startServing(ctx, listener)
	if screen {
		return r.showScreen(ctx, prices)
	}
	return r.printUntilEnd(served, p)
}

// proxyOptions reads what the proxy needs to know from the flags.
func proxyOptions(f *proxyFlags) (o proxy.Options, all []route, err error) {
	if f.token, err = textOrFile(f.token); err != nil {
		return o, nil, fmt.Errorf("--token: %w", err)
	}
	f.token = strings.TrimSpace(f.token)
	if strings.Trim(f.token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") != "" || f.token != "" && len(f.token) < minTokenLen {
		return o, nil, usageErrorf("--token: no token\nwanted are at least %d letters, digits, or any of - . _ ~", minTokenLen)
	}
	if f.public && f.token == "" {
		return o, nil, usageErrorf("--public: whoever reaches this machine could use the proxy\n--token T keeps strangers out")
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

// minTokenLen is how long a token has to be: one cannot be guessed then.
const minTokenLen = 8

// runningProxy is a proxy that listens, and what becomes of its records.
type runningProxy struct {
	*liveInput
	app     *app
	routes  []route
	url     string
	point   *breakpoint
	caught  chan os.Signal // signals that end it, where there is no screen
	uncatch func()
}

// createProxy makes the proxy, which nobody can reach yet.
func (r *runningProxy) createProxy(o proxy.Options, screen bool) (err error) {
	o.Record = r.addRecord
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
		r.caught, r.uncatch = r.app.catchEnd() // before anybody can know that it listens
	}
	if r.point != nil {
		r.point.applyTo(&o, r.redactor.Text)
	}
	if r.proxy, err = proxy.New(o); r.point != nil {
		r.point.proxy = r.proxy
	}
	return err
}

// startServing serves on a listener, and tells when that is over.
func (r *runningProxy) startServing(ctx context.Context, listener net.Listener) <-chan error {
	served := make(chan error, 1)
	go func() { served <- r.proxy.Serve(ctx, listener) }()
	return served
}

// announceProxy says where the proxy listens, and how to send clients there.
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
		r.url += "/TOKEN" // the screen is no place for it
	}
	if f.printEnv {
		for _, line := range envLines(r.routes, base) {
			out.printLine("%s", line)
		}
	}
	if f.public {
		a.printNote("other machines can reach this proxy; what they send, keys too, can be read on the way")
	}
}

// close cuts what is going on; what that makes known is passed on.
func (r *runningProxy) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		r.app.printError(fmt.Errorf("the proxy did not end: %w", err))
	}
	_ = r.drainRecords(ctx) // endLive says what is missing
}

// showScreen runs the screen until the user leaves it, which ends the proxy.
func (r *runningProxy) showScreen(ctx context.Context, prices *price.Table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := ui.Options{
		Source: "proxy " + strings.TrimPrefix(r.url, "http://"), Inbox: r.shown, Prices: prices,
		Status: r.statusNotes, Setup: setupGuide(r.routes, r.url), Break: r.point,
	}
	go r.wakeScreen(ctx)
	err := r.app.showScreen(o, nil)
	r.close()
	return err
}

// printUntilEnd prints turns as they end until a signal; the next one ends the program whatever is going
// on.
func (r *runningProxy) printUntilEnd(served <-chan error, p printer) error {
	defer quitQuietly()()
	defer r.uncatch()
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
	r.close()
	if err := <-printed; failed == nil {
		failed = err
	}
	return failed
}

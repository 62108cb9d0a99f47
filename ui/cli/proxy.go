package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/proxy"
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

Exit codes: 3 when the recording has gaps or secrets may have passed, because there were
too many to look for; otherwise 128+n when signal n ends it.`

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use: "proxy", Short: "Stand in front of providers: watch and record what passes", Long: proxyHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkRecord(cmd); err != nil {
				return err
			}
			return a.proxy(cmd.Context(), &f)
		},
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

// proxy forwards and records until a signal, or until the user leaves the screen.
func (a *app) proxy(ctx context.Context, f *proxyFlags) error {
	o, all, err := a.proxyOptions(f)
	if err != nil {
		return err
	}
	addr, err := listenAddress(f.listen, f.public)
	if err != nil {
		return err
	}
	prices, err := a.prices()
	if err != nil {
		return err
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	o.Began = time.Now()
	l, err := a.live(f.record, o.Began, "toolscope proxy", f.keepSecrets)
	if err != nil {
		return err
	}
	defer a.endLive(l)
	if f.token != "" {
		l.redactor.Learn(f.token, "token")
	}
	r := &running{live: l, app: a, format: f.format, ways: all, url: "http://" + listener.Addr().String(), prices: prices}
	screen := !f.headless && f.format == "" && isTerminal(a.stdout)
	if err := r.stand(o, screen); err != nil {
		return err
	}
	r.announce(f)
	return r.run(ctx, listener, screen)
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

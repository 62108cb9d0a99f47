package cli

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture/fault"
	"toolscope/capture/mock"
	"toolscope/capture/proxy"
	"toolscope/providers/coding"
)

// serveFlags are the flags of the mock provider.
type serveFlags struct {
	listen string
	public bool
	speed  string
	faults []string
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve CAPTURE…", Short: "Mock a provider with recorded responses",
		Example: "toolscope serve run.tsc\ntoolscope serve run.tsc --listen 127.0.0.1:8080 --speed max\ntoolscope serve run.tsc --fault cut@3",

		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "CAPTURE")
			if err != nil {
				return err
			}
			return a.runServe(cmd.Context(), paths, f)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "")
	cmd.Flags().BoolVar(&f.public, "public", false, "")
	cmd.Flags().StringVar(&f.speed, "speed", "1", "")
	cmd.Flags().StringArrayVar(&f.faults, "fault", nil, "")
	return cmd
}

// runServe answers requests with recorded responses until a signal arrives.
func (a *app) runServe(ctx context.Context, paths []string, f serveFlags) error {
	o, err := f.mockOptions()
	if err != nil {
		return err
	}
	defer quitQuietly()()
	listener, err := listenAt(f.listen, f.public)
	if err != nil {
		return err
	}
	defer listener.Close()
	for _, path := range paths {
		list, err := a.exchangesOf(ctx, path)
		if err != nil {
			return err
		}
		o.Exchanges = append(o.Exchanges, list...)
	}
	if len(o.Exchanges) == 0 {
		return fmt.Errorf("serve: no response found in %s", strings.Join(paths, ", "))
	}
	o.Decode = decodeBody
	o.OnResponse = func(answer mock.Response) { a.stderr.printLine("%s", answerLine(answer)) }
	o.OnUnusedFault = func(fault fault.Fault, x *mock.Exchange, why string) {
		a.printNote("--fault %s has no effect on %s: %s", fault, exchangeName(x), why)
	}
	if f.public {
		a.printNote("everyone who can reach this machine can read the captures")
	}
	rules := proxy.GuardRules{Public: f.public, Purpose: "this server accepts only requests for its own address"}
	return a.untilSignal(listener, rules.Handler(mock.New(o), "toolscope serve", func(no *proxy.Refusal) {
		a.printRefused(no.Status, no.Why)
	}))
}

// untilSignal serves until a signal arrives. It then closes the open connections.
func (a *app) untilSignal(listener net.Listener, h http.Handler) error {
	ended, stop := a.catchEnd()
	defer stop()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 20, Protocols: proxy.HTTPProtocols(),
		ErrorLog: log.New(firstLine{a}, "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	a.stdout.printLine("http://%s", listener.Addr())
	if signalled, err := a.waitForEnd(failed, ended); !signalled {
		return fmt.Errorf("serve: %w", err)
	}
	server.Close()
	return nil
}

// exchangesOf returns the exchanges of one source.
func (a *app) exchangesOf(ctx context.Context, path string) ([]mock.Exchange, error) {
	src, err := a.openSource(ctx, path)
	if err != nil {
		return nil, err
	}
	list, notes, err := mock.Read(src)
	a.reportViews()
	for _, note := range notes {
		a.printNote("%s: %s", path, note)
	}
	return list, err
}

// answerLine describes a response on one line.
func answerLine(answer mock.Response) string {
	what := "no recorded exchange matches: " + strconv.Itoa(answer.Status)
	switch {
	case answer.Exchange == nil && answer.Status == http.StatusOK:
		what = "the list of exchanges"
	case answer.Fault != "":
		what = fmt.Sprintf("%d, --fault %s", answer.Status, answer.Fault)
	case answer.Status == http.StatusSwitchingProtocols:
		what = exchangeName(answer.Exchange) + ": a WebSocket"
	case answer.Exchange != nil:
		what = exchangeName(answer.Exchange) + ": " + answer.Exchange.About()
		if answer.Reused {
			what += ", again"
		}
	}
	return fmt.Sprintf("%s %s: %s", answer.Method, answer.Path, what)
}

// exchangeName returns the file and the number of an exchange.
func exchangeName(x *mock.Exchange) string { return fmt.Sprintf("%s, exchange %d", x.File, x.Number) }

// mockOptions returns the options that the flags set.
func (f *serveFlags) mockOptions() (o mock.Options, err error) {
	if o.Faults, err = fault.ParseFaults(f.faults...); err != nil {
		return o, usageErrorf("--fault: %w", err)
	}
	if f.speed == "max" {
		return o, nil
	}
	o.Speed, err = strconv.ParseFloat(f.speed, 64)
	if err != nil || !(o.Speed >= 0) || math.IsInf(o.Speed, 1) {
		return o, usageErrorf("--speed %q: not a number that is 0 or higher\nuse e.g. 2 for twice as fast, or max", f.speed)
	}
	return o, nil
}

// decodeBody decodes a body. The header names the body's codings.
func decodeBody(h http.Header, coded []byte) ([]byte, error) {
	chain, err := coding.New(h)
	if err != nil || chain == nil {
		return coded, err
	}
	body, err := chain.Write(coded)
	if err != nil {
		return nil, err
	}
	body = bytes.Clone(body) // the slice from Write is valid only until the next call
	rest, err := chain.Close()
	return append(body, rest...), err
}

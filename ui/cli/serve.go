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
	"toolscope/capture/hostguard"
	"toolscope/capture/mock"
	"toolscope/providers/coding"
)

// serveFlags are those of the mock provider.
type serveFlags struct {
	listen string
	public bool
	speed  string
	faults []string
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve CAPTURE…", Short: "Answer like the provider that was recorded",
		Long: `Answers HTTP requests with recorded responses, for a client to be tested
against. Prints the URL to give to the client as its base, and serves until it
is told to end.

A request gets the response to the recorded one that is most like it: by path,
then by model, tools and length of the conversation, so that an agent whose
session was recorded can be run against it. Of those that are equally alike each
is used once, in their order, and then again; bodies without a path, as curl -N
saves them, answer any POST. WebSockets are served as well, message by message.
GET / tells what there is. Chunks come with their recorded timing.

` + helpPage(faultTable),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "CAPTURE")
			if err != nil {
				return err
			}
			return a.runServe(cmd.Context(), paths, f)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDR` to listen on; port 0 picks a free one")
	cmd.Flags().BoolVar(&f.public, "public", false, "listen where other machines reach it: they can read the captures")
	cmd.Flags().StringVar(&f.speed, "speed", "1", "`N` times as fast as recorded, or max: all at once")
	cmd.Flags().StringArrayVar(&f.faults, "fault", nil, "make `FAULT` happen, as in cut@3; may be given several times")
	markSettings(cmd.Flags(), "serve", "listen", "speed")
	return cmd
}

// runServe answers requests from captures until a signal.
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
		return fmt.Errorf("serve: there is no response in %s", strings.Join(paths, ", "))
	}
	o.Decode = decodeBody
	o.OnResponse = func(answer mock.Response) { a.stderr.printLine("%s", answerLine(answer)) }
	o.OnUnusedFault = func(fault fault.Fault, x *mock.Exchange, why string) {
		a.printNote("--fault %s does nothing to %s: %s", fault, exchangeName(x), why)
	}
	if f.public {
		a.printNote("whoever reaches this machine can read what is served")
	}
	rules := hostguard.Rules{Public: f.public, Purpose: "this server answers for itself alone"}
	return a.untilSignal(listener, rules.Handler(mock.New(o), "toolscope serve", func(no *hostguard.Refusal) {
		a.printRefused(no.Status, no.Why)
	}))
}

// untilSignal serves and returns when a signal has ended it; connections that are open then are
// broken.
func (a *app) untilSignal(listener net.Listener, h http.Handler) error {
	ended, stop := a.catchEnd()
	defer stop()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 20, Protocols: hostguard.Protocols(),
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

// exchangesOf is the exchanges of one source.
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

func answerLine(answer mock.Response) string {
	what := "nothing that was recorded fits: " + strconv.Itoa(answer.Status)
	switch {
	case answer.Exchange == nil && answer.Status == http.StatusOK:
		what = "the list of what is served"
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

func exchangeName(x *mock.Exchange) string { return fmt.Sprintf("%s, exchange %d", x.File, x.Number) }

func (f *serveFlags) mockOptions() (o mock.Options, err error) {
	if o.Faults, err = fault.ParseFaults(f.faults...); err != nil {
		return o, usageErrorf("--fault: %w", err)
	}
	if f.speed == "max" {
		return o, nil
	}
	o.Speed, err = strconv.ParseFloat(f.speed, 64)
	if err != nil || !(o.Speed >= 0) || math.IsInf(o.Speed, 1) {
		return o, usageErrorf("--speed %q: a number, as 2 for twice as fast, or max", f.speed)
	}
	return o, nil
}

// decodeBody undoes the codings that a header names.
func decodeBody(h http.Header, coded []byte) ([]byte, error) {
	chain, err := coding.New(h)
	if err != nil || chain == nil {
		return coded, err
	}
	body, err := chain.Write(coded)
	if err != nil {
		return nil, err
	}
	body = bytes.Clone(body) // valid until the next call
	rest, err := chain.Close()
	return append(body, rest...), err
}

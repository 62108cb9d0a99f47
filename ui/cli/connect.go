package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui"
)

// connectFlags are the flags of a request that connect makes.
type connectFlags struct {
	liveFlags
	model, system, baseURL string
	tools, request         string // names of files
	session                string
	keep                   bool
	maxTokens              int
	headers                []string
	timeout                time.Duration
}

func (a *app) connectCommand() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use: "connect PROVIDER[,PROVIDER…] [PROMPT…|-]", Short: "Send a request to one or more providers",
		Example: "toolscope connect anthropic \"What is the weather in Oslo?\" --tools tools.json\ntoolscope connect openai/gpt-5.4,gemini --system @system.md - < prompt.txt\ntoolscope connect --request body.json",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runConnect(cmd.Context(), args, &f) },
	}
	to := cmd.Flags()
	to.StringVar(&f.model, "model", "", "")
	to.StringVar(&f.tools, "tools", "", "")
	to.StringVar(&f.system, "system", "", "")
	to.IntVar(&f.maxTokens, "max-tokens", 0, "")
	to.StringVar(&f.baseURL, "base-url", "", "")
	to.StringVar(&f.request, "request", "", "")
	to.StringArrayVar(&f.headers, "header", nil, "")
	to.StringVar(&f.session, "session", "", "")
	to.BoolVar(&f.keep, "long-cache", false, "")
	to.DurationVar(&f.timeout, "timeout", answerWait, "")
	a.liveFlags(cmd, &f.liveFlags)
	asPaths(to, "tools", "request")
	markSettings(to, "connect", "model", "tools", "system", "max-tokens", "timeout", "format")
	return cmd
}

// runConnect sends the requests of the command line and shows the responses.
func (a *app) runConnect(ctx context.Context, args []string, f *connectFlags) error {
	prices, p, screen, err := a.outputOptions(&f.liveFlags)
	if err != nil {
		return err
	}
	queries, err := a.buildRequests(args, f)
	if err != nil {
		return err
	}
	for _, q := range queries {
		if q.exposed {
			a.printNote("%s: the key is sent unencrypted to another machine; use https:// to protect it", q.label)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := a.startLive("toolscope connect", &f.liveFlags)
	if err != nil {
		return err
	}
	defer a.endLive(l)
	for _, q := range queries {
		l.redactor.Header(q.header)
	}
	ask := func() { l.fillFrom(sendAll(ctx, queries, l.began, f.timeout)) }
	if !screen {
		go ask()
		return a.printAnswers(l, cancel, p)
	}
	seen := new(failureWatch)
	l.seen = seen.addRecord
	o := ui.Options{Source: joinCommas(mapSlice(queries, func(q preparedRequest) string { return q.label })...), Inbox: l.shown, Prices: prices, Status: l.statusNotes}
	a.providerFlags = map[string]*connectFlags{}
	for _, q := range queries {
		a.providerFlags[q.host.Name] = f
	}
	go l.wakeScreen(ctx)
	err = a.showScreen(o, ask)
	cancel()
	a.reportFailures(seen.listFailures())
	return err
}

// printAnswers prints the turns of each provider as they end. The first signal cancels the requests; the
// responses so far are printed.
func (a *app) printAnswers(l *liveInput, cancel func(), p printer) error {
	defer quitQuietly()()
	caught, stop := a.catchEnd()
	defer stop()
	in := new(providers.Inspector)
	printed := make(chan error, 1)
	l.start(callDirect)
	go func() { printed <- l.printTurns(a, in, "-", p, func(error) { cancel() }) }()
	signalled, err := a.waitForEnd(printed, caught)
	if signalled {
		cancel()
		<-printed
	} else if err == nil {
		a.reportFailures(failedResponses(in))
	}
	return err
}

// reportFailures prints the failures and sets the exit code.
func (a *app) reportFailures(list []string) {
	for _, what := range list {
		a.printError(errors.New(what))
		a.code = max(a.code, 1)
	}
}

// failureWatch inspects the records for the screen, and lists afterwards which responses failed.
type failureWatch struct {
	mu sync.Mutex
	in providers.Inspector
}

// addRecord takes a record.
func (w *failureWatch) addRecord(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.Write(coreRecord(r))
}

// listFailures returns the failures so far. Open responses are not failures: the user left before their end.
func (w *failureWatch) listFailures() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return failedResponses(&w.in)
}

// failedResponses returns a text for each response that failed: the provider, the HTTP status, and the
// provider's message.
func failedResponses(in *providers.Inspector) (list []string) {
	for _, x := range in.Exchanges() {
		if words := failureText(in, x); x.Ended && words != "" {
			list = append(list, x.Head.File+": "+words)
		}
	}
	return list
}

// failureText returns why an exchange failed, "" if it did not.
func failureText(in *providers.Inspector, x *providers.Exchange) string {
	words, done := "", false
	for _, t := range in.Session().Turns {
		if t.Exchange != x.Number {
			continue
		}
		if t.Failure != "" && words == "" {
			words = t.Failure
		}
		switch t.Phase() {
		case stream.TurnComplete, stream.TurnTruncated, stream.TurnRejected:
			done = true
		}
	}
	status := x.Head.Status
	switch {
	case status >= 300 && status < 400:
		return fmt.Sprintf("HTTP %d: redirected to another host, not followed", status)
	case status >= 400:
		if !strings.HasPrefix(words, "HTTP status") {
			words = fmt.Sprintf("HTTP %d: %s", status, words)
		}
		return words + retryAfter(x.Head.Header)
	case words != "":
		return words
	case status == 0:
		return x.EndReason()
	case !done:
		if why := x.EndReason(); why != "" {
			return why
		}
		return "the response ended early, or its protocol is unknown"
	}
	return ""
}

// retryAfter returns the Retry-After header in words, "" without one.
func retryAfter(h map[string][]string) string {
	v := http.Header(h).Get("Retry-After")
	if v == "" {
		return ""
	}
	return " (retry after " + v + textIf(strings.Trim(v, "0123456789.") == "", " s") + ")"
}

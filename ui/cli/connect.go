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

// connectFlags are those of a request that is made here.
type connectFlags struct {
	liveFlags
	model, system, baseURL string
	tools, request         string // files
	session                string
	keep                   bool
	maxTokens              int
	headers                []string
	timeout                time.Duration
}

const connectHelp = `Sends a request and watches the answer, on the screen or, where standard output
is no terminal or with --format, printed.

  toolscope connect anthropic "What is the weather in Oslo?" --tools tools.json
  toolscope connect openai/gpt-5.4,gemini --system @system.md - < prompt.txt
  toolscope connect ollama --model qwen3 --base-url http://box:11434 hello
  toolscope connect --request body.json

Several providers get the same prompt and tools, each in its own form: tools may
be declared as any protocol does it, or as MCP servers list them. No tool is
ever run. PROVIDER is a name from 'toolscope help hosts', PROVIDER/MODEL one
with its model.

Keys are read from the environment and go to the provider, nowhere else. An
error is shown in the provider's own words; the exit code is 1 then.`

func (a *app) connectCommand() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use: "connect PROVIDER[,PROVIDER…] [PROMPT…|-]", Short: "Send a request and watch the answer", Long: connectHelp,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runConnect(cmd.Context(), args, &f) },
	}
	to := cmd.Flags()
	to.StringVar(&f.model, "model", "", "the model to ask, where PROVIDER does not say")
	to.StringVar(&f.tools, "tools", "", "declare the tools in this `FILE`")
	to.StringVar(&f.system, "system", "", "instructions, or @`FILE` that holds them")
	to.IntVar(&f.maxTokens, "max-tokens", 0, "limit of the answer; without it the provider's, or where it wants one a third of what the model can")
	to.StringVar(&f.baseURL, "base-url", "", "another address: `URL` of a host that speaks PROVIDER's protocol")
	to.StringVar(&f.request, "request", "", "send the body in this `FILE` as it is; PROVIDER may be left out then")
	to.StringArrayVar(&f.headers, "header", nil, "one more header, `NAME=VALUE`; may be given several times")
	to.StringVar(&f.session, "session", "", "`NAME` of the conversation: has the prompt cache used, where writing it costs too")
	to.BoolVar(&f.keep, "keep", false, "with --session: have the cache keep the prompt for longer")
	to.DurationVar(&f.timeout, "timeout", answerWait, "how long to wait for the first byte of the answer")
	a.liveFlags(cmd, &f.liveFlags)
	asPaths(to, "tools", "request")
	markSettings(to, "connect", "model", "tools", "system", "max-tokens", "timeout", "format")
	return cmd
}

// runConnect sends what the command line asks for and shows what comes.
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
			a.printNote("%s: the key goes to another machine unencrypted: https:// would hide it", q.label)
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

// printAnswers prints the turns of each provider as they end. The first signal cancels the
// requests: what came until then is printed.
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

// reportFailures says what went wrong with each provider, in its own words.
func (a *app) reportFailures(list []string) {
	for _, what := range list {
		a.printError(errors.New(what))
		a.code = max(a.code, 1)
	}
}

// A failureWatch looks at records on their way to the screen, to be asked afterwards what failed.
type failureWatch struct {
	mu sync.Mutex
	in providers.Inspector
}

func (w *failureWatch) addRecord(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.Write(coreRecord(r))
}

// listFailures is what failed until now. Answers that have not ended yet have not failed: the user left
// them.
func (w *failureWatch) listFailures() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return failedResponses(&w.in)
}

// failedResponses are the answers that failed, a text each: the provider, the HTTP status, and the words
// it has for that.
func failedResponses(in *providers.Inspector) (list []string) {
	for _, x := range in.Exchanges() {
		if words := failureText(in, x); x.Ended && words != "" {
			list = append(list, x.Head.File+": "+words)
		}
	}
	return list
}

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
		return fmt.Sprintf("HTTP %d: it answers from another host, which is not asked", status)
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
		return "the answer broke off, or is none of a known protocol"
	}
	return ""
}

// retryAfter says when the provider wants to be asked again.
func retryAfter(h map[string][]string) string {
	v := http.Header(h).Get("Retry-After")
	if v == "" {
		return ""
	}
	return " (retry after " + v + textIf(strings.Trim(v, "0123456789.") == "", " s") + ")"
}

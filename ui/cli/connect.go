package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui"
	"toolscope/ui/present"
	"toolscope/ui/send"
)

// connectFlags are the flags for a request that connect sends.
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
	return cmd
}

// runConnect sends the requests that the command line describes, and shows the responses.
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
	ask := func() { copySource(sendAll(ctx, queries, l.began, f.timeout), l.arrived.Put, l.endSource) }
	if !screen {
		go ask()
		return a.printAnswers(l, cancel, p)
	}
	seen := new(failureWatch)
	l.seen = seen.addRecord
	o := ui.Options{Source: present.JoinWords(mapSlice(queries, func(q preparedRequest) string { return q.label })...), Inbox: l.shown, Prices: prices, Status: l.statusNotes}
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

// printAnswers prints each provider's turns as they end. The first signal cancels the requests. The responses
// that arrived before then are still printed.
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

// reportFailures prints the failures. If there are any, it sets the exit code.
func (a *app) reportFailures(list []string) {
	for _, what := range list {
		a.printError(errors.New(what))
		a.code = max(a.code, 1)
	}
}

// failureWatch inspects the screen's records, and can list the responses that failed.
type failureWatch struct {
	mu sync.Mutex
	in providers.Inspector
}

// addRecord inspects a record.
func (w *failureWatch) addRecord(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.Write(coreRecord(r))
}

// listFailures returns the failures so far. Open responses are not failures, because they are open only if the user
// left early.
func (w *failureWatch) listFailures() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return failedResponses(&w.in)
}

// failedResponses describes each failed response, with the provider and the reason.
func failedResponses(in *providers.Inspector) (list []string) {
	for _, x := range in.Exchanges() {
		if words := failureText(in, x); x.Ended && words != "" {
			list = append(list, x.Head.File+": "+words)
		}
	}
	return list
}

// failureText returns the reason why an exchange failed, or "" if it did not.
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
		return fmt.Sprintf("HTTP %d: the redirect to another host was not followed", status)
	case status >= 400:
		if !strings.HasPrefix(words, "HTTP status") {
			words = fmt.Sprintf("HTTP %d: %s", status, words)
		}
		if after := http.Header(x.Head.Header).Get("Retry-After"); after != "" {
			words += " (retry after " + after + textIf(strings.Trim(after, "0123456789.") == "", " s") + ")"
		}
		return words
	case words != "":
		return words
	case status == 0:
		return x.EndReason
	case !done:
		if why := x.EndReason; why != "" {
			return why
		}
		return "the response ended early, or its protocol is unknown"
	}
	return ""
}

// sendAll sends the requests and returns the responses as they arrive. If a provider does not answer, its exchange
// ends with an error, and the other requests continue.
func sendAll(ctx context.Context, list []preparedRequest, began time.Time, limit time.Duration) capture.Source {
	var all []capture.Source
	client := webClient()
	for i := range list {
		all = append(all, list[i].responseSource(ctx, client, began, limit))
	}
	if len(all) == 1 {
		return all[0]
	}
	return capture.Merge(ctx, all...)
}

// webClient returns a client that sends requests unchanged. It does not decompress responses. It follows at
// most five redirects, and only within the same scheme and host. It uses HTTP/2 if the host supports it.
func webClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// responseSource sends the request and returns its exchange as a source. It gives up if no byte of the response
// arrives within limit. The records name the provider.
func (q *preparedRequest) responseSource(ctx context.Context, client *http.Client, began time.Time, limit time.Duration) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var late atomic.Bool
		timer := time.AfterFunc(limit, func() { late.Store(true); cancel() })
		defer timer.Stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(q.body))
		if err != nil {
			yield(q.failedRecord(fmt.Errorf("not a valid URL: %s", q.host.Name)), nil)
			return
		}
		req.Header = q.header
		for r, err := range capture.Fetch(ctx, client, req, 1, began) {
			if err != nil {
				yield(q.failedRecord(err), nil)
				return
			}
			if r.Side == capture.Response && (len(r.Data) > 0 || r.End != "") {
				timer.Stop()
			}
			if r.End == capture.EndCut && late.Load() {
				r.Why, r.By = fmt.Sprintf("no response byte arrived within %s", limit), capture.Toolscope
			}
			if r.Head != nil {
				r.Head.File = q.label
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// failedRecord returns the record of an exchange that failed without a response.
func (q *preparedRequest) failedRecord(err error) capture.Record {
	return capture.Record{
		Exchange: 1, At: capture.NoTime, Head: &capture.Head{File: q.label, Method: http.MethodPost, URL: q.url},
		End: capture.EndCut, Why: err.Error(), By: capture.Network,
	}
}

// answerWait is the default maximum time until the first byte of a response.
const answerWait = 5 * time.Minute

// sender sends requests from the screen to providers whose keys are in the environment. Flags for a provider
// on the command line also apply to these requests.
type sender struct {
	ctx           context.Context // ends when the user leaves the screen
	client        *http.Client
	program       *tea.Program
	providerFlags map[string]*connectFlags // flags, by name of the provider
	live          *liveInput               // receives the records
	flights       sync.WaitGroup
}

// flagsFor returns the flags that the command line sets for a provider, or else flags with the default time limit.
func (s *sender) flagsFor(h *host.Host) *connectFlags {
	if f := s.providerFlags[h.Name]; f != nil {
		return f
	}
	return &connectFlags{timeout: answerWait}
}

// sendPlaces returns the known providers, each with the problem that prevents sending to it.
func sendPlaces(said map[string]*connectFlags) (all []send.Destination) {
	s := sender{providerFlags: said}
	for i := range host.All {
		q := preparedRequest{host: &host.All[i]}
		f := s.flagsFor(q.host)
		var err error
		if q.url, err = q.host.ResolveAddress(f.baseURL, os.Getenv); err == nil {
			err = q.setHeaders(f)
		}
		p := send.Destination{Host: q.host, Address: q.url}
		switch {
		case err != nil: // on one line, without the host's name
			p.Trouble = strings.ReplaceAll(strings.TrimPrefix(err.Error(), q.host.Name+": "), "\n", ": ")
		case q.exposed:
			p.Warning = "the key is sent unencrypted to another machine"
		}
		all = append(all, p)
	}
	return all
}

// sendRequest sends a request and passes on its records as they arrive.
func (s *sender) sendRequest(r send.Request, exchange int) error {
	f := s.flagsFor(r.Host)
	q := preparedRequest{label: r.Host.Name, host: r.Host, model: r.Model, url: r.URL, body: r.Body}
	if err := q.setHeaders(f); err != nil {
		return err
	}
	s.live.redactor.Header(q.header)
	s.flights.Go(func() {
		defer sendCrash(s.program)
		for rec, err := range q.responseSource(s.ctx, s.client, s.live.began, f.timeout) {
			if err != nil {
				rec = q.failedRecord(err)
			}
			rec.Exchange = sentFrom - exchange
			s.live.addRecord(rec)
		}
	})
	return nil
}

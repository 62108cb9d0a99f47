package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/protocol"
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

// preparedRequest is a request that is ready to be sent.
type preparedRequest struct {
	label  string // the provider, as the user wrote it
	host   *host.Host
	model  string
	url    string
	header http.Header
	body   []byte

	exposed bool // the key is sent unencrypted to another machine
}

// buildRequests returns the requests that the command line describes, one per provider.
func (a *app) buildRequests(args []string, f *connectFlags) ([]preparedRequest, error) {
	if f.request != "" {
		return a.rawRequests(args, f)
	}
	if len(args) == 0 {
		return nil, usageErrorf("connect: needs a PROVIDER\ntoolscope connect PROVIDER PROMPT; 'toolscope help providers' lists the names")
	}
	list, err := f.parseProviders(args[0])
	if err != nil {
		return nil, err
	}
	r := protocol.Request{MaxTokens: f.maxTokens, Session: f.session, LongCache: f.keep}
	if r.System, err = textOrFile(f.system); err != nil {
		return nil, fmt.Errorf("--system: %w", err)
	}
	var tools host.Tools
	if f.tools != "" {
		text, err := readFile(f.tools)
		if err == nil {
			tools, err = host.ReadTools(text)
		}
		if err != nil {
			return nil, fmt.Errorf("--tools %s: %w", f.tools, err)
		}
	}
	prompt, err := a.readPrompt(args[1:])
	if err != nil {
		return nil, err
	}
	r.Messages = []protocol.Message{{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: prompt}}}}
	return f.buildEach(list, func(q *preparedRequest, address string) error {
		if q.model == "" {
			return usageErrorf("%s: needs a model\nuse --model MODEL, or %s/MODEL", q.label, q.host.Name)
		}
		mine := r
		mine.Model = q.model
		if left := tools.Declare(&mine, q.host.HistoryTarget()); len(left) > 0 {
			a.printNote("%s: some tools are not declared, because only another provider can run them: %s", q.label, strings.Join(left, ", "))
		}
		q.url, q.body = q.host.Build(mine, address)
		return nil
	})
}

// rawRequests returns a request for each provider, with the body from --request.
func (a *app) rawRequests(args []string, f *connectFlags) ([]preparedRequest, error) {
	if len(args) > 1 || f.tools != "" || f.system != "" || f.maxTokens != 0 || f.session != "" || f.keep {
		return nil, usageErrorf("--request: the body is sent unchanged\nleave out PROMPT, --tools, --system, --max-tokens, --session and --long-cache")
	}
	var body []byte
	var err error
	if f.request == "-" {
		body, err = io.ReadAll(a.stdin)
	} else {
		body, err = os.ReadFile(f.request)
	}
	if err != nil {
		return nil, fmt.Errorf("--request: %w", err)
	}
	var list []preparedRequest
	if len(args) == 1 {
		if list, err = f.parseProviders(args[0]); err != nil {
			return nil, err
		}
	} else if h := host.Recognise(body); h != nil {
		list = []preparedRequest{{label: h.Name, host: h, model: f.model}}
	} else {
		return nil, usageErrorf("--request %s: the body has no known protocol\ntoolscope connect PROVIDER --request FILE", f.request)
	}
	return f.buildEach(list, func(q *preparedRequest, address string) error {
		q.body = body
		q.url, q.model = q.host.RawRequest(body, f.model, address)
		return nil
	})
}

// buildEach builds each request for the address of its provider and sets its headers.
func (f *connectFlags) buildEach(list []preparedRequest, request func(q *preparedRequest, address string) error) ([]preparedRequest, error) {
	for i := range list {
		q := &list[i]
		address, err := q.host.ResolveAddress(f.baseURL, os.Getenv)
		if err == nil {
			err = request(q, address)
		}
		if err == nil {
			err = q.setHeaders(f)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parseProviders parses a list of providers: PROVIDER[/MODEL],….
func (f *connectFlags) parseProviders(names string) (list []preparedRequest, err error) {
	for _, word := range strings.Split(names, ",") {
		name, model, slash := strings.Cut(strings.TrimSpace(word), "/")
		h, err := host.Find(name)
		if err != nil {
			return nil, usageErrorf("%w%s", err, suggestCompletion(name, providerNameCompletions()))
		}
		if slash && model == "" {
			advice := "use " + h.Name + "/MODEL"
			if h.Model != "" {
				advice = fmt.Sprintf("e.g. %s/%s; %s alone uses that model too", h.Name, h.Model, h.Name)
			}
			return nil, usageErrorf("connect: %s/ needs a model after the slash\n%s", name, advice)
		}
		list = append(list, preparedRequest{label: strings.TrimSpace(word), host: h, model: cmp.Or(model, f.model, h.Model)})
	}
	if f.baseURL != "" && len(list) > 1 {
		return nil, usageErrorf("--base-url: sets the address of one provider, got %d providers\nuse one PROVIDER", len(list))
	}
	return list, nil
}

// setHeaders sets the headers, including the key. The key may be missing if the address is on this machine,
// or if --header sets a credential.
func (q *preparedRequest) setHeaders(f *connectFlags) error {
	q.header = http.Header{"User-Agent": {"toolscope"}}
	for _, p := range q.host.Headers(f.session, os.Getenv) {
		q.header.Set(p.Name, p.Value)
	}
	given := false
	for _, text := range f.headers {
		name, value, ok := strings.Cut(text, "=")
		if colon := strings.IndexByte(name, ':'); colon >= 0 || !ok {
			name, value, ok = strings.Cut(text, ":") // headers may also have curl's form, NAME: VALUE
		}
		name = strings.TrimSpace(name)
		if value = strings.TrimSpace(value); !ok || !isHeader(name, value) {
			return usageErrorf("--header: not a header\nuse NAME=VALUE")
		}
		q.header.Set(name, value)
		given = given || q.isKey(name)
	}
	if given {
		return nil
	}
	key, err := q.host.Key(os.Getenv)
	switch {
	case err != nil && host.Loopback(q.url):
	case err != nil:
		return err
	case key.Name != "":
		q.header.Set(key.Name, key.Value)
		q.exposed = strings.HasPrefix(q.url, "http://") && !host.Loopback(q.url)
	}
	return nil
}

// isKey reports whether a header carries the provider's key.
func (q *preparedRequest) isKey(name string) bool {
	return strings.EqualFold(name, "Authorization") ||
		slices.ContainsFunc(q.host.Keys, func(k host.APIKey) bool { return strings.EqualFold(k.Header, name) })
}

// isHeader reports whether the name and the value of a header are valid.
func isHeader(name, value string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return name != ""
}

// readPrompt returns the prompt, from the arguments or standard input.
func (a *app) readPrompt(args []string) ([]byte, error) {
	text := []byte(strings.Join(args, " "))
	if len(args) == 0 && isPiped(a.stdin) || len(args) == 1 && args[0] == "-" {
		var err error
		if text, err = io.ReadAll(a.stdin); err != nil {
			return nil, fmt.Errorf("can't read the prompt: %w", err)
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, usageErrorf("connect: needs a PROMPT\ntoolscope connect PROVIDER PROMPT, or - for standard input")
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), nil
}

// textOrFile returns the text. If the text is @ followed by a path, it returns the content of that file.
func textOrFile(text string) (string, error) {
	path, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	content, err := os.ReadFile(expandHome(path))
	return strings.ToValidUTF8(string(content), "\uFFFD"), err
}

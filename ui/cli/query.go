package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"toolscope/providers/host"
	"toolscope/providers/protocol"
)

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

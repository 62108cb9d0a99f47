package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/torture"
	"toolscope/stream/json"
)

// sceneServer is the provider of one scene. It also runs the tools and records the facts.
type sceneServer struct {
	scene *torture.Scene
	seed  int
	pace  float64 // the scene's waits are divided by it; tests use it to make scenes faster
	began time.Time

	mu       sync.Mutex
	facts    torture.Facts
	active   time.Time // time of the latest byte or event
	first    int       // number of messages in the first request with the tools
	declared []string  // tools that requests declare, if no request declares the tools of torture
}

// maxSceneBody is the maximum size of a request.
const maxSceneBody = 64 << 20

// toolPath is the path under which the tools run.
const toolPath = "/torture-tool"

func (s *sceneServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.noteChange(func() {})
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSceneBody))
	if err != nil {
		return
	}
	p := providers.SpokenAt(r.URL.Path)
	switch {
	case strings.HasPrefix(r.URL.Path, toolPath+"/"):
		s.runTool(w, path.Base(r.URL.Path), body)
	case r.Header.Get("Upgrade") != "":
		http.Error(w, "no WebSocket here", http.StatusNotFound)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"), strings.HasSuffix(r.URL.Path, ":countTokens"):
		writeJSON(w, []byte(`{"input_tokens":50,"totalTokens":50}`))
	case r.Method != http.MethodPost || p == nil:
		writeJSON(w, []byte(`{"object":"list","data":[],"models":[]}`))
	default:
		s.answerModel(w, r, p, body)
	}
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// noteChange changes the facts, and records that something happened.
func (s *sceneServer) noteChange(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = time.Now()
	change()
}

// idleTime returns the time since the latest byte or event.
func (s *sceneServer) idleTime() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.active)
}

// takeFacts returns a copy of the facts. If no request declared the tools, the copy says why.
func (s *sceneServer) takeFacts() torture.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.facts
	switch {
	case len(f.Requests) > 0:
	case len(s.declared) > 0:
		f.Missing = "no request declares the tools \"note\" and \"tick\", only " + strings.Join(s.declared, ", ")
	case f.Side > 0:
		f.Missing = "no request declares the tools \"note\" and \"tick\""
	default:
		f.Missing = "no request came"
	}
	return f
}

// runTool runs one of the tools, note or tick.
func (s *sceneServer) runTool(w http.ResponseWriter, name string, args []byte) {
	number := 0
	s.noteChange(func() {
		number = len(s.facts.Runs) + 1
		s.facts.Runs = append(s.facts.Runs, torture.Run{Tool: name, Args: string(args), At: time.Since(s.began), Number: number})
	})
	if name != "note" && name != "tick" {
		http.Error(w, "no such tool", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, torture.ResultText(number))
}

// wantsStream reports whether a request asks for a stream.
func wantsStream(p *protocol.Protocol, path string, body json.Value) bool {
	switch {
	case strings.Contains(path, ":generateContent"):
		return false
	case strings.Contains(path, ":streamGenerateContent"):
		return true
	case p.Speaker.Lines:
		return string(body.Get("stream")) != "false"
	}
	return body.Get("stream").IsTrue()
}

// answerModel answers a request to a model.
func (s *sceneServer) answerModel(w http.ResponseWriter, r *http.Request, p *protocol.Protocol, body []byte) {
	model, declared := json.Value(body).Get("model").Text(), p.Tools(body)
	if model == "" && p.Model != nil {
		model = p.Model(r.URL.Path, body)
	}
	tools, streams := torture.FindTools(declared), wantsStream(p, r.URL.Path, body)
	if tools == nil || !streams {
		s.noteChange(func() {
			s.facts.Side++
			for _, t := range declared {
				if len(s.facts.Requests) == 0 && len(s.declared) < 10 {
					s.declared = append(s.declared, t.Name)
				}
			}
			if tools != nil && len(s.facts.Requests) == 0 {
				s.declared = []string{"a request that doesn't ask for a stream"}
			}
		})
		text := torture.SideText(body)
		if !streams {
			writeJSON(w, p.Speaker.Body(model, text))
			return
		}
		script := &protocol.Script{ID: "resp_side", Model: model, Steps: []protocol.Step{{Text: text}, {Kind: protocol.EndStep, Text: protocol.EndStop}}}
		frames, _ := p.Speaker.WriteFrames(script) // texts always fit
		s.playScript(w, p, script, torture.WriteForm(frames, torture.Form{}, p.Speaker.Lines), func(int) {})
		return
	}
	messages, _ := providers.TargetOf(p.Name).Decode(body) // the part of the request that can be read is enough
	s.answerScene(w, p, torture.ReadHistory(messages), len(messages), tools, model)
}

// answerScene answers a request with the tools.
func (s *sceneServer) answerScene(w http.ResponseWriter, p *protocol.Protocol, history []torture.SentBack, messages int, tools map[string]protocol.Tool, model string) {
	var request int
	var script *protocol.Script
	var frames []protocol.SpokenFrame
	var form torture.Form
	status := 0
	s.noteChange(func() {
		f := &s.facts
		request = len(f.Requests)
		if request == 0 {
			s.first, f.Protocol, f.Seals = messages, p.Name, p.Speaker.Seals
			status = s.scene.Status
		}
		kind := s.scene.NextAnswer(f, history, messages, s.first)
		q := torture.Request{At: time.Since(s.began), Answer: kind, History: history}
		if status == 0 {
			script = s.scene.NewScript(kind, tools, model, s.seed, request)
			var err error
			if frames, err = p.Speaker.WriteFrames(script); err != nil {
				f.Unfit = p.Title + ": " + err.Error()
				script = s.scene.NewScript(torture.Final, tools, model, s.seed, request)
				frames, _ = p.Speaker.WriteFrames(script)
			} else if kind == torture.Hard {
				form = s.scene.Form
			}
			q.Script, q.Finished = script, make([]time.Duration, len(script.Steps))
		}
		f.Requests = append(f.Requests, q)
	})
	ended := func() { s.noteChange(func() { s.facts.Requests[request].EndedAt = time.Since(s.began) }) }
	defer ended()
	if status != 0 {
		if wait := s.scene.RetryAfter; wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(p.Speaker.ErrorBody(status))
		ended() // called here as well, before the client can read the end of the response
		return
	}
	s.playScript(w, p, script, torture.WriteForm(frames, form, p.Speaker.Lines), func(step int) {
		// Record which calls' ends were sent. If the protocol has no events for ends, the end of the response ends all
		// calls.
		seals := p.Speaker.Seals
		s.noteChange(func() {
			q := &s.facts.Requests[request]
			for i := range q.Finished {
				ends := script.Steps[step].Kind == protocol.SealStep && seals && script.Steps[step].Call == i
				ends = ends || script.Steps[step].Kind == protocol.EndStep && !seals
				if ends && q.Finished[i] == 0 {
					q.Finished[i] = max(1, time.Since(s.began))
				}
			}
		})
	})
}

// playScript writes a response. Before it writes the last bytes of each step, it calls sent.
func (s *sceneServer) playScript(w http.ResponseWriter, p *protocol.Protocol, script *protocol.Script, writes []torture.Write, sent func(step int)) {
	w.Header().Set("Content-Type", ifElse(p.Speaker.Lines, "application/x-ndjson", "text/event-stream"))
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	c := http.NewResponseController(w)
	_ = c.Flush()
	put := func(data []byte) bool {
		s.noteChange(func() {})
		_, err := w.Write(data)
		return err == nil && c.Flush() == nil
	}
	for i, step := range script.Steps {
		var own []torture.Write
		for len(writes) > 0 && writes[0].Step == i {
			own, writes = append(own, writes[0]), writes[1:]
		}
		if step.Kind == protocol.PingStep && step.Wait > 0 {
			for end := time.Now().Add(s.paceWait(torture.PingTime)); time.Now().Before(end); time.Sleep(s.paceWait(step.Wait)) {
				for _, one := range own {
					if !put(one.Data) {
						return
					}
				}
			}
			continue
		}
		for k, one := range own {
			time.Sleep(one.Pause)
			if k == len(own)-1 {
				sent(i)
			}
			if !put(one.Data) {
				return
			}
		}
		switch step.Kind {
		case protocol.WaitStep:
			time.Sleep(s.paceWait(step.Wait))
			s.noteChange(func() {})
		case protocol.CutStep:
			panic(http.ErrAbortHandler)
		case protocol.EOFStep:
			return
		}
	}
}

// paceWait scales a wait of a scene to the server's pace.
func (s *sceneServer) paceWait(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) / s.pace)
}

// toolURL is the environment variable that gives the tested program the address of the tools.
const toolURL = "TOOLSCOPE_TOOL_URL"

// mcpToolCommand returns the command that runs an MCP server with the tools of torture. The server calls the tools at
// an address of torture.
func (a *app) mcpToolCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use: "mcp-tool --url URL", Short: "Serve the test tools of 'torture' over MCP", Long: "The server has the tools 'note' and 'tick'. 'toolscope torture' starts it for the client that it tests.", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, out, _ := a.stdStreams()
			return serveTools(a.stdin, out, url)
		},
	}
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // as for mcp: an invalid configuration must not prevent a server from running
	cmd.Flags().StringVar(&url, "url", "", "")
	return cmd
}

// toolList describes the tools in the form of MCP.
const toolList = `[{"name":"note","description":"Notes a text.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"the text"},"n":{"type":"integer","description":"a number"}},"required":["text"]},"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}},` +
	`{"name":"tick","description":"Notes that it was called.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}]`

// serveTools answers JSON-RPC messages until the input ends.
func serveTools(in io.Reader, out io.Writer, url string) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if message := json.Value(strings.TrimSpace(string(line))); message.Get("id").IsPresent() && message.Get("method").IsPresent() {
			if _, failed := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", message.Get("id"), toolAnswer(message, url)); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// toolAnswer returns the result or the error for a message.
func toolAnswer(message json.Value, url string) string {
	params := message.Get("params")
	switch method := message.Get("method").Text(); method {
	case "initialize":
		version := params.Get("protocolVersion")
		if !version.IsString() {
			version = json.Value(`"2025-06-18"`)
		}
		return fmt.Sprintf(`"result":{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":"torture","version":"1"}}`, version)
	case "ping":
		return `"result":{}`
	case "tools/list":
		return `"result":{"tools":` + toolList + `}`
	case "resources/list", "prompts/list", "resources/templates/list":
		name, _, _ := strings.Cut(method, "/list")
		return `"result":{"` + strings.ReplaceAll(name, "resources/templates", "resourceTemplates") + `":[]}`
	case "tools/call":
		text, err := callTool(url, params.Get("name").Text(), params.Get("arguments"))
		if err != nil {
			return `"result":{"content":[{"type":"text","text":` + jsonText(err.Error()) + `}],"isError":true}`
		}
		return `"result":{"content":[{"type":"text","text":` + jsonText(text) + `}]}`
	}
	return `"error":{"code":-32601,"message":"unknown method"}`
}

// callTool calls a tool at the address, and returns its result.
func callTool(url, name string, args []byte) (string, error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	res, err := http.Post(url+"/"+name, "application/json", strings.NewReader(string(args)))
	if err != nil {
		return "", errors.New("the tool can't be reached")
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New("no such tool: " + name)
	}
	return string(text), err
}

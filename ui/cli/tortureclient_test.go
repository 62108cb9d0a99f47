//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/providers/protocol"
)

// seededClient is a small client of Chat Completions, Messages or Responses, with at most one fault.
type seededClient struct {
	fault, dialect string
	vars           map[string]string
	end            <-chan struct{} // ends a client that is stuck
	http           *http.Client
	history        []string // messages or items as JSON
	results        []string // results that wait until the message with their calls is complete
}

// seededCall is a call that the client has read.
type seededCall struct {
	id, name, raw string
	key           int
	result        string // result of a call that ran while the response arrived
}

// seededTurn is a response that the client has read.
type seededTurn struct {
	calls  []*seededCall
	text   string
	finish string
	broken bool
	retry  time.Duration
}

// runSeeded runs the client and returns its exit code.
func runSeeded(fault, dialect string, vars map[string]string, end <-chan struct{}) int {
	own := &http.Transport{}
	defer own.CloseIdleConnections()
	c := &seededClient{fault: fault, dialect: dialect, vars: vars, end: end, http: &http.Client{Transport: own}}
	c.history = []string{`{"role":"user","content":"Do it."}`}
	for try, requests := 0, 0; requests < 20; requests++ {
		turn, err := c.request()
		switch {
		case err != nil:
			return 1
		case turn.retry > 0 && c.fault == "no-retry":
			return 1
		case turn.retry > 0:
			time.Sleep(turn.retry)
			continue
		case turn.broken && c.fault == "hangs-on-cut":
			<-c.end
			return 1
		case turn.broken && c.fault != "runs-cut":
			if try++; try > 2 {
				return 1
			}
			continue
		case len(turn.calls) == 0:
			if c.fault == "loops-on-no-call" && turn.finish == protocol.EndTool {
				continue
			}
			return 0
		}
		c.handle(turn)
	}
	return 1
}

// tools returns the tools in the protocol's form.
func (c *seededClient) tools() string {
	note := `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"]}`
	forms := map[string]string{
		"openai-chat":      `[{"type":"function","function":{"name":"note","parameters":%s}},{"type":"function","function":{"name":"tick","parameters":{"type":"object"}}}]`,
		"openai-responses": `[{"type":"function","name":"note","parameters":%s},{"type":"function","name":"tick","parameters":{"type":"object"}}]`,
		"anthropic":        `[{"name":"note","input_schema":%s},{"name":"tick","input_schema":{"type":"object"}}]`,
	}
	return fmt.Sprintf(forms[c.dialect], note)
}

// request sends the history and reads the response.
func (c *seededClient) request() (*seededTurn, error) {
	path := map[string]string{"openai-chat": "OPENAI_BASE_URL /chat/completions", "openai-responses": "OPENAI_BASE_URL /responses", "anthropic": "ANTHROPIC_BASE_URL /v1/messages"}[c.dialect]
	base, path, _ := strings.Cut(path, " ")
	name := map[bool]string{true: "input", false: "messages"}[c.dialect == "openai-responses"]
	body := fmt.Sprintf(`{"model":"m","max_tokens":100,"stream":true,"tools":%s,"%s":[%s]}`, c.tools(), name, strings.Join(c.history, ","))
	res, err := c.http.Post(c.vars[base]+path, "application/json", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return &seededTurn{retry: time.Duration(seconds)*time.Second + 1}, nil
	}
	turn := &seededTurn{broken: true}
	var in io.Reader = res.Body
	if c.fault == "utf8-by-chunk" {
		in = &chunkReader{in}
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if data, is := strings.CutPrefix(strings.TrimSpace(line), "data: "); is && data != "[DONE]" {
			c.readFrame(turn, []byte(data))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				turn.broken = true
			}
			return turn, nil
		}
	}
}

// chunkReader replaces a character that is split at the end of a chunk.
type chunkReader struct{ io.Reader }

func (r *chunkReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p[:len(p)/3])
	return copy(p, bytes.ToValidUTF8(p[:n], []byte(string(utf8.RuneError)))), err
}

// readFrame reads a frame.
func (c *seededClient) readFrame(turn *seededTurn, data []byte) {
	var f struct {
		Error   any
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Delta        struct {
				Content string
				Calls   []struct {
					Index    int
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	var m map[string]any
	_ = json.Unmarshal(data, &m)
	switch c.dialect {
	case "openai-chat":
		_ = json.Unmarshal(data, &f)
		if f.Error != nil || len(f.Choices) == 0 {
			return
		}
		choice := f.Choices[0]
		turn.text += choice.Delta.Content
		for _, d := range choice.Delta.Calls {
			c.addDelta(turn, d.Index, d.ID, d.Function.Name, d.Function.Arguments)
		}
		if choice.FinishReason != "" {
			turn.broken = false
			turn.finish = map[string]string{"tool_calls": protocol.EndTool, "length": protocol.EndLength}[choice.FinishReason]
		}
	case "anthropic":
		at := number(m["index"])
		block, delta := object(m["content_block"]), object(m["delta"])
		switch m["type"] {
		case "content_block_start":
			if block["type"] == "tool_use" {
				c.addDelta(turn, at, word(block["id"]), word(block["name"]), "")
			}
		case "content_block_delta":
			if part := word(delta["partial_json"]); part != "" {
				c.addDelta(turn, at, "", "", part)
			}
		case "message_delta":
			turn.broken = false
			turn.finish = map[string]string{"tool_use": protocol.EndTool, "max_tokens": protocol.EndLength}[word(delta["stop_reason"])]
		}
	case "openai-responses":
		at, item := number(m["output_index"]), object(m["item"])
		switch m["type"] {
		case "response.output_item.added":
			if item["type"] == "function_call" {
				c.addDelta(turn, at, word(item["call_id"]), word(item["name"]), "")
			}
		case "response.function_call_arguments.delta":
			c.addDelta(turn, at, "", "", word(m["delta"]))
		case "response.completed", "response.incomplete":
			turn.broken = false
			turn.finish = map[any]string{"response.incomplete": protocol.EndLength}[m["type"]]
			if turn.finish == "" && len(turn.calls) > 0 {
				turn.finish = protocol.EndTool
			}
		}
	}
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func word(v any) string           { s, _ := v.(string); return s }
func number(v any) int            { n, _ := v.(float64); return int(n) }

// addDelta adds a delta to its call. A new id begins a new call.
func (c *seededClient) addDelta(turn *seededTurn, index int, id, name, args string) {
	var call *seededCall
	for _, known := range turn.calls {
		if known.key == index {
			call = known
		}
	}
	if call == nil || id != "" && id != call.id && c.fault != "glues-index" {
		call = &seededCall{id: id, name: name, key: index}
		turn.calls = append(turn.calls, call)
	}
	call.raw += args
	if _, bad := c.check(call, ""); c.fault == "runs-when-it-parses" && call.result == "" && bad == "" && call.raw != "" {
		call.result = c.runTool(call.name, call.raw)
	}
}

// check returns the arguments with which a call runs, or the reason why it doesn't run.
func (c *seededClient) check(call *seededCall, finish string) (args, bad string) {
	args = call.raw
	if args == "" && call.name == "tick" && finish != protocol.EndLength {
		args = "{}"
	}
	var m map[string]any
	err := json.Unmarshal([]byte(args), &m)
	if err != nil && c.fault == "repairs-and-runs" {
		args, err = repairTestJSON(args), nil
		_ = json.Unmarshal([]byte(args), &m)
		finish = ""
	}
	if err != nil && (c.fault == "empties-and-runs" || c.fault == "runs-cut") {
		return "{}", ""
	}
	_, isText := m["text"].(string)
	switch {
	case err != nil:
		return args, "the arguments are not an object"
	case finish == protocol.EndLength && c.fault != "runs-at-length":
		return args, "the token limit was reached"
	case call.name != "note" && call.name != "tick":
		return args, "no such tool"
	case call.name == "note" && !isText:
		return args, "text is missing"
	}
	return args, ""
}

// repairTestJSON closes an open string and an open object.
func repairTestJSON(text string) string {
	for _, end := range []string{"}", `"}`} {
		if json.Valid([]byte(text + end)) {
			return text + end
		}
	}
	return `{"text":"repaired"}`
}

// runTool runs a tool and returns its result.
func (c *seededClient) runTool(name, args string) string {
	res, err := c.http.Post(c.vars[toolURL]+"/"+name, "application/json", strings.NewReader(args))
	if err != nil {
		return "error"
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// handle runs the calls of a response and adds them and their results to the history.
func (c *seededClient) handle(turn *seededTurn) {
	if c.fault == "one-call-only" {
		turn.calls = turn.calls[:1]
	}
	var calls []string
	for _, call := range turn.calls {
		args, bad := c.check(call, turn.finish)
		result := call.result
		if result == "" && bad == "" {
			result = c.runTool(call.name, args)
		}
		if c.fault == "runs-twice" && bad == "" {
			_ = c.runTool(call.name, args)
		}
		sent := call.raw
		if c.fault == "sends-back-empty" {
			sent = "{}"
		}
		calls = append(calls, c.callJSON(call, sent))
		id := call.id
		if c.fault == "answers-first-id" {
			id = turn.calls[0].id
		}
		if c.fault != "no-result-for-bad" || bad == "" {
			c.results = append(c.results, c.resultJSON(id, result+bad, bad != ""))
		}
	}
	switch c.dialect {
	case "openai-chat":
		c.history = append(c.history, `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
		c.history = append(c.history, c.results...)
	case "anthropic":
		c.history = append(c.history, `{"role":"assistant","content":[`+strings.Join(calls, ",")+`]}`,
			`{"role":"user","content":[`+strings.Join(append(c.results, `{"type":"text","text":"Go on."}`), ",")+`]}`)
	default:
		c.history = append(append(c.history, calls...), c.results...)
	}
	c.results = nil
}

// callJSON returns a call in the form of the history.
func (c *seededClient) callJSON(call *seededCall, args string) string {
	switch c.dialect {
	case "openai-chat":
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, call.id, call.name, jsonText(args))
	case "anthropic":
		if !json.Valid([]byte(args)) || args[0] != '{' {
			args = "{}"
		}
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, call.id, call.name, args)
	}
	return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}`, call.id, call.name, jsonText(args))
}

// resultJSON returns a result in the form of the history.
func (c *seededClient) resultJSON(id, text string, failed bool) string {
	switch c.dialect {
	case "openai-chat":
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, jsonText(text))
	case "anthropic":
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s,"is_error":%t}`, id, jsonText(text), failed)
	}
	return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, jsonText(text))
}

//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// suiteQuestion is a line that an adapter reads.
type suiteQuestion struct {
	ID, Base, End string
	Chunks        [][]byte
}

// runTestAdapter runs an adapter for openai-chat with a small accumulator, and returns its exit code. A word in fault
// makes the accumulator wrong on purpose, or makes the adapter break its rules.
func runTestAdapter(fault string) int {
	takes := "url"
	if name, ok := strings.CutSuffix(fault, " bytes"); ok {
		fault, takes = name, "bytes"
	}
	switch fault {
	case "silent":
		time.Sleep(time.Hour)
	case "rubbish-first":
		fmt.Println("listening")
	case "unknown-protocol":
		fmt.Println(`{"adapter":1,"protocols":["morse"],"takes":"url"}`)
	default:
		fmt.Printf("{\"adapter\":1,\"name\":\"own|reader\",\"about\":\"for tests\",\"protocols\":[\"openai-chat\"],\"takes\":%q}\n", takes)
	}
	in := bufio.NewReader(os.Stdin)
	for number := 0; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var q suiteQuestion
		if json.Unmarshal(line, &q) != nil {
			return 1
		}
		switch {
		case fault == "hangs" && strings.HasPrefix(q.ID, "openai-chat/c"):
			time.Sleep(time.Hour)
		case fault == "dies" && number == 3:
			fmt.Fprintln(os.Stderr, "first\npanic: index out of range")
			return 2
		case fault == "rubbish" && number == 3:
			fmt.Println("debug: \x1b[31mred")
			continue
		case fault == "out-of-order" && number == 3:
			q.ID = "openai-chat/one-call#whole"
		}
		r := &chatAccumulator{fault: fault}
		answer := r.answerTo(&q)
		answer["id"] = q.ID
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
		if fault == "twice" && number == 3 || fault == "twice-at-end" {
			fmt.Println(string(text))
		}
	}
	if fault == "stays" {
		time.Sleep(time.Hour)
	}
	return 0
}

// chatCall is a call that the adapter reads.
type chatCall struct {
	index          int
	id, name, text string
	named          bool
}

// chatAccumulator collects the calls of one response.
type chatAccumulator struct {
	fault, finish, err string
	calls              []*chatCall
}

// answerTo reads the stream and returns the answer without its id.
func (r *chatAccumulator) answerTo(q *suiteQuestion) map[string]any {
	body, err := q.readBody()
	ignoresEnd := r.fault == "ignores-end" || r.fault == "invents-empty"
	if err != nil && !ignoresEnd {
		r.err = err.Error()
	}
	if r.fault == "torn-letters" {
		body = nil
		for _, chunk := range q.Chunks {
			body = append(body, strings.ToValidUTF8(string(chunk), "?")...)
		}
	}
	r.readEvents(body)
	if r.finish == "" && r.err == "" && !ignoresEnd {
		r.err = "no finish reason"
	}
	if r.err != "" {
		return map[string]any{"error": r.err}
	}
	calls := []map[string]any{}
	for _, c := range r.calls {
		text := c.text
		switch {
		case text == "" && (r.finish != "length" && r.finish != "" || r.fault == "invents-empty"):
			text = "{}"
		case r.fault == "repairs" && !json.Valid([]byte(text)):
			if strings.Count(text, `"`)%2 == 1 {
				text += `"`
			}
			text += "}"
		case r.fault == "empty-for-bad" && !json.Valid([]byte(text)):
			text = "{}"
		}
		calls = append(calls, map[string]any{"name": c.name, "arguments": text, "ok": isObjectText(text)})
	}
	return map[string]any{"calls": calls, "finish": r.finish}
}

func isObjectText(text string) bool {
	var o map[string]any
	return json.Unmarshal([]byte(text), &o) == nil && o != nil
}

// readBody returns the body, and an error if the connection was lost.
func (q *suiteQuestion) readBody() ([]byte, error) {
	if q.Base == "" {
		return bytes.Join(q.Chunks, nil), map[bool]error{true: io.ErrUnexpectedEOF}[q.End == "reset"]
	}
	resp, err := http.Post(q.Base+"/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// readEvents reads the events of a stream.
func (r *chatAccumulator) readEvents(body []byte) {
	text := strings.TrimPrefix(string(body), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if r.fault == "splits-at-separators" {
		text = strings.ReplaceAll(text, "\u2028", "\n")
	}
	for event := range strings.SplitSeq(text, "\n\n") {
		var data []string
		for line := range strings.SplitSeq(event, "\n") {
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(rest, " "))
			}
		}
		if payload := strings.Join(data, "\n"); payload != "" && payload != "[DONE]" && r.err == "" {
			r.readChunk(payload)
		}
	}
}

// readChunk reads one chunk of Chat Completions.
func (r *chatAccumulator) readChunk(payload string) {
	var chunk struct {
		Error   any
		Choices []struct {
			Delta struct {
				Calls []struct {
					Index    *int
					ID       string
					Function struct {
						Name      string
						Arguments any
					}
				} `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(payload), &chunk); err != nil {
		if r.fault != "splits-at-separators" {
			r.err = err.Error()
		}
		return
	}
	if chunk.Error != nil && r.fault != "swallows-errors" {
		r.err = "the provider failed"
	}
	for _, choice := range chunk.Choices {
		for _, d := range choice.Delta.Calls {
			c := r.callFor(d.Index, d.ID)
			if d.Function.Name != "" && (!c.named || r.fault == "doubles-names") {
				c.name, c.named = c.name+d.Function.Name, true
			}
			switch text := d.Function.Arguments.(type) {
			case string:
				c.text += text
			case nil:
				if r.fault == "null-word" && d.Function.Name == "" {
					c.text += "null"
				}
			default:
				form, _ := json.Marshal(text)
				if r.fault == "object-word" {
					form = []byte("[object Object]")
				}
				c.text += string(form)
			}
		}
		if choice.Finish != "" {
			r.finish = choice.Finish
		}
	}
	if r.fault == "swallows-errors" && chunk.Error != nil {
		r.finish = "stop"
	}
}

// callFor returns the call to which a delta belongs. A new id begins a new call.
func (r *chatAccumulator) callFor(index *int, id string) *chatCall {
	last := len(r.calls) - 1
	if index == nil {
		if last >= 0 && (id == "" || r.calls[last].id == id || r.fault == "no-index-is-zero") {
			return r.calls[last]
		}
		index = new(int)
		*index = -1 - len(r.calls)
	}
	if r.fault == "last-call" && last >= 0 && id == "" {
		return r.calls[last]
	}
	if r.fault == "slots" {
		for len(r.calls) <= *index {
			r.calls = append(r.calls, &chatCall{index: len(r.calls)})
		}
	}
	for i := last; i >= 0; i-- {
		c := r.calls[i]
		if c.index == *index && (id == "" || c.id == "" || c.id == id || r.fault == "by-index-only") {
			return c
		}
	}
	if r.fault == "by-id" && id != "" {
		for _, c := range r.calls {
			if c.id == id {
				return c
			}
		}
	}
	for _, c := range r.calls {
		if r.fault == "slots" && c.index == *index && c.id == "" {
			c.id = id
			return c
		}
	}
	c := &chatCall{index: *index, id: id}
	r.calls = append(r.calls, c)
	return c
}

package replay_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream/json"
)

// TestGroups checks that the preview for a client has the same calls as the client's request. The cases have unusual
// ids and names, and several calls in a turn, some of them malformed. Each call must have the same fields, and the
// results must have the same ids. testdata/groups contains the requests of each client.
func TestGroups(t *testing.T) {
	files, err := filepath.Glob("testdata/groups/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no client has been run", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			ran := runOf(t, file)
			checkVersion(t, ran)
			unknown := 0
			for _, line := range ran.lines {
				for from := range line.Get("from").Elements() {
					unknown += checkGroup(t, ran.policy, line, from.Text())
				}
			}
			if unknown != untoldGroups[ran.policy.Name] {
				t.Errorf("%d cases are unknown, want %d", unknown, untoldGroups[ran.policy.Name])
			}
		})
	}
}

// untoldGroups is the number of cases for each client that are previewed as unknown, because the client confuses two
// calls with the same id.
var untoldGroups = map[string]int{"ai-sdk-ui": 25, "ai-sdk-6-ui": 25, "langchain-js": 7, "llamaindex-ts": 2, "mastra": 6, "pi": 8}

// needsTools lists clients that send no request after a call of a tool that they don't have.
var needsTools = []string{"llamaindex-ts", "openai-agents-js"}

// groupHistory returns a turn with the calls of a case, and a result for each call.
func groupHistory(source *protocol.Target, line json.Value) []protocol.Message {
	made, results := protocol.Message{Role: protocol.Assistant}, protocol.Message{Role: protocol.User}
	n := 0
	for c := range line.Get("calls").Elements() {
		item := ""
		if source.Protocol == "openai-responses" {
			if item = "fc_0a1b2c3d4e5f"; n > 0 {
				item += fmt.Sprint(n)
			}
		}
		n++
		id, name := c.Get("id").Text(), c.Get("name").Text()
		args := c.Get("arguments").Append(nil)
		made.Parts = append(made.Parts, protocol.Part{
			Kind: protocol.CallPart, ID: id, Item: item, Name: name, ToolKind: "function", Form: source.Form, Args: args, Author: protocol.ModelAuthor,
		})
		results.Parts = append(results.Parts, protocol.Part{Kind: protocol.ResultPart, ID: id, Name: name, ToolKind: "function", Text: []byte("sunny")})
	}
	return []protocol.Message{made, results}
}

// checkGroup compares the previews for one case and one protocol with the client's request.
func checkGroup(t *testing.T, how *replay.Policy, line json.Value, from string) (unknown int) {
	t.Helper()
	source := target(t, from)
	s := line.Get("to").Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		to, want := string(s.Key()), s.Value()
		p := replay.SourceOfHistory(groupHistory(source, line), source).Preview(target(t, to), how)
		what := strings.Join([]string{line.Get("case").Text(), "from", from, "to", to}, " ")
		switch {
		case p.Outcome == replay.Unknown:
			unknown++
		case slices.Contains(needsTools, how.Name) && strings.HasPrefix(line.Get("case").Text(), "name-"):
		case how.Name == "openai-agents-js" && p.Outcome == replay.Throws && from != to:
			// The run with the protocol of the response also ended without a request.
		case want.Get("throws") != nil, want.Get("silent") != nil:
			if p.Outcome != replay.Throws || len(p.Body) > 0 {
				t.Errorf("%s: %s, and the client sends nothing: %s", what, p.Outcome, want)
			}
		default:
			var got, sent []string
			for _, c := range callsOf(to, p.Body) {
				got = append(got, string(c))
			}
			for c := range want.Get("calls").Elements() {
				sent = append(sent, strings.ReplaceAll(string(c), `"id":"chatcmpl-1",`, "")) // id of the response
			}
			if strings.Contains(string(want), madeUp) {
				for _, list := range [][]string{got, sent} {
					for i := range list {
						list[i] = idless(list[i])
					}
				}
			}
			if g, w := resultIDs(to, p.Body), resultsSent(want); hasOwnIDs(line) && to != "ollama" && to != "gemini" && !slices.Contains(w, "RANDOM") && !slices.Equal(g, w) {
				t.Errorf("%s: results of %q, the client sent %q", what, g, w)
			}
			if !slices.Equal(got, sent) {
				t.Errorf("%s:\n%s, the client sent\n%s", what, strings.Join(got, "\n"), strings.Join(sent, "\n"))
			}
		}
	}
	return unknown
}

// hasOwnIDs reports whether each call of a case has a different id.
func hasOwnIDs(line json.Value) bool {
	seen := map[string]bool{"": true}
	for c := range line.Get("calls").Elements() {
		if id := c.Get("id").Text(); seen[id] {
			return false
		} else {
			seen[id] = true
		}
	}
	return true
}

// resultsSent returns the ids of the results that a client sent, in order, or their names if they have no
// ids.
func resultsSent(want json.Value) (ids []string) {
	for id := range want.Get("results").Elements() {
		ids = append(ids, id.Text())
	}
	slices.Sort(ids)
	return ids
}

// resultIDs returns the ids of the results in a request's messages.
func resultIDs(to string, body [][]byte) (ids []string) {
	for _, m := range body {
		m := json.Value(m)
		if id := m.Get("tool_call_id"); id != nil || m.Get("role").Text() == "tool" {
			ids = append(ids, id.Text())
		} else if m.Get("type").Text() == "function_call_output" {
			ids = append(ids, m.Get("call_id").Text())
		}
		for _, key := range []string{"content", "parts"} {
			list := m.Get(key)
			if list.Kind() != '[' {
				continue
			}
			for part := range list.Elements() {
				result := part.Get("functionResponse")
				switch {
				case result != nil && result.Get("id") != nil:
					ids = append(ids, result.Get("id").Text())
				case result != nil:
					ids = append(ids, result.Get("name").Text())
				case part.Get("toolResult") != nil:
					ids = append(ids, part.Get("toolResult").Get("toolUseId").Text())
				case part.Get("type").Text() == "tool_result":
					ids = append(ids, part.Get("tool_use_id").Text())
				}
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// callsOf returns the calls in a request's messages.
func callsOf(name string, body [][]byte) (calls []json.Value) {
	for _, m := range body {
		if json.Value(m).Get("type").Text() == "function_call" {
			calls = append(calls, m)
			continue
		}
		for _, key := range []string{"tool_calls", "content", "parts"} {
			list := json.Value(m).Get(key)
			if list.Kind() != '[' {
				continue
			}
			for part := range list.Elements() {
				if part.Get("functionCall") != nil || part.Get("function") != nil || part.Get("type").Text() == "tool_use" || part.Get("toolUse") != nil {
					calls = append(calls, bytes.Clone(part))
				}
			}
		}
	}
	return calls
}

//go:build linux

package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/capture/mock"
)

// mockDemos returns a handler that responds from demos, without delays.
func mockDemos(t *testing.T, names ...string) http.HandlerFunc {
	t.Helper()
	var o mock.Options
	for _, name := range names {
		a := (&app{stdin: os.Stdin, messageOutput: messageOutput{stderr: lineWriter{to: os.Stderr}}}).linkParts()
		list, err := a.exchangesOf(context.Background(), filepath.Join("demo", name+".tsc"))
		if err != nil {
			t.Fatal(err)
		}
		o.Exchanges = append(o.Exchanges, list...)
	}
	return mock.New(o).ServeHTTP
}

// TestSendAgain checks that a captured request is resent unchanged, with the key from the environment. Its response
// must become another turn.
func TestSendAgain(t *testing.T) {
	url, requests := provider(t, mockDemos(t, "history"))
	p := start(t, launch{
		args: []string{filepath.Join("demo", "history.tsc")}, w: 120, h: 30,
		env:    []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=" + canary, "ANTHROPIC_BASE_URL=" + url},
		folder: ".",
	})
	p.untilShown("4 turns")
	p.untilShown("END")
	p.keys("sgR")
	p.untilShown("Resend the request of turn 1")
	p.untilShown("byte for byte")
	p.keys("\r")
	p.untilShown("5 turns")
	p.untilShown("END")
	sent := requests()
	if len(sent) != 1 || string(sent[0].body) != string(requestOf(t, "history")) || sent[0].path != "/v1/chat/completions" || sent[0].header.Get("Authorization") != "Bearer "+canary {
		t.Fatalf("%+v", sent)
	}
	p.keys("gRjjjj")
	p.untilShown("no model: m")
	p.keys("\r")
	p.untilShown("name a model")
	p.keys("g\r")
	p.untilShown("6 turns")
	if p.shows(canary) || len(requests()) != 2 {
		t.Error(p.describe())
	}
	p.keys("q")
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()
}

// TestSendNoKey checks that no request is sent without a key, and that the screen names the missing variable. The
// demo must behave in the same way.
func TestSendNoKey(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"demo", "history", "--speed", "16"}, w: 120, h: 30})
	p.untilShown("END")
	p.keys("gR")
	p.untilShown("looked for OPENAI_API_KEY")
	p.keys("\r")
	p.untilShown("Resend ")
	p.keys("q")
	p.until("the list", func(s *screen) bool { return s.shows(" Calls ") })
	p.keys("q")
	p.wantExit(0)
}

// TestSendResults checks that typed results are sent back with the turn, to the address on the command line, and
// are recorded.
func TestSendResults(t *testing.T) {
	t.Parallel()
	first, recording := true, filepath.Join(t.TempDir(), "a.tsc")
	url, requests := provider(t, func(w http.ResponseWriter, r *http.Request) {
		body := anthropicAnswer
		if !first {
			body = strings.NewReplacer("get_weather", "say_so", "toolu_1", "toolu_2").Replace(body)
		}
		first = false
		answers(events, body)(w, r)
	})
	p := start(t, launch{
		args: []string{"connect", "anthropic", "--base-url", url, "--header", "X-Mine=1", "--record", recording, "hi"}, env: []string{"ANTHROPIC_API_KEY=" + canary}, w: 120, h: 30,
	})
	p.untilShown("END")
	p.keys("a")
	p.untilShown("Result of get_weather")
	p.keys("\x1b[200~4 C\nand \x1b]0;owned\x07rain\x1b[201~")
	p.untilShown("rain")
	p.keys("\r")
	p.untilShown("Send turn 1 with 1 result")
	p.keys("\r")
	p.untilShown("say_so")
	sent := requests()
	if len(sent) != 2 || sent[1].header.Get("X-Api-Key") != canary || sent[1].header.Get("X-Mine") != "1" {
		t.Fatalf("%+v", sent)
	}
	var body struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, Text, Content string
				ToolUseID           string `json:"tool_use_id"`
			}
		}
	}
	if err := json.Unmarshal(sent[1].body, &body); err != nil || len(body.Messages) != 3 {
		t.Fatalf("%v: %s", err, sent[1].body)
	}
	last := body.Messages[2].Content
	if len(last) != 1 || last[0].Type != "tool_result" || last[0].ToolUseID != "toolu_1" || !strings.HasPrefix(last[0].Content, "4 C\nand ") {
		t.Errorf("%s", sent[1].body)
	}
	p.keys("qq")
	p.wantExit(0)
	calls, turns := command(t, nil, "print", "--format", "jsonl", recording).decode(t)
	if len(turns) != 2 || len(calls) != 2 || calls[1].Name != "say_so" {
		t.Errorf("recorded are %+v", calls)
	}
	if recorded, err := os.ReadFile(recording); err != nil || strings.Contains(string(recorded), canary) || !strings.Contains(string(recorded), "tool_result") {
		t.Errorf("%v: %s", err, recorded)
	}
}

// TestSendLeaves checks that leaving the screen cancels a request.
func TestSendLeaves(t *testing.T) {
	t.Parallel()
	left := make(chan struct{}, 1)
	url, _ := provider(t, hanging(turnOfChat("look_up"), left))
	p := start(t, launch{args: []string{filepath.Join("demo", "history.tsc")}, env: []string{"OPENAI_BASE_URL=" + url}, w: 120, h: 30, folder: "."})
	p.untilShown("END")
	p.keys("gR")
	p.untilShown("byte for byte")
	p.keys("\r")
	p.untilShown("look_up")
	p.untilShown("LIVE")
	p.keys("qq")
	p.wantExit(0)
	waitFor(t, left)
}

// TestSendRefused checks that a provider's error for a resent request becomes a failed turn.
func TestSendRefused(t *testing.T) {
	t.Parallel()
	url, _ := provider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: ` + canary + `","type":"invalid_request_error"}}`))
	})
	p := start(t, launch{
		args: []string{filepath.Join("demo", "history.tsc")}, env: []string{"OPENAI_BASE_URL=" + url, "OPENAI_API_KEY=" + canary}, w: 140, h: 30, folder: ".",
	})
	p.untilShown("END")
	p.keys("gR")
	p.untilShown("byte for byte")
	p.keys("\r")
	p.untilShown("Incorrect API key provided")
	p.untilShown("[redacted:authorization:")
	if p.shows(canary) {
		t.Error(p.describe())
	}
	p.keys("qq")
	p.wantExit(0)
}

// TestSideBySide checks that the responses from several providers can be compared on the screen.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	first, _ := provider(t, answers(events, anthropicAnswer))
	second, _ := provider(t, answers(events, strings.Replace(turnOfChat("get_weather"), "Oslo", "Bergen", 1)))
	p := start(t, launch{
		args: []string{"connect", "anthropic,openai-chat", "hi"}, env: []string{"ANTHROPIC_BASE_URL=" + first, "OPENAI_BASE_URL=" + second}, w: 120, h: 30,
	})
	p.untilShown("2 turns")
	p.untilShown("END")
	p.keys("=")
	p.untilShown("Compare  2 ")
	p.until("the differences", func(s *screen) bool {
		return s.shows("Differences 1") && s.shows(`"Oslo"`) && s.shows(`"Bergen"`) && s.shows("1 other value")
	})
	p.keys("q")
	p.untilShown(" Calls ")
	p.keys("qq")
	p.wantExit(0)
}

package present

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

func TestShortURL(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "http://h/v1/x?y=1": "/v1/x?y=1", "http://h": "http://h", "/v1": "/v1", "://": "://", "x://h/": "/",
	} {
		if got := shortURL(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

// TestShortModel checks that names lose their vendor, their version and their date, and nothing else.
func TestShortModel(t *testing.T) {
	for model, want := range map[string]string{
		"claude-sonnet-4-5-20250929":                 "sonnet-4-5",
		"us.anthropic.claude-sonnet-4-20250514-v1:0": "sonnet-4",
		"anthropic/claude-opus-4-1@20250805":         "opus-4-1",
		"eu.anthropic.claude-haiku-4-5":              "haiku-4-5",
		"apac.anthropic.claude-sonnet-4-v1:0":        "sonnet-4",
		"global.anthropic.claude-opus-4-6-v1":        "opus-4-6",
		"gpt-5.2-2025-12-11":                         "gpt-5.2",
		"gemini-2.5-flash-preview-05-20":             "gemini-2.5-flash-preview",
		"amazon.nova-pro-v1":                         "amazon.nova-pro",
		"mistral-large-v":                            "mistral-large-v",
		"model-v2:":                                  "model-v2:",
		"claude-":                                    "claude-",
		"-20250101":                                  "-20250101",
		"":                                           "",
	} {
		if got := ShortModel(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
	date := regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d{2}-\d{2})(?:-v\d+(?::\d+)?)?$|-v\d+(?::\d+)?$`)
	random, parts := rand.New(rand.NewPCG(1, 2)), []string{"-", "@", "20", "25", "05", "1", "v", "-v", ":", "a", "0"}
	for range 100_000 {
		var name strings.Builder
		for range random.IntN(9) {
			name.WriteString(parts[random.IntN(len(parts))])
		}
		if got, want := cutModelDate(name.String()), date.ReplaceAllString(name.String(), ""); got != want {
			t.Fatalf("%q: %q, want %q", name.String(), got, want)
		}
	}
}

// TestAboutCall checks the words for unusual facts about a call.
func TestAboutCall(t *testing.T) {
	finding := func(code string) stream.Finding { return (&stream.Diagnosis{Code: code}).Finding("a message") }
	runs := []stream.ToolRun{{Request: 1}}
	for _, test := range []struct {
		call stream.Call
		code stream.Code
		want string
	}{
		{stream.Call{Kind: "function"}, 0, ""},
		{stream.Call{Kind: "custom", Discarded: true, Parent: "p", Signature: "s"}, 0, "custom, discarded by the provider, inside p, signed"},
		{stream.Call{MCPServer: "files", RunByProvider: true}, stream.ResultOK, "run by files, returned"},
		{stream.Call{RunByProvider: true}, stream.ResultFailed, "run by the provider, returned an error"},
		{stream.Call{SentBack: []stream.SentBackCall{{Outcome: "intact"}, {Outcome: "emptied"}}}, 0, "sent back intact, then emptied"},
		{stream.Call{Runs: runs, Findings: []stream.Finding{finding("EXEC_CUT"), finding("EXEC_TWICE"), finding("EXEC_CUT"), finding("RESULT_HALF")}}, stream.ResultOK,
			"run on cut args, run twice, half returned"},
		{stream.Call{Findings: []stream.Finding{finding("EXEC_CUT"), finding("RESULT_HALF")}}, stream.ResultOK, "returned"},
	} {
		test.call.ResultCode = test.code
		if got := strings.Join(AboutCall(&test.call), ", "); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// turnThat returns a turn with one call in the given protocol. The arguments of the call arrived in two deltas,
// before the events in the last argument.
func turnThat(dialect, args, asks string, behind ...stream.Event) (*stream.Turn, *stream.Call) {
	s := new(stream.Session)
	opening := &stream.Opening{Protocol: dialect}
	if asks != "" {
		opening.Request = &stream.RequestInfo{Client: asks}
	}
	all := append([]stream.Event{
		{Kind: stream.TurnOpen, What: opening},
		{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "a", Name: "f"}},
		{Kind: stream.Args, Text: args[:4]}, {Kind: stream.Args, Text: args[4:]},
		{Kind: stream.Seal},
	}, behind...)
	for _, e := range all {
		s.Apply(e)
	}
	return s.Turns[0], s.Turns[0].Calls[0]
}

// TestRunBy checks that the listed programs depend on the protocol, on how the response ended, and on the client
// that sent the request.
func TestRunBy(t *testing.T) {
	done := []stream.Event{{Kind: stream.Finish, Slot: stream.AllChoices, Text: "tool_use"}, {Kind: stream.TurnClose}}
	limit := []stream.Event{{Kind: stream.Finish, Slot: stream.AllChoices, Text: "max_tokens", Code: stream.FinishCut}, {Kind: stream.TurnClose}}
	broke := []stream.Event{{Kind: stream.TurnClose, Code: stream.CloseCut, What: &stream.Ending{By: stream.Network}}}
	ended := []stream.Event{{Kind: stream.TurnClose, Code: stream.CloseCut, What: &stream.Ending{By: stream.Provider}}}
	unknown := []stream.Event{{Kind: stream.TurnClose, Code: stream.CloseCut}}
	stopped := []stream.Event{{Kind: stream.TurnClose, Code: stream.CloseCut, What: &stream.Ending{By: stream.Client}}}
	failed := []stream.Event{{Kind: stream.Failure, Text: "overloaded"}, {Kind: stream.TurnClose}}
	answered := append(done, stream.Event{Kind: stream.SentBack, Slot: 1, Text: "intact", Code: stream.ResultOK, What: new(stream.SentBackReport)})
	for _, test := range []struct {
		name, dialect, args, asks string
		behind                    []stream.Event
		seal, end                 string
	}{
		{"complete", "anthropic", `{"a":1}`, "", done,
			"Claude Code, opencode and Mastra run it at delta 2, while the response continues (seen when run)",
			"Continue, Anthropic SDK for JavaScript and AI SDK run it when the response has ended (seen when run)|Pydantic AI, smolagents, CrewAI, Semantic Kernel, Spring AI and LangChain4j run it when the response has ended (documented)|LangChain JS and pi leave the call to the application (seen when run)"},
		{"cut by the limit", "openai-responses", `{"a":1}`, "", limit,
			"Codex runs it at delta 2, before the cut (seen when run)|opencode does not run it: the response was cut (seen when run)",
			"OpenAI Agents JS and AI SDK do not run it: the response was cut (seen when run)"},
		{"cut by the limit, Anthropic", "anthropic", `{"a":1}`, "", limit,
			"Claude Code, opencode and Mastra run it at delta 2, before the cut (seen when run)",
			"Continue runs it at the end, although the response was cut (seen when run)|" +
				"Anthropic SDK for JavaScript and AI SDK do not run it: the response was cut (seen when run)"},
		{"the connection broke", "anthropic", `{"a":1}`, "", broke,
			"Claude Code and Mastra run it at delta 2, before the connection broke (seen when run)|" +
				"opencode runs it at delta 2, retries when the connection breaks, and runs the new calls too (seen when run)",
			"Continue, Anthropic SDK for JavaScript and AI SDK do not run it: the connection broke (seen when run)"},
		{"it just ended", "openai-chat", `{"a":1}`, "", ended,
			"opencode runs it at delta 2, before the response ended (seen when run)",
			"Mastra and OpenAI Agents JS run it at the end, although no finish reason arrived (seen when run)|" +
				"OpenAI SDK for JavaScript and AI SDK do not run it: no finish reason arrived (seen when run)"},
		{"a file that just ends", "openai-responses", `{"a":1}`, "", unknown,
			"Codex and opencode run it at delta 2, before the response ended (seen when run)",
			"OpenAI Agents JS and AI SDK do not run it: no finish reason arrived (seen when run)"},
		{"who asked is known", "anthropic", `{"a":1}`, "claude-code", limit, "this client, Claude Code, runs it at delta 2, before the cut (seen when run)", ""},
		{"and its result came", "anthropic", `{"a":1}`, "claude-code", answered,
			"this client, Claude Code, runs it at delta 2, while the response continues (seen when run); it did: the call's result was sent back", ""},
		{"who asked was not tried with it", "gemini", `{"a":1}`, "codex", done, "", "Gemini CLI and AI SDK run it when the response has ended (seen when run)" +
			"|Pydantic AI, smolagents, CrewAI, Semantic Kernel, Spring AI and LangChain4j run it when the response has ended (documented)" +
			"|LangChain JS, pi and Google Gen AI SDK for JavaScript leave the call to the application (seen when run)"},
		{"a library that others are made with", "openai-responses", `{"a":1}`, "ai-sdk", limit,
			"Codex runs it at delta 2, before the cut (seen when run)|opencode does not run it: the response was cut (seen when run)",
			"OpenAI Agents JS and AI SDK do not run it: the response was cut (seen when run)"},
		{"still open", "openai-responses", `{"a":1}`, "codex", nil, "this client, Codex, runs it at delta 2, while the response continues (seen when run)", ""},
		{"the client stopped it", "anthropic", `{"a":1}`, "", stopped, "", ""},
		{"an error ended it", "anthropic", `{"a":1}`, "", failed, "", ""},
		{"no whole arguments", "anthropic", `{"a":1`, "", limit, "", ""},
		{"a protocol of nobody", "bedrock", `{"a":1}`, "", limit, "", ""},
	} {
		turn, c := turnThat(test.dialect, test.args, test.asks, test.behind...)
		seal, end := strings.Join(RunBy(turn, c, stream.AtSeal), "|"), strings.Join(RunBy(turn, c, stream.AtEnd), "|")
		if seal != test.seal || end != test.end {
			t.Errorf("%s:\n seal %s\n want %s\n end  %s\n want %s", test.name, seal, test.seal, end, test.end)
		}
		for _, rule := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
			want := slices.DeleteFunc(RunBy(turn, c, rule), func(text string) bool {
				return strings.Contains(text, " not run ") || strings.Contains(text, " to the application")
			})
			if got := CarelessClients(turn, c, rule); !slices.Equal(got, want) {
				t.Errorf("%s: the clients that run the call by rule %d are %q, not %q", test.name, rule, got, want)
			}
		}
		if got := RunBy(turn, c, stream.Parsable); got != nil {
			t.Errorf("%s: parsable %q", test.name, got)
		}
	}
}

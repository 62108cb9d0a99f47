package conversation

import (
	"hash/maphash"
	"testing"

	"toolscope/providers/client"
	"toolscope/providers/protocol"
)

// TestFacts checks that the facts that each client sends about itself are read. Ids are placeholders, as a redactor
// writes them.
func TestFacts(t *testing.T) {
	turn := func(more string) string {
		return `{"session_id":"[redacted:s]","thread_id":"[redacted:s]","agent_name":"/root","request_kind":"turn"` + more + `}`
	}
	for _, c := range []struct {
		name   string
		header map[string]string
		body   string
		want   ClientFacts
	}{
		{"nobody", nil, `{}`, ClientFacts{}},
		{"Claude Code", map[string]string{"User-Agent": "claude-cli/2.1.330 (external, sdk-cli)", "X-Claude-Code-Session-Id": "[redacted:s]"}, `{}`,
			ClientFacts{Client: "claude-code", Session: "[redacted:s]"}},
		{"its sub-agent", map[string]string{"User-Agent": "claude-cli/2.1.330 (external, sdk-cli)", "X-Claude-Code-Session-Id": "s", "X-Claude-Code-Agent-Id": "a1"}, `{}`,
			ClientFacts{Client: "claude-code", Session: "s", Agent: "a1", IsSubagent: true}},
		{"a sub-agent's", map[string]string{"User-Agent": "claude-cli/2", "X-Claude-Code-Session-Id": "s", "X-Claude-Code-Agent-Id": "a2", "X-Claude-Code-Parent-Agent-Id": "a1"}, `{}`,
			ClientFacts{Client: "claude-code", Session: "s", Agent: "a2", Parent: "a1", IsSubagent: true}},
		{"an early Claude Code", map[string]string{"User-Agent": "claude-cli/1.0.3"}, `{"metadata":{"user_id":"user_aa_account_bb_session_[redacted:s]"}}`,
			ClientFacts{Client: "claude-code", Session: "[redacted:s]"}},
		{"one between", map[string]string{"User-Agent": "claude-cli/2"}, `{"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s\"}"}}`,
			ClientFacts{Client: "claude-code", Session: "s"}},
		{"Codex", map[string]string{"Originator": "codex_exec", "Session-Id": "[redacted:s]", "Thread-Id": "[redacted:s]", "X-Codex-Turn-Metadata": turn("")}, `{}`,
			ClientFacts{Client: "codex", Session: "[redacted:s]", Name: "/root", Kind: "turn"}},
		{"its sub-agent on a WebSocket", map[string]string{"User-Agent": "codex_exec/0.169.0 (Debian)", "Session-Id": "s", "Thread-Id": "t"},
			`{"generate":false,"client_metadata":{"session_id":"s","thread_id":"t","x-openai-subagent":"collab_spawn","x-codex-parent-thread-id":"s",` +
				`"x-codex-turn-metadata":"{\"agent_name\":\"/root/job\",\"request_kind\":\"prewarm\",\"thread_source\":\"subagent\"}"}}`,
			ClientFacts{Client: "codex", Session: "s", Agent: "t", Name: "/root/job", IsSubagent: true, Kind: "prewarm", Warms: true}},
		{"Copilot", map[string]string{"User-Agent": "copilot/1.0.102", "X-Interaction-Type": "conversation-user"}, `{}`, ClientFacts{Client: "copilot"}},
		{"its sub-agent", map[string]string{"User-Agent": "copilot/1.0.102", "X-Interaction-Type": "conversation-subagent"}, `{}`,
			ClientFacts{Client: "copilot", IsSubagent: true}},
		{"its compaction", map[string]string{"Originator": "codex_cli_rs", "Session-Id": "s", "Thread-Id": "s", "X-Openai-Subagent": "compact"}, `{}`,
			ClientFacts{Client: "codex", Session: "s", IsSubagent: true, Kind: "compact"}},
		{"opencode", map[string]string{"User-Agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46", "X-Session-Id": "ses_2", "X-Parent-Session-Id": "ses_1"}, `{}`,
			ClientFacts{Client: "opencode", Session: "ses_2", StartedBy: "ses_1", IsSubagent: true}},
		{"opencode by its cache key", map[string]string{"User-Agent": "opencode/1.18.33"}, `{"prompt_cache_key":"ses_1"}`, ClientFacts{Client: "opencode", Session: "ses_1"}},
		{"a library in a program", map[string]string{"User-Agent": "myapp/1 OpenAI/Python 2.1"}, `{"prompt_cache_key":"k","previous_response_id":"resp_1"}`,
			ClientFacts{Client: "openai-sdk", PreviousResponse: "resp_1"}},
		{"a conversation", nil, `{"conversation":{"id":"conv_1"}}`, ClientFacts{Session: "conv_1"}},
	} {
		fields := map[string][]string{}
		for name, value := range c.header {
			fields[name] = []string{value}
		}
		if got := ReadFacts(ReadHeader(fields), ReadBody([]byte(c.body))); got != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

// TestClients checks that each client that a header can name is in the table of clients.
func TestClients(t *testing.T) {
	for _, p := range programs {
		if _, err := client.Find(p.client); err != nil {
			t.Error(err)
		}
	}
	for name := range clientHeaders {
		if _, err := client.Find(name); err != nil {
			t.Error(err)
		}
	}
}

func TestPurpose(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{"HEAD", "/", Health}, {"HEAD", "/api/hello", Health}, {"GET", "/v1/models", Models}, {"GET", "/v1/models/gpt-x", Models},
		{"POST", "/v1/messages/count_tokens", Count}, {"POST", "/v1beta/models/gemini-x:countTokens", Count},
		{"GET", "/inference-profiles", Models}, {"POST", "/v1/embeddings", Embeddings}, {"POST", "/api/event_logging/batch", Telemetry},
		{"POST", "/v1/messages", ""}, {"POST", "/v1beta/models/gemini-x:streamGenerateContent", ""}, {"POST", "/model/claude-x/invoke", ""},
		{"POST", "/api/pull", Other}, {"POST", "/v1/messages/batches", Other}, {"POST", "/v1/messages/batches/b/cancel", Other},
		{"POST", "/v1beta/cachedContents", Other}, {"POST", "/upload/v1beta/files", Other}, {"POST", "/v1/audio/speech", Other},
		{"POST", "/v1/conversations", ""}, {"POST", "/v1/audio/chat", ""}, {"POST", "/v1/projects/p/models/m:rawPredict", ""},
		{"GET", "/v1/responses", ""}, {"POST", "/v1/models", ""}, {"POST", "/v1/chat/completions", ""},
	} {
		if got := PurposeOfPath(c.method, c.path); got != c.want {
			t.Errorf("%s %s is for %q, want %q", c.method, c.path, got, c.want)
		}
	}
	title := `{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}}}}}}`
	for _, c := range []struct{ client, body, want string }{
		{"claude-code", title, Title},
		{"", title, Turn}, // an application may ask for titles as its main work
		{"opencode", `{"system":[{"type":"text","text":"You are a title generator. You output"}]}`, Title},
		{"gemini-cli", `{"generationConfig":{"responseJsonSchema":{"properties":{"complexity_reasoning":{},"complexity_score":{}}}}}`, Router},
		{"claude-code", `{"max_tokens":1,"messages":[]}`, Probe},
		{"claude-code", `{"max_tokens":1,"tools":[{"name":"a"}]}`, Turn},
		{"codex", `{"generate":false}`, Prewarm},
		{"claude-code", `{"max_tokens":9}`, Turn},
	} {
		b := ReadBody([]byte(c.body))
		f := ReadFacts(ClientFacts{Client: c.client}, b)
		if got := PurposeOf(&f, b, nil); got != c.want {
			t.Errorf("%s of %s is for %q, want %q", c.body, c.client, got, c.want)
		}
	}
}

func TestLastSaid(t *testing.T) {
	text := func(role protocol.Role, texts ...string) (m protocol.Message) {
		m.Role = role
		for _, s := range texts {
			m.Parts = append(m.Parts, protocol.Part{Kind: protocol.TextPart, Text: []byte(s)})
		}
		return m
	}
	call := protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{{Kind: protocol.CallPart, ID: "1", Name: "ls"}}}
	result := func(id string) protocol.Message {
		return protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.ResultPart, ID: id, Text: []byte("a\n\tb  c")}}}
	}
	for _, c := range []struct {
		history      []protocol.Message
		tools, words string
	}{
		{nil, "", ""},
		{[]protocol.Message{text(protocol.User, "<note>x</note>", " do it\nnow ", "<env/>"), text(protocol.System, "# Environment")}, "", "do it now"},
		{[]protocol.Message{text(protocol.User, "<b>bold</b>")}, "", "<b>bold</b>"},
		{[]protocol.Message{result("9")}, "cat", "a b c"},
		{[]protocol.Message{result("8")}, "result", "a b c"},
		{[]protocol.Message{text(protocol.User, "go"), call, result("1")}, "ls", "a b c"},
		{[]protocol.Message{text(protocol.User, "go"), call, result("1"), result("2"), text(protocol.System, "s")}, "ls +1", "a b c"},
		{[]protocol.Message{text(protocol.User, "go"), call, result("1"), text(protocol.Assistant, "{")}, "ls", "a b c"},
	} {
		if tools, words := LatestContent(c.history, func(id string) string { return map[string]string{"9": "cat"}[id] }); tools != c.tools || words != c.words {
			t.Errorf("%q %q, want %q %q", tools, words, c.tools, c.words)
		}
	}
}

// TestMessageHash checks that the hash of a message changes if anything changes that must be sent back unchanged.
func TestMessageHash(t *testing.T) {
	part := func() protocol.Part {
		return protocol.Part{Kind: protocol.ReasoningPart, Text: []byte("look first"), Signature: "c2ln", Item: "rs_1"}
	}
	seed := maphash.MakeSeed()
	hash := func(p protocol.Part) uint64 {
		return hashMessage(seed, &protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{p}})
	}
	was := hash(part())
	if hash(part()) != was {
		t.Error("equal messages have different hashes")
	}
	for name, change := range map[string]func(*protocol.Part){
		"signature":      func(p *protocol.Part) { p.Signature = "c2lo" },
		"no signature":   func(p *protocol.Part) { p.Signature = "" },
		"item":           func(p *protocol.Part) { p.Item = "rs_2" },
		"error flag":     func(p *protocol.Part) { p.Failed = true },
		"signature only": func(p *protocol.Part) { p.SignatureOnly = true },
	} {
		p := part()
		if change(&p); hash(p) == was {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

// TestAfterNote checks that the text after a tagged note is found, because it may be an agent's prompt.
func TestAfterNote(t *testing.T) {
	for text, want := range map[string]string{
		"<now>07:15</now>\n\ncount the ports": "count the ports", "<note kind=\"x\">a</note> b": "b", "<p>only": "", "count": "", "<": "", "": "", "a <b>c</b> d": "",
	} {
		if got := string(afterNote([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

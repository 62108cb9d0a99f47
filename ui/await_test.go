package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

func waiting(words *[]StatusNote) func(*Options) {
	return func(o *Options) {
		o.Source = "proxy 127.0.0.1:45678"
		o.Setup = &SetupGuide{
			URL: "http://127.0.0.1:45678",
			Ways: []ClientSetup{
				{Client: "Claude Code", Line: "export ANTHROPIC_BASE_URL=http://127.0.0.1:45678/anthropic"}, {Client: "Gemini CLI", Also: []string{"export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini", "# and its settings"}},
				{Client: "Gemini SDKs", Line: "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini"},
			},
			More:   "base URL http://127.0.0.1:45678/NAME  (:hosts)",
			Routes: [][2]string{{"/anthropic", "https://api.anthropic.com"}, {"/openrouter", "https://openrouter.ai/api"}},
		}
		o.Status = func() []StatusNote { return *words }
	}
}

// TestAwaitWithoutLines checks the waiting screen of a source whose clients need no setup lines: it has no line to
// select, open or copy.
func TestAwaitWithoutLines(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		s := newScreen(t, size[0], size[1], func(o *Options) {
			o.Setup = &SetupGuide{URL: "http://127.0.0.1:1", More: "no request has arrived; TLS to 51 hosts is decrypted"}
		})
		checkFrame(t, s)
		s.shows("WAITING", "no request has arrived; TLS to").hides("Paste", "▌").press("jk<enter>y").shows("no line is selected")
		checkFrame(t, s)
	}
}

// TestAwait checks that the setup lines are complete if there is room, that all of them can be reached on the
// smallest screens, and that a line can be copied.
func TestAwait(t *testing.T) {
	words := []StatusNote{{Text: "1 refused"}, {Text: "rec a.tsc 0 B"}, {Text: "SECRETS KEPT", Alarm: true}}
	for _, size := range [][2]int{{80, 24}, {140, 40}, {54, 20}, {40, 10}} {
		for _, change := range [][]func(*Options){{waiting(&words)}, {waiting(&words), ascii, colourless}} {
			s := newScreen(t, size[0], size[1], change...)
			checkFrame(t, s)
			s.shows("WAITING", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI", "SECRETS KEPT")
			if size[0] >= 80 {
				s.shows("Gemini SDKs  export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini", "others       base URL http://127.0.0.1:45678/NAME", "Gemini CLI   enter shows 2 lines", "Paste one line", "? keys")
			}
		}
	}
	copied := ""
	s := newScreen(t, 80, 24, waiting(&words), func(o *Options) {
		o.Copy = func(text []byte) (string, error) {
			copied = string(text)
			return "OSC 52", nil
		}
	})
	s.press("j<enter>").shows("    export GOOGLE_GEMINI", "    # and its settings").press("y")
	if copied != "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini\n# and its settings" {
		t.Errorf("%q", copied)
	}
	s.press("j").hides("# and its settings")
	if s.press("jjjy").shows("copied: OSC 52"); copied != "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:45678/gemini" {
		t.Errorf("%q", copied)
	}
}

// asking returns a client's request and the given part of its response.
func asking(exchange int, agent, answer string) []stream.Record {
	at := time.Duration(exchange) * time.Second
	return []stream.Record{
		{Exchange: exchange, Request: true, At: at, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Header: map[string][]string{"User-Agent": {agent}}}},
		{Exchange: exchange, At: at, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}},
		{Exchange: exchange, At: at, Data: []byte(answer)},
	}
}

// refusedFor returns a request that was refused.
func refusedFor(exchange int, why string) []stream.Record {
	return []stream.Record{
		{Exchange: exchange, Request: true, Head: &stream.Head{Method: "GET", URL: "http://127.0.0.1:1/v1/models"}},
		{Exchange: exchange, By: "toolscope", Head: &stream.Head{Status: 404}},
		{Exchange: exchange, End: true, By: "toolscope", Why: "refused: " + why},
	}
}

const begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[]}}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"write_file\",\"input\":{}}}\n\n"

// TestRefusals checks that refused requests and their reasons are shown on the screen that waits for clients and on
// the page of streams.
func TestRefusals(t *testing.T) {
	var words []StatusNote
	for _, size := range [][2]int{{100, 24}, {250, 60}, {40, 10}} {
		s := newScreen(t, size[0], size[1], waiting(&words)).feed(refusedFor(1, "no provider in the path: put /openai before it")...)
		checkFrame(t, s)
		s.shows("WAITING", "Refused 1", "GET /v1/models", "404")
		if size[0] >= 100 {
			s.shows("put /openai before it")
		}
		s.feed(asking(2, "claude-cli/2.1", begun)...)
		s.hides("WAITING", "Paste").press("L").shows("Streams  1 open of 2 · 1 refused", "○", "waiting", "write_file", "GET /v1/models")
		checkFrame(t, s)
		s.press("<enter>").hides("Streams").shows("write_file")
	}
	s := newScreen(t, 80, 24, waiting(&words)).feed(refusedFor(1, "no provider")...).feed(asking(2, "curl/8", begun[:strings.Index(begun, "\n\n")+2])...)
	s.feed(stream.Record{Exchange: 2, At: 3 * time.Second, End: true, By: "network", Why: "reset"}).press("L").shows("2  ⊘  aborted       (no call)").hides("●")
	newScreen(t, 80, 24).feed(body("agent.sse")(t)...).press("L").shows("only a proxy")
}

// TestLeaving checks that quitting asks first while clients have open streams, and that the user can wait until these
// streams have ended.
func TestLeaving(t *testing.T) {
	var words []StatusNote
	quits := func(s *rig) bool { return s.cmd != nil && fmt.Sprintf("%T", s.cmd()) == "tea.QuitMsg" }
	open := func() *rig {
		s := newScreen(t, 80, 24, waiting(&words)).feed(asking(1, "claude-cli/2.1", begun)...).feed(asking(2, "curl/8", begun)...)
		return s.press("q").shows("2 streams are open (Claude Code 1, unknown 1): q cuts them", "q quit and cut", "w wait, then quit", "esc stay", "write_file")
	}
	s := open()
	checkFrame(t, s)
	checkFrame(t, s.resize(40, 10))
	if s.press("q"); !quits(s) {
		t.Error("q does not quit")
	}
	if s = open().press("<esc>").hides("streams are open"); quits(s) {
		t.Error("esc quits")
	}
	s = open().resize(120, 24).press("w").shows("quits when 2 streams end")
	s.feed(stream.Record{Exchange: 1, End: true})
	s.shows("quits when 1 stream end")
	if s.feed(stream.Record{Exchange: 2, End: true}); !s.parted() {
		t.Error("nothing is open, and it goes on")
	}
	s = newScreen(t, 80, 24, waiting(&words))
	if s.press("q"); !quits(s) {
		t.Error("nothing is open, and it asks")
	}
}

// parted reports whether the program should end because the last stream has ended.
func (s *rig) parted() bool { return s.quitPending && len(s.openExchanges()) == 0 }

// TestStatus checks that notes change without a new record, that alarms come last, and that notes that don't fit are
// left out.
func TestStatus(t *testing.T) {
	var words []StatusNote
	s := newScreen(t, 140, 24, waiting(&words)).feed(body("agent.sse")(t)...)
	s.hides("WAITING", "rec a.tsc")
	words = []StatusNote{{Text: "rec a.tsc 12 kB"}, {Text: "GAP 1,000 B", Alarm: true}}
	s.inbox.Wake()
	s.send(inboxReady{})
	rows := s.rows()
	last := rows[0]
	if gap, rec := strings.Index(last, "GAP 1,000 B"), strings.Index(last, "rec a.tsc 12 kB"); rec < 0 || gap < rec {
		t.Errorf("%q", last)
	}
	checkFrame(t, s)
	checkFrame(t, s.resize(40, 10))
	s.shows("GAP 1,000 B").hides("rec a.tsc")
}

// growing returns a response whose call has the given part of its arguments.
func growing(model, tool, args string) string {
	return strings.Replace(begun, "claude-x", model, 1)[:strings.Index(strings.Replace(begun, "claude-x", model, 1), "event: content_block_start")] +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"" + tool + "\",\"input\":{}}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":" + quote(args) + "}}\n\n"
}

// TestProxyFilms draws the screen that waits for clients, fifty streams at once, a filter on them, and the
// question before quitting.
func TestProxyFilms(t *testing.T) {
	for _, look := range []struct {
		name   string
		w, h   int
		change []func(*Options)
	}{{"80x24", 80, 24, nil}, {"140x40", 140, 40, nil}, {"ascii", 80, 24, []func(*Options){ascii}}, {"40x10", 40, 10, nil}, {"60x18", 60, 18, nil}} {
		t.Run(look.name, func(t *testing.T) {
			var words []StatusNote
			var out strings.Builder
			s := newScreen(t, look.w, look.h, append(look.change, waiting(&words))...)
			shot := func(what, keys string) {
				checkFrame(t, s.press(keys))
				fmt.Fprintf(&out, "== %s\n%s\n", what, strings.Join(s.rows(), "\n"))
			}
			shot("it waits", "")
			s.feed(refusedFor(1, "no provider in the path: put /openai before it")...)
			shot("one was refused", "j<enter>")
			for i := range 50 {
				agent, answer := "claude-cli/2.1", growing("claude-sonnet-4-5", "edit_file", `{"path":"a.go","edits":[{"old":"x","new":"y"},{"old":"`)
				switch i % 4 {
				case 1:
					agent, answer = "curl/8", growing("claude-haiku-4-5-20251001", "run_tests", `{}`)
				case 2:
					answer = begun
				case 3:
					answer = ""
				}
				s.feed(asking(2+i, agent, answer)...)
			}
			shot("fifty streams", "L")
			shot("at their end", "G")
			shot("filtered", "ftool:run_tests<enter>")
			s.press("<esc>")
			shot("what to paste", ":paste<enter>")
			s.press("<esc>")
			shot("who leaves is asked", "<c-c>")
			checkFile(t, "testdata/films/proxy-"+look.name+".txt", out.String())
		})
	}
}

// TestHosts checks the table of upstreams: the counts of each, the filter that the enter key sets, and the copied URL.
func TestHosts(t *testing.T) {
	var words []StatusNote
	copied := ""
	s := newScreen(t, 100, 24, waiting(&words), func(o *Options) {
		o.Setup.Routes = append(o.Setup.Routes, [2]string{"/local", "http://127.0.0.1:11434"})
		o.Copy = func(text []byte) (string, error) {
			copied = string(text)
			return "OSC 52", nil
		}
	})
	ask := func(exchange int, address string) {
		records := asking(exchange, "curl/8", growing("m", "run_tests", `{`))
		for n, r := range records {
			if r.Head != nil {
				head := *r.Head
				head.URL = address
				records[n].Head = &head
			}
		}
		s.feed(records...)
	}
	for i, address := range []string{"https://openrouter.ai/api/v1/messages", "https://openrouter.ai/apis", "https://api.anthropic.com/v1/messages", "https://openrouter.ai/api?x"} {
		ask(i+1, address)
	}
	s.press(":hosts<enter>").shows("Hosts  http://127.0.0.1:45678", "HOST", "LONGEST SILENCE", "http://127.0.0.1:11434  /local", "openrouter.ai/api", "/openrouter        2      2      0", "/anthropic         1      1      0")
	if s.press("y").shows("copied: OSC 52"); copied != "http://127.0.0.1:45678/openrouter" {
		t.Errorf("%q", copied)
	}
	s.shows("OPEN▾").press("s").shows("TURNS▾", "▌  openrouter").press("s").shows("BAD▾").press("s").shows("LONGEST SILENCE▾").press("s").shows("OPEN▾")
	s.press("j")
	ask(5, "https://api.anthropic.com/v1/messages")
	ask(6, "https://api.anthropic.com/v1/messages") // this host now has the most open streams, and the cursor stays on it
	if s.press("y"); copied != "http://127.0.0.1:45678/anthropic" {
		t.Errorf("%q", copied)
	}
	s.press("j<enter>").hides("HOST ").shows("3 of 6", "filter host:")
	s.press(":hosts<enter>").resize(40, 10).shows("TURNS").hides("SILENCE", "PATH").press("<esc>").hides("openrouter.ai/api ")
	newScreen(t, 100, 24).press(":hosts<enter>").shows("only a proxy has upstreams")
}

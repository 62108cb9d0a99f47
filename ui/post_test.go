package ui

import (
	"errors"
	"strings"
	"testing"

	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/send"
)

// testPlaces returns hosts. One of them has no key, and one has no model.
func testPlaces() (all []send.Destination) {
	for _, p := range []struct{ name, address, trouble string }{
		{"anthropic", "http://a.test", ""}, {"openai", "https://o.test/v1", "no key in the environment: looked for OPENAI_API_KEY"},
		{"openai-chat", "https://o.test/v1", ""}, {"gemini", "http://g.test", ""}, {"ollama", "http://127.0.0.1:11434", ""},
	} {
		h, err := host.Find(p.name)
		if err != nil {
			panic(err)
		}
		all = append(all, send.Destination{Host: h, Address: p.address, Trouble: p.trouble})
	}
	return all
}

// sent is a request that was sent.
type sent struct {
	send.Request
	Exchange int
}

// deliverRequest sends requests for the screen. It keeps the request, and delivers the test's response to it.
func (s *rig) deliverRequest(request send.Request, exchange int) error {
	if s.refuses != nil {
		return s.refuses
	}
	r := sent{request, exchange}
	s.sent = append(s.sent, r)
	to := s.opt.Answers.(*box)
	to.Put(stream.Record{Exchange: r.Exchange, Request: true, Data: r.Body, Head: &stream.Head{File: r.Host.Name, Method: "POST", URL: r.URL}})
	if s.answer != nil {
		for _, rec := range s.answer(r) {
			to.Put(rec)
		}
	}
	return nil
}

// arrive delivers the given records, after the sent requests and their responses.
func (s *rig) arrive(records ...stream.Record) *rig {
	for _, r := range records {
		s.opt.Answers.(*box).Put(r)
	}
	for s.opt.Answers.Waiting() > 0 {
		s.send(inboxReady{s.opt.Answers})
	}
	return s
}

// lastSent returns the latest request.
func (s *rig) lastSent() sent {
	s.t.Helper()
	if len(s.sent) == 0 {
		s.t.Fatalf("nothing was sent\n%s", s.text())
	}
	return s.sent[len(s.sent)-1]
}

const askedBody = `{"model":"claude-sonnet-4-5","max_tokens":100,"temperature":0.5,"stream":true,"messages":[{"role":"user","content":"Fix it."}],` +
	`"tools":[{"name":"write_file","description":"W","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`

// withRequest adds a request before the records of a response.
func withRequest(body string, records []stream.Record) []stream.Record {
	request := stream.Record{
		Exchange: records[0].Exchange, Request: true, Data: []byte(body),
		Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"},
	}
	records[0].Head = &stream.Head{Status: 200}
	return append([]stream.Record{request}, records...)
}

// twoCalls returns a turn that waits for two results.
func twoCalls(exchange int) []stream.Record {
	a := (&anthropic{exchange: exchange}).open("msg_1").text("Let me see.")
	a.call("toolu_1", "write_file", `{"path":"a.go"}`).seal().call("toolu_2", "write_file", `{"path":"b.go","n":1}`).seal()
	return withRequest(askedBody, a.stop("tool_use").records)
}

// TestResend checks that the request is sent unchanged to its own host, that the response is a new turn and
// is selected, and that the source's own turns do not change.
func TestResend(t *testing.T) {
	s := newScreen(t, 100, 30).feed(twoCalls(1)...).end()
	s.shows(" END").press("gR").shows("Resend the request of turn 1", "to anthropic", "unchanged", "byte for byte", "original host", `"temperature": 0.5`)
	if len(s.sent) != 0 {
		t.Fatal("sent without being asked")
	}
	r := s.press("<enter>").lastSent()
	if string(r.Body) != askedBody || r.URL != "http://a.test/v1/messages" || r.Host.Name != "anthropic" || r.Exchange != -1 {
		t.Errorf("%d to %s: %s", r.Exchange, r.URL, r.Body)
	}
	s.shows("sent to anthropic", " LIVE").arrive()
	answer := (&anthropic{exchange: -1}).open("msg_2").call("toolu_9", "write_file", `{"pa`)
	s.arrive(answer.records...).shows("1 open", "FOLLOW", "streaming")
	if c := s.selectedCall(); c == nil || c.ID != "toolu_9" || !s.follow {
		t.Errorf("looks at %+v", s.selected)
	}
	answer.records = nil
	s.arrive(answer.args(0, `th":"c.go"}`).seal().stop("tool_use").records...).shows(" END", "complete")
	if turns := s.in.Session().Turns; len(turns) != 2 || turns[0].Exchange != 1 || turns[1].Exchange != -1 || len(s.outbox.flying) != 0 {
		t.Errorf("%d turns", len(turns))
	}
	if s.press("Rjj<enter>"); len(s.sent) != 2 || s.lastSent().Exchange != -2 {
		t.Error("sent again:", len(s.sent))
	}
}

// TestResendElsewhere checks that other hosts receive the conversation in their own format.
func TestResendElsewhere(t *testing.T) {
	s := newScreen(t, 100, 40).feed(twoCalls(1)...).press("gRjj").shows("to openai-chat", "policy preserve", "gpt-5.4-mini")
	r := s.press("<enter>").lastSent()
	for _, piece := range []string{`"model":"gpt-5.4-mini"`, `"Fix it."`, `"parameters"`} {
		if !strings.Contains(string(r.Body), piece) {
			t.Errorf("no %s in %s", piece, r.Body)
		}
	}
	if r.URL != "https://o.test/v1/chat/completions" || r.Model != "gpt-5.4-mini" {
		t.Error(r.URL, r.Model)
	}
	s.press("R").shows("to anthropic").press("mxyz<enter>").shows("claude-sonnet-4-5xyz").hides("unchanged")
	if r := s.press("<enter>").lastSent(); !strings.Contains(string(r.Body), `"model":"claude-sonnet-4-5xyz"`) || strings.Contains(string(r.Body), "temperature") {
		t.Errorf("%s", r.Body)
	}
	s.press("RjjpP").shows("policy preserve").press("p").shows("policy wrap").press("<esc>")
	s.press("Rp").shows("policy preserve").press("P").shows("unchanged").press("P").shows("policy strict").press("p").shows("unchanged").press("<esc>")
	s.press("Rmabc<esc>").shows("unchanged").press("<tab>j<tab>?<esc><esc>")
	if _, ok := s.mode().(browse); !ok {
		t.Errorf("in %T", s.mode())
	}
}

// TestResendRefused checks that the reason is shown if a request can't be sent, and that nothing is sent.
func TestResendRefused(t *testing.T) {
	s := newScreen(t, 100, 40).feed(twoCalls(1)...)
	s.press("gRj").shows("looked for OPENAI_API_KEY").press("<enter>").shows("no key in the environment")
	s.press("G").shows("no model: press m").press("<enter>").shows("name a model")
	if len(s.sent) != 0 {
		t.Errorf("sent %v", s.sent)
	}
	s.press("mqwen3<enter><enter>")
	if r := s.lastSent(); r.Model != "qwen3" || r.Host.Name != "ollama" {
		t.Errorf("%+v", r)
	}
	s.refuses = errors.New("no \x1b[31mroute")
	s.press("R<enter>").shows("not sent: no ␛[31mroute")
	if s.outbox.awaited != 0 || s.outbox.sent != 1 || len(s.outbox.flying) != 1 {
		t.Errorf("waits for %+v", s.outbox)
	}
	newScreen(t, 100, 30).feed(brokenCall().records...).press("R").shows("the request of this turn was not captured")
	bare := newScreen(t, 100, 30, func(o *Options) { o.Send = nil }).feed(brokenCall().records...)
	bare.press("R").shows("requests can't be sent here").press("a").shows("requests can't be sent")
	newScreen(t, 80, 24).press("R").shows("no request to resend").press("=").shows("no similar turn").press("m").shows("no turn to mark")
}

// TestResendKeepsTheSource checks that the numbers of sent exchanges never equal those of the source. The end of the
// source cuts off its own exchanges, but not those that toolscope sent.
func TestResendKeepsTheSource(t *testing.T) {
	s := newScreen(t, 100, 30).feed(twoCalls(1)...).press("gR<enter>").arrive()
	open := (&anthropic{exchange: -1}).open("msg_2").call("toolu_9", "later", `{"a`)
	s.arrive(open.records...)
	s.feed((&anthropic{exchange: 2}).open("msg_3").call("toolu_3", "cut_off", `{"b`).records...).end()
	turns := s.in.Session().Turns
	if len(turns) != 3 || turns[1].Exchange != -1 || turns[1].Closed() || !turns[2].Closed() || turns[2].Phase() != stream.TurnAborted {
		t.Fatalf("%+v", turns)
	}
	s.shows(" LIVE")
	open.records = nil
	s.arrive(open.args(0, `":1}`).seal().stop("tool_use").records...).shows(" END")
	if c := turns[1].Calls[0]; c.Status() != stream.Complete {
		t.Error(c.Status())
	}
}

// TestResendRedacted checks that a note says that secrets are missing from the request.
func TestResendRedacted(t *testing.T) {
	records := twoCalls(1)
	records[0].Data = []byte(strings.Replace(askedBody, "Fix it.", "Use [redacted:x-api-key:8f3a].", 1))
	s := newScreen(t, 100, 30).feed(records...).press("gR").shows("secrets were redacted", "unchanged")
	s.press("jj").shows("secrets were redacted")
	newScreen(t, 100, 30).feed(twoCalls(1)...).press("gR").hides("secrets were redacted")
}

// TestResendIsAwaited checks that the response is selected when it arrives, unless the user has gone elsewhere. If
// the screen is paused, the response is selected when the pause ends.
func TestResendIsAwaited(t *testing.T) {
	answer := func() []stream.Record { return (&anthropic{exchange: -1}).open("msg_2").text("Hi").records }
	s := newScreen(t, 100, 30).feed(twoCalls(1)...).end().press("gR<enter>").press("j").arrive(answer()...)
	if s.selectedTurn().Exchange != 1 || s.follow {
		t.Error("it was taken from where it went:", s.where())
	}
	s = newScreen(t, 100, 30).feed(twoCalls(1)...).end().press("gR<enter> ").arrive(answer()...).shows("PAUSED")
	if s.selectedTurn().Exchange != 1 || len(s.in.Session().Turns) != 2 {
		t.Error("held, and it looks at", s.where())
	}
	if s.press("G"); s.selectedTurn().Exchange != -1 {
		t.Error("looks at", s.where())
	}
}

// TestResendBig checks that a large request is made in another goroutine.
func TestResendBig(t *testing.T) {
	body := strings.Replace(askedBody, "Fix it.", strings.Repeat("Fix it. ", 10_000), 1)
	records := twoCalls(1)
	records[0].Data = []byte(body)
	s := newScreen(t, 100, 30).feed(records...).press("gR").shows("...")
	job := s.cmd
	if s.press("<enter>").shows("not ready yet"); s.cmd != nil {
		t.Error("a second job")
	}
	s.send(job())
	s.shows("byte for byte", `"temperature": 0.5`)
	if s.press("<enter>"); string(s.lastSent().Body) != body {
		t.Error("another body was sent")
	}
}

// TestResendAIStudio checks that a request from AI Studio can be sent to other hosts, but never to AI Studio. The
// same is true for the results of its calls.
func TestResendAIStudio(t *testing.T) {
	const question = `["models/gemini-2.5-pro",[[[[null,"Weather in Oslo?"]],"user"]]]`
	records := demo(t, "aistudio")
	for i := range records {
		if records[i].Request {
			records[i].Data = []byte(question)
		}
	}
	for _, keys := range []string{"gR", "gja4 C<enter>a5 C<enter>"} {
		s := newScreen(t, 120, 30).feed(records...).end().press(keys).hides("original host", "unchanged")
		r := s.press("<enter>").lastSent()
		if r.Host.Name != "anthropic" || !strings.Contains(string(r.Body), "Weather in Oslo?") || strings.Contains(r.URL, "google") {
			t.Errorf("%q, to %s: %s", keys, r.URL, r.Body)
		}
		if keys != "gR" && (strings.Count(string(r.Body), `"tool_use"`) != 2 || !strings.Contains(string(r.Body), `"5 C"`)) {
			t.Errorf("without the results: %s", r.Body)
		}
	}
	for _, p := range newScreen(t, 80, 24).opt.Places {
		if p.Host.HistoryTarget().Protocol == "aistudio" {
			t.Error("AI Studio can be asked")
		}
	}
}

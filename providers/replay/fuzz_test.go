package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/providers/replay"
)

// FuzzPreview checks that any history can be previewed for every target under every policy. The requests must be JSON
// in UTF-8. Each call must be in the request once or be reported as dropped, and each result must be in the request
// once. The source must not change.
func FuzzPreview(f *testing.F) {
	for seed := range 24 {
		f.Add(bytes.Repeat([]byte{byte(seed), byte(seed * 7), 31, byte(seed * 41), 3, byte(255 - seed)}, 12), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, oneByOne bool) {
		g := &generator{data: data}
		from := append(providers.Targets(), nil)[g.below(len(providers.Targets())+1)]
		history := g.history(from)
		if from != nil && g.below(2) == 0 { // use the history as the target's own protocol reads it, with Raw set
			history, _ = from.Decode(historytest.Request(from, from.Encode(history)))
		}
		before := deepCopy(history)
		src := replay.SourceOfHistory(history, from)
		if oneByOne {
			src = src.Split()
		}
		for _, to := range providers.Targets() {
			for i := range replay.Policies {
				if !replay.Policies[i].Knows(src.From, to) {
					continue
				}
				if err := checkPreview(src, src.Preview(to, &replay.Policies[i])); err != nil {
					t.Errorf("to %s under %s: %v\n%s", to.Name, replay.Policies[i].Name, err, printed(src.Messages))
				}
			}
		}
		if !reflect.DeepEqual(before, history) {
			t.Errorf("the source was changed")
		}
	})
}

// checkPreview checks the invariants of previews.
func checkPreview(src *replay.Source, p replay.Preview) error {
	if again := src.Preview(p.To, p.Policy); !reflect.DeepEqual(again, p) {
		return fmt.Errorf("another time it is another: %+v, %+v", p, again)
	}
	for _, l := range p.Losses {
		if l.Call < 0 || l.Call > len(p.Calls) || l.Start < 0 || l.End < l.Start || l.Kind == nil ||
			l.Call > 0 && l.End > len(p.Calls[l.Call-1].Original) {
			return fmt.Errorf("a loss that cannot be: %+v", l)
		}
		if !utf8.ValidString(l.Message) {
			return fmt.Errorf("a message that is no text: %q", l.Message)
		}
	}
	if p.Body == nil && (p.Outcome == replay.Throws && p.Refused != "" || p.Outcome == replay.Unknown && p.Policy.Client != nil) {
		return nil // the client fails, or its treatment is unknown
	}
	calls, results := 0, 0
	for _, m := range read(p.To, slices.Concat(p.Body, p.Results)) {
		for _, part := range m.Parts {
			switch part.Kind {
			case protocol.CallPart:
				calls++
			case protocol.ResultPart:
				results++
			}
		}
	}
	for _, message := range slices.Concat(p.Body, p.Results) {
		if !json.Valid(message) || !utf8.Valid(message) {
			return fmt.Errorf("no JSON in UTF-8: %q", message)
		}
	}
	return checkCounts(src, p, calls, results)
}

// checkCounts checks that all calls and results are in the preview or are reported as missing.
func checkCounts(src *replay.Source, p replay.Preview, calls, results int) error {
	wantCalls, wantResults := 0, strings.Count(fmt.Sprint(p.Losses), "the client adds a made-up result")
	for _, c := range p.Calls {
		gone := slices.ContainsFunc(p.Losses, func(l replay.Loss) bool {
			return l.Call == c.Call && (l.Kind == replay.CallDropped || l.Kind == replay.ServerToolDropped)
		})
		if gone != (c.Outcome == replay.Dropped) {
			return fmt.Errorf("call %d is %s, told to be dropped: %v", c.Call, c.Outcome, gone)
		}
		if !gone {
			wantCalls++
		}
	}
	same := src.From != nil && src.From.Protocol == p.To.Protocol
	for _, m := range src.Messages {
		for _, part := range m.Parts {
			if part.Kind == protocol.ResultPart && m.Role != protocol.System && (same || !part.RunByProvider) {
				wantResults++
			}
		}
	}
	if p.Policy.Name == "smolagents" {
		wantCalls, wantResults = 0, 0
	}
	if calls != wantCalls || results != wantResults {
		return fmt.Errorf("%d calls and %d results, want %d and %d in %s\n%v", calls, results, wantCalls, wantResults, body(p), p.Losses)
	}
	return nil
}

// read returns the calls and results that a target reads from its own messages.
func read(to *protocol.Target, written [][]byte) []protocol.Message {
	messages, _ := to.Decode(historytest.Request(to, written))
	return messages
}

func deepCopy(messages []protocol.Message) (out []protocol.Message) {
	for _, m := range messages {
		m.Raw = slices.Clone(m.Raw)
		m.Parts = slices.Clone(m.Parts)
		for i := range m.Parts {
			p := &m.Parts[i]
			p.Text, p.Args, p.Raw = slices.Clone(p.Text), slices.Clone(p.Args), slices.Clone(p.Raw)
		}
		out = append(out, m)
	}
	return out
}

func printed(messages []protocol.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %.300q\n", m.Role, m.Raw)
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "  %d id=%.80q name=%.80q tool=%q server=%v %.200q %.200q raw=%.200q\n", p.Kind, p.ID, p.Name, p.ToolKind, p.RunByProvider, p.Text, p.Args, p.Raw)
		}
	}
	return b.String()
}

// A generator makes up a history from bytes.
type generator struct{ data []byte }

func (g *generator) below(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := int(g.data[0])
	g.data = g.data[1:]
	return b % n
}

func (g *generator) of(list ...string) string { return list[g.below(len(list))] }

var (
	someIDs = []string{
		"call_1", "", "call_1", "call_2", "tooluse_ABx", "tooluse_ABy", "a|b", "functions.f:0", "\xff", "é" + strings.Repeat("ü", 40),
		strings.Repeat("_", 70), strings.Repeat("x", 300), "\xed\xa0\x80", "abcDEF123", "call_3",
	}
	someNames = []string{"f", "g", "", "a.b", "9", "\xff\"", "é", strings.Repeat("n", 200), "code_execution", "web_search_call"}
	someArgs  = []string{
		`{"a":1}`, ``, `null`, `[1]`, `"x"`, `{"a":1`, `{"a":1}{"b":2}`, `{"a":1}x`, `"{\"a\":1}"`, "\xff", "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80", `{"b":1.0,"a":9007199254740993,"b":1e400}`,
		`{"2":"\u00e9","1":[{}]}`, strings.Repeat("[", 2000), strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), `{"a":"\ud800"}`, " {} ", `{"a":` + strings.Repeat("[", 120),
	}
	someTexts = []string{"", "hm", "\xff", "\xed\xb0\x80", "\x00\"\\", "é"}
	someTools = []string{"function", "custom", "function", "server", "mcp", "program"}
)

func (g *generator) history(from *protocol.Target) (history []protocol.Message) {
	for len(g.data) > 0 && len(history) < 12 {
		m := protocol.Message{Role: []protocol.Role{protocol.Assistant, protocol.User, protocol.Assistant, protocol.User, protocol.System}[g.below(5)]}
		for range g.below(5) {
			m.Parts = append(m.Parts, g.part(from))
		}
		history = append(history, m)
	}
	return history
}

func (g *generator) part(from *protocol.Target) protocol.Part {
	switch kind := protocol.PartKind(g.below(5)); kind {
	case protocol.CallPart:
		p := protocol.Part{Kind: kind, ID: g.of(someIDs...), Name: g.of(someNames...), Args: []byte(g.of(someArgs...)), ToolKind: g.of(someTools...)}
		if p.RunByProvider = p.ToolKind == "server" || p.ToolKind == "mcp"; from != nil {
			p.Form = from.Form
		}
		if g.below(4) == 0 {
			p.Signature, p.Item, p.Parent, p.Namespace, p.MCPServer = g.of(someIDs...), g.of(someIDs...), g.of(someIDs...), g.of(someNames...), g.of(someNames...)
		}
		if p.Form != protocol.TextForm && !json.Valid(p.Args) { // an object is always JSON
			p.Form = protocol.TextForm
		}
		return p
	case protocol.ResultPart:
		return protocol.Part{Kind: kind, ID: g.of(someIDs...), Name: g.of(someNames...), Text: []byte(g.of(someTexts...)), Failed: g.below(3) == 0, Media: g.below(2)}
	case protocol.ReasoningPart:
		p := protocol.Part{Kind: kind, Text: []byte(g.of(someTexts...)), Signature: g.of(someIDs...)}
		p.SignatureOnly = len(p.Text) == 0 && p.Signature != ""
		return p
	default:
		return protocol.Part{Kind: kind, Text: []byte(g.of(someTexts...)), Signature: g.of("", "", "\xff", "sig")}
	}
}

// TestPreviewTogether checks that several goroutines can preview the same source.
func TestPreviewTogether(t *testing.T) {
	from := target(t, "openai-chat")
	src := replay.SourceOfHistory(answered(from, "call_a|b", "call_2"), from)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, to := range providers.Targets() {
				for i := range replay.Policies {
					src.Preview(to, &replay.Policies[i])
				}
			}
		})
	}
	group.Wait()
}

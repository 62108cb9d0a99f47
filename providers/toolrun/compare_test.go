package toolrun

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// TestSameArgs checks that arguments with the same value are treated as equal, even if only one capture is redacted.
func TestSameArgs(t *testing.T) {
	const tag, other = "[redacted:x-api-key:8f3a]", "[redacted:token:0001]"
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{``, `{}`, true},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`{"k":"` + tag + `"}`, `{"k":"[redacted:x-api-key:1111]"}`, true},
		{`{"k":"` + tag + `"}`, `{"k":"` + other + `"}`, true},
		{`{"k":"` + tag + `"}`, `{"k":"hunter22"}`, true},
		{`{"k":"hunter22"}`, `{"k":"` + tag + `"}`, true},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"a hunter22 b"}`, true},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"a hunter22 c"}`, false},
		{`{"k":"a ` + tag + ` b"}`, `{"k":"c hunter22 b"}`, false},
		{`{"k":"` + tag + `","n":"1"}`, `{"k":"hunter22","n":1}`, false},
		{`{"k":["` + tag + `"]}`, `{"k":["hunter22"]}`, true},
		{`{"k":["` + tag + `"]}`, `{"k":["hunter22","x"]}`, false},
		{`{"k":"` + tag + `","n":1}`, `{"k":"hunter22","n":1}`, true},
		{`{"k":"` + tag + other + `"}`, `{"k":"hunter22hunter23"}`, true},
		{`{"k":"` + tag + `"}`, `{}`, false},
		{`{"k":"` + tag + `"}`, `{"k":1}`, false},
	} {
		if got := sameArgs([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}

// declaring returns the findings about tools for which the server published one schema and the model got another.
func declaring(told, given string, tools ...string) string {
	s := &mcp.Server{Name: "s"}
	m := &Matcher{log: &mcp.Log{Servers: []*mcp.Server{s}}}
	var set []protocol.Tool
	for _, name := range tools {
		s.Tools = append(s.Tools, mcp.Tool{Name: name, Schema: json.Value(told)})
		set = append(set, protocol.Tool{Name: "mcp__s__" + name, Schema: json.Value(given)})
	}
	var all []string
	for _, f := range append(m.AddDeclared("", set), m.AddDeclared("", set)...) {
		all = append(all, fmt.Sprintf("%s %s by %s: %s", f.Severity, f.Code, f.By, f.Message))
	}
	return strings.Join(all, "\n")
}

// TestDrift checks that a difference between two schemas is reported with its place. The finding is a warning only if
// the model may write arguments that the server refuses.
func TestDrift(t *testing.T) {
	for _, test := range []struct{ name, told, given, want string }{
		{"the order of members", `{"type":"object","properties":{"a":{}}}`, `{"properties":{"a":{}},"type":"object"}`, ""},
		{"the dialect", `{"$schema":"x","type":"object"}`, `{"type":"object"}`, ""},
		{"a default is left out", `{"properties":{"a":{"type":"string","default":"x"}}}`, `{"properties":{"a":{"type":"string"}}}`, "info /properties/a/default"},
		{"other words", `{"description":"x","items":[{"title":"y"}]}`, `{"description":"z","items":[{}]}`, "info /description"},
		{"nothing more may be there", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false}`, "info /additionalProperties"},
		{"more may be there", `{"properties":{"a":{}},"additionalProperties":false}`, `{"properties":{"a":{}}}`, "warn /additionalProperties"},
		{"a property more", `{"properties":{"a":{}}}`, `{"properties":{"a":{},"wait_for_previous":{"type":"boolean"}}}`, "warn /properties/wait_for_previous"},
		{"a property that is called as words are", `{"properties":{"title":{}}}`, `{"properties":{}}`, "warn /properties/title"},
		{"and one that is called properties", `{"properties":{"properties":{"type":"string"}}}`, `{"properties":{"properties":{"type":"string","title":"x"}}}`, "info /properties/properties/title"},
		{"a limit is left out", `{"properties":{"a":{"default":3,"maximum":10}}}`, `{"properties":{"a":{}}}`, "warn /properties/a/maximum"},
		{"another type", `{"properties":{"a":{"type":"number"}}}`, `{"properties":{"a":{"type":"string"}}}`, "warn /properties/a/type"},
		{"nothing is accepted", `true`, `false`, "warn it"},
		{"one of several is left out", `{"anyOf":[{"a":1},{"b":1}]}`, `{"anyOf":[{"a":1}]}`, "warn /anyOf"},
	} {
		want := test.want
		if grade, where, ok := strings.Cut(want, " "); ok {
			want = grade + " TOOL_SCHEMA_DRIFT by client: the model got a different schema for a than s published: " + where + " differs"
		}
		if got := declaring(test.told, test.given, "a"); got != want {
			t.Errorf("%s: %s\nwant %s", test.name, got, want)
		}
	}
}

// TestDriftOnce checks that tools of one server that drift in the same way share one finding, which is
// reported once.
func TestDriftOnce(t *testing.T) {
	got := declaring(`{"a":1}`, `{"a":2}`, "a", "b", "c", "d", "e", "f", "g", "h")
	want := "warn TOOL_SCHEMA_DRIFT by client: the model got a different schema for a than s published: /a differs; also 7 more: b, c, d, e, f …"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	got = declaring(`{"a":1}`, `{"a":2}`, "a", "b")
	want = "warn TOOL_SCHEMA_DRIFT by client: the model got a different schema for a than s published: /a differs; also 1 more: b"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestDriftPlace checks that the place of a drift is captured text, except a word for the whole schema.
func TestDriftPlace(t *testing.T) {
	for where, want := range map[string]bool{"/a": true, "it": false} {
		f := driftFinding([]driftedTool{{server: "s", tool: "t", where: where, by: schemaDrift}})
		got := false
		for part := range f.Quoted.All() {
			got = got || f.Message[part.From:part.To] == where
		}
		if got != want {
			t.Errorf("%s: captured text %t in %q", where, got, f.Message)
		}
	}
}

// TestDeclared checks that the name of a call means no tool that was offered under a more certain name, and that the
// number of names that are kept is limited.
func TestDeclared(t *testing.T) {
	s := &mcp.Server{Name: "s", Tools: []mcp.Tool{{Name: "get", Schema: json.Value(`{"a":1}`)}}}
	m := &Matcher{log: &mcp.Log{Servers: []*mcp.Server{s}}}
	a := &ToolRequest{Request: &mcp.Request{Server: s, Tool: "get"}}
	if !m.isOf(&Call{Name: "get"}, a) {
		t.Error("the only tool is not meant")
	}
	for range 2 {
		m.AddDeclared("", []protocol.Tool{{Name: "get"}, {Name: "mcp__s__get"}})
	}
	if m.isOf(&Call{Name: "get"}, a) || !m.isOf(&Call{Name: "mcp__s__get"}, a) || len(m.declared) != 2 {
		t.Errorf("declared %v", m.declared)
	}
	if found := m.AddDeclared("", []protocol.Tool{{Name: "mcp_web_get", Schema: json.Value(`{"a":2}`)}}); len(found) != 1 {
		t.Errorf("a tool of a server under the client's own name: %v", found)
	}
	for i := range maxDeclared {
		m.declare(declaration{"", fmt.Sprint(i)})
	}
	if len(m.declared) != maxDeclared {
		t.Errorf("%d names are kept", len(m.declared))
	}
}

// TestBegun checks that a JSON string is recognised as the beginning of the model's arguments, with the right size.
func TestBegun(t *testing.T) {
	const wrote = `{"a":"\u00e9"}`
	for got, want := range map[string]int{`"{\"a"`: 3, `""`: 0, `"{\"a\":\"\\u00"`: 10, `"{'a"`: -1, `{"a":1}`: -1, `"{\"a\":\"\\u00e9\"}"`: -1, `7`: -1} {
		size, ok := prefixLen([]byte(wrote), []byte(got))
		if ok != (want >= 0) || ok && size != want {
			t.Errorf("%s of %s: %d, %v", got, wrote, size, ok)
		}
	}
}

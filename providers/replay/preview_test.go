package replay_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// target returns the target with the given name.
func target(t *testing.T, name string) *protocol.Target {
	t.Helper()
	to, err := providers.FindTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func policy(t *testing.T, name string) *replay.Policy {
	t.Helper()
	p, err := replay.FindPolicy(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// calls returns a history with one message of the model. It contains calls with the given arguments in the form of
// the target from.
func calls(from *protocol.Target, args ...string) []protocol.Message {
	m := protocol.Message{Role: protocol.Assistant}
	for i, a := range args {
		m.Parts = append(m.Parts, protocol.Part{
			Kind: protocol.CallPart, ID: fmt.Sprintf("call_%d", i+1), Name: "write_file", ToolKind: "function", Form: from.Form, Args: []byte(a),
		})
	}
	return []protocol.Message{m}
}

func codes(losses []replay.Loss) string {
	var all []string
	for _, l := range losses {
		all = append(all, l.Code)
	}
	return strings.Join(all, " ")
}

// TestPolicies checks the outcome of each policy for each kind of arguments, for a target that accepts text and for a
// target that accepts objects.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		policy, args                 string
		text, textLoss               string // for openai-chat: outcome and sent arguments
		object, objectLoss           string // for anthropic
		textRefused, objectIsRefused bool
	}{
		{policy: "preserve", args: `{"a":1}`, text: `verbatim {"a":1}`, object: `parsed {"a":1}`},
		{policy: "preserve", args: `{"a":1`, text: `verbatim {"a":1`, object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "preserve", args: `[1]`, text: `verbatim [1]`, object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "preserve", args: ``, text: `assumed empty {}`, textLoss: "IMPLIED_EMPTY", object: `assumed empty {}`, objectLoss: "IMPLIED_EMPTY"},
		{policy: "preserve", args: `null`, text: `verbatim null`, object: `assumed empty {}`, objectLoss: "IMPLIED_EMPTY"},
		{policy: "preserve", args: `"{\"a\":1}"`, text: `verbatim "{\"a\":1}"`, object: `unwrapped {"a":1}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "preserve", args: `{"a":1}{"b":2}`, text: `verbatim {"a":1}{"b":2}`, object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "wrap", args: `{"a":1`, text: `wrapped {"INVALID_JSON":"{\"a\":1"}`, textLoss: "ARGS_WRAPPED",
			object: `wrapped {"INVALID_JSON":"{\"a\":1"}`, objectLoss: "ARGS_WRAPPED"},
		{policy: "wrap-raw", args: `{"a":1`, text: `wrapped {"rawInvalidInput":"{\"a\":1"}`, textLoss: "ARGS_WRAPPED",
			object: `wrapped {"rawInvalidInput":"{\"a\":1"}`, objectLoss: "ARGS_WRAPPED"},
		{policy: "wrap-raw", args: `[1, 2]`, text: `wrapped {"rawInvalidInput":[1,2]}`, textLoss: "ARGS_WRAPPED WHITESPACE",
			object: `wrapped {"rawInvalidInput":[1,2]}`, objectLoss: "ARGS_WRAPPED WHITESPACE"},
		{policy: "empty", args: `{"a":1`, text: `emptied {}`, textLoss: "ARGS_REPLACED_BY_EMPTY", object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "empty", args: `{"a": 1.0}`, text: `reformatted {"a":1}`, textLoss: "NUM_SPELLING WHITESPACE",
			object: `reformatted {"a":1}`, objectLoss: "NUM_SPELLING WHITESPACE"},
		{policy: "empty-warn", args: `{"a":1`, text: `verbatim {"a":1`, object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "drop", args: `{"a":1`, text: `dropped `, textLoss: "CALL_DROPPED", object: `dropped `, objectLoss: "CALL_DROPPED"},
		{policy: "repair", args: `{"a":"x`, text: `repaired {"a":"x"}`, textLoss: "ARGS_REPAIRED", object: `repaired {"a":"x"}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "repair", args: `{"a":1}{"b":2}`, text: `repaired {"a":1}`, textLoss: "CONCAT_FIRST_ONLY", object: `repaired {"a":1}`, objectLoss: "CONCAT_FIRST_ONLY"},
		{policy: "repair", args: `{"a":1E`, text: `repaired {"a":1}`, textLoss: "ARGS_REPAIRED", object: `repaired {"a":1}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "repair", args: `{"a":[2e+`, text: `repaired {"a":[2]}`, textLoss: "ARGS_REPAIRED", object: `repaired {"a":[2]}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "repair", args: `{"a":"x\\","b":1`, text: `repaired {"a":"x\\","b":1}`, textLoss: "ARGS_REPAIRED",
			object: `repaired {"a":"x\\","b":1}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "repair", args: `{"a\\":"x\"`, text: `repaired {"a\\":"x\""}`, textLoss: "ARGS_REPAIRED",
			object: `repaired {"a\\":"x\""}`, objectLoss: "ARGS_REPAIRED"},
		{policy: "repair", args: `{a:1}`, text: `emptied {}`, textLoss: "ARGS_REPLACED_BY_EMPTY", object: `emptied {}`, objectLoss: "ARGS_REPLACED_BY_EMPTY"},
		{policy: "double-encode", args: `{"a":1`, text: `wrapped "{\"a\":1"`, textLoss: "DOUBLE_ENCODED",
			object: `wrapped "{\"a\":1"`, objectLoss: "DOUBLE_ENCODED", objectIsRefused: true},
		{policy: "strict", args: `{"a":1}`, text: `verbatim {"a":1}`, object: `parsed {"a":1}`},
		{policy: "strict", args: `{"a":1`, text: `throws `, object: `throws `, textRefused: true, objectIsRefused: true},
	} {
		from := target(t, "openai-chat")
		src := replay.SourceOfHistory(calls(from, test.args), from)
		for _, side := range []struct {
			to, want, loss string
			refused        bool
		}{{"openai-chat", test.text, test.textLoss, test.textRefused}, {"anthropic", test.object, test.objectLoss, test.objectIsRefused}} {
			p := src.Preview(target(t, side.to), policy(t, test.policy))
			if got := p.Outcome.String() + " " + string(p.Calls[0].Args); got != side.want {
				t.Errorf("%s of %s to %s: %s, want %s", test.policy, test.args, side.to, got, side.want)
			}
			if got := codes(p.Losses); got != side.loss {
				t.Errorf("%s of %s to %s loses %q, want %q", test.policy, test.args, side.to, got, side.loss)
			}
			if (p.Refused != "") != side.refused {
				t.Errorf("%s of %s to %s: refused %q", test.policy, test.args, side.to, p.Refused)
			}
		}
	}
}

// TestJSONOnly checks that a target that parses text refuses only text that is not JSON.
func TestJSONOnly(t *testing.T) {
	from, to := target(t, "openai-chat"), target(t, "llama.cpp")
	for args, refused := range map[string]bool{
		`{"a":1`: true, `x`: true, `{"a":1}{"b":2}`: true, `{"a":1} x`: true,
		`{"a":1}`: false, `[1]`: false, `12`: false, `"x"`: false, `"{\"a\":1}"`: false,
	} {
		p := replay.SourceOfHistory(calls(from, args), from).Preview(to, policy(t, "preserve"))
		if (p.Refused != "") != refused || (p.Acceptance.Verdict == replay.Refused) != refused || p.Outcome != replay.Verbatim || string(p.Calls[0].Args) != args {
			t.Errorf("%s: %s, refused %q", args, p.Outcome, p.Refused)
		}
	}
}

// TestStrictRefusal checks the error of the strict policy. It is the provider's error if the target needs an object,
// and toolscope's own words if the target accepts text.
func TestStrictRefusal(t *testing.T) {
	from := target(t, "openai-chat")
	src := replay.SourceOfHistory(calls(from, `[1]`), from)
	for to, want := range map[string]string{
		"anthropic": "Input should be a valid dictionary", "openai-chat": "the client refuses", "llama.cpp": "the client refuses",
	} {
		if p := src.Preview(target(t, to), policy(t, "strict")); !strings.Contains(p.Refused, want) || p.Body != nil {
			t.Errorf("to %s: refused %q", to, p.Refused)
		}
	}
}

// TestNeverTwice checks that, for a target that accepts text, decoding the body once returns the model's text. Only
// the policy double-encode encodes the text twice.
func TestNeverTwice(t *testing.T) {
	from := target(t, "openai-chat")
	for _, args := range []string{`{"a":1}`, `{"a":1`, `"{\"a\":1}"`, `"x"`, `\`, `"`, "\u2028\x00", `{"a":"\""}`} {
		src := replay.SourceOfHistory(calls(from, args), from)
		for i := range replay.Policies {
			p := src.Preview(from, &replay.Policies[i])
			twice := strings.Contains(codes(p.Losses), replay.DoubleEncoded.Code)
			if twice != (p.Policy.Name == "double-encode") {
				t.Errorf("%s: %s says that it encodes twice: %v", args, p.Policy.Name, twice)
			}
			if p.Outcome != replay.Verbatim {
				continue
			}
			messages, err := from.Decode([]byte(`{"messages":[` + string(bytes.Join(p.Body, []byte(","))) + `]}`))
			if err != nil || string(messages[0].Parts[0].Args) != args {
				t.Errorf("%s under %s: decoded once it is %q (%v)", args, p.Policy.Name, messages[0].Parts[0].Args, err)
			}
		}
	}
}

// TestLossesPointAtBytes checks that a loss in arguments has the right range of bytes.
func TestLossesPointAtBytes(t *testing.T) {
	from := target(t, "openai-chat")
	args := `{"b": 9007199254740993, "a":1.0, "b":2}`
	src := replay.SourceOfHistory(calls(from, args), from)
	want := map[string]string{
		replay.DupKeys.Code: `"b"`, replay.IntPrecision.Code: "9007199254740993", replay.NumSpelling.Code: "1.0", replay.Whitespace.Code: " ",
	}
	for _, l := range src.Preview(from, policy(t, "empty")).Losses {
		if got := args[l.Start:l.End]; got != want[l.Code] || l.Call != 1 {
			t.Errorf("%s is about %q of call %d", l.Code, got, l.Call)
		}
		delete(want, l.Code)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}

// TestIDs checks that ids that a target doesn't accept are adapted, and that the results get the same new ids.
func TestIDs(t *testing.T) {
	long := strings.Repeat("x", 41)
	for _, test := range []struct {
		to, policy string
		ids, want  []string
		losses     string
	}{
		{"anthropic", "preserve", []string{"call_a|fc_b"}, []string{"call_a"}, "ID_REWRITTEN"},
		{"anthropic", "preserve", []string{"call_a:b|fc_b"}, []string{"call_a_b"}, "ID_REWRITTEN"},
		{"anthropic", "preserve", []string{"|fc_b"}, []string{"_fc_b"}, "ID_REWRITTEN"},
		{"anthropic", "preserve", []string{"call_a|fc_b", "call_a|fc_c"}, []string{"call_a", "call_a"}, "ID_REWRITTEN ID_REWRITTEN ID_COLLISION"},
		{"openai-chat", "preserve", []string{"call_a|fc_b"}, []string{"call_a|fc_b"}, ""}, // short enough to stay one id
		{"openai-chat", "preserve", []string{"call_a|fc_" + long}, []string{"call_a"}, "ID_REWRITTEN"},
		{"openai-chat", "preserve", []string{long + "|fc_b"}, []string{long[:40]}, "ID_REWRITTEN ID_TRUNCATED"},
		{"openai-responses", "preserve", []string{"call_a|fc_" + long + long}, []string{"call_a"}, "ID_REWRITTEN"},
		{"anthropic", "preserve", []string{"functions.search:0"}, []string{"functions_search_0"}, "ID_REWRITTEN"},
		{"anthropic", "preserve", []string{"a.b", "a:b"}, []string{"a_b", "a_b"}, "ID_REWRITTEN ID_REWRITTEN ID_COLLISION"},
		{"anthropic", "preserve", []string{"a", "a"}, []string{"a", "a"}, "ID_COLLISION"},
		{"anthropic", "preserve", []string{""}, []string{"call_1"}, "ID_REWRITTEN"},
		{"openai-chat", "preserve", []string{long[:40]}, []string{long[:40]}, ""},
		{"openai-chat", "preserve", []string{long}, []string{long[:40]}, "ID_TRUNCATED"},
		{"mistral", "wrap-raw", []string{"tooluse_ABx", "tooluse_ABy"}, []string{"tooluseAB", "tooluseAB"}, "ID_REWRITTEN ID_REWRITTEN ID_COLLISION"},
		{"mistral", "preserve", []string{"abcDEF123"}, []string{"abcDEF123"}, ""},
	} {
		m := calls(target(t, "openai-chat"), make([]string, len(test.ids))...)
		results := protocol.Message{Role: protocol.User}
		for i, id := range test.ids {
			m[0].Parts[i].ID, m[0].Parts[i].Args = id, []byte("{}")
			results.Parts = append(results.Parts, protocol.Part{Kind: protocol.ResultPart, ID: id, Name: "write_file", Text: []byte("ok")})
		}
		p := replay.SourceOfHistory(append(m, results), target(t, "openai-chat")).Preview(target(t, test.to), policy(t, test.policy))
		var got []string
		for _, c := range p.Calls {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, test.want) || codes(p.Losses) != test.losses {
			t.Errorf("%v to %s: %v, %s", test.ids, test.to, got, codes(p.Losses))
		}
		body := string(bytes.Join(p.Body[1:], nil))
		for _, id := range test.want {
			if !strings.Contains(body, `"`+id+`"`) {
				t.Errorf("no result names %s: %s", id, body)
			}
		}
	}
}

// TestDigestTellsApart checks that different ids have different digests of a fixed length.
func TestDigestTellsApart(t *testing.T) {
	from, to := target(t, "openai-chat"), target(t, "mistral")
	m := calls(from, slices.Repeat([]string{"{}"}, 300)...)
	for i := range m[0].Parts {
		m[0].Parts[i].ID = fmt.Sprintf("tooluse_AB%d", i)
	}
	p := replay.SourceOfHistory(m, from).Preview(to, policy(t, "preserve"))
	seen := map[string]bool{}
	for _, c := range p.Calls {
		if seen[c.ID] || !to.IDs.Takes(c.ID) {
			t.Fatalf("%s: taken twice, or not at all", c.ID)
		}
		seen[c.ID] = true
	}
}

// TestNames checks that a tool name that a target doesn't accept is reported and not changed.
func TestNames(t *testing.T) {
	from := target(t, "openai-chat")
	for name, ok := range map[string]bool{
		"f": true, strings.Repeat("n", 128): true, strings.Repeat("n", 129): false, "a.b": false, "a b": false, "": false, "é": false,
	} {
		m := calls(from, "{}")
		m[0].Parts[0].Name = name
		p := replay.SourceOfHistory(m, from).Preview(target(t, "anthropic"), policy(t, "preserve"))
		if (p.Refused == "") != ok || (codes(p.Losses) == "") != ok || (p.Acceptance == replay.Acceptance{Verdict: replay.Accepted, By: replay.Rule}) != ok || p.Outcome != replay.Parsed {
			t.Errorf("%q: %s, refused %q, %s", name, p.Outcome, p.Refused, codes(p.Losses))
		}
	}
}

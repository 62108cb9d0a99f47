package providers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toolscope/providers/protocol"
)

// A limit is a provider's documented rule for ids or names: the allowed characters and their number.
type limit struct {
	pattern     string // pattern for allowed values, in the provider's form
	least, most int    // in bytes; most is 0 for no limit
	takes       []string
	refuses     []string
}

// limits are the rules for ids and names by target. They are in the provider's own words, independent of the
// targets' data.
var limits = map[string]struct{ id, name limit }{
	"anthropic": {
		id:   limit{`^[a-zA-Z0-9_-]{1,64}$`, 1, 64, []string{"toolu_01A", "_", "-"}, []string{"", "Bash:12", "a|b", "a.b", "é"}},
		name: limit{`^[a-zA-Z0-9_-]{1,128}$`, 1, 128, []string{"get_weather", "9-lives"}, []string{"", "a.b", "a b", "é"}},
	},
	"bedrock": {
		id:   limit{`^[a-zA-Z0-9_.:-]{1,64}$`, 1, 64, []string{"tooluse_1", "functions.add:0", "-"}, []string{"", "a|b", "a/b", "é"}},
		name: limit{`^[a-zA-Z0-9_-]{1,64}$`, 1, 64, []string{"get_weather", "9-lives"}, []string{"", "a.b", "é"}},
	},
	"cohere": {
		id:   limit{`.`, 1, 0, []string{"get_weather_7x", "a|b c"}, []string{""}},
		name: limit{`^[a-zA-Z_][a-zA-Z0-9_]*$`, 1, 0, []string{"get_weather", "_9"}, []string{"", "9_lives", "get-weather", "a.b"}},
	},
	"ollama": {
		id:   limit{``, 0, 0, []string{"", "call_1", "a|b c"}, nil},
		name: limit{`.`, 1, 0, []string{"get.weather", "é"}, []string{""}},
	},
	"openai-chat": {
		id:   limit{`^.{1,40}$`, 1, 40, []string{"call_1", "functions.add:0", "a|b"}, []string{""}},
		name: limit{`^[a-zA-Z0-9_-]{1,64}$`, 1, 64, []string{"get-weather", "9"}, []string{"", "a.b", "é"}},
	},
	"mistral": {
		id:   limit{`^[a-zA-Z0-9]{9}$`, 9, 9, []string{"abcDEF123"}, []string{"", "abcDEF12", "abcDEF1234", "abc_EF123", "abc-EF123"}},
		name: limit{`^[a-zA-Z0-9_-]{1,64}$`, 1, 64, []string{"get-weather", "9"}, []string{"", "a.b"}},
	},
	"llama.cpp": {
		id:   limit{``, 0, 0, []string{"", "call_1", "a|b c"}, nil},
		name: limit{`.`, 1, 0, []string{"get.weather", "é"}, []string{""}},
	},
	"openai-responses": {
		id:   limit{`^.{1,64}$`, 1, 64, []string{"call_1", "functions.add:0"}, []string{""}},
		name: limit{`^[a-zA-Z0-9_-]{1,128}$`, 1, 128, []string{"get-weather", "9"}, []string{"", "a.b"}},
	},
	"gemini": {
		id:   limit{``, 0, 0, []string{"", "a|b c"}, nil},
		name: limit{`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`, 1, 128, []string{"a.b:c-d", "_"}, []string{"", "9", "-a", "a b"}},
	},
	"aistudio": {
		id:   limit{``, 0, 0, []string{"", "a|b c"}, nil},
		name: limit{`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`, 1, 128, []string{"a.b:c-d", "_"}, []string{"", "9", "-a", "a b"}},
	},
}

// TestLimits checks that the rules of every target accept values at a limit, and refuse values beyond it.
func TestLimits(t *testing.T) {
	for _, to := range Targets() {
		want, known := limits[to.Name]
		if !known {
			t.Errorf("no limits are known of %s", to.Name)
			continue
		}
		want.id.check(t, to.Name+"'s id", to.IDs.Takes)
		want.name.check(t, to.Name+"'s name", to.Names.Takes)
		if to.IDs.Exact() != (want.id.most > 0 && want.id.least == want.id.most) {
			t.Errorf("%s: ids of one length: %v", to.Name, to.IDs.Exact())
		}
	}
}

func (l limit) check(t *testing.T, what string, takes func(string) bool) {
	t.Helper()
	is := func(s string, want bool) {
		t.Helper()
		if takes(s) != want {
			t.Errorf("%s of %d bytes, %.20q: taken %v", what, len(s), s, !want)
		}
	}
	for _, s := range l.takes {
		is(s, true)
	}
	for _, s := range l.refuses {
		is(s, false)
	}
	most := l.most
	if most == 0 {
		most = 1000
	} else {
		is(strings.Repeat("a", most+1), false)
	}
	is(strings.Repeat("a", most), true)
	if l.least > 0 {
		is(strings.Repeat("a", l.least), true)
		is(strings.Repeat("a", l.least-1), false)
	}
	pattern, n := regexp.MustCompile(l.pattern), max(l.least, 2)
	for c := range rune(0x80) {
		for i := range n {
			s := strings.Repeat("a", i) + string(c) + strings.Repeat("a", n-1-i)
			if c != '\n' && c != '\r' { // in a pattern, . doesn't match these
				is(s, pattern.MatchString(s))
			}
		}
	}
}

// TestTargets checks the assumptions of the rest of the program about targets.
func TestTargets(t *testing.T) {
	names := map[string]bool{}
	for i := range All {
		for j := range All[i].Targets {
			to := &All[i].Targets[j]
			if to.Protocol != All[i].Name || to.Title == "" || to.Encode == nil || to.Decode == nil || names[to.Name] {
				t.Errorf("%s: %q of %q", All[i].Name, to.Name, to.Protocol)
			}
			names[to.Name] = true
			for _, class := range []string{to.IDs.Class, to.Names.Class, to.Names.First} {
				if strings.Contains(strings.TrimSuffix(class, "-"), "--") || strings.HasPrefix(class, "-") {
					t.Errorf("%s: in the class %q the hyphen is not last", to.Name, class)
				}
			}
		}
		if len(All[i].Targets) > 0 && All[i].Targets[0].Name != All[i].Name {
			t.Errorf("the first target of %s is %s", All[i].Name, All[i].Targets[0].Name)
		}
	}
}

// TestHistoryOfNothing checks that data that is not a request in a protocol is an error or has no history,
// and that messages without parts can be written.
func TestHistoryOfNothing(t *testing.T) {
	for _, to := range Targets() {
		for _, request := range []string{"", "{", "7", "null", `{"messages":`, `{"messages":7,"input":7,"contents":7}`, `{"messages":[7,null,[]]}`, "\xff"} {
			messages, err := to.Decode([]byte(request))
			for _, m := range messages {
				if len(m.Parts) > 0 {
					t.Errorf("%s: %q has %+v (%v)", to.Name, request, m, err)
				}
			}
		}
		for _, role := range []protocol.Role{protocol.System, protocol.User, protocol.Assistant} {
			for _, written := range to.Encode([]protocol.Message{{Role: role}}) {
				if !json.Valid(written) {
					t.Errorf("%s: %s writes %s", to.Name, role, written)
				}
			}
		}
	}
}

// TestFindTarget checks that the error for an unknown name lists the known names.
func TestFindTarget(t *testing.T) {
	for _, to := range Targets() {
		if got, err := FindTarget(to.Name); got != to || err != nil {
			t.Errorf("%s: %v %v", to.Name, got, err)
		}
	}
	_, err := FindTarget("nobody")
	if err == nil || !strings.Contains(err.Error(), "anthropic") || !strings.Contains(err.Error(), "ollama") {
		t.Error(err)
	}
	for i := range All {
		d := &All[i]
		if got := TargetOf(d.Name); len(d.Targets) > 0 && got != &d.Targets[0] || len(d.Targets) == 0 && got != nil {
			t.Errorf("%s: %s", d.Name, fmt.Sprint(got))
		}
	}
}

package filter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

// FuzzTextQuery compares the matches with a search at each offset.
func FuzzTextQuery(f *testing.F) {
	f.Add("aXaxa", "ax", false)
	f.Add("...zzZz", "zz", true)
	f.Add("x", "", true)
	f.Add("", "x", false)
	f.Add("\xffK\u212a", "k", false)
	f.Add("A\xff", "a\xff", false)
	f.Add("\u00c9A", "\u00c9a", false)
	f.Fuzz(func(t *testing.T, text, query string, fold bool) {
		n := NewTextQuery(query)
		if fold {
			n = FoldTextQuery(query)
		}
		var want []int
		for i := 0; i+len(query) <= len(text) && query != ""; {
			part := []byte(text[i : i+len(query)])
			if n.fold {
				part = []byte(lowerBytes(string(part)))
			}
			if bytes.Equal(part, n.query) {
				want, i = append(want, i), i+len(query)
			} else {
				i++
			}
		}
		if got := slices.Collect(n.All([]byte(text))); !slices.Equal(got, want) {
			t.Errorf("%q in %q: %v, want %v", query, text, got, want)
		}
		if n.In([]byte(text)) != (len(want) > 0) {
			t.Error("In says something else")
		}
	})
}

// turnOf returns an inspector with one turn, whose call has the given deltas.
func turnOf(pieces ...string) *providers.Inspector {
	in := new(providers.Inspector)
	say := func(format string, args ...any) {
		in.Write(stream.Record{Exchange: 1, Data: fmt.Appendf(nil, "data: "+format+"\n\n", args...)})
	}
	say(`{"type":"message_start","message":{"id":"msg_7","model":"claude-x"}}`)
	say(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	say(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look at the Fjord."}}`)
	say(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_9","name":"read","input":{}}}`)
	for _, p := range pieces {
		say(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%q}}`, p)
	}
	return in
}

// TestTexts checks that names, ids, models, arguments and text are searched for a word.
func TestTexts(t *testing.T) {
	in := turnOf(`{"city":`, `"Oslo"}`)
	turn := in.Session().Turns[0]
	for text, want := range map[string]bool{
		"oslo": true, "OSLO": true, "bergen": false, "fjord": true, "fjord oslo": true, "fjord bergen": false, "toolu_9": true, "msg_7": true,
		"claude": true, "-oslo": false, "-bergen": true, `"look at"`: true, "fjord tool:read": true, "fjord tool:write": false,
	} {
		f, faults := Parse(text)
		if got := f.MatchesTurn(&Source{View: in.View()}, turn); got != want || len(faults) > 0 {
			t.Errorf("%s: %v, %v", text, got, faults)
		}
	}
}

// TestLooked checks that matching a growing call finds a word that spans two deltas, and does not search any byte
// twice.
func TestLooked(t *testing.T) {
	f, _ := Parse("needle")
	looked := SearchProgress{}
	judge := func(in *providers.Inspector) bool {
		return f.MatchesTurn(&Source{View: in.View(), Progress: looked}, in.Session().Turns[0])
	}
	pieces := []string{`{"a":"`, strings.Repeat("x", 100_000), "nee"}
	if judge(turnOf(pieces...)) {
		t.Error("half of it is found")
	}
	c := stream.Ref{Turn: 0, Call: 1}
	if at := looked[searchedText{of: c}]; at != len(strings.Join(pieces, ""))-5 {
		t.Errorf("looked up to %d", at)
	}
	in := turnOf(append(pieces, "dle", " and more")...)
	if !judge(in) || looked[searchedText{of: c}] != alreadyFound || !judge(in) {
		t.Error("it is not found")
	}
}

// BenchmarkWords matches plain words against 100,000 calls, as when the user types a filter.
func BenchmarkWords(b *testing.B) {
	in := turnOf(`{"path":"cmd/greet/main.go","content":"` + strings.Repeat("every name gets a line\\n", 40) + `"}`)
	turn := in.Session().Turns[0]
	for _, text := range []string{"zzz", "every name gets the", "tool:read"} {
		f, _ := Parse(text)
		b.Run(text, func(b *testing.B) {
			from := Source{View: in.View()}
			for b.Loop() {
				for range 100_000 {
					f.MatchesTurn(&from, turn)
				}
			}
		})
	}
}

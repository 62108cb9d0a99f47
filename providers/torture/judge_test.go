package torture

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolscope/providers/protocol"
)

// sceneNamed returns the scene with this name.
func sceneNamed(t *testing.T, name string) *Scene {
	t.Helper()
	for i := range Scenes() {
		if Scenes()[i].Name == name {
			return &Scenes()[i]
		}
	}
	t.Fatalf("no scene %s", name)
	return nil
}

var testTools = map[string]protocol.Tool{"note": {Name: "note"}, "tick": {Name: "tick"}}

// asked returns a request that got the scene's response, whose calls ended at the given time.
func asked(s *Scene, kind AnswerKind, number int, at time.Duration, history ...SentBack) Request {
	script := s.NewScript(kind, testTools, "m", 1, number)
	q := Request{At: at, Answer: kind, Script: script, EndedAt: at + 500, History: history}
	for _, c := range scriptCalls(script) {
		var end time.Duration
		if c.Sealed {
			end = at + 100
		}
		q.Finished = append(q.Finished, end)
	}
	return q
}

// sentCall returns one of a scene's calls as it appears in a history.
func sentCall(s *Scene, number, call int, args string, results ...Result) SentBack {
	c := scriptCalls(s.NewScript(Hard, testTools, "m", 1, number))[call]
	return SentBack{ID: c.ID, Name: "note", Args: args, Results: results}
}

func TestJudge(t *testing.T) {
	note := func(args string, at time.Duration, number int) Run { return Run{"note", args, at, number} }
	ok := Result{Text: ResultText(1)}
	refused := Result{Text: "not valid", Failed: true}
	for _, c := range []struct {
		name, scene string
		facts       func(s *Scene) Facts
		kind        VerdictKind
		rule        string
	}{
		{"right", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, ok))}, Runs: []Run{note(alpha, 300, 1)}}
		}, Right, ""},
		{"other spelling of the same values", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{ "text" : "alpha" }`, ok))}, Runs: []Run{note(`{"text": "alpha"}`, 300, 1)}}
		}, Right, ""},
		{"not run", "plain", func(s *Scene) Facts { return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Exit: 1} }, Wrong, "must:run"},
		{"no later request", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 300, 1)}}
		}, Unknown, "must:result"},
		{"other arguments in the history", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{}`, ok))}, Runs: []Run{note(alpha, 300, 1)}}
		}, Wrong, "must:same_arguments"},
		{"no result", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha))}, Runs: []Run{note(alpha, 300, 1)}}
		}, Wrong, "must:result"},
		{"a later request before the response ended", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 400, sentCall(s, 0, 0, alpha, ok))}, Runs: []Run{note(alpha, 300, 1)}}
		}, Right, ""},
		{"refused without a reason", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, refused))}}
		}, Wrong, "must:run"},
		{"refused where a client must not refuse", "no-arguments", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{}`, refused))}}
		}, Wrong, "must:run"},
		{"the second call early", "two-calls", func(s *Scene) Facts {
			q := asked(s, Hard, 0, 1)
			q.Finished[1] = 400
			return Facts{Seals: true, Requests: []Request{q}, Runs: []Run{note(alpha, 200, 1), note(beta, 201, 2)}}
		}, Wrong, "must_not:run_early"},
		{"two results", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, ok, ok))}, Runs: []Run{note(alpha, 300, 1)}}
		}, Wrong, "must_not:two_results"},
		{"early where ends are marked", "plain", func(s *Scene) Facts {
			return Facts{Seals: true, Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 50, 1)}}
		}, Wrong, "must_not:run_early"},
		{"early where no end is marked", "plain", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, ok))}, Runs: []Run{note(alpha, 50, 1)}}
		}, Right, ""},
		{"hung", "plain", func(s *Scene) Facts { return Facts{Ended: true, Requests: []Request{asked(s, Hard, 0, 1)}} }, Wrong, "must_not:hang"},
		{"swapped results", "two-calls", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, Result{Text: ResultText(2)}), sentCall(s, 0, 1, beta, ok))},
				Runs: []Run{note(alpha, 300, 1), note(beta, 301, 2)}}
		}, Wrong, "must_not:swap_results"},
		{"equal calls in either order", "twins", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, Result{Text: ResultText(2)}), sentCall(s, 0, 1, alpha, ok))},
				Runs: []Run{note(alpha, 300, 1), note(alpha, 301, 2)}}
		}, Right, ""},
		{"a call without a limit", "twins", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 300, 1), note(alpha, 301, 2), note(alpha, 302, 3)}}
		}, Wrong, "must_not:run_twice"},
		{"retry after a break", "cut-in-string", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Good, 1, 900)}, Runs: []Run{note(alpha, 1200, 1)}}
		}, Right, ""},
		{"ran what was cut", "cut-in-string", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Good, 1, 900)}, Runs: []Run{note(`{"text":"al"}`, 800, 1)}}
		}, Wrong, "must_not:run_unfinished"},
		{"kept what was cut", "cut-in-string", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{"text":"al"}`, refused))}}
		}, Wrong, "must_not:keep_repaired"},
		{"a placeholder for what was cut", "cut-in-string", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{"error":"cut off"}`, refused))}}
		}, Right, ""},
		{"the same text before the limit", "length-in-string", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 800, 1)}}
		}, Wrong, "must_not:run_unfinished"},
		{"ran the complete one of two", "length-second-call", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 800, 1)}}
		}, Right, ""},
		{"ran the cut one of two", "length-second-call", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 800, 1), note(`{"text":"be"}`, 801, 2)}}
		}, Wrong, "must_not:run_other"},
		{"twice over a retry", "cut-after-seal", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Good, 1, 900)}, Runs: []Run{note(alpha, 300, 1), note(alpha, 1200, 2)}}
		}, Wrong, "must_not:run_twice"},
		{"once before the break", "cut-after-seal", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 300, 1)}, Exit: 1}
		}, Right, ""},
		{"an error for broken arguments", "broken", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{}`, refused))}}
		}, Right, ""},
		{"broken arguments left out", "broken", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900)}}
		}, Right, ""},
		{"broken arguments run", "broken", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(`{"text":"al"}`, 700, 1)}}
		}, Wrong, "must_not:run_other"},
		{"no result for broken arguments", "broken", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `{}`))}}
		}, Wrong, "must:result"},
		{"ended with an error", "unknown-tool", func(s *Scene) Facts { return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Exit: 1} }, Right, ""},
		{"ended without an error", "unknown-tool", func(s *Scene) Facts { return Facts{Requests: []Request{asked(s, Hard, 0, 1)}} }, Unknown, "must:result"},
		{"left the call open", "unknown-tool", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha))}, Exit: 1}
		}, Wrong, "must:result"},
		{"a list passed on", "array", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, `["alpha"]`, ok))}, Runs: []Run{note(`["alpha"]`, 700, 1)}}
		}, Right, ""},
		{"a list changed", "array", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(`{"0":"alpha"}`, 700, 1)}}
		}, Wrong, "must_not:run_other"},
		{"refused off the rules", "index-zero", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, refused), sentCall(s, 0, 1, beta, refused))}}
		}, Right, ""},
		{"lost off the rules", "index-zero", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1), asked(s, Final, 1, 900, sentCall(s, 0, 0, alpha, ok))}, Runs: []Run{note(alpha, 700, 1)}}
		}, Wrong, "must:run"},
		{"gave up", "busy-once", func(s *Scene) Facts {
			return Facts{Requests: []Request{{At: 1, EndedAt: 2}}, Exit: 1}
		}, Wrong, "must:retry"},
		{"too soon", "busy-once", func(s *Scene) Facts {
			return Facts{Requests: []Request{{At: 1, EndedAt: 2}, asked(s, Hard, 1, 3), asked(s, Final, 2, 900, sentCall(s, 1, 0, alpha, ok))}, Runs: []Run{note(alpha, 200, 1)}}
		}, Wrong, "must_not:ask_early"},
		{"after the wait", "busy-once", func(s *Scene) Facts {
			second := time.Second + 2
			return Facts{Requests: []Request{{At: 1, EndedAt: 2}, asked(s, Hard, 1, second), asked(s, Final, 2, second+900, sentCall(s, 1, 0, alpha, ok))}, Runs: []Run{note(alpha, second+200, 1)}}
		}, Right, ""},
		{"a loop", "tool-stop-no-call", func(s *Scene) Facts {
			f := Facts{}
			for i := range maxRepeats + 1 {
				f.Requests = append(f.Requests, asked(s, Hard, i, time.Duration(i)))
			}
			return f
		}, Wrong, "must_not:loop"},
		{"as many requests as allowed", "tool-stop-no-call", func(s *Scene) Facts {
			f := Facts{}
			for i := range maxRepeats {
				f.Requests = append(f.Requests, asked(s, Hard, i, time.Duration(i)))
			}
			return f
		}, Right, ""},
		{"a run from text", "call-as-text", func(s *Scene) Facts {
			return Facts{Requests: []Request{asked(s, Hard, 0, 1)}, Runs: []Run{note(alpha, 200, 1)}}
		}, Wrong, "must_not:run_other"},
		{"no evidence", "plain", func(*Scene) Facts { return Facts{Missing: "no request came"} }, Unknown, ""},
		{"unfit", "plain", func(*Scene) Facts { return Facts{Unfit: "no"} }, Unfit, ""},
	} {
		t.Run(c.scene+"/"+c.name, func(t *testing.T) {
			s := sceneNamed(t, c.scene)
			f := c.facts(s)
			f.Protocol = "openai-chat"
			v := Judge(s, &f)
			if v.Kind != c.kind || v.Rule != c.rule || v.Words == "" || v.OffSpec != s.IsOffSpec(f.Protocol) {
				t.Errorf("%v %s: %s\nwant %v %s", v.Kind, v.Rule, v.Words, c.kind, c.rule)
			}
		})
	}
}

// TestRunTimes checks the times of runs before and after the ends of their call and of the response.
func TestRunTimes(t *testing.T) {
	plain, pair, cut := sceneNamed(t, "plain"), sceneNamed(t, "two-calls"), sceneNamed(t, "length-second-call")
	for _, c := range []struct {
		scene      *Scene
		run        Run
		seal, ends time.Duration
		request    int
	}{
		{plain, Run{"note", alpha, 50, 1}, -1, 451, 1},
		{plain, Run{"note", alpha, 101, 1}, 0, 400, 1},
		{plain, Run{"note", alpha, 301, 1}, 200, 200, 1},
		{plain, Run{"note", `{"other":1}`, 700, 1}, 599, -199, 1},
		{pair, Run{"note", beta, 400, 1}, 299, 101, 1},
		{pair, Run{"note", `{"other":1}`, 400, 1}, -1, 101, 1},
		{cut, Run{"note", `{"text":"be`, 700, 1}, -1, -199, 1},
		{plain, Run{"note", alpha, 2000, 1}, 1899, -1499, 2},
	} {
		f := Facts{Requests: []Request{asked(c.scene, Hard, 0, 1), asked(c.scene, Final, 1, 900)}}
		request, seal, end := f.RunTimes(&c.run)
		if request != c.request || seal != c.seal || end != c.ends {
			t.Errorf("%s %s at %d: request %d, %d after the seal, %d before the end", c.scene.Name, c.run.Args, c.run.At, request, seal, end)
		}
	}
}

// TestUnsentEnd checks the times of a run if the response broke off before the end of the call.
func TestUnsentEnd(t *testing.T) {
	q := asked(sceneNamed(t, "plain"), Hard, 0, 1)
	q.Finished[0], q.EndedAt = 0, 0
	f := Facts{Requests: []Request{q}}
	if request, seal, end := f.RunTimes(&Run{"note", alpha, 300, 1}); request != 1 || seal != -1 || end >= 0 {
		t.Errorf("request %d, %d after the seal, %d before the end", request, seal, end)
	}
}

// TestWords checks which call a verdict names, and which result.
func TestWords(t *testing.T) {
	pair := sceneNamed(t, "two-calls")
	failed := Result{Text: "can't write the note", Failed: true}
	for want, f := range map[string]Facts{
		"NOT RUN note " + alpha: {Requests: []Request{asked(pair, Hard, 0, 1)}, Runs: []Run{{"note", beta, 300, 1}}},
		"ran note " + alpha + ", note " + beta + " · sent back an error": {
			Requests: []Request{asked(pair, Hard, 0, 1), asked(pair, Final, 1, 900, sentCall(pair, 0, 0, alpha, failed), sentCall(pair, 0, 1, beta, failed))},
			Runs:     []Run{{"note", alpha, 300, 1}, {"note", beta, 301, 2}},
		},
	} {
		if v := Judge(pair, &f); v.Words != want {
			t.Errorf("%q, want %q", v.Words, want)
		}
	}
}

// TestNewScript checks that only the scene's response has the scene's form, and that deltas have about five bytes,
// without parts of characters.
func TestNewScript(t *testing.T) {
	for name, want := range map[string]protocol.Script{"index-zero": {ZeroIndex: true}, "id-again": {RepeatID: true}, "noise": {}} {
		s := sceneNamed(t, name)
		for _, kind := range []AnswerKind{Hard, Final} {
			script, noises := s.NewScript(kind, testTools, "m", 1, 0), 0
			for _, step := range script.Steps {
				if step.Kind == protocol.NoiseStep {
					noises++
				}
			}
			isHard := kind == Hard
			if script.ZeroIndex != (want.ZeroIndex && isHard) || script.RepeatID != (want.RepeatID && isHard) || (noises > 0) != (name == "noise" && isHard) {
				t.Errorf("%s, response %d: zero index %v, repeated id %v, %d noises", name, kind, script.ZeroIndex, script.RepeatID, noises)
			}
		}
	}
	for _, step := range wholeCall(0, "note", "abcdef\u00fcghi\U0001f600") {
		if step.Kind == protocol.ArgsStep && (len(step.Text) > 8 || !utf8.ValidString(step.Text)) {
			t.Errorf("delta %q", step.Text)
		}
	}
}

// TestOffSpec checks which protocols' rules a scene breaks.
func TestOffSpec(t *testing.T) {
	for _, c := range []struct {
		scene, protocol string
		want            bool
	}{
		{"plain", "openai-chat", false}, {"seal-twice", "openai-chat", true}, {"seal-twice", "gemini", true},
		{"no-arguments", "openai-chat", true}, {"no-arguments", "anthropic", false},
	} {
		if got := sceneNamed(t, c.scene).IsOffSpec(c.protocol); got != c.want {
			t.Errorf("%s in %s: %v", c.scene, c.protocol, got)
		}
	}
}

// TestScenes checks that each scene has its texts, and a source for its rules.
func TestScenes(t *testing.T) {
	seen := map[string]bool{}
	for i := range Scenes() {
		s := &Scenes()[i]
		known := s.Source == practice || strings.HasPrefix(s.Source, "https://")
		if seen[s.Name] || s.Sends == "" || s.Why == "" || !known || len(s.Calls) > 0 && s.Must == "" {
			t.Errorf("%s: a text is missing, or the name isn't new", s.Name)
		}
		seen[s.Name] = true
	}
	if len(seen) != 28 {
		t.Errorf("%d scenes", len(seen))
	}
}

// TestFindTools checks which declared names match the tools.
func TestFindTools(t *testing.T) {
	for _, c := range []struct {
		declared []protocol.Tool
		want     string
	}{
		{[]protocol.Tool{{Name: "note"}, {Name: "tick"}}, "note"},
		{[]protocol.Tool{{Name: "mcp__torture__note"}, {Name: "mcp__torture__tick"}, {Name: "footnote"}}, "mcp__torture__note"},
		{[]protocol.Tool{{Name: "note", Namespace: "mcp__torture"}, {Name: "tick", Namespace: "mcp__torture"}}, "note"},
		{[]protocol.Tool{{Name: "other_note"}, {Name: "tick"}}, ""},
		{[]protocol.Tool{{Name: "note"}}, ""},
	} {
		if got := FindTools(c.declared)["note"].Name; got != c.want {
			t.Errorf("%v: %q, want %q", c.declared, got, c.want)
		}
	}
}

// TestSideText checks that a request for a JSON object gets one.
func TestSideText(t *testing.T) {
	for request, want := range map[string]string{
		`{}`: FinalText,
		`{"output_config":{"format":{"schema":{"type":"object","properties":{"title":{"type":"string"},"n":{"type":"integer"}}}}}}`:                                    `{"title":"FINAL","n":1}`,
		`{"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"model":{"enum":["flash","pro"]},"all":{"type":"array"},"is":{"type":"boolean"}}}}}`: `{"model":"flash","all":[],"is":false}`,
	} {
		if got := SideText([]byte(request)); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

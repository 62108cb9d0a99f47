package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
)

// playTrial reads a request and its response, after the earlier requests of the trial. If status is 0, there is no response.
func playTrial(c *trial, url, response string, status int) *Inspector {
	exchanges := c.earlier
	if status != 0 {
		exchanges = append(exchanges[:len(exchanges):len(exchanges)], asked{c.body(), response, status})
	}
	in, _ := play(url, exchanges...)
	if status == 0 {
		writeUnanswered(in, len(exchanges)+1, url, c.body())
	}
	in.Close()
	return in
}

// eachBroken calls the function do with each rule and each target that has the rule.
func eachBroken(do func(rule *brokenRule, f *requestForm)) {
	for _, list := range [][]brokenRule{brokenRules, brokenReasoning} {
		for i := range list {
			for j := range requestForms {
				if list[i].words[requestForms[j].name] != "" {
					do(&list[i], &requestForms[j])
				}
			}
		}
	}
}

// refusalText returns the provider's message about the broken rule.
func refusalText(rule *brokenRule, c *trial, at, part int) string {
	path, id := c.pathOf(at, part), ""
	if at >= 0 && part >= 0 {
		id = (*c.parts(at))[part].id
	}
	if rule.rule == "reasoning-alone" || rule.rule == "reasoning-kept" {
		id = c.call().id
	}
	return strings.NewReplacer("{at}", dotted(path), "{path}", path, "{id}", id).Replace(rule.words[c.form.name])
}

// TestBrokenRequests breaks each rule of each target. It checks the code, severity, party at fault and place of the
// finding, and that no other finding is above info. The provider refuses the request, or accepts it, or no response
// is seen.
func TestBrokenRequests(t *testing.T) {
	cases := map[string]int{}
	failed := map[string]int{}
	check := func(outcome string, rule *brokenRule, c *trial, in *Inspector, want string) {
		cases[outcome]++
		if got := describeFindings(in, stream.Warn); got != want {
			key := fmt.Sprint(outcome, rule.rule, c.form.name)
			if failed[key]++; failed[key] == 1 {
				t.Errorf("%s, %s, %s, shape %d: %q, want %q\n%s", rule.rule, c.form.name, outcome, c.number, got, want, c.body())
			}
		}
	}
	eachBroken(func(rule *brokenRule, f *requestForm) {
		for _, shape := range trialShapes {
			c := newTrial(f, shape, rule.reasons)
			at, part := rule.breaks(c)
			path := c.pathOf(at, part)
			place := func(severity string) string {
				return strings.TrimSpace(rule.code + " " + severity + " client " + path)
			}
			refusal := f.refusal(refusalText(rule, c, at, part))
			in := playTrial(c, f.own, refusal, 400)
			check("refused", rule, c, in, place("error"))
			if turns := in.Session().Turns; turns[len(turns)-1].Refusal == nil || turns[len(turns)-1].Refusal.Fits != rule.code {
				t.Errorf("%s, %s, shape %d: the refusal fits %+v, want %s", rule.rule, f.name, shape.number, turns[len(turns)-1].Refusal, rule.code)
			}
			if f.other != "" {
				check("refused elsewhere", rule, c, playTrial(c, f.other, refusal, 400), place("error"))
			}
			if shape.number%2 == 0 {
				check("accepted", rule, c, playTrial(c, f.own, f.response(wirePart{text: "ok"}), 200), "")
				if want := place("info"); f.other != "" {
					if f.name == "deepseek" || rule.proof == provenByRefusal {
						want = ""
					}
					check("accepted elsewhere", rule, c, playTrial(c, f.other, f.response(wirePart{text: "ok"}), 200), want)
				}
				continue
			}
			want := map[breakProof]string{provenByRequest: place("error"), provenByHost: place("warn")}[rule.proof]
			check("alone", rule, c, playTrial(c, f.own, "", 0), want)
			if rule.proof == provenByHost && f.other != "" {
				want = place("info")
			}
			if f.name == "deepseek" { // only DeepSeek's own host has the rule
				want = ""
			}
			if f.other != "" {
				check("alone elsewhere", rule, c, playTrial(c, f.other, "", 0), want)
			}
		}
	})
	if total := cases["refused"] + cases["accepted"] + cases["alone"]; total < 500 {
		t.Errorf("only %d cases", total)
	}
	t.Log(cases)
}

// TestTwoBrokenRules checks that a place where a request breaks two rules has one finding above info: an error about
// the rule that the provider's refusal is about.
func TestTwoBrokenRules(t *testing.T) {
	stable := []string{"id-legal", "name-legal", "arguments-object", "call-answered"} // breaking these rules doesn't move any part
	cases := 0
	eachBroken(func(rule *brokenRule, f *requestForm) {
		eachBroken(func(other *brokenRule, of *requestForm) {
			if of != f || rule.rule == other.rule || !slices.Contains(stable, rule.rule) || !slices.Contains(stable, other.rule) {
				return
			}
			for _, shape := range trialShapes[:3] {
				c := newTrial(f, shape, false)
				if at, part := rule.breaks(c); rule.rule != "call-answered" {
					other.breaks(c)
					in := playTrial(c, f.own, f.refusal(refusalText(rule, c, at, part)), 400)
					cases++
					found := findingsOf(in, rule.code)
					if twice := placesFoundTwice(in); twice != nil || len(found) != 1 || found[0].Severity != stream.Error {
						t.Errorf("%s and %s, %s, shape %d: %q, %s", rule.rule, other.rule, f.name, shape.number, twice, describeFindings(in, stream.Warn))
					}
				}
			}
		})
	})
	if cases < 60 {
		t.Errorf("only %d cases", cases)
	}
}

// TestBrokenPairsAfterResponses checks that each call or result in a broken pair has one finding above info if the
// responses with the calls were seen. The finding may be about the call.
func TestBrokenPairsAfterResponses(t *testing.T) {
	eachBroken(func(rule *brokenRule, f *requestForm) {
		if !slices.Contains([]string{"call-answered", "result-has-call", "result-once", "result-follows"}, rule.rule) {
			return
		}
		for _, shape := range trialShapes {
			shape.seen = true
			c := newTrial(f, shape, false)
			calls := len(*c.parts(c.at))
			at, part := rule.breaks(c)
			want, places := rule.code, 1
			if rule.rule == "result-follows" {
				places = c.calls // the results of all calls come too late, and each call may have a finding
			}
			if rule.rule == "result-has-call" && len(*c.parts(c.at)) <= calls && (*c.parts(at))[part].text != "a lost file" {
				want = "CALL_DROPPED"
			}
			in := playTrial(c, f.own, f.refusal(refusalText(rule, c, at, part)), 400)
			var found []string
			for _, finding := range requestFindings(in) {
				if finding.Severity > stream.Info {
					found = append(found, finding.Code+" "+finding.By.String())
				}
			}
			if n := len(found); n == 0 || n > places || !slices.Equal(found, slices.Repeat([]string{want + " client"}, n)) {
				t.Errorf("%s, %s, shape %d: %q, want %s\n%s", rule.rule, f.name, shape.number, found, want, c.body())
			}
		}
	})
}

// TestAlmostBrokenRequests checks that legal requests that look like broken ones have no finding above info and no
// finding about a rule, whether or not a response is seen.
func TestAlmostBrokenRequests(t *testing.T) {
	cases := 0
	failed := map[string]bool{}
	eachBroken(func(rule *brokenRule, f *requestForm) {
		for n, change := range rule.near {
			for _, shape := range trialShapes[1:inLong(3, 6)] {
				c := newTrial(f, shape, rule.reasons)
				change(c)
				for _, url := range slices.DeleteFunc([]string{f.own, f.other}, func(url string) bool { return url == "" }) {
					for _, status := range []int{0, 200} {
						cases++
						key := fmt.Sprint(rule.rule, f.name, n)
						if got := describeFindings(playTrial(c, url, f.response(wirePart{text: "ok"}), status), stream.Warn); got != "" && !failed[key] {
							failed[key] = true
							t.Errorf("%s, %s, change %d, shape %d, status %d: %q\n%s", rule.rule, f.name, n, shape.number, status, got, c.body())
						}
					}
				}
			}
		}
	})
	if cases < 1000 {
		t.Errorf("only %d cases", cases)
	}
	t.Log(cases)
}

// TestPlaceOfEqualParts checks that equal parts have different places, even if the body contains the parts of a
// message in a different order from the one in which they are read.
func TestPlaceOfEqualParts(t *testing.T) {
	const (
		call     = `{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}`
		question = `{"role":"user","content":[{"type":"text","text":"go"}]}`
	)
	body := `{"messages":[` + question + `,{"role":"assistant","tool_calls":[` + call + `,` + call + `],"content":[{"type":"text","text":"go"}]},` + question + `]}`
	to, err := FindTarget("openai-chat")
	if err != nil {
		t.Fatal(err)
	}
	messages, err := to.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range messages {
		for j := range messages[i].Parts {
			start, end := placeOf([]byte(body), messages, requestrules.Spot{Message: i, Part: j})
			paths = append(paths, json.PathAt([]byte(body), start, end))
		}
	}
	want := "messages[0].content[0] messages[1].content[0] messages[1].tool_calls[0] messages[1].tool_calls[1] messages[2].content[0]"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

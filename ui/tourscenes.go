package ui

import (
	"bytes"
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/compare"
	"toolscope/ui/display"
	"toolscope/ui/replay"
	"toolscope/ui/screen"
)

// tourScene is a scene of the demo.
type tourScene struct {
	of       tourCall
	coming   display.Text                   // shown while the tour plays towards the scene
	seen     func(sceneSubject) bool        // reports whether the scene can be shown
	caption  func(sceneSubject) caption     // the caption for the current state
	evidence func(*Model)                   // opens the evidence
	summary  func(sceneSubject) summaryText // the scene's row in the summary; nil for none
}

// tourCall is a call in the demo: the scenario, the number of the response, and the number of the call in the
// response. Both numbers start at 1.
type tourCall struct {
	file       string
	turn, call int
}

// sceneSubject is the subject of a scene at a moment.
type sceneSubject struct {
	view *providers.View
	turn *stream.Turn
	call *stream.Call
}

// caption says what the user sees and why it matters. The field short is a shorter text for a small screen.
type caption struct{ what, why, short display.Text }

// summaryText is a row of the summary: its text and its finding. It has a state and a name if they differ
// from the call's.
type summaryText struct {
	side  screen.Side // side of the comparison; only used if state is not empty
	state display.Text
	name  display.Text // replaces the name of the call
	words display.Text
	found string
}

// tourScenes are the scenes of the demo in the order in which they play.
var tourScenes = []tourScene{
	{
		of: tourCall{"malformed", 1, 1}, coming: display.Lit("a call breaks"),
		seen: hasCode("ARGS_BROKEN"),
		caption: func(a sceneSubject) caption {
			return caption{
				display.Format("From byte %d on, the arguments are not JSON. The call keeps streaming.", a.brokenAt()),
				display.Lit("No later byte can repair them. You see this before the tool runs."),
				display.Format("not JSON from byte %d", a.brokenAt()),
			}
		},
		evidence: inDocument,
		summary: func(a sceneSubject) summaryText {
			return summaryText{words: display.Format("not JSON from byte %d; clients may send {}", a.brokenAt()), found: "ARGS_BROKEN"}
		},
	},
	{
		of: tourCall{"cut", 1, 1}, coming: display.Lit("a call does not end"),
		seen: hasCode("ARGS_CUT"),
		caption: func(a sceneSubject) caption {
			return caption{
				display.Format("The token limit ended this call inside a string, after %s.", count.Of(a.call.ArgsLen(), "byte")),
				display.Lit("Clients that run or repair partial arguments would run this fragment."),
				display.Lit("cut inside a string"),
			}
		},
		evidence: withRuns,
		summary: func(a sceneSubject) summaryText {
			return summaryText{words: display.Lit("some clients run it anyway"), found: "ARGS_CUT"}
		},
	},
	{
		of: tourCall{"index-zero", 1, 2}, coming: display.Lit("two calls, two models"),
		seen: func(a sceneSubject) bool { return a.hasFinding("IDX_REUSED") && a.call.ArgsLen() > 0 },
		caption: func(sceneSubject) caption {
			return caption{
				display.Lit("Two calls share index 0. Here their ids keep them apart."),
				display.Lit("Clients that merge by index join them into one broken call."),
				display.Lit("two calls share index 0"),
			}
		},
		evidence: func(m *Model) { withFindings(m); m.list.Roll(-1) }, // move to the other call
		summary: func(sceneSubject) summaryText {
			return summaryText{words: display.Lit("shares index 0: breaks if merged by index"), found: "IDX_REUSED"}
		},
	},
	{
		of: tourCall{"early", 1, 1}, coming: display.Lit("looks done, but is not"),
		seen: hasCode("EARLY_WRONG"),
		caption: func(a sceneSubject) caption {
			ran := a.call.RuleRun(stream.ParsableObject)
			return caption{
				display.Format("After %s, this was an object and looked done. More bytes arrived.", count.Of(ran.Bytes, "byte")),
				display.Lit("A client that runs a call as soon as it parses has run the wrong call."),
				display.Format("only looked done at byte %d", ran.Bytes),
			}
		},
		evidence: withRuns,
		summary: func(a sceneSubject) summaryText {
			ran := a.call.RuleRun(stream.ParsableObject)
			return summaryText{words: display.Format("looked done %s before its end", count.Of(a.call.ArgsLen()-ran.Bytes, "byte")), found: "ARGS_TRAILING"}
		},
	},
	{
		of: tourCall{"schema", 1, 1}, coming: display.Lit("a schema mismatch"),
		seen: func(a sceneSubject) bool {
			return a.hasFinding("SCHEMA_ENUM") && a.hasFinding("SCHEMA_WRONG_TYPE") && a.hasFinding("SCHEMA_UNKNOWN_KEY")
		},
		caption: func(a sceneSubject) caption {
			return caption{
				display.Lit("Three fields can no longer match the tool's schema."),
				display.Lit("Each field is marked at the delta that broke it."),
				display.Lit("3 fields break the schema"),
			}
		},
		evidence: inDocument,
		summary: func(sceneSubject) summaryText {
			return summaryText{words: display.Lit("three fields break the tool's schema"), found: "SCHEMA_WRONG_TYPE"}
		},
	},
	{
		of: tourCall{"malformed", 1, 1}, coming: display.Lit("the broken call, sent back"),
		seen: func(a sceneSubject) bool {
			schema, ok := tourCall{"schema", 1, 1}.subjectIn(a.view)
			return ok && schema.turn.Closed() && !a.call.MayGrow()
		},
		caption: func(a sceneSubject) caption {
			return caption{
				display.Format("The broken call again: this client sends {} instead of its %s.", count.Of(a.call.ArgsLen(), "byte")),
				display.Lit("The provider accepts that, and the model reads a call it never made."),
				display.Format("{} is sent instead of %s", count.Of(a.call.ArgsLen(), "byte")),
			}
		},
		evidence: inMode(func(m *Model) entry { return replay.Entry(m.exports.newExport(), m.draw, m.large) }),
		summary: func(a sceneSubject) summaryText {
			return summaryText{side: screen.Nothing, state: display.Lit("emptied"), words: display.Format("sent back as {}: its %s are lost", count.Of(a.call.ArgsLen(), "byte")), found: "ARGS_BROKEN"}
		},
	},
	{
		of: tourCall{"history", 3, 1}, coming: display.Lit("an agent changes a call"),
		seen: func(a sceneSubject) bool {
			return slices.ContainsFunc(a.call.SentBack, func(r stream.SentBackCall) bool { return r.Outcome == "double-encoded" })
		},
		caption: func(sceneSubject) caption {
			return caption{
				display.Lit("The model's call, next to the same call as its agent sent it back."),
				display.Lit("The call is now double-encoded: the model gets a string, not an object."),
				display.Lit("agent double-encoded it"),
			}
		},
		evidence: inMode(func(m *Model) entry { return replay.SentBack(m.exports.newExport(), m.draw) }),
		summary: func(sceneSubject) summaryText {
			return summaryText{
				side: screen.Differs, state: display.Lit("sent back"),
				words: display.Lit("an agent double-encoded its own call"), found: "DOUBLE_ENCODED",
			}
		},
	},
	{
		of: tourCall{"aistudio", 1, 1}, coming: display.Lit("objects as arrays"),
		seen: hasCode("LENGTH_FIRST_DIVERGENCE"),
		caption: func(sceneSubject) caption {
			return caption{
				display.Lit("Here objects are nested arrays, and their lengths can mislead."),
				display.Lit("A client that checks the length first runs the wrong arguments."),
				display.Lit("arrays read by their length"),
			}
		},
		evidence: withFindings,
		summary: func(sceneSubject) summaryText {
			return summaryText{words: display.Lit("length-first clients misread it"), found: "LENGTH_FIRST_DIVERGENCE"}
		},
	},
	{
		of: tourCall{"protocols", 6, 1}, coming: display.Lit("one call, six protocols"),
		seen: func(a sceneSubject) bool { return sameCalls(a) == 6 },
		caption: func(a sceneSubject) caption {
			return caption{
				display.Lit("Six protocols sent one call: as text, patches, binary, or all at once."),
				display.Format("Each makes the same %s final in its own way.", count.Of(a.call.ArgsLen(), "byte")),
				display.Format("six protocols, the same %s", count.Of(a.call.ArgsLen(), "byte")),
			}
		},
		evidence: func(m *Model) { m.modeStack.pushMode(&wirePage{m: m}) },
		summary: func(a sceneSubject) summaryText {
			return summaryText{side: screen.Same, state: display.Lit("the same"), words: display.Format("six protocols, one call, the same %s", count.Of(a.call.ArgsLen(), "byte"))}
		},
	},
	{
		of: tourCall{"compare", 1, 1}, coming: display.Lit("one question, 3 models"),
		seen: func(a sceneSubject) bool {
			third, ok := tourCall{"compare", 3, 1}.subjectIn(a.view)
			return ok && third.turn.Closed()
		},
		caption: func(sceneSubject) caption {
			return caption{
				display.Lit("One question, three models: the differences, field by field."),
				display.Lit("A missing call and a string for a number, found before anything runs."),
				display.Lit("three models: the differences"),
			}
		},
		evidence: inMode(func(m *Model) entry { return compare.Entry(new(compare.Marks), &m.bill, m.draw, m.large) }),
		summary: func(sceneSubject) summaryText {
			return summaryText{side: screen.Differs, state: display.Lit("differs"), words: display.Lit("three models, one question: none agree")}
		},
	},
	{
		of: tourCall{"parallel", 1, 1}, coming: display.Lit("a healthy turn"),
		seen: func(a sceneSubject) bool { return a.turn.Closed() },
		caption: func(a sceneSubject) caption {
			return caption{
				display.Format("A clean turn: %s, complete, no findings.", count.Of(len(a.turn.Calls), "call")),
				display.Lit("Healthy calls look plain. Problems stand out."),
				display.Lit("a clean turn: no findings"),
			}
		},
		evidence: inDocument,
		summary: func(a sceneSubject) summaryText {
			return summaryText{name: display.Format("%s", count.Of(len(a.turn.Calls), "call")), words: display.Lit("a healthy turn")}
		},
	},
	{
		of: tourCall{"parallel", 1, 1}, coming: display.Lit("the summary"),
		seen:     func(a sceneSubject) bool { return a.turn.Closed() },
		caption:  func(sceneSubject) caption { return caption{} },
		evidence: func(m *Model) { m.modeStack.pushMode(newSummary(m)) },
	},
}

// subjectIn finds the call in a view. The result ok is false if the view doesn't have the call yet.
func (p tourCall) subjectIn(v *providers.View) (a sceneSubject, ok bool) {
	n := 0
	for _, x := range v.Exchanges() {
		if x.Head.File != "demo/"+p.file {
			continue
		}
		if n++; n < p.turn {
			continue
		}
		t := v.TurnOf(x.Number)
		if t == nil || len(t.Calls) < p.call {
			return a, false
		}
		return sceneSubject{v, t, t.Calls[p.call-1]}, true
	}
	return a, false
}

// hasFinding reports whether the call or its turn has a finding with the given code.
func (a sceneSubject) hasFinding(code string) bool { return a.findingWithCode(code) != nil }

func (a sceneSubject) findingWithCode(code string) *stream.Finding {
	for _, all := range [][]stream.Finding{a.call.Findings, a.turn.Findings} {
		if i := slices.IndexFunc(all, func(f stream.Finding) bool { return f.Code == code }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

func hasCode(code string) func(sceneSubject) bool {
	return func(a sceneSubject) bool { return a.hasFinding(code) }
}

// brokenAt returns the offset of the first byte that is not JSON, or the length of the arguments.
func (a sceneSubject) brokenAt() int {
	if err := a.call.Lexer().Err(); err != nil {
		return err.Offset
	}
	return a.call.ArgsLen()
}

// sameCalls returns the number of finished responses in the scenario that made the same call.
func sameCalls(a sceneSubject) (n int) {
	for i := 1; i <= 6; i++ {
		other, ok := tourCall{"protocols", i, 1}.subjectIn(a.view)
		if ok && other.turn.Closed() && bytes.Equal(other.call.Args(), a.call.Args()) {
			n++
		}
	}
	return n
}

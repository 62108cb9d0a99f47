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

// claim is one thing that the demo shows.
type claim struct {
	of     part
	coming display.Text      // while it is being played
	seen   func(act) bool    // it can be seen
	says   func(act) caption // made of what is there then
	proof  func(*Model)      // opens what proves it
	told   func(act) told    // what the summary has of it; nil for nothing
}

// part is a call of the demo: of a scenario, its response and the call in that, from 1.
type part struct {
	file       string
	turn, call int
}

// act is what a claim is about, at a moment.
type act struct {
	view *providers.View
	turn *stream.Turn
	call *stream.Call
}

// caption is what one sees, and why that matters; and what one sees in a few words, where there is
// little room.
type caption struct{ what, why, short display.Text }

// told is a row of the summary: a state and a name of its own where it is not about those of the call,
// what is said, and the finding that it is about.
type told struct {
	side  screen.Side // and state, if that is not empty
	state display.Text
	name  display.Text // in place of that of the call
	words display.Text
	found string
}

// claims are what the demo shows, in its order: one after the other they can be seen while it plays.
var claims = []claim{
	{
		of: part{"malformed", 1, 1}, coming: display.Lit("a call breaks midway"),
		seen: finds("ARGS_BROKEN"),
		says: func(a act) caption {
			return caption{
				display.Format("From byte %d on these arguments are no JSON, and the call still streams.", a.brokenAt()),
				display.Lit("No byte to come can mend them: one knows before the tool fails."),
				display.Format("byte %d: no JSON from here on", a.brokenAt()),
			}
		},
		proof: inDocument,
		told: func(a act) told {
			return told{words: display.Format("no JSON from byte %d; some send {} back", a.brokenAt()), found: "ARGS_BROKEN"}
		},
	},
	{
		of: part{"cut", 1, 1}, coming: display.Lit("a call does not end"),
		seen: finds("ARGS_CUT"),
		says: func(a act) caption {
			return caption{
				display.Format("The token limit ended this call inside a string, after %s.", count.Of(a.call.ArgsLen(), "byte")),
				display.Lit("Code that runs on any arguments, or mends them, runs what is left of it."),
				display.Lit("cut inside a string"),
			}
		},
		proof: withRuns,
		told: func(a act) told {
			return told{words: display.Lit("some clients run it all the same"), found: "ARGS_CUT"}
		},
	},
	{
		of: part{"index-zero", 1, 2}, coming: display.Lit("two calls, two models"),
		seen: func(a act) bool { return a.found("IDX_REUSED") && a.call.ArgsLen() > 0 },
		says: func(act) caption {
			return caption{
				display.Lit("Two calls share index 0. Here their ids keep them apart."),
				display.Lit("Clients that merge by index make one call of them, and it is broken."),
				display.Lit("two calls share index 0"),
			}
		},
		proof: func(m *Model) { withFindings(m); m.list.Roll(-1) }, // to the call beside it
		told: func(act) told {
			return told{words: display.Lit("shares index 0: merged by index it is broken"), found: "IDX_REUSED"}
		},
	},
	{
		of: part{"early", 1, 1}, coming: display.Lit("looks done, and is not"),
		seen: finds("EARLY_WRONG"),
		says: func(a act) caption {
			ran := a.call.RuleRun(stream.ParsableObject)
			return caption{
				display.Format("After %s this was an object. It looked done, and more bytes came.", count.Of(ran.Bytes, "byte")),
				display.Lit("Code that runs a call as soon as it parses has run the wrong one."),
				display.Format("looked done at byte %d, was not", ran.Bytes),
			}
		},
		proof: withRuns,
		told: func(a act) told {
			ran := a.call.RuleRun(stream.ParsableObject)
			return told{words: display.Format("looked done %s before its end", count.Of(a.call.ArgsLen()-ran.Bytes, "byte")), found: "ARGS_TRAILING"}
		},
	},
	{
		of: part{"schema", 1, 1}, coming: display.Lit("against its own schema"),
		seen: func(a act) bool {
			return a.found("SCHEMA_ENUM") && a.found("SCHEMA_WRONG_TYPE") && a.found("SCHEMA_UNKNOWN_KEY")
		},
		says: func(a act) caption {
			return caption{
				display.Lit("Three members can no longer become what the tool declares."),
				display.Lit("Each is marked where it is, by the delta that ruled it out."),
				display.Lit("3 members break the schema"),
			}
		},
		proof: inDocument,
		told: func(act) told {
			return told{words: display.Lit("three members break the tool's schema"), found: "SCHEMA_WRONG_TYPE"}
		},
	},
	{
		of: part{"malformed", 1, 1}, coming: display.Lit("the broken call, sent on"),
		seen: func(a act) bool {
			schema, ok := part{"schema", 1, 1}.in(a.view)
			return ok && schema.turn.Closed() && !a.call.MayGrow()
		},
		says: func(a act) caption {
			return caption{
				display.Format("The broken call again: a client like this sends {} for its %s.", count.Of(a.call.ArgsLen(), "byte")),
				display.Lit("The provider accepts that, and the model reads a call it never made."),
				display.Format("some send {} for %s", count.Of(a.call.ArgsLen(), "byte")),
			}
		},
		proof: inMode(func(m *Model) entry { return replay.Entry(m.outlet(), m.draw, m.large) }),
		told: func(a act) told {
			return told{side: screen.Nothing, state: display.Lit("emptied"), words: display.Format("sent on as {}: its %s are lost", count.Of(a.call.ArgsLen(), "byte")), found: "ARGS_BROKEN"}
		},
	},
	{
		of: part{"history", 3, 1}, coming: display.Lit("what an agent sends on"),
		seen: func(a act) bool { return a.sentBack("double-encoded") },
		says: func(act) caption {
			return caption{
				display.Lit("What the model wrote, and what its agent sent back as that."),
				display.Lit("It is encoded twice now: the model reads a string where an object was."),
				display.Lit("the agent encoded it twice"),
			}
		},
		proof: inMode(func(m *Model) entry { return replay.SentBack(m.outlet(), m.draw) }),
		told: func(act) told {
			return told{
				side: screen.Differs, state: display.Lit("sent back"),
				words: display.Lit("an agent double-encoded its own call"), found: "DOUBLE_ENCODED",
			}
		},
	},
	{
		of: part{"aistudio", 1, 1}, coming: display.Lit("objects as arrays"),
		seen: finds("LENGTH_FIRST_DIVERGENCE"),
		says: func(act) caption {
			return caption{
				display.Lit("Here objects are arrays in arrays, and their lengths mislead."),
				display.Lit("A client that goes by the length passes another call on to the tool."),
				display.Lit("arrays read by their length"),
			}
		},
		proof: withFindings,
		told: func(act) told {
			return told{words: display.Lit("read by length it is another call"), found: "LENGTH_FIRST_DIVERGENCE"}
		},
	},
	{
		of: part{"protocols", 6, 1}, coming: display.Lit("one call, six protocols"),
		seen: func(a act) bool { return sameCalls(a) == 6 },
		says: func(a act) caption {
			return caption{
				display.Lit("Six protocols sent one call: as text, patches, binary, or all at once."),
				display.Format("Whatever carried it, it is the same %s, read the same way.", count.Of(a.call.ArgsLen(), "byte")),
				display.Format("six protocols, the same %s", count.Of(a.call.ArgsLen(), "byte")),
			}
		},
		proof: inList,
		told: func(a act) told {
			return told{side: screen.Same, state: display.Lit("the same"), words: display.Format("six protocols, one call, the same %s", count.Of(a.call.ArgsLen(), "byte"))}
		},
	},
	{
		of: part{"compare", 1, 1}, coming: display.Lit("one question, 3 models"),
		seen: func(a act) bool {
			third, ok := part{"compare", 3, 1}.in(a.view)
			return ok && third.turn.Closed()
		},
		says: func(act) caption {
			return caption{
				display.Lit("One question to three models, and what differs, member by member."),
				display.Lit("A call too few, a string for a number: found before anybody runs them."),
				display.Lit("three models: what differs"),
			}
		},
		proof: inMode(func(m *Model) entry { return compare.Entry(new(compare.Marks), &m.bill, m.draw, m.large) }),
		told: func(act) told {
			return told{side: screen.Differs, state: display.Lit("differs"), words: display.Lit("three models, one question: none agree")}
		},
	},
	{
		of: part{"parallel", 1, 1}, coming: display.Lit("a turn as it should be"),
		seen: func(a act) bool { return a.turn.Closed() },
		says: func(a act) caption {
			return caption{
				display.Format("A clean turn: %s, complete, and nothing is found.", count.Of(len(a.turn.Calls), "call")),
				display.Lit("It is quiet while all is well: what is loud has gone wrong."),
				display.Lit("a clean turn: quiet"),
			}
		},
		proof: inDocument,
		told: func(a act) told {
			return told{name: display.Format("%s", count.Of(len(a.turn.Calls), "call")), words: display.Lit("and this is a good turn")}
		},
	},
	{
		of: part{"parallel", 1, 1}, coming: display.Lit("what you saw"),
		seen:  func(a act) bool { return a.turn.Closed() },
		says:  func(act) caption { return caption{} },
		proof: func(m *Model) { m.open(newSummary(m)) },
	},
}

// in is the call as a view has it.
func (p part) in(v *providers.View) (a act, ok bool) {
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
		return act{v, t, t.Calls[p.call-1]}, true
	}
	return a, false
}

// found reports whether something was found of the call, or of its turn.
func (a act) found(code string) bool { return a.finding(code) != nil }

func (a act) finding(code string) *stream.Finding {
	for _, all := range [][]stream.Finding{a.call.Findings, a.turn.Findings} {
		if i := slices.IndexFunc(all, func(f stream.Finding) bool { return f.Code == code }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

func finds(code string) func(act) bool {
	return func(a act) bool { return a.found(code) }
}

// brokenAt is the byte from which on the arguments are no JSON.
func (a act) brokenAt() int {
	if err := a.call.Lexer().Err(); err != nil {
		return err.Offset
	}
	return a.call.ArgsLen()
}

// sentBack reports whether a request carried the call so.
func (a act) sentBack(as string) bool {
	return slices.ContainsFunc(a.call.SentBack, func(r stream.SentBackCall) bool { return r.Outcome == as })
}

// sameCalls is how many responses of the scenario are over and made the same call.
func sameCalls(a act) (n int) {
	for i := 1; i <= 6; i++ {
		other, ok := part{"protocols", i, 1}.in(a.view)
		if ok && other.turn.Closed() && bytes.Equal(other.call.Args(), a.call.Args()) {
			n++
		}
	}
	return n
}

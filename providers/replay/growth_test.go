package replay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// long maps names to histories of n parts. With each history, one step of a preview has to search all parts.
var long = map[string]func(from *protocol.Target, n int) []protocol.Message{
	"results in one message": func(from *protocol.Target, n int) []protocol.Message {
		return append(many(from, n, `{}`), user(resultsOf(n)...))
	},
	"results in messages of their own": func(from *protocol.Target, n int) []protocol.Message {
		m := many(from, n, `{}`)
		for _, r := range resultsOf(n) {
			m = append(m, user(r))
		}
		return m
	},
	"results in another order": func(from *protocol.Target, n int) []protocol.Message {
		m, all := many(from, n, `{}`), resultsOf(n)
		for i := range all {
			m = append(m, user(all[n-1-i]))
		}
		return m
	},
	"no ids": func(from *protocol.Target, n int) []protocol.Message {
		m, all := many(from, n, `{}`), resultsOf(n)
		for i := range all {
			m[0].Parts[i].ID, all[i].ID = "", ""
			all[i].Name = "write_file"
		}
		return append(m, user(all...))
	},
	"one id": func(from *protocol.Target, n int) []protocol.Message {
		m, all := many(from, n, `{}`), resultsOf(n)
		for i := range all {
			m[0].Parts[i].ID, all[i].ID = "a", "a"
		}
		return append(m, user(all...))
	},
	"malformed": func(from *protocol.Target, n int) []protocol.Message { return many(from, n, `{"a":1`) },
	"no results": func(from *protocol.Target, n int) []protocol.Message {
		return append(many(from, n, `{}`), user(says("hm")))
	},
	"late results": func(from *protocol.Target, n int) []protocol.Message {
		return append(many(from, n, `{}`), protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{says("hm")}}, user(resultsOf(n)...))
	},
	"results without calls": func(_ *protocol.Target, n int) (m []protocol.Message) {
		for _, r := range resultsOf(n) {
			m = append(m, user(r))
		}
		return m
	},
	"turns": func(from *protocol.Target, n int) (m []protocol.Message) {
		call := many(from, 1, `{"a": 1.0}`)[0]
		for range n {
			m = append(m, call, user(result("call_1", "ok")))
		}
		return m
	},
	"texts": func(_ *protocol.Target, n int) (m []protocol.Message) {
		for range n {
			m = append(m, user(says("hm")))
		}
		return m
	},
	"levels": func(from *protocol.Target, n int) []protocol.Message {
		return many(from, 1, strings.Repeat(`{"a":`, n)+" 1.0"+strings.Repeat("}", n))
	},
	"members": func(from *protocol.Target, n int) []protocol.Message {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":%d`, n-i, i)
		}
		return many(from, 1, "{"+b.String()[1:]+"}")
	},
	"brackets": func(from *protocol.Target, n int) []protocol.Message { return many(from, 1, strings.Repeat("[", 50*n)) },
	"strings": func(from *protocol.Target, n int) []protocol.Message {
		return many(from, 1, `"{`+strings.Repeat(`\"`, 20*n))
	},
}

// many returns a message with n calls that have the given arguments.
func many(from *protocol.Target, n int, args string) []protocol.Message {
	m := protocol.Message{Role: protocol.Assistant}
	for i := range n {
		m.Parts = append(m.Parts, protocol.Part{
			Kind: protocol.CallPart, ID: fmt.Sprintf("call_%d", i+1), Name: "write_file", ToolKind: "function", Form: from.Form, Args: []byte(args),
		})
	}
	return []protocol.Message{m}
}

func resultsOf(n int) (parts []protocol.Part) {
	for i := range n {
		parts = append(parts, result(fmt.Sprintf("call_%d", i+1), "ok"))
	}
	return parts
}

// TestGrowth checks that a history that is sixteen times as long takes about sixteen times as long to preview, not
// 256 times.
func TestGrowth(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("measured with TOOLSCOPE_LONG=1 alone")
	}
	const few, more, most = 1000, 16, 110
	from := target(t, "openai-chat")
	for name, history := range long {
		for _, policyName := range []string{"preserve", "empty"} {
			short, whole := replay.SourceOfHistory(history(from, few), from), replay.SourceOfHistory(history(from, few*more), from)
			for _, to := range []string{"openai-chat", "gemini", "bedrock"} {
				to, p := target(t, to), policy(t, policyName)
				a, b, ok := grows(most, func() { short.Split().Preview(to, p) }, func() { whole.Split().Preview(to, p) })
				if !ok {
					t.Errorf("%s to %s under %s: %v for %d, %v for %d", name, to.Name, p.Name, a, few, b, few*more)
				}
			}
		}
	}
}

// grows measures small and large, and reports whether the ratio of their times stays within the limit most. It
// compares the best time of each, and measures again if the machine is busy.
func grows(most time.Duration, small, large func()) (a, b time.Duration, ok bool) {
	best := func(now time.Duration, f func()) time.Duration {
		start := time.Now()
		f()
		if took := time.Since(start); now == 0 || took < now {
			return took
		}
		return now
	}
	for range 20 {
		a, b = best(a, small), best(b, large)
		if b <= most*a {
			return a, b, true
		}
	}
	return a, b, false
}

// TestDiffGrowth is like TestGrowth, for the difference between two texts.
func TestDiffGrowth(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("measured with TOOLSCOPE_LONG=1 alone")
	}
	const few, more, most = 1 << 14, 64, 640
	for name, text := range map[string]func(n int, c string) []byte{
		"long strings": func(n int, c string) []byte {
			return []byte("[" + strings.Repeat(`"`+strings.Repeat("x", n/500)+c+`",`, 500) + "1]")
		},
		"short tokens": func(n int, c string) []byte { return []byte("[" + strings.Repeat(c+",", n/2) + "1]") },
		"members":      func(n int, c string) []byte { return []byte("{" + strings.Repeat(`"`+c+`":1,`, n/6) + `"a":1}`) },
		"junk":         func(n int, c string) []byte { return []byte(strings.Repeat(c, n)) },
		"brackets":     func(n int, c string) []byte { return []byte(strings.Repeat("[", n) + c) },
	} {
		diff := func(n int) func() {
			x, y := text(n, "2"), text(n, "3")
			return func() { replay.Diff(x, y) }
		}
		if a, b, ok := grows(most, diff(few), diff(few*more)); !ok {
			t.Errorf("%s: %v for %d bytes, %v for %d", name, a, few, b, few*more)
		}
	}
}

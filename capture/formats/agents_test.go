package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

// piEntry returns the line of a message in a session of pi. The number is its id and its second.
func piEntry(number, parent int, role, content, rest string) string {
	return fmt.Sprintf(`{"type":"message","id":"e%d","parentId":"e%d","timestamp":"2026-05-04T09:00:0%d.000Z","message":{"role":"%s","content":[%s]%s}}`+"\n",
		number, parent, number, role, content, rest)
}

const piHead = `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home"}` + "\n"

// requestsIn returns the request of each exchange in a session, and whether it is marked as rewound.
func requestsIn(t *testing.T, f capture.Format, text string) (asked []string, rewound []bool) {
	t.Helper()
	for _, r := range readParts(t, f, []byte(text)) {
		if r.Side != capture.Request {
			continue
		}
		if r.Exchange > len(asked) {
			asked, rewound = append(asked, ""), append(rewound, slices.Contains(r.Head.Lacks, capture.Rewound))
		}
		asked[r.Exchange-1] += string(r.Data)
	}
	return asked, rewound
}

// TestPiFailedMessage checks that a message from the model that failed or was aborted is not sent back, as in pi.
func TestPiFailedMessage(t *testing.T) {
	for stop, sent := range map[string]bool{"error": false, "aborted": false, "toolUse": true} {
		asked, _ := requestsIn(t, piSession, piHead+
			piEntry(1, 0, "user", `{"type":"text","text":"count the files"}`, "")+
			piEntry(2, 1, "assistant", `{"type":"toolCall","id":"call_n","name":"bash","arguments":{"command":"ls | wc"}}`, `,"stopReason":"`+stop+`"`)+
			piEntry(3, 2, "assistant", `{"type":"text","text":"12"}`, `,"stopReason":"stop"`))
		if all := strings.Join(asked, ""); strings.Contains(all, "call_n") != sent || !strings.Contains(all, "count the files") {
			t.Errorf("%s: the requests are %s", stop, all)
		}
	}
}

// TestPiBranch checks that a request doesn't contain the entries that the user left, and that it is marked if a
// response is among them.
func TestPiBranch(t *testing.T) {
	user := func(number, parent int, text string) string {
		return piEntry(number, parent, "user", `{"type":"text","text":"`+text+`"}`, "")
	}
	model := func(number, parent int, text string) string {
		return piEntry(number, parent, "assistant", `{"type":"text","text":"`+text+`"}`, `,"stopReason":"stop"`)
	}
	for _, test := range []struct {
		name, session string
		has, lacks    string // texts in the last request, and texts not in it, separated by spaces
		rewound       bool
	}{
		{"no branch", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + model(4, 3, "four"), "two three", "one", false},
		{"another question", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + user(4, 2, "four") + model(5, 4, "five"), "two four", "three", false},
		{"another first question", user(1, 0, "one") + user(2, 0, "two") + model(3, 2, "three"), "two", "one", false},
		{"before a response", user(1, 0, "one") + model(2, 1, "two") + user(3, 1, "three") + model(4, 3, "four"), "three", "two", true},
		{"before two responses", user(1, 0, "one") + model(2, 1, "two") + user(3, 2, "three") + model(4, 3, "four") + user(5, 1, "five") + model(6, 5, "six"), "five", "two four", true},
		{"after a branch", user(1, 0, "one") + model(2, 1, "two") + user(3, 1, "three") + model(4, 3, "four") + user(5, 4, "five") + model(6, 5, "six"), "four five", "two", false},
	} {
		asked, rewound := requestsIn(t, piSession, piHead+test.session)
		last := asked[len(asked)-1]
		for _, word := range strings.Fields(test.has) {
			if !strings.Contains(last, word) {
				t.Errorf("%s: %q is not in the last request: %s", test.name, word, last)
			}
		}
		for _, word := range strings.Fields(test.lacks) {
			if strings.Contains(last, word) {
				t.Errorf("%s: %q is in the last request: %s", test.name, word, last)
			}
		}
		if rewound[len(rewound)-1] != test.rewound {
			t.Errorf("%s: marked as rewound: %v", test.name, !test.rewound)
		}
	}
}

// TestCodexRollback checks that the request after a rollback is marked, and no other one.
func TestCodexRollback(t *testing.T) {
	entry := func(kind, payload string) string {
		return `{"timestamp":"2026-05-13T09:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	turn := func(text string) string {
		return entry("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}]}`) +
			entry("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}`)
	}
	text := entry("session_meta", `{"id":"t1","originator":"codex_cli_rs"}`) + turn("one") + turn("two") +
		entry("event_msg", `{"type":"thread_rolled_back","num_turns":1}`) + turn("three") + turn("four")
	if _, rewound := requestsIn(t, codexRollout, text); !slices.Equal(rewound, []bool{false, false, true, false}) {
		t.Errorf("marked as rewound: %v", rewound)
	}
}

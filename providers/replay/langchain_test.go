package replay

import (
	"testing"

	"toolscope/stream/json"
)

// TestLangChain checks the values that LangChain's parser reads from texts, in Python's spelling. The expected values
// are derived from LangChain's source.
func TestLangChain(t *testing.T) {
	const raw = "="
	for _, test := range [][2]string{
		{``, `{}`},
		{` `, raw},
		{`{"a":1,"b":[1,2.0,1e20]}`, `{"a": 1, "b": [1, 2.0, 1e+20]}`},
		{`{"a":{},"b":[],"n":12345678901234567890}`, `{"a": {}, "b": [], "n": 12345678901234567890}`},
		{`{"a":1,"a":2,"b":"\u00e9\/"}`, `{"a": 2, "b": "é/"}`},
		{`{"city":"Par`, `{"city": "Par"}`},
		{`{"city":"Par\`, `{"city": "Par"}`},
		{`{"city":"Par","ci`, `{"city": "Par"}`},
		{`{"city":"Par","ci":`, `{"city": "Par"}`},
		{`{"city":"Par","n":-`, `{"city": "Par"}`},
		{`{"a":[{"b":tru`, `{"a": [{}]}`},
		{`{"a":1}}`, raw},
		{`{"a":1]`, raw},
		{`{"a":1} {"a":2}`, `{"a": 1}`},
		{`{"city": "Pa" "x"}`, raw},
		{`{'city':'Paris'}`, raw},
		{"{\"a\":\"x\ny\tz\"}", `{"a": "x\ny\tz"}`},
		{"{\"a\":\"x\ny", `{"a": "x\ny"}`},
		{"{\"a\":\"x\\\ny\"}", raw},
		{`["Paris"]`, raw},
		{`"{}"`, raw},
		{`null`, raw},
		{`no`, raw},
	} {
		if test[1] == raw {
			test[1] = test[0]
		}
		if s := langChainRule(receivedCall{from: chat, args: test[0]}, chat); s.unknown || string(s.args) != test[1] {
			t.Errorf("%s is sent as %s (unknown: %t), want %s", test[0], s.args, s.unknown, test[1])
		}
	}
	for _, args := range []string{`{"a":NaN}`, `{"a":1e400}`, `{"a":"\ud800"}`} {
		if !langChainRule(receivedCall{from: chat, args: args}, chat).unknown {
			t.Errorf("%s: Python's ways with it are not told here", args)
		}
	}
	if s := langChainRule(receivedCall{args: `{"a"` + longTail}, chat); !s.unknown {
		t.Errorf("a text that is shortened for long is sent as %.20s", s.args)
	}
}

var longTail = string(json.AppendQuoted(nil, make([]byte, maxShortened)))

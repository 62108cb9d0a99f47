package replay

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// pythonSays is a Python program that writes the text that smolagents makes from each argument. Its output is a JSON
// list of these texts.
const pythonSays = `
import json, sys
def again(v):
    if isinstance(v, str):
        if (v.startswith("{") and v.endswith("}")) or (v.startswith("[") and v.endswith("]")):
            try: return again(json.loads(v))
            except json.JSONDecodeError: pass
        return v
    if isinstance(v, list): return [again(x) for x in v]
    if isinstance(v, dict): return {k: again(x) for k, x in v.items()}
    return v
def loads(text):
    try: return json.loads(text)
    except Exception: return text
print(json.dumps([str([f(loads(t))])[1:-1] for t in json.load(sys.stdin) for f in (lambda v: v, again)]))
`

// reprTexts are arguments for which repr has special rules.
var reprTexts = []string{
	``, ` `, `x`, `{}`, `[]`, `{"a":1}`, ` { "a" : [1, 2, {"b": null}], "c": true, "d":false } `, `null`, `true`, `"x"`, `"it's"`, `"say \"hi\""`, `"it's \"both\""`,
	`"\\ \/ \b\f\n\r\t\u0000\u001f\u007f\u0080\u00a0\u00ad"`, `"é ü 日本 😀 \u2028 \u200b \ufeff \ue000 \ud83d\ude00 \udbff\udfff"`, `"\ud800"`, `{"\udc00":"\ud800x"}`,
	`0`, `-0`, `9007199254740993`, `123456789012345678901234567890`, `-1`, `0.0`, `-0.0`, `1.0`, `1e3`, `1E22`, `1e16`, `1e15`, `123456789012345680.0`, `0.0001`, `0.00001`,
	`1e-7`, `0.1000000000000000055`, `1e400`, `-1e400`, `5e-324`, `1e-400`, `{"a":1,"b":2,"a":3}`, `{"10":1,"9":2}`, `{"a":1`, `{"a":'x'}`, `{"a":1}{"b":2}`, "it's \"cut\n",
	`"{\"a\":1}"`, `{"code":"[1, 2]","s":"{\"x\": \"[true]\"}","no":"[1","or":"{x}","sp":" {}"}`, `"[]"`, "\"a\tb\"", `{"a\u0027b":"\u0022"}`, `[[[[1.50]]]]`,
	strings.Repeat("[", 150) + strings.Repeat("]", 150), `"\u0378\ufffe"`, `"` + "\u00a0\u3000" + `"`,
}

// TestRepr checks that reprOf writes arguments in the same form as Python.
func TestRepr(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	in, _ := json.Marshal(reprTexts)
	run := exec.Command(python, "-c", pythonSays)
	run.Stdin = bytes.NewReader(in)
	said, err := run.Output()
	if err != nil {
		t.Skip("python3 does not run:", err)
	}
	var want []string
	if err := json.Unmarshal(said, &want); err != nil || len(want) != 2*len(reprTexts) {
		t.Fatal(err, len(want))
	}
	for i, text := range reprTexts {
		for n, inner := range []bool{false, true} {
			if got, ok := reprOf(nil, []byte(text), inner); string(got) != want[2*i+n] || !ok {
				t.Errorf("%q, inner %v: %s, %v; Python writes %s", text, inner, got, ok, want[2*i+n])
			}
		}
	}
}

// TestReprUnknown checks texts that toolscope doesn't predict, because the result depends on Python's version, or
// because Python reads the text although it is not JSON.
func TestReprUnknown(t *testing.T) {
	for _, text := range []string{`NaN`, `{"a":-Infinity}`, strings.Repeat("9", 4301), strings.Repeat("[", 300) + strings.Repeat("]", 300), `{"a":"[NaN]"}`} {
		if got, ok := reprOf(nil, []byte(text), true); ok {
			t.Errorf("%.20q is told to be %.40s", text, got)
		}
	}
}

package protocol

import (
	"bytes"
	"testing"

	"toolscope/stream/json"
)

func TestResponseText(t *testing.T) {
	for _, test := range []struct {
		response, text string
		failed         bool
	}{
		{`{"output":"a\"b"}`, `a"b`, false},
		{`{"output":{"a" : 1}}`, `{"a" : 1}`, false},
		{`{"output":"a","error":null}`, `a`, false},
		{`{"error":"no"}`, `no`, true},
		{`{"error":{"code":1}}`, `{"code":1}`, true},
		{`{"output":"a","error":"no"}`, `{"output":"a","error":"no"}`, true},
		{`{"result":"a"}`, `{"result":"a"}`, false},
		{`{}`, `{}`, false},
		{`"a"`, `a`, false},
		{``, ``, false},
	} {
		text, failed := ResponseText(json.Value(test.response))
		if string(text) != test.text || failed != test.failed {
			t.Errorf("%s: %q %v", test.response, text, failed)
		}
		again, failed := ResponseText(WrapResponse(&Part{Text: text, Failed: failed}))
		if !bytes.Equal(again, text) || failed != test.failed {
			t.Errorf("%s: %q %v when written anew", test.response, again, failed)
		}
	}
}

func TestOneAnswer(t *testing.T) {
	result := func(id string) Part { return Part{Kind: ResultPart, ID: id} }
	read, text := result("r"), Part{Text: []byte("x")}
	read.Raw = json.Value("{}")
	in := []Message{
		{Role: User, Parts: []Part{text}}, {Role: User, Parts: []Part{result("a")}}, {Role: User, Parts: []Part{result("b"), result("c")}}, {Role: User, Parts: []Part{result("d"), text}},
		{Role: Assistant, Parts: []Part{text}}, {Role: User, Parts: []Part{result("e")}}, {Role: User, Parts: []Part{read}}, {Role: User, Parts: []Part{result("f")}}, {Role: User},
	}
	got := ""
	for _, m := range MergeResults(in) {
		for _, p := range m.Parts {
			got += p.ID + string(p.Text)
		}
		got += "|"
	}
	if want := "x|abc|dx|x|e|r|f||"; got != want || len(in[1].Parts) != 1 {
		t.Errorf("got %s, want %s; the second of them was %v", got, want, in[1])
	}
}

func TestWriterValue(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`: `[{"a":1}]`, ` 1 `: `[ 1 ]`, `"x"`: `["x"]`, `{"a":`: `["{\"a\":"]`, `1 2`: `["1 2"]`, ``: `[""]`,
	} {
		var w json.Writer
		if got := w.Open('[').Value([]byte(text)).Close(']').Text; string(got) != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

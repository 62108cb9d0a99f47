package aistudio

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestTools checks that the functions in a request are read with their schemas, and that built-in tools are read too.
func TestTools(t *testing.T) {
	for _, test := range []struct{ tools, want string }{
		{``, ""},
		{`null`, ""},
		{`[]`, ""},
		{`[[null,[["ping"]]]]`, "ping function"},
		{`[[null,[["get_weather","The weather",[6,null,null,null,null,null,[["city",[1,null,"A \"city\""]],["days",[3,"int32"]]],["city"]]],["ping","",[6]]]]]`,
			`get_weather function {"type":"object","required":["city"],"properties":{"city":{"type":"string","description":"A \"city\""},"days":{"type":"integer","format":"int32"}}}` +
				"\n" + `ping function {"type":"object"}`},
		{`[[,[["f",,[6,,,,,,[["l",[5,,,,,[6,,,,,,[["n",[2]],["b",[4,,,1]]]]]],["e",[1,,,1,["x","y"]]]],,,,,,,,,,,,,,,,["l","e"]]]]]]`,
			`f function {"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"n":{"type":"number"},"b":{"type":["boolean","null"]}}}},` +
				`"e":{"type":["string","null"],"enum":["x","y",null]}}}`},
		{`[[null,[["f","",[99,null,null,null,null,null,[["any",[]],["none"],["odd",1]]]]]]]`,
			`f function {"properties":{"any":{},"none":{},"odd":{}}}`},
		{`[[[]],[null,null,null,[null,[[]]]],[null,null,null,null,null,null,null,[]]]`,
			"code_execution server\ngoogle_search server\nurl_context server"},
		{`{"a":1}`, ""},
		{`[1,"x",[2,3]]`, ""},
	} {
		var got []string
		for _, tool := range readTools([]byte(`["models/gemini-x",[[[[null,"hi"]],"user"]],null,null,"!secret",null,` + test.tools + `]`)) {
			got = append(got, strings.TrimSpace(fmt.Sprintln(tool.Name, tool.Kind, string(tool.Schema))))
		}
		if s := strings.Join(got, "\n"); s != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.tools, s, test.want)
		}
	}
	if got := readTools([]byte(`{"tools":[]}`)); got != nil {
		t.Errorf("tools of a request that is none: %v", got)
	}
}

func TestModel(t *testing.T) {
	for request, want := range map[string]string{
		`["models/gemini-2.5-pro",[]]`: "gemini-2.5-pro",
		`["gemini-x"]`:                 "gemini-x",
		`[1]`:                          "",
		`{}`:                           "",
		`["models/`:                    "",
		``:                             "",
	} {
		if got := readModel("/GenerateContent", []byte(request)); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}

// TestFrontEndError checks an error of the front end. Such an error has its own form, so only the path shows the
// protocol.
func TestFrontEndError(t *testing.T) {
	got := ""
	d := Protocol().New(protocol.NewOut(func(e stream.Event) { got += e.String() + "\n" }))
	body := `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}`
	if err := d.Frame(stream.Frame{Data: []byte(body)}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if want := "turn open turn=0\nerror turn=0 \"Quota exceeded\" id=\"RESOURCE_EXHAUSTED\"\nturn close"; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

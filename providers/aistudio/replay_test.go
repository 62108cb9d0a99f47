package aistudio

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"toolscope/providers/dialect"
)

// say is a history in lines: a message and its parts.
func say(messages []dialect.Message) string {
	var s strings.Builder
	for _, m := range messages {
		fmt.Fprintln(&s, m.Role)
		for _, p := range m.Parts {
			fmt.Fprintf(&s, "  %s", [...]string{"text", "reasoning", "call", "result", "other"}[p.Kind])
			for _, f := range []struct{ name, value string }{
				{"id", p.ID}, {"name", p.Name}, {"tool", p.Tool}, {"signature", p.Signature}, {"args", string(p.Args)}, {"text", string(p.Text)},
			} {
				if f.value != "" {
					fmt.Fprintf(&s, " %s=%s", f.name, f.value)
				}
			}
			if p.Kind == dialect.CallPart {
				fmt.Fprintf(&s, " (%s)", p.Form)
			}
			for _, f := range []struct {
				name string
				set  bool
			}{{"server", p.Server}, {"failed", p.Failed}, {"hidden", p.Hidden}} {
				if f.set {
					fmt.Fprintf(&s, " (%s)", f.name)
				}
			}
			fmt.Fprintln(&s)
		}
	}
	return s.String()
}

// request is a request with these contents.
func request(contents [][]byte) string {
	var list positional
	for _, c := range contents {
		list = append(list, c)
	}
	return string(positional{dialect.Raw(`"models/gemini-x"`), list.raw()}.raw())
}

const history = `["models/gemini-x",[
[[[null,"Weather in Oslo?"]],"user"],
[[[null,"Hm.",null,null,null,null,null,null,null,null,null,null,1],
  [null,"",null,null,null,null,null,null,null,null,null,null,null,null,"QkI="],
  [null,"I look.",null,null,null,null,null,null,null,null,null,null,null,null,"Q0M="],
  [null,null,null,null,null,null,null,null,null,null,["get_weather",[[["city",[null,null,"Oslo"]],["days",[null,null,null,null,null,[[[null,1.0]]]]]]],"c1"],null,null,null,"REQ="],
  [null,null,null,null,null,null,null,null,null,null,["now",[]]],
  [null,null,null,null,null,null,null,null,[1,"1+1"]],
  [null,null,null,null,null,null,null,null,null,[1,"2"]]],"model"],
[[[null,null,null,null,null,null,null,null,null,null,null,["get_weather",[[["output",[null,null,"4 \"C\""]]]],"c1"]],
  [null,null,null,null,null,null,null,null,null,null,null,["now",[[["error",[null,null,"no clock"]]]]]]],"user"]
],null,[null,["x"]],"!secret",[[[null,"Be brief."]],"user"]]`

const said = `user
  text text=Weather in Oslo?
assistant
  reasoning text=Hm.
  reasoning signature=QkI= (hidden)
  text signature=Q0M= text=I look.
  call id=c1 name=get_weather tool=function signature=REQ= args={"city":"Oslo","days":[1.0]} (arrays)
  call name=now tool=function args={} (arrays)
  call name=code_execution tool=server args=1+1 (string) (server)
  result name=code_execution text=2 (server)
user
  result id=c1 name=get_weather text=4 "C"
  result name=now text=no clock (failed)
`

// TestHistory: a history is read, written as it was, and written anew so that
// it reads the same.
func TestHistory(t *testing.T) {
	messages, err := decode([]byte(history))
	if got := say(messages); err != nil || got != "system\n  text text=Be brief.\n"+said {
		t.Fatalf("%v\ngot  %s\nwant %s", err, got, said)
	}
	contents := func(request string) any {
		var fields []any
		if err := json.Unmarshal([]byte(request), &fields); err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		return fields[1]
	}
	kept := request(encode(messages))
	if !reflect.DeepEqual(contents(kept), contents(history)) {
		t.Errorf("not written as it was:\n%s", kept)
	}
	for i := range messages {
		for j := range messages[i].Parts {
			messages[i].Parts[j].Raw = nil
		}
	}
	anew := request(encode(messages))
	if !reflect.DeepEqual(contents(anew), contents(history)) { // it is canonical
		t.Errorf("written anew:\n%s", anew)
	}
	again, err := decode([]byte(anew))
	if got := say(again); err != nil || got != said {
		t.Errorf("written anew: %v\n%s\ngot  %s\nwant %s", err, anew, got, said)
	}
}

// TestDecode: nulls left out, other indices, and what is odd.
func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, contents, want string }{
		{"nulls left out", `[[[[,,,,,,,,,,["f",[[["a",[,1]]]]],,,,"QQ=="],[,"x"]],"model"]]`,
			"assistant\n  call name=f tool=function signature=QQ== args={\"a\":1} (arrays)\n  text text=x\n"},
		{"older indices", `[[[[null,null,null,["f",[]]]],"model"],[[[null,null,null,null,["f",[[["output",[null,null,"x"]]]]]]]]]`,
			"assistant\n  call name=f tool=function args={} (arrays)\nuser\n  result name=f text=x\n"},
		{"arguments as JSON", `[[[[,,,,,,,,,,["f","{\"a\":1}"]],[,,,,,,,,,,["f",{"a":1}]],[,,,,,,,,,,["f"]]],"model"]]`,
			"assistant\n  call name=f tool=function args={\"a\":1} (string)\n  call name=f tool=function args={\"a\":1} (object)\n  call name=f tool=function (arrays)\n"},
		{"arguments that are no Struct", `[[[[,,,,,,,,,,["f",[[1,2],3]]]],"model"]]`,
			"assistant\n  call name=f tool=function args=[[1,2],3] (arrays)\n"},
		{"media", `[[[[,,["image/png","aGk="]],[]],"user"]]`, "user\n  other\n  other\n"},
		{"no parts", `[[null,"model"],[[],"user"]]`, "assistant\nuser\n"},
		{"nothing", ``, ""},
	} {
		request := `["models/gemini-x",` + test.contents + `]`
		messages, err := decode([]byte(request))
		if got := say(messages); got != test.want || err != nil {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
		}
		for _, content := range encode(messages) {
			if !json.Valid(content) {
				t.Errorf("%s: written as %s", test.name, content)
			}
		}
	}
	if messages, _ := decode([]byte(`{"contents":[]}`)); messages != nil {
		t.Errorf("of another protocol: %v", messages)
	}
}

// TestDecodeCut: of a request that breaks off what is whole is read, wherever it
// does.
func TestDecodeCut(t *testing.T) {
	for at := range len(history) {
		messages, err := decode([]byte(history)[:at])
		if err == nil {
			t.Errorf("cut at %d: no error", at)
		}
		got := strings.TrimPrefix(say(messages), "system\n  text text=Be brief.\n")
		if !strings.HasPrefix(said, got) {
			t.Errorf("cut at %d: %s", at, got)
		}
	}
}

// TestEncode: what other protocols' histories need.
func TestEncode(t *testing.T) {
	call := func(id, args string) dialect.Part {
		return dialect.Part{Kind: dialect.CallPart, ID: id, Name: "f", Tool: "function", Args: []byte(args)}
	}
	result := func(id, text string) dialect.Part {
		return dialect.Part{Kind: dialect.ResultPart, ID: id, Text: []byte(text)}
	}
	for _, test := range []struct {
		name string
		in   []dialect.Message
		want string
	}{
		{"results of one turn in one content, with the names of their calls", []dialect.Message{
			{Role: dialect.Assistant, Parts: []dialect.Part{call("a", `{}`), call("b", `{"x":1}`)}},
			{Role: dialect.User, Parts: []dialect.Part{result("a", "1")}}, {Role: dialect.User, Parts: []dialect.Part{result("b", "2")}},
		}, `[[[[,,,,,,,,,,["f",[],"a"]],[,,,,,,,,,,["f",[[["x",[,1]]]],"b"]]],"model"],` +
			`[[[,,,,,,,,,,,["f",[[["output",[,,"1"]]]],"a"]],[,,,,,,,,,,,["f",[[["output",[,,"2"]]]],"b"]]],"user"]]`},
		{"nothing of what cannot be written", []dialect.Message{
			{Role: dialect.System, Parts: []dialect.Part{{Text: []byte("S")}}},
			{Role: dialect.User, Parts: []dialect.Part{{Kind: dialect.OtherPart}, {Kind: dialect.ReasoningPart, Hidden: true}}},
			{Role: dialect.Assistant, Parts: []dialect.Part{{Text: []byte("x")}}},
		}, `[[[[,"x"]],"model"]]`},
		{"arguments that are no object as a string", []dialect.Message{{Role: dialect.Assistant, Parts: []dialect.Part{call("", `{"a":`)}}},
			`[[[[,,,,,,,,,,["f","{\"a\":"]]],"model"]]`},
	} {
		want := whole(parse(t, test.want))
		if got := dialect.Raw(request(encode(test.in))); string(got) != `["models/gemini-x",`+string(want)+`]` {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, want)
		}
	}
}

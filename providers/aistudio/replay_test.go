package aistudio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"toolscope/providers/dialect"
)

// randomText is the text of a random JSON value, without spaces: every kind,
// empty ones, lists of one in lists of one, and odd spellings.
func randomText(r *rand.Rand, depth int) string {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	kind := r.IntN(6)
	if depth == 0 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		return pick("null", "true", "false")
	case 1:
		return pick("0", "-0", "1", "42", "1.0", "1e3", "-1.50E+3", "9007199254740993", "1e400", "0.1")
	case 2:
		return randomString(r)
	case 3:
		return "[" + randomText(r, depth-1) + "]"
	case 4:
		items := make([]string, r.IntN(4))
		for i := range items {
			items[i] = randomText(r, depth-1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return randomObjectText(r, depth-1)
}

func randomObjectText(r *rand.Rand, depth int) string {
	members := make([]string, r.IntN(4))
	for i := range members {
		members[i] = randomString(r) + ":" + randomText(r, depth)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func randomString(r *rand.Rand) string {
	texts := []string{`""`, `"a"`, `"\u00e9\/\n"`, `"é😀"`, `"\ud83d\ude00"`, `"\ud800"`, `"]],\"model\"]"`, `"[null,1]"`, `"1"`, `"NaN"`, `"\\"`}
	return texts[r.IntN(len(texts))]
}

// checkIdentity: the STRUCT of an object is read as that object, to the byte,
// and without a remark on how it is written.
func checkIdentity(t *testing.T, object string) {
	t.Helper()
	wire, ok := appendStruct(nil, []byte(object))
	if !ok || !json.Valid(wire) {
		t.Fatalf("%s: %s, %v", object, wire, ok)
	}
	v := parse(t, string(wire))
	var r reading
	if err := r.read(v); err != nil || string(r.text) != object {
		t.Errorf("%s\nbecame %s\nand then %s %v", object, wire, r.text, err)
	}
	for _, n := range r.notes {
		if n.code != numAsFloat {
			t.Errorf("%s: %s: %s", object, wire, n.code)
		}
	}
	if got := lengthFirst(nil, v); string(got) != object {
		t.Errorf("%s: %s\nby length: %s", object, wire, got)
	}
}

func TestStruct(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{`{}`, `[]`},
		{`{"a":1}`, `[[["a",[null,1]]]]`},
		{`{"a":null,"b":true,"c":false,"d":"x"}`, `[[["a",[0]],["b",[null,null,null,1]],["c",[null,null,null,0]],["d",[null,null,"x"]]]]`},
		{`{"a":{},"b":[]}`, `[[["a",[null,null,null,null,[]]],["b",[null,null,null,null,null,[]]]]]`},
		{`{"a":{"b":1}}`, `[[["a",[null,null,null,null,[[["b",[null,1]]]]]]]]`},
		{`{"a":["x",[]]}`, `[[["a",[null,null,null,null,null,[[[null,null,"x"],[null,null,null,null,null,[]]]]]]]]`},
		{` { "a" : [ 1 ] } `, `[[["a",[null,null,null,null,null,[[[null,1]]]]]]]`},
		{`{"a":1,"a":2}`, `[[["a",[null,1]],["a",[null,2]]]]`},
		{`{"é\u00e9\"":"\/"}`, `[[["é\u00e9\"",[null,null,"\/"]]]]`},
	} {
		if got, ok := appendStruct(nil, []byte(test.object)); !ok || string(got) != test.want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", test.object, got, ok, test.want)
		}
	}
	for _, text := range []string{``, ` `, `[]`, `1`, `"{}"`, `{"a":`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`} {
		if got, ok := appendStruct(nil, []byte(text)); ok || len(got) > 0 {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestStructIdentity(t *testing.T) {
	for _, object := range []string{
		`{}`, `{"":{}}`, `{"a":[]}`, `{"a":[[]]}`, `{"a":[[[]]]}`, `{"a":[{}]}`, `{"a":[[{}]]}`, `{"a":[null]}`, `{"a":[[null]]}`, `{"a":["x"]}`, `{"a":[["x"]]}`,
		`{"a":[["x",1]]}`, `{"a":[[["x",1],["y",2]]]}`, `{"a":[{"k":[null,null]}]}`, `{"a":[0]}`, `{"a":[[0,0],[0]]}`, `{"a":[null,null,null,null,[]]}`,
		`{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, strings.Repeat(`{"a":`, 500) + `1` + strings.Repeat(`}`, 500),
	} {
		checkIdentity(t, object)
	}
	for seed := range uint64(5000) {
		checkIdentity(t, randomObjectText(rand.New(rand.NewPCG(seed, 2)), 6))
	}
}

// FuzzStruct: what is written is read as it was, whatever the object is.
func FuzzStruct(f *testing.F) {
	f.Add([]byte(`{"a":[[{"b":null}],"\u00e9",-1.0e5]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, ok := appendStruct(nil, text)
		var compact bytes.Buffer
		if json.Compact(&compact, text) != nil || !isObject(compact.Bytes()) {
			if ok && json.Valid(text) {
				t.Errorf("%s is no object", text)
			}
			return
		}
		if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) < 1000 { // the wire nests more than the text
			checkIdentity(t, compact.String())
		}
	})
}

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

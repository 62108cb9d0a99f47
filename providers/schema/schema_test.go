package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// trial is a streaming call with its checker and the findings so far.
type trial struct {
	timeline stream.Timeline
	call     *stream.Call
	watch    *CallChecker
	found    []stream.Finding
	cut      []int // number of argument bytes at the time of each finding; -1 once the arguments are final
}

func begin(set *Set, open stream.CallInfo) *trial {
	tr := &trial{}
	if open.Kind == "" {
		open.Kind = "function"
	}
	tr.timeline.Append(stream.Event{Kind: stream.TurnOpen}, stream.Event{Kind: stream.CallOpen, What: &open})
	tr.call = tr.timeline.Session().Turns[0].Calls[0]
	if tr.watch = set.NewChecker(tr.call); tr.watch != nil {
		tr.take(tr.watch.Extend())
	}
	return tr
}

func (tr *trial) take(found []stream.Finding) {
	for _, f := range found {
		tr.found = append(tr.found, f)
		n := len(tr.call.Args())
		if tr.call.Phase() != stream.PhaseOpen {
			n = -1
		}
		tr.cut = append(tr.cut, n)
	}
}

func (tr *trial) event(kind stream.EventKind, text string) {
	tr.timeline.Append(stream.Event{Kind: kind, Text: text, Slot: 0})
	if tr.watch == nil {
		return
	}
	switch kind {
	case stream.Seal:
		tr.take(tr.watch.Seal())
	case stream.Finish:
		tr.take(tr.watch.Finish())
	default:
		tr.take(tr.watch.Extend())
	}
}

// bytewise sends the arguments byte by byte, and then ends the call.
func (tr *trial) bytewise(args string) *trial {
	for i := range len(args) {
		tr.event(stream.Args, args[i:i+1])
	}
	tr.event(stream.Seal, "")
	tr.event(stream.Finish, "done")
	return tr
}

func (tr *trial) lines() string {
	s := ""
	for i, f := range tr.found {
		s += fmt.Sprintf("%d@%d %s %s\n", tr.cut[i], f.Offset, f.Code, f.Message)
	}
	return s
}

func one(schema string) *Set {
	return Compile([]protocol.Tool{{Name: "f", Kind: "function", Schema: json.Value(schema)}}, false)
}

func check(schema, args string) string {
	return begin(one(schema), stream.CallInfo{Name: "f"}).bytewise(args).lines()
}

const weather = `{"type":"object","properties":{"city":{"type":"string","maxLength":6},"days":{"type":"integer","minimum":1},
 "unit":{"enum":["celsius","fahrenheit","kelvin"]},"where":{"anyOf":[{"$ref":"#/$defs/point"},{"type":"null"}]},
 "tags":{"type":"array","maxItems":2,"items":{"type":"string"}}},
 "required":["city"],"additionalProperties":false,
 "$defs":{"point":{"type":"object","properties":{"lat":{"type":"number"},"lon":{"type":["number","null"]}},"required":["lat"],"additionalProperties":false}}}`

// TestFollow checks arguments and their findings. An expected finding begins with N@OFFSET. N is the number of
// bytes received so far, or -1 once the arguments are final. OFFSET is the offset of the byte to which the finding refers.
func TestFollow(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{`{"city":"Oslo","days":3,"unit":"kelvin","where":{"lat":1.5,"lon":null},"tags":["a","b"]}`, ""},
		{`{"city":"Oslo","days":1e2,"where":null}`, ""},
		{`{"city":"Oslo","days":1.0}`, ""},
		{`{"city":"Oslo","dayz":3}`, "20@19 SCHEMA_UNKNOWN_KEY the arguments: no allowed key begins with \"dayz\"; the schema allows city, days, tags, unit, where\n"},
		{`{"city":"Oslo","day":3}`, "20@19 SCHEMA_UNKNOWN_KEY the arguments: \"day\" is not an allowed key; the schema allows city, days, tags, unit, where\n"},
		{`{"city":"Oslo","days":"3"}`, "23@22 SCHEMA_WRONG_TYPE /days: a string, but the schema allows integer\n"},
		{`{"city":"Oslo","days":1.5}`, "26@22 SCHEMA_WRONG_TYPE /days: 1.5 is a number that is not an integer, but the schema allows integer\n"},
		{`{"city":"Oslo","days":0}`, "-1@22 SCHEMA_INVALID /days: 0, but the schema requires at least 1\n"},
		{`{"city":"Oslo","unit":"kilo"}`, "25@24 SCHEMA_ENUM /unit: no allowed value begins with \"ki\"; the schema allows \"celsius\", \"fahrenheit\", \"kelvin\"\n"},
		{`{"city":"Oslo","unit":"kel"}`, "27@26 SCHEMA_ENUM /unit: \"kel\" is not an allowed value; the schema allows \"celsius\", \"fahrenheit\", \"kelvin\"\n"},
		{`{"city":"Oslo","unit":7}`, "23@22 SCHEMA_ENUM /unit: a number, but the schema allows \"celsius\", \"fahrenheit\", \"kelvin\"\n"},
		{`{"city":"Trondheim"}`, "16@15 SCHEMA_TOO_MANY /city: the string continues, but the schema allows only 6 characters\n"},
		{`{"days":3}`, "-1@0 SCHEMA_INVALID the arguments: missing city, which the schema requires\n"},
		{`{}`, "-1@0 SCHEMA_INVALID the arguments: missing city, which the schema requires\n"},
		{``, "-1@-1 SCHEMA_INVALID the arguments: missing city, which the schema requires\n"},
		{`{"city":"Oslo","where":{"lat":"1"}}`, "31@30 SCHEMA_WRONG_TYPE /where/lat: a string, but the schema allows number\n"},
		{`{"city":"Oslo","where":{"lon":1}}`, "-1@23 SCHEMA_INVALID /where: missing lat, which the schema requires\n"},
		{`{"city":"Oslo","where":[]}`, "24@23 SCHEMA_WRONG_TYPE /where: an array, but the schema allows object or null\n"},
		{`{"city":"Oslo","tags":["a","b","c"]}`, "32@31 SCHEMA_TOO_MANY /tags: element 3 starts, but the schema allows only 2 elements\n"},
		{`["Oslo"]`, "1@0 SCHEMA_WRONG_TYPE the arguments: an array, but the schema allows object\n"},
		{`{"city":1,"city":"Oslo"}`, "9@8 SCHEMA_WRONG_TYPE /city: a number, but the schema allows string\n"},
		{`{"c\u0069ty":"Oslo"}`, ""},
		{`{"city":"Oslo"}{"x":1}`, ""},
		{`{"city":"Oslo","day`, ""},
		{`{"city": nix}`, "10@9 SCHEMA_WRONG_TYPE /city: null, but the schema allows string\n"},
		{`{"city":x}`, ""},
	} {
		if diff := cmp.Diff(test.want, check(weather, test.args)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.args, diff)
		}
	}
}

// TestSchemas checks the findings for schemas of all kinds.
func TestSchemas(t *testing.T) {
	for _, test := range []struct{ name, schema, args, want string }{
		{"pattern allows the key", `{"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}`, `{"x-a":1}`, ""},
		{"pattern types the value", `{"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}`, `{"x-a":"b"}`, "8@7 SCHEMA_WRONG_TYPE /x-a: a string, but the schema allows integer\n"},
		{"no pattern allows the key", `{"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"y":1}`, "4@1 SCHEMA_UNKNOWN_KEY the arguments: the key \"y\" is not allowed; the schema allows keys that match ^x-\n"},
		{"allOf", `{"allOf":[{"type":"object"},{"properties":{"a":{"type":"null"}}}]}`, `{"a":1}`, "6@5 SCHEMA_WRONG_TYPE /a: a number, but the schema allows null\n"},
		{"alternatives of a type", `{"properties":{"a":{"oneOf":[{"enum":["x"]},{"enum":["y"]}]}}}`, `{"a":"z"}`, "7@6 SCHEMA_ENUM /a: no allowed value begins with \"z\"; the schema allows \"x\", \"y\"\n"},
		{"alternatives both fit", `{"properties":{"a":{"oneOf":[{"type":"integer"},{"minimum":1}]}}}`, `{"a":2}`, "-1@5 SCHEMA_INVALID /a: matches alternatives 1 and 2; only one may match\n"},
		{"object alternatives are judged late", `{"anyOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, `{"k":"c"}`, "-1@0 SCHEMA_INVALID the arguments: matches none of the 2 alternatives\n"},
		{"the alternative that has the mark", `{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k","x"]},{"properties":{"k":{"const":"b"}},"required":["k","y"]}]}`, `{"k":"b"}`, "-1@0 SCHEMA_INVALID the arguments: missing y, which the schema requires\n"},
		{"const of a number", `{"properties":{"a":{"const":1}}}`, `{"a":1.00}`, ""},
		{"const of another number", `{"properties":{"a":{"const":1}}}`, `{"a":12}`, "8@5 SCHEMA_ENUM /a: 12 is not an allowed value; the schema allows 1\n"},
		{"tuple of draft 7", `{"properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`, `{"a":["x",1]}`, "11@10 SCHEMA_TOO_MANY /a: element 2 starts, but the schema allows only 1 element\n"},
		{"tuple of 2020", `{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":{"type":"null"}}}}`, `{"a":[1,1]}`, "7@6 SCHEMA_WRONG_TYPE /a/0: a number, but the schema allows string\n9@8 SCHEMA_WRONG_TYPE /a/1: a number, but the schema allows null\n"},
		{"unevaluated keys are judged late", `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, "-1@11 SCHEMA_INVALID /b: no value is allowed here\n"},
		{"recursive", `{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}},"additionalProperties":false}},"$ref":"#/$defs/n"}`, `{"next":{"next":{"v":"x"}}}`, "22@21 SCHEMA_WRONG_TYPE /next/next/v: a string, but the schema allows integer\n"},
		{"definitions", `{"definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n"}}}`, `{"a":true}`, "6@5 SCHEMA_WRONG_TYPE /a: a boolean, but the schema allows integer\n"},
		{"many references to definitions", `{"definitions":{"n":{"type":"integer"}},"properties":{` + numbered(`"p@":{"$ref":"#/definitions/n"}`, maxRefs+1) + `}}`, `{"p0":true}`, "7@6 SCHEMA_WRONG_TYPE /p0: a boolean, but the schema allows integer\n"},
		{"two lists of strings", `{"properties":{"a":{"enum":["x","y"],"allOf":[{"enum":["y","z"]}]}}}`, `{"a":"x"}`, "7@6 SCHEMA_ENUM /a: no allowed value begins with \"x\"; the schema allows \"y\"\n"},
		{"a string in two lists", `{"properties":{"a":{"enum":["x","y",1],"allOf":[{"enum":["y","z",1]}]}}}`, `{"a":"y"}`, ""},
		{"a number in neither list", `{"properties":{"a":{"enum":["x","y",1],"allOf":[{"enum":["y","z",1]}]}}}`, `{"a":3}`, "7@5 SCHEMA_ENUM /a: 3 is not an allowed value; the schema allows \"y\", 1\n"},
		{"a long path", `{"$ref":"#/$defs/a","$defs":{"a":{"type":["array","integer"],"items":{"$ref":"#/$defs/a"}}}}`, nested(10, `"x"`), "11@10 SCHEMA_WRONG_TYPE …/0/0/0/0/0/0/0/0: a string, but the schema allows integer or array\n"},
		{"one dynamic anchor", `{"$dynamicAnchor":"n","properties":{"v":{"type":"integer"},"next":{"$dynamicRef":"#n"}}}`, `{"v":"x"}`, "6@5 SCHEMA_WRONG_TYPE /v: a string, but the schema allows integer\n"},
		{"only a string", `{"enum":["ab","cd"]}`, `"az"`, "3@2 SCHEMA_ENUM the arguments: no allowed value begins with \"az\"; the schema allows \"ab\", \"cd\"\n"},
		{"many references to $defs", `{"$defs":{"n":{"type":"integer"}},"properties":{` + numbered(`"p@":{"$ref":"#/$defs/n"}`, maxRefs+1) + `}}`, `{"p0":true}`, "7@6 SCHEMA_WRONG_TYPE /p0: a boolean, but the schema allows integer\n"},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, "6@5 SCHEMA_WRONG_TYPE /a: a number, but the schema allows nothing\n"},
		{"too many keys", `{"maxProperties":1}`, `{"a":1,"a":2,"b":3}`, "16@13 SCHEMA_TOO_MANY the arguments: key 2 starts, but the schema allows only 1 key\n"},
		{"a pattern that looks ahead is not judged", `{"properties":{"a":{"pattern":"^(?!x)"}}}`, `{"a":"x"}`, ""},
		{"a pattern", `{"properties":{"a":{"pattern":"^x+$"}}}`, `{"a":"xyx"}`, "-1@5 SCHEMA_INVALID /a: \"xyx\" does not match ^x+$\n"},
		{"half a character in a list", `{"properties":{"a":{"enum":["😀"]}}}`, `{"a":"\ud83d\ude00"}`, ""},
		{"another character in a list", `{"properties":{"a":{"enum":["😀"]}}}`, `{"a":"\ud83d\ude01"}`, "18@6 SCHEMA_ENUM /a: no allowed value begins with \"😁\"; the schema allows \"😀\"\n"},
		{"many errors", `{"items":{"type":"string"}}`, `[1,2,3,4,5,6,7]`, "2@1 SCHEMA_WRONG_TYPE /0: a number, but the schema allows string\n4@3 SCHEMA_WRONG_TYPE /1: a number, but the schema allows string\n6@5 SCHEMA_WRONG_TYPE /2: a number, but the schema allows string\n8@7 SCHEMA_WRONG_TYPE /3: a number, but the schema allows string\n10@9 SCHEMA_WRONG_TYPE /4: a number, but the schema allows string\n-1@11 SCHEMA_INVALID /5: a value of type number, but the schema allows string\n-1@13 SCHEMA_INVALID /6: a value of type number, but the schema allows string\n"},
		{"more errors", `{"items":{"minimum":9}}`, `[1,2,3,4,5,6,7]`, "-1@1 SCHEMA_INVALID /0: 1, but the schema requires at least 9\n-1@3 SCHEMA_INVALID /1: 2, but the schema requires at least 9\n-1@5 SCHEMA_INVALID /2: 3, but the schema requires at least 9\n-1@7 SCHEMA_INVALID /3: 4, but the schema requires at least 9\n-1@9 SCHEMA_INVALID /4: 5, but the schema requires at least 9; and 2 more\n"},
		{"many long numbers", `{"items":{"type":"number"}}`, "[" + repeated("1e1", 2500) + "]", "-1@-1 SCHEMA_UNCHECKED validation takes too long: there are too many ways to match the schema\n"},
		{"fewer long numbers", `{"items":{"type":"number"}}`, "[" + repeated("1e1", 1500) + "]", ""},
		{"a big integer", `{"properties":{"a":{"const":9007199254740993}}}`, `{"a":9007199254740992}`, "22@5 SCHEMA_ENUM /a: 9007199254740992 is not an allowed value; the schema allows 9007199254740993\n"},
	} {
		if diff := cmp.Diff(test.want, check(test.schema, test.args)); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", test.name, test.args, diff)
		}
	}
}

// TestUnusable checks that a schema that can't be used leads to an info finding that contains the reason.
func TestUnusable(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"remote", `{"$ref":"https://example.com/s.json"}`, "the schema refers to https://example.com/s.json, and toolscope never fetches schemas"},
		{"remote in a keyword of a newer draft", `{"$dynamicRef":"https://example.com/s.json"}`, "the schema refers to https://example.com/s.json, and toolscope never fetches schemas"},
		{"two dynamic anchors", `{"$dynamicAnchor":"n","$defs":{"a":{"$dynamicAnchor":"m"}}}`, "the schema's dynamic references depend on the path that leads to them"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "the schema refers to file:///etc/passwd, and toolscope never fetches schemas"},
		{"beside it", `{"$ref":"other.json"}`, "the schema refers to https://toolscope.invalid/other.json, and toolscope never fetches schemas"},
		{"no such place", `{"$ref":"#/$defs/x"}`, `json-pointer in "#/$defs/x" not found`},
		{"of its own draft", `{"$schema":"https://example.com/draft","type":"object"}`, "the schema refers to https://example.com/draft, and toolscope never fetches schemas"},
		{"no schema", `{"type":"strnig"}`, "the schema is not a JSON Schema at /type: matches none of the 2 alternatives"},
		{"no object", `[1]`, "the schema is not a JSON Schema: a value of type array, but the schema allows boolean or object"},
		{"round in a circle", `{"allOf":[{"$ref":"#"}]}`, "the schema's references form a cycle or are nested too deeply"},
		{"large", `{"description":"` + strings.Repeat("x", maxBytes) + `"}`, "the schema is larger than 256 KiB"},
		{"many", `{"anyOf":[` + strings.Repeat("{},", maxSchemas) + `{}]}`, "the schema has more than 2,000 objects"},
		{"deep", strings.Repeat(`{"items":`, 70) + "{}" + strings.Repeat("}", 70), "the schema is nested more than 64 levels deep"},
		{"large number", `{"minimum":1e999999}`, "the schema has a number that is too large to calculate with"},
		{"a guess would be wrong", `{"not":{"pattern":"(?!a)"}}`, "the schema has a pattern that toolscope can't check exactly: the pattern uses lookahead or lookbehind, or is too large"},
		{"an element would be guessed", `{"contains":{"pattern":"(?!a)"}}`, "the schema has a pattern that toolscope can't check exactly: the pattern uses lookahead or lookbehind, or is too large"},
		{"a key would be guessed", `{"patternProperties":{"(?!a)":{}},"additionalProperties":false}`, "the schema has a pattern that toolscope can't check exactly: the pattern uses lookahead or lookbehind, or is too large"},
	} {
		got := check(test.schema, `{"a":1}`)
		if want := "0@-1 SCHEMA_UNCHECKED this tool's schema can't be used: " + test.want + "\n"; got != want {
			t.Errorf("%s: got %q, want %q", test.name, got, want)
		}
	}
}

// TestNames checks that an unknown tool is reported when its name arrives, provided that all tools are known.
func TestNames(t *testing.T) {
	tools := []protocol.Tool{{Name: "get_weather", Kind: "function"}, {Name: "read", Kind: "custom"}, {Name: "web_search", Kind: "server"}}
	for _, test := range []struct{ name, want string }{
		{"get_weather", ""},
		{"web_search", ""},
		{"Read", `the request declares no tool "Read": did the model mean "read"?`},
		{"getWeather", `the request declares no tool "getWeather": did the model mean "get_weather"?`},
		{"spread", `the request declares no tool "spread", only get_weather, read, web_search`},
		{"functions.get_weather", `the request declares no tool "functions.get_weather": did the model mean "get_weather"?`},
		{"delete_everything", `the request declares no tool "delete_everything", only get_weather, read, web_search`},
	} {
		got := ""
		for _, f := range begin(Compile(tools, false), stream.CallInfo{Name: test.name}).found {
			got += f.Message
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	twice := append(slices.Clone(tools), protocol.Tool{Name: "read", Namespace: "mcp__fs", Kind: "function"})
	if got, want := begin(Compile(twice, false), stream.CallInfo{Name: "x"}).lines(), `the request declares no tool "x", only get_weather, read, web_search`; !strings.HasSuffix(got, want+"\n") {
		t.Errorf("a name in two namespaces: got %q, want %q", got, want)
	}
	for what, d := range map[string]stream.CallInfo{
		"run by the provider": {Name: "x", RunByProvider: true, Kind: "server"},
		"of another kind":     {Name: "x", Kind: "computer"},
		"thrown away":         {Name: "x", Discarded: true},
	} {
		if tr := begin(Compile(tools, false), d); tr.watch != nil {
			t.Errorf("a call %s is followed", what)
		}
	}
	for _, more := range []protocol.Tool{{Kind: "mcp"}, {Name: "github", Kind: "mcp"}, {Kind: "function"}} {
		if got := begin(Compile(append(slices.Clone(tools), more), false), stream.CallInfo{Name: "x"}).lines(); got != "" {
			t.Errorf("with a tool %+v, which stands for unknown names: %s", more, got)
		}
	}
	if Compile(nil, false) != nil {
		t.Error("a Set of no tools")
	}
}

// TestLateName checks that arguments that arrive before the name are checked when the name arrives.
func TestLateName(t *testing.T) {
	tr := begin(one(weather), stream.CallInfo{})
	tr.event(stream.Args, `{"days":"x`)
	if len(tr.found) > 0 {
		t.Error(tr.lines())
	}
	tr.timeline.Append(stream.Event{Kind: stream.CallMeta, What: &stream.CallInfo{Name: "f"}})
	tr.take(tr.watch.Extend())
	if got, want := tr.lines(), "10@8 SCHEMA_WRONG_TYPE /days: a string, but the schema allows integer\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestRewrite checks that arguments are checked again when they are replaced, and that earlier findings stay.
func TestRewrite(t *testing.T) {
	tr := begin(one(weather), stream.CallInfo{Name: "f"})
	tr.event(stream.Rewrite, `{"days":"x`)
	tr.event(stream.Rewrite, `{"days":"xy"`)
	tr.event(stream.Rewrite, `{"days":1,"unit":5`)
	want := "10@8 SCHEMA_WRONG_TYPE /days: a string, but the schema allows integer\n" +
		"18@17 SCHEMA_ENUM /unit: a number, but the schema allows \"celsius\", \"fahrenheit\", \"kelvin\"\n"
	if diff := cmp.Diff(want, tr.lines()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFreeform checks that free-text arguments are not checked against a schema.
func TestFreeform(t *testing.T) {
	set := Compile([]protocol.Tool{{Name: "f", Kind: "custom", Schema: json.Value(weather)}}, false)
	tr := begin(set, stream.CallInfo{Name: "f", Kind: "custom", Freeform: true}).bytewise("*** Begin")
	if len(tr.found) > 0 {
		t.Error(tr.lines())
	}
}

// TestNamespaces checks the findings for a call whose namespace, name or kind differs from the declaration of
// its tool.
func TestNamespaces(t *testing.T) {
	tools := []protocol.Tool{
		{Name: "fetch", Namespace: "mcp__web", Kind: "function"}, {Name: "look_up", Kind: "function"},
		{Name: "both", Kind: "function"}, {Name: "both", Namespace: "mcp__web", Kind: "function"},
		{Name: "patch", Kind: "custom"}, {Name: "two", Kind: "custom"}, {Name: "two", Kind: "function"},
		{Name: "x:1", Kind: "function"}, {Name: "search", Kind: "server"},
	}
	for _, c := range []struct{ space, name, kind, want string }{
		{"mcp__web", "fetch", "function", ""},
		{"", "fetch", "function", "NAMESPACE_MISSING"},
		{"", "mcp__web__fetch", "function", "NAMESPACE_MISSING"},
		{"", "mcp__web.fetch", "function", "NAMESPACE_MISSING"},
		{"", "mcp__web__fetched", "function", "NO_SUCH_TOOL"},
		{"", "both", "function", ""},
		{"", "functions.look_up:0", "function", "NAME_MARKUP"},
		{"", "look_up:12", "function", "NAME_MARKUP"},
		{"", "look_up:a", "function", "NO_SUCH_TOOL"},
		{"", "look_upboth", "function", "NAME_GLUED"},
		{"", "bothbothtwo", "function", "NAME_GLUED"},
		{"", "look_up_both", "function", "NO_SUCH_TOOL"},
		{"", "look_uplook", "function", "NO_SUCH_TOOL"},
		{"", "x:1", "function", ""},
		{"", "patch", "custom", ""},
		{"", "patch", "function", "KIND_CHANGED"},
		{"", "look_up", "custom", "KIND_CHANGED"},
		{"", "two", "function", ""},
		{"", "two", "custom", ""},
		{"", "search", "function", ""},
	} {
		tr := begin(Compile(tools, false), stream.CallInfo{Namespace: c.space, Name: c.name, Kind: c.kind}).bytewise("{}")
		got := ""
		for _, f := range tr.found {
			got += f.Code
		}
		if got != c.want {
			t.Errorf("%s %s %s: %q, want %q", c.space, c.name, c.kind, got, c.want)
		}
	}
}

// TestEncodedMember checks that a list or object in a string is reported as double-encoded if the schema requires a
// list or object.
func TestEncodedMember(t *testing.T) {
	const schema = `{"properties":{"files":{"type":"array"},"at":{"type":"object"},"note":{"type":"string"}}}`
	for args, want := range map[string]string{
		`{"files":"[\"a\"]"}`:             "SCHEMA_WRONG_TYPE ARGS_DOUBLE@9 ",
		`{"note":"[1]","at":"{\"x\":1}"}`: "SCHEMA_WRONG_TYPE ARGS_DOUBLE@19 ",
		`{"note":"[1]"}`:                  "",
		`{"files":"a.txt"}`:               "SCHEMA_WRONG_TYPE ",
		`{"files":"[a]"}`:                 "SCHEMA_WRONG_TYPE ",
		`{"files":"1"}`:                   "SCHEMA_WRONG_TYPE ",
	} {
		got := ""
		for _, f := range begin(one(schema), stream.CallInfo{Name: "f"}).bytewise(args).found {
			if got += f.Code; f.Base() == stream.ArgsDouble {
				got += fmt.Sprint("@", f.Offset)
			}
			got += " "
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// TestCutByLimit checks a call that a limit cut off before its arguments. It must get no findings about missing
// fields.
func TestCutByLimit(t *testing.T) {
	tr := begin(one(weather), stream.CallInfo{Name: "f"})
	tr.event(stream.Seal, "")
	tr.timeline.Append(stream.Event{Kind: stream.Finish, Slot: stream.AllChoices, Code: stream.FinishCut, Text: "length"})
	tr.take(tr.watch.Finish())
	if len(tr.found) > 0 {
		t.Error(tr.lines())
	}
}

func TestOutline(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{weather, "city string, days integer?, tags array?, unit celsius|fahrenheit|kelvin?, where object|null?"},
		{`{"allOf":[{"required":["x"]},{"properties":{"y":{}}}]}`, "x, y?"},
		{`{}`, "anything"},
		{`{"type":"object"}`, "object"},
		{`{"$ref":"https://example.com"}`, ""},
	} {
		set := one(test.schema)
		if before := set.Outline("", "f"); before != "" {
			t.Errorf("before it was called: %q", before)
		}
		begin(set, stream.CallInfo{Name: "f"})
		if got := set.Outline("", "f"); got != test.want || set.Outline("", "g") != "" {
			t.Errorf("%s: got %q, want %q", test.schema, got, test.want)
		}
	}
}

// TestValueOf checks that valueOf reads the same values as jsonschema.UnmarshalJSON.
func TestValueOf(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, ` [true, false, null, -1.50e+3, 12345678901234567890] `, `"a\n\"\u00e9\ud83d\ude00 \ud800 é😀"`,
		`{"a":{"b":[{"c":1},{}],"":""},"a b\t":[[]],"n":0,"n":"the last one counts","\u0061":2}`, `{"a":}`, `{"a":1`, `[1 2]`, `tru`, ``, `{} {}`,
	} {
		want, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		s := json.Scan([]byte(text))
		got := valueOf(&s)
		if (s.End() == nil) != (err == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v (%v), want %#v (%v)", text, got, s.End(), want, err)
		}
	}
}

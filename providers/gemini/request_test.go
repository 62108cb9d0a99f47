package gemini

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModel(t *testing.T) {
	for _, test := range []struct{ path, request, want string }{
		{"/v1beta/models/gemini-x:streamGenerateContent", ``, "gemini-x"},
		{"/v1/projects/p/locations/l/publishers/google/models/gemini-x:generateContent", `{}`, "gemini-x"},
		{"/v1beta/tunedModels/mine-1:generateContent", `{}`, "mine-1"},
		{"/v1internal:streamGenerateContent", `{"model":"gemini-x","request":{"contents":[]}}`, "gemini-x"},
		{"/elsewhere", `{"contents":[]}`, ""},
		{"", ``, ""},
	} {
		if got := readModel(test.path, []byte(test.request)); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.path, test.request, got, test.want)
		}
	}
}

func TestTools(t *testing.T) {
	const declared = `{"contents":[],"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT"}},` +
		`{"name":"b","parametersJsonSchema":{"type":["object"],"x":1}},{"name":"c"}]},{"googleSearch":{}},{"codeExecution":{}},` +
		`{"function_declarations":[{"name":"d","parameters_json_schema":{}}]},{"brandNew":{}},7]}`
	want := [][3]string{
		{"a", "function", `{"type":"object"}`}, {"b", "function", `{"type":["object"],"x":1}`}, {"c", "function", ""},
		{"google_search", "server", ""}, {"code_execution", "server", ""}, {"d", "function", "{}"},
	}
	for _, request := range []string{declared, `{"model":"m","request":` + declared + `}`} {
		var got [][3]string
		for _, tool := range readTools([]byte(request)) {
			got = append(got, [3]string{tool.Name, tool.Kind, string(tool.Schema)})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	for _, request := range []string{``, `7`, `[]`, `{}`, `{"tools":{}}`, `{"tools":[{"functionDeclarations":{}}]}`, `{"tools":[{"functionDeclarations"`} {
		if got := readTools([]byte(request)); len(got) != 0 {
			t.Errorf("%s: %v", request, got)
		}
	}
}

func TestSchema(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"types in any case", `{"type":"STRING"}`, `{"type":"string"}`},
		{"a type as a number", `{"type":5,"items":{"type":3}}`, `{"items":{"type":"integer"},"type":"array"}`},
		{"no type", `{"type":"TYPE_UNSPECIFIED","description":"d"}`, `{"description":"d"}`},
		{"a list of types", `{"type":["STRING","null"]}`, `{"type":["string","null"]}`},
		{"nullable", `{"nullable":true,"type":"INTEGER"}`, `{"type":["integer","null"]}`},
		{"nullable enum", `{"type":"STRING","format":"enum","enum":["a","b"],"nullable":true}`, `{"type":["string","null"],"enum":["a","b",null]}`},
		{"nullable union", `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}],"nullable":true}`, `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}`},
		{"formats", `{"type":"STRING","format":"date-time"}`, `{"format":"date-time","type":"string"}`},
		{"formats of numbers", `{"type":"INTEGER","format":"int64","minimum":1,"maximum":2.5}`, `{"minimum":1,"maximum":2.5,"type":"integer"}`},
		{"numbers as strings", `{"type":"ARRAY","minItems":"1","max_items":"3","items":{"type":"STRING","maxLength":"9"}}`,
			`{"minItems":1,"maxItems":3,"items":{"maxLength":9,"type":"string"},"type":"array"}`},
		{"no numbers", `{"minItems":"x","minimum":null}`, `{}`},
		{"an object", `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b \"q\"":{"type":"OBJECT","properties":{}}},"required":["a"],"propertyOrdering":["a","b"]}`,
			`{"properties":{"a":{"type":"string"},"b \"q\"":{"properties":{},"type":"object"}},"required":["a"],"type":"object"}`},
		{"additional properties", `{"additionalProperties":false,"additional_properties":{"type":"BOOLEAN"}}`, ``},
		{"examples", `{"type":"STRING","example":"x","default":"y","title":"t","pattern":"^x$"}`, `{"examples":["x"],"default":"y","title":"t","pattern":"^x$","type":"string"}`},
		{"references", `{"ref":"#/$defs/n","defs":{"n":{"type":"OBJECT"}}}`, `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object"}}}`},
		{"what JSON Schema does not allow", `{"title":1,"required":"a","items":"x","brandNew":1,"properties":null}`, `{"items":true,"properties":{}}`},
		{"no schema", `7`, `true`},
	} {
		got := string(appendSchema(nil, []byte(test.in), 0))
		if !json.Valid([]byte(got)) || test.want != "" && got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSchemaDepth(t *testing.T) {
	deep := ""
	for range 5000 {
		deep += `{"items":`
	}
	if got := appendSchema(nil, []byte(deep+"{}"), 0); !json.Valid(got) || len(got) > 2000 {
		t.Errorf("%d bytes: %.50s", len(got), got)
	}
}

func TestAttemptName(t *testing.T) {
	for message, want := range map[string]string{
		"Malformed function call: print(default_api.get_weather(city='Oslo')": "get_weather",
		"Malformed function call: default_api.get_weather(":                   "get_weather",
		"Malformed function call: call:default_api:files.read{path:":          "files.read",
		"Malformed function call: print(get_weather(city='Oslo'))":            "get_weather",
		"Malformed function call: get_weather":                                "",
		"Malformed function call(s) (see the docs)":                           "",
		"Malformed function call: {city: (1)}":                                "",
		"":                                                                    "",
	} {
		if got := attemptName(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestBigInteger(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":9007199254740992}`: -1, `{"a":9007199254740993}`: 5, `[-9007199254740993]`: 1, `{"a":1e300,"b":12345678901234567890.0}`: -1,
		`{"a":"9007199254740993\"9007199254740993"}`: -1, `{"a":"\\","b":99999999999999999}`: 14, `"9007199254740993`: -1, ``: -1,
	} {
		at, number := bigInteger([]byte(text))
		if number == nil {
			at = -1
		}
		if at != want {
			t.Errorf("%s: %d, want %d", text, at, want)
		}
	}
}

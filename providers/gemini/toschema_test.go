package gemini

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream/json"
)

// TestGoogleSchema checks that each JSON Schema becomes a Google Schema without the keywords that Google lacks.
func TestGoogleSchema(t *testing.T) {
	for _, test := range []struct{ schema, want string }{ // schema of the property named p
		{`{"type":"string","minLength":1,"maxLength":5,"pattern":"a*","format":"uri","description":"D","title":"T","default":"a"}`,
			`{"type":"STRING","minLength":1,"maxLength":5,"pattern":"a*","description":"D","title":"T","default":"a"}`},
		{`{"type":"string","format":"date-time"}`, `{"type":"STRING","format":"date-time"}`},
		{`{"type":"integer","format":"int64","minimum":0,"exclusiveMaximum":9,"multipleOf":3}`, `{"type":"INTEGER","format":"int64","minimum":0}`},
		{`{"type":"number","format":"int32"}`, `{"type":"NUMBER"}`},
		{`{"type":"boolean","minLength":3}`, `{"type":"BOOLEAN"}`},
		{`{"enum":["a","b"]}`, `{"type":"STRING","format":"enum","enum":["a","b"]}`},
		{`{"type":"string","enum":["a","",7]}`, `{"type":"STRING","format":"enum","enum":["a"]}`},
		{`{"type":"integer","enum":[1,2]}`, `{"type":"INTEGER"}`},
		{`{"const":"only"}`, `{"type":"STRING","format":"enum","enum":["only"]}`},
		{`{"type":["string","null"]}`, `{"type":"STRING","nullable":true}`},
		{`{"type":["string","integer"]}`, `{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`},
		{`{"type":["array","null","integer"],"items":{"type":"string"},"description":"D"}`,
			`{"anyOf":[{"type":"ARRAY","nullable":true,"items":{"type":"STRING"},"description":"D"},{"type":"INTEGER","nullable":true,"description":"D"}]}`},
		{`{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a","gone"],"additionalProperties":false}}`,
			`{"type":"ARRAY","items":{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}},"required":["a"]}}`},
		{`{"type":"array","minItems":1,"uniqueItems":true}`, `{"type":"ARRAY","minItems":1,"items":{"type":"STRING"}}`},
		{`{"type":"object"}`, `{"type":"OBJECT"}`},
		{`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, `{"type":"OBJECT"}`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}],"description":"D"}`, `{"type":"STRING","nullable":true,"description":"D"}`},
		{`{"description":"D","oneOf":[{"type":"string"},{"type":"null"},{"type":"integer"}]}`,
			`{"anyOf":[{"type":"STRING","nullable":true},{"type":"INTEGER","nullable":true}]}`},
		{`{"allOf":[{"type":"string"},{"description":"D"}]}`, `{"type":"STRING","description":"D"}`},
		{`{"$ref":"#/$defs/point","description":"mine"}`, `{"type":"OBJECT","description":"mine","properties":{"x":{"type":"NUMBER"}}}`},
		{`{"$ref":"#/$defs/a~1b"}`, `{"type":"BOOLEAN"}`},
		{`{"$ref":"#/$defs/tree"}`, `{"type":"OBJECT","properties":{"next":{}}}`},
		{`{"$ref":"#/nowhere"}`, `{}`},
		{`{"$ref":"https://example.com/schema"}`, `{}`},
		{`true`, `{}`}, {`{}`, `{}`}, {`7`, `{}`},
	} {
		schema := `{"type":"object","properties":{"p":` + test.schema + `},
			"$defs":{"point":{"type":"object","description":"theirs","properties":{"x":{"type":"number"}}},"a/b":{"type":"boolean"},
			"tree":{"type":"object","properties":{"next":{"$ref":"#/$defs/tree"}}}}}`
		got := googleSchema(json.Value(schema))
		var whole, want any
		if err := stdjson.Unmarshal(got, &whole); err != nil {
			t.Fatalf("%s: %v in %s", test.schema, err, got)
		}
		if err := stdjson.Unmarshal([]byte(`{"type":"OBJECT","properties":{"p":`+test.want+`}}`), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, whole); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.schema, diff)
		}
	}
	for _, none := range []string{`{"type":"object","properties":{}}`, `{"type":"object"}`, `{}`} {
		if got := googleSchema(json.Value(none)); got != nil {
			t.Errorf("no parameters: %s", got)
		}
	}
}

// TestGoogleSchemaOfMuch checks that endless nesting and references that expand beyond the limits result in a small
// schema.
func TestGoogleSchemaOfMuch(t *testing.T) {
	var defs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&defs, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	bomb := `{"properties":{"p":{"$ref":"#/$defs/d0"}},"$defs":{` + defs.String() + `"d40":{"type":"string"}}}`
	deep := `{"properties":{"p":` + strings.Repeat(`{"type":"array","items":`, 5000) + `{}` + strings.Repeat(`}`, 5000) + `}}`
	for name, schema := range map[string]string{"bomb": bomb, "deep": deep} {
		got := googleSchema(json.Value(schema))
		if !stdjson.Valid(got) || len(got) > 1<<20 {
			t.Errorf("%s: %d bytes, JSON: %v", name, len(got), stdjson.Valid(got))
		}
	}
}

// TestGoogleSchemaReadsBack checks that a translated schema has the same meaning to the function that reads requests.
func TestGoogleSchemaReadsBack(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":["integer","null"]},"l":{"type":"array","items":{"type":"string"}}},"required":["l"]}`
	var got, want any
	if err := stdjson.Unmarshal(appendSchema(nil, googleSchema(json.Value(schema)), 0), &got); err != nil {
		t.Fatal(err)
	}
	if err := stdjson.Unmarshal([]byte(schema), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

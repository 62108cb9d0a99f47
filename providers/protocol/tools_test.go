package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream/json"
)

func TestFunctionTools(t *testing.T) {
	got := FunctionTools([]byte(`{"model":"m","tools":[
		{"type":"function","function":{"name":"a","description":"A","parameters":{ "type": "object" }}},
		{"function":{"name":"b"}},
		{"type":"function","function":{"name":"c","parameters":null}},
		{"type":"custom","custom":{"name":"d"}}, {"type":"function","function":{}}, 7
	]}`))
	want := []Tool{
		{Name: "a", Kind: "function", Description: "A", Schema: json.Value(`{ "type": "object" }`)},
		{Name: "b", Kind: "function"},
		{Name: "c", Kind: "function"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, request := range []string{"", "[", `{"tools":{"a":1}}`, `{"tools":null}`} {
		if got := FunctionTools([]byte(request)); got != nil {
			t.Errorf("%s: %v", request, got)
		}
	}
}

package geminiinteractions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequest(t *testing.T) {
	request := []byte(`{"model":"gemini-x","input":"hi","tools":[{"type":"function","name":"f","parameters":{"type":"object"}},` +
		`{"type":"google_search"},{"type":"mcp_server","name":"docs","url":"x"},{"type":"function","name":"g"},{},7]}`)
	want := [][3]string{{"f", "function", `{"type":"object"}`}, {"google_search", "server", ""}, {"g", "function", ""}}
	var got [][3]string
	for _, tool := range readTools(request) {
		got = append(got, [3]string{tool.Name, tool.Kind, string(tool.Schema)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for request, want := range map[string]string{string(request): "gemini-x", `{"agent":"deep"}`: "deep", ``: "", `[]`: ""} {
		if got := readModel("/v1beta/interactions", []byte(request)); got != want {
			t.Errorf("%s: model %q, want %q", request, got, want)
		}
	}
}

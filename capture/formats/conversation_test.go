package formats

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/capture"

	"toolscope/stream/json"
)

// TestNoTalks checks that neither JSON without calls nor the list of alternatives in a response is a conversation.
func TestNoTalks(t *testing.T) {
	for _, text := range []string{
		`{"team":[{"role":"admin","content":"x"},{"role":"user","content":"y"}],"openapi":{"tool_calls":{"type":"array"}}}`,
		`{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}`,
		`[{"role":"assistant","finish_reason":"stop","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]`,
		`{"object":"response","output":[{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`,
		`[{"type":"function_call","name":"f","arguments":{}},{"type":"function_call_output"},{"role":"user","content":"x"}]`,
		`[{"Agent":{"content":[{"ToolUse":{"name":"f"}}]}},{"User":{"content":[]}}]`,
		`{"tools":[{"type":"tool","content":"a"},{"type":"system","content":"b"}]}`,
		`[{"role":"user","content":"x"},{"name":"a"},{"name":"b"},{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"n"}]}]`,
	} {
		if found := findTalks([]byte(text)); len(found) > 0 {
			t.Errorf("%s is read as %+v", text, found)
		}
		if s := conversations.Sniff([]byte(text), true); s.Is == capture.Yes {
			t.Errorf("%s is taken for a conversation", text)
		}
	}
}

// TestTalkInText checks that a conversation inside a string is found with the correct form and path, and that other
// messages are not taken for one.
func TestTalkInText(t *testing.T) {
	for _, test := range []struct{ form, talk string }{
		{"OpenAI messages", `[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}]`},
		{responseItems, `[{"role":"user","content":"go"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]`},
		{responseItems, `[{"role":"user","content":"go"},{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}]`},
		{responseItems, `[{"role":"user","content":"go"},{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}]`},
		{"", `[{"role":"user","content":"go"},{"type":"shell_call","call_id":"c"}]`},
		{"Zed thread", `[{"Agent":{"content":[{"ToolUse":{"id":"c","name":"f","raw_input":"{}","input":{}}}]}}]`},
		{"", `[{"role":"user","content":"what does a function_call do?"},{"role":"assistant","content":"a ToolUse"}]`},
		{"", `[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]`}, // the output of a response
	} {
		text := `{"rows":[{"blob":` + string(json.AppendQuoted(nil, []byte(test.talk))) + `}]}`
		found := findTalks([]byte(text))
		if test.form == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].path != ".rows[0].blob › text" || found[0].form != test.form {
			t.Errorf("%q: %+v", test.form, found)
		}
	}
}

// TestInputAndOutput checks that an input with tools and an output become one exchange, wherever they are, and even if
// they are strings.
func TestInputAndOutput(t *testing.T) {
	input := `{"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"f"}}]}`
	output := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	checkInputAndOutput(t, input, output)
	checkInputAndOutput(t, string(json.AppendQuoted(nil, []byte(input))), string(json.AppendQuoted(nil, []byte(output))))
}

func checkInputAndOutput(t *testing.T, input, output string) {
	text := `[{"id":"g","model":"m","input":` + input + `,
"output":` + output + `}]`
	lines := strings.Join(read(conversations, []byte(text), len(text)), "\n")
	for _, want := range []string{"[JSON › [0] › message log]", `"tools":[{"type":"function"`, `"choices":[{"index":0,"message":{"role":"assistant"`} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, lines)
		}
	}
}

// TestLongTextIsALog checks that a text that begins like a conversation but contains none is read as a log.
func TestLongTextIsALog(t *testing.T) {
	text := `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]` + "\n"
	text += `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n"
	if lines := strings.Join(read(conversations, []byte(text), 50), "\n"); !strings.Contains(lines, "chat.completion.chunk") {
		t.Error(lines)
	}
}

// TestNoTalksInGo checks that no JSON file in the Go distribution is detected as a conversation.
func TestNoTalksInGo(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, n := strings.TrimSpace(string(out)), 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".json") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		n++
		for _, f := range []capture.Format{conversations, messageLines} {
			if s := f.Sniff(bytes.Clone(data[:min(len(data), 64<<10)]), true); s.Is == capture.Yes {
				t.Errorf("%s is taken for a %s", path, f.Name)
			}
		}
		if found := findTalks(data); len(found) > 0 {
			t.Errorf("%s has %d conversations", path, len(found))
		}
		return nil
	})
	if n == 0 {
		t.Skip("the Go distribution has no JSON files here")
	}
}

package bedrock

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

func TestSniff(t *testing.T) {
	for _, test := range []struct {
		event, data, path string
		points            int
	}{
		{"messageStart", `{"role":"assistant"}`, "", protocol.Sure},
		{"", `{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a"}}}`, "", protocol.Sure},
		{"", `{"metadata":{"usage":{"inputTokens":1},"metrics":{"latencyMs":9}}}`, "", protocol.Sure},
		{"", `{"metadata":{"usage":{"inputTokens":1}}}`, "", 0}, // other protocols have a field with this name
		{"metadata", `{"usage":{"inputTokens":1}}`, "", protocol.Sure},
		{"metadata", `{"run_id":"1"}`, "", 0}, // LangGraph has an event with this name
		{"", `{"metadata":{"usage":7}}`, "", 0},
		{"", `{"output":{"message":{}},"stopReason":"end_turn"}`, "", protocol.Sure},
		{"", `{"output":{"message":{}}}`, "", 0},
		{"throttlingException", `{"message":"no"}`, "", protocol.Likely},
		{"", `{"message":"no"}`, "/model/m/converse-stream", protocol.Strong},
		{"", ``, "/model/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.m/converse", protocol.Strong},
		{"", `{"generation":"a"}`, "/model/m/invoke-with-response-stream", protocol.Weak},
		{"", ``, "/model/m/other", 0},
		{"", ``, "/models/m/converse", 0},
		{"", `{"contentBlockDelta":`, "", 0},
	} {
		got := sniffFrame(protocol.SniffInput{Event: []byte(test.event), Data: []byte(test.data), Path: test.path})
		if got.Points != test.points || (got.Why == "") != (test.points == 0) {
			t.Errorf("%+v: %+v", test, got)
		}
	}
	for name, value := range map[string]string{"X-Amzn-Errortype": "AccessDeniedException", "Content-Type": "application/vnd.amazon.eventstream"} {
		if got := sniffFrame(protocol.SniffInput{Header: map[string][]string{name: {value}}}); got.Points != protocol.Weak {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestModel(t *testing.T) {
	for path, want := range map[string]string{
		"/model/anthropic.claude-x-v1:0/converse-stream":                                    "anthropic.claude-x-v1:0",
		"/model/anthropic.claude-x-v1%3A0/converse":                                         "anthropic.claude-x-v1:0",
		"/proxy/model/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.nova/converse":       "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.nova",
		"/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.nova/converse": "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.nova",
		"/model/50%/converse": "50%",
		"/model/converse":     "",
		"/v1/messages":        "",
		"":                    "",
	} {
		if got := readModel(path, nil); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestTools(t *testing.T) {
	got := readTools([]byte(`{"toolConfig":{"toolChoice":{"auto":{}},"tools":[
		{"toolSpec":{"name":"a","description":"A","inputSchema":{"json":{ "type": "object" }}}},
		{"toolSpec":{"name":"b"}}, {"systemTool":{"name":"nova_grounding"}}, {"cachePoint":{"type":"default"}}, 7
	]}}`))
	want := []protocol.Tool{
		{Name: "a", Kind: "function", Description: "A", Schema: json.Value(`{ "type": "object" }`)},
		{Name: "b", Kind: "function"},
		{Name: "nova_grounding", Kind: "server"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := readTools([]byte(`{"toolConfig":[`)); got != nil {
		t.Errorf("%v", got)
	}
}

// TestErrorBody checks that a body that contains only an error message and its type is reported as a failure.
func TestErrorBody(t *testing.T) {
	for _, body := range []string{
		`{"message":"no access","__type":"AccessDeniedException"}`,
		`{"__type":"AccessDeniedException","Message":"no access"}`,
	} {
		var got []stream.Event
		d := Protocol().New(protocol.NewOut(func(e stream.Event) { got = append(got, e) }))
		if err := d.Frame(stream.Frame{Data: []byte(body)}); err != nil {
			t.Error(err)
		}
		d.Close()
		if len(got) != 3 || got[1].Kind != stream.Failure || got[1].Text != "no access" || stream.PayloadOf[stream.FailureInfo](got[1]).Code != "AccessDeniedException" ||
			got[2].Code != stream.CloseCut {
			t.Errorf("%s: %v", body, got)
		}
	}
}

package providers

import (
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// argumentDeltas contains a call in each protocol that sends arguments in deltas: the frames before the first delta,
// and a frame with one delta. In this frame, the text of the delta replaces ARGS inside a string. If a frame begins
// with a word, the word is the name of its event.
var argumentDeltas = []struct {
	dialect string
	opening []string
	delta   string
}{
	{
		"ai-sdk", []string{
			`{"type":"start","messageId":"msg_1"}`,
			`{"type":"tool-input-start","toolCallId":"call_1","toolName":"write_file"}`,
		},
		`{"type":"tool-input-delta","toolCallId":"call_1","inputTextDelta":"ARGS"}`,
	},
	{
		"openai-responses", []string{
			`{"type":"response.created","response":{"id":"resp_1","model":"gpt-x"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write_file","arguments":""}}`,
		},
		`{"type":"response.function_call_arguments.delta","sequence_number":7,"item_id":"fc_1","output_index":0,"delta":"ARGS","obfuscation":"x"}`,
	},
	{
		"openai-responses", []string{
			`{"type":"response.created","response":{"id":"resp_1","model":"gpt-x"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"shell_call","id":"sh_1","call_id":"call_1","action":{"commands":[]}}}`,
		},
		`{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ARGS"}`,
	},
	{
		"anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":100,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}}`,
		},
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"ARGS"}}`,
	},
	{
		"ag-ui", []string{
			`{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"call_1","toolCallName":"write_file"}`,
		},
		`{"toolCallId":"call_1","delta":"ARGS","timestamp":1790000000000,"type":"TOOL_CALL_ARGS"}`,
	},
	{
		"claude-code", []string{
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","content":[]}},"session_id":"s1","parent_tool_use_id":"toolu_0"}`,
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}},"session_id":"s1","parent_tool_use_id":"toolu_0"}`,
		},
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"ARGS"}},"session_id":"s1","parent_tool_use_id":"toolu_0"}`,
	},
	{
		"bedrock", []string{
			`messageStart {"role":"assistant"}`,
			`contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"write_file"}}}`,
		},
		`contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":"ARGS"}},"p":"abcdefgh"}`,
	},
	{
		"cohere", []string{
			`{"id":"g1","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}`,
			`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"write_file_1","type":"function","function":{"name":"write_file","arguments":""}}}}}`,
		},
		`{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"ARGS"}}}}}`,
	},
	{
		"gemini", []string{
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"write_file","willContinue":true}}],"role":"model"}}],"usageMetadata":{"promptTokenCount":100,"trafficType":"ON_DEMAND"},"modelVersion":"gemini-x","responseId":"r1"}`,
		},
		`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.content","stringValue":"ARGS","willContinue":true}],"willContinue":true}}],"role":"model"}}],"usageMetadata":{"promptTokenCount":100,"trafficType":"ON_DEMAND"},"modelVersion":"gemini-x","responseId":"r1"}`,
	},
	{
		"gemini-interactions", []string{
			`{"event_type":"interaction.created","interaction":{"id":"v1_x","status":"in_progress","model":"gemini-x"}}`,
			`{"event_type":"step.start","index":1,"step":{"type":"function_call","id":"c1","name":"write_file","arguments":{}}}`,
		},
		`{"event_type":"step.delta","index":1,"delta":{"type":"arguments_delta","arguments":"ARGS"}}`,
	},
	{
		"openai-chat", []string{
			`{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write_file","arguments":""}}]},"finish_reason":null}]}`,
		},
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ARGS"}}]},"logprobs":null,"finish_reason":null}],"usage":null}`,
	},
}

// argumentPieces are deltas of arguments, in the form that they have inside a JSON string.
var argumentPieces = []string{`{\"`, `path`, `\": \"src/`, `main.go`, `\", \"n\": 1`, `2`, `\\n\\t\\\"`, ``, `\u00e9té \ud83d\ude00`, `\"}`}

// TestDeltasAllocateNothing checks that a decoder doesn't allocate memory for each delta of arguments. It copies the
// bytes into a few large blocks.
func TestDeltasAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, p := range argumentDeltas {
		t.Run(p.dialect, func(t *testing.T) {
			deltas := 0
			d := newDecoder(t, p.dialect, func(e stream.Event) {
				if e.Kind == stream.Args {
					deltas++
				}
			})
			for _, frame := range p.opening {
				read(t, d, frameOf(frame))
			}
			var frames []stream.Frame
			for _, piece := range argumentPieces {
				frames = append(frames, frameOf(strings.Replace(p.delta, "ARGS", piece, 1)))
			}
			const rounds = 1000
			deltas = 0
			perRound := testing.AllocsPerRun(rounds, func() {
				for i := range frames {
					read(t, d, frames[i])
				}
			})
			if want := (rounds + 1) * len(frames); deltas < want*9/10 { // an empty delta may have no event
				t.Fatalf("%d deltas came of %d", deltas, want)
			}
			if perRound > 0 {
				t.Errorf("%v allocations for %d deltas", perRound, len(frames))
			}
		})
	}
}

// TestDecoderReusesShape checks that a decoder reuses the variables and the templates of an earlier decoder. A capture
// may contain very many short exchanges, each with a decoder of its own.
func TestDecoderReusesShape(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and empties pools")
	}
	for _, p := range argumentDeltas {
		if p.dialect != "anthropic" && p.dialect != "openai-chat" {
			continue
		}
		var frames []stream.Frame
		for _, frame := range append(p.opening, strings.Replace(p.delta, "ARGS", "x", 1)) {
			frames = append(frames, frameOf(frame))
		}
		const most = 35 // without reuse, 41 and 105
		per := testing.AllocsPerRun(100, func() {
			d := newDecoder(t, p.dialect, func(stream.Event) {})
			for _, f := range frames {
				read(t, d, f)
			}
			d.Close()
		})
		if per > most {
			t.Errorf("%s: %v allocations for one exchange, want at most %d", p.dialect, per, most)
		}
	}
}

func newDecoder(t *testing.T, name string, emit func(stream.Event)) protocol.Decoder {
	for i := range All {
		if All[i].Name == name {
			return All[i].New(protocol.NewOut(emit))
		}
	}
	t.Fatalf("no dialect is called %s", name)
	return nil
}

func frameOf(text string) stream.Frame {
	var event string
	if !strings.HasPrefix(text, "{") {
		event, text, _ = strings.Cut(text, " ")
	}
	return stream.Frame{Event: []byte(event), Data: []byte(text)}
}

func read(t *testing.T, d protocol.Decoder, f stream.Frame) {
	if err := d.Frame(f); err != nil {
		t.Fatalf("%s: %v", f.Data, err)
	}
}

package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

// verdictLetters are the verdicts in the tables below, one letter each.
const verdictLetters = "-=NSEWTCBR" // not yet, same so far, never, safe, early, early wrong, twice, cut call, broken call, refuses

// ran returns the verdicts of the eight run rules for each call, one letter each, in this order: any
// arguments, parsable, parsable object, repaired; next call, finish reason, final arguments, end of stream.
func ran(in *Inspector) (all []string) {
	for _, t := range in.Session().Turns {
		for _, c := range t.Calls {
			word := ""
			for x := range stream.RunRule(stream.NumRunRules) {
				word += string(verdictLetters[c.RuleRun(x).Outcome])
			}
			all = append(all, word[:4]+" "+word[4:])
		}
	}
	return all
}

// TestExecutorVectors checks the verdict of each run rule for the calls in vectors 1 to 34. The expected
// verdicts were found by hand, from the protocols and the wire.
func TestExecutorVectors(t *testing.T) {
	files, numbers := map[string]fixture{}, map[int]bool{}
	for _, f := range fixtures(t) {
		files[f.name] = f
	}
	for _, test := range []struct {
		number  int
		fixture string
		want    []string
		why     string
	}{
		{1, "anthropic/placeholder_object_is_replaced", []string{"WEEE SSSS"}, "the value begins in the last delta"},
		{2, "anthropic/no_arguments", []string{"NNNN SSSS"}, "nothing to look at; the stop of the block is all that tells"},
		{3, "anthropic/whole_input_in_block_start", []string{"EEEE SSSS"}, "whole at once, sealed a frame later"},
		{4, "anthropic/prepopulated_in_message_start", []string{"SSSS SSSS"}, "whole and sealed in one frame"},
		{5, "anthropic/parallel_two_blocks_interleaved", []string{"WEEE WSSS", "WEEE WSSS"}, "each is left with nothing, and gone on with"},
		{6, "anthropic/max_tokens_after_block_stop", []string{"CNNC CNCC"}, "the value is cut, and the block stops all the same"},
		{7, "anthropic/error_event_mid_call", []string{"CNNC NNNC"}, "an error event is thrown, not looked at"},
		{8, "anthropic/event_name_missing", []string{"EEEE SSSS"}, ""},
		{9, "openaichat/trailing", []string{"WWWW BBBB"}, "an object, then more"},
		{10, "openaichat/first_fragment_looks_like_a_value", []string{"WEEE SSSS"}, `runs with the text {"ur`},
		{11, "openaichat/index_reused_new_ids", []string{"EEEE ESSS", "EEEE SSSS"}, "the second begins before the finish reason seals the first"},
		{12, "openaichat/index_missing", []string{"WEEE SSSS"}, ""},
		{13, "openaichat/id_empty_on_continuation", []string{"WEEE SSSS"}, ""},
		{14, "openaichat/arguments_object", []string{"EEEE SSSS"}, ""},
		{15, "openaichat/double_encoded", []string{"WBRN BBBB"}, "a string parses, and is no object"},
		{16, "openaichat/concatenated", []string{"WTTW BBBB"}, "each object parses"},
		{17, "openaichat/arguments_null", []string{"NNNN SSSS"}, ""},
		{17, "openaichat/arguments_null_as_text", []string{"BBRN BBBB"}, "null parses, and is no object"},
		{17, "openaichat/arguments_empty", []string{"NNNN SSSS"}, ""},
		{17, "openaichat/arguments_missing", []string{"NNNN SSSS"}, ""},
		{18, "openaichat/finish_stop", []string{"EEEE SNSS"}, "stop is no word of tools"},
		{19, "openaichat/finish_length_mid_args", []string{"CNNC CNCC"}, ""},
		{20, "openaichat/finish_error_with_error_object", []string{"CNNC CNNC"}, "the chunk of the error is one without the call; it seals nothing"},
		{21, "openaichat/openrouter_comments", []string{"WEEE SSSS"}, "a comment is no chunk"},
		{22, "openaichat/usage_empty_choices_chunk", []string{"EEEE SSSS"}, ""},
		{23, "openaichat/usage_xai_reasoning_outside", []string{"EEEE SSSS"}, ""},
		{24, "openaichat/usage_deepseek_reasoning_inside", []string{"EEEE SSSS"}, ""},
		{25, "openaichat/legacy_function_call", []string{"WEEE SSSS"}, ""},
		{26, "openaichat/custom_tool", []string{"WNNN SSSS"}, "free text is not for who parses"},
		{27, "openaichat/parallel_tool", []string{"WEEW SSSS"}, "half a list stands where the value of the only key begins"},
		{28, "openairesponses/one_call", []string{"WEEW SNSS"}, "half a string; completed is no word of tools"},
		{28, "openairesponses/all_copies_differ", []string{"WWWW SNSS"}, "three texts, the last with the seal"},
		{29, "openairesponses/ids_rotate", []string{"WEEE SNSS", "EEEE SNSS"}, "the second begins when the first is sealed"},
		{30, "openairesponses/error_nested_then_failed", []string{"CNNN NNNC"}, "as 7, and half a key has no value"},
		{31, "openairesponses/incomplete_before_done", []string{"EEEE SNSS", "CNNC CNNC"}, "no done came for the second"},
		{32, "openairesponses/apply_patch", []string{"WEEE SNSS"}, "the diff is done a frame before its item, and then the object is whole"},
		{33, "openairesponses/program_with_a_call", []string{"SNNN SNSS", "EEEE SNSS", "EEEE SNSS"}, "the code comes with the seal"},
		{34, "openairesponses/websocket_lanes", []string{"WEEE SNSS", "EEEE SNSS", "EEEE SNSS"}, "another lane is another turn"},
	} {
		numbers[test.number] = true
		f, ok := files[test.fixture]
		if !ok {
			t.Errorf("no fixture %s", test.fixture)
			continue
		}
		for _, in := range []*Inspector{f.inspect(f.wire), f.inspect(slices.Collect(slices.Chunk(f.wire, 1))...)} {
			if diff := cmp.Diff(test.want, ran(in)); diff != "" {
				t.Errorf("%d %s, %s (-want +got):\n%s", test.number, test.fixture, test.why, diff)
			}
		}
	}
	for n := 1; n <= 34; n++ {
		if !numbers[n] {
			t.Errorf("vector %d is not there", n)
		}
	}
}

// TestExecutorsOfAStop checks the verdicts of the run rules for a stream that stops at {"ur, for each way in which it
// can stop.
func TestExecutorsOfAStop(t *testing.T) {
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	begin := chunk(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"fetch","arguments":"{\"ur"}}]`, "null")
	for _, test := range []struct {
		what, behind string
		ends         bool
		want         string
	}{
		{"and may go on", "", false, "=--- ----"},
		{"the connection breaks", "", true, "CNNN NNNC"},
		{"the token limit", chunk("", `"length"`) + "data: [DONE]\n\n", true, "CNNN CNCC"},
		{"the provider says that it is whole", chunk("", `"tool_calls"`) + "data: [DONE]\n\n", true, "CNNN CCCC"},
		{"an error", `data: {"error":{"code":502,"message":"no"}}` + "\n\n", true, "CNNN NNNC"},
		{"a refusal", chunk(`"refusal":"no"`, `"content_filter"`) + "data: [DONE]\n\n", true, "CNNN CNCC"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Data: []byte(begin + test.behind)})
		if test.ends {
			in.Close()
		}
		if got := strings.Join(ran(in), ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
		c := in.Session().Turns[0].Calls[0]
		if r := c.RuleRun(stream.AnyArgs); string(c.Args()[:r.Bytes]) != `{"ur` {
			t.Errorf("%s: it runs with %q", test.what, c.Args()[:r.Bytes])
		}
	}
}

// TestExecutorsOfValues checks the verdict of each run rule for numbers, and for text that is not the start of a
// value.
func TestExecutorsOfValues(t *testing.T) {
	for _, test := range []struct {
		deltas string // separated by |
		want   string
	}{
		{`42`, "BBRN BBBB"}, // a number parses, but more digits may come
		{`4|2`, "WWRN BBBB"}, {` 4|2 `, "WWRN BBBB"}, {`1.|5`, "WBRN BBBB"}, {`-|1`, "WBRN BBBB"},
		{`-`, "CNNN CCCC"}, // not a number yet
		{`{"a":|-`, "WNNN CCCC"},
		{`{"a":|-|1}`, "WEEE SSSS"}, {`{"a":|-1|}`, "WEEE SSSS"}, // the first digit makes it a value
		{`{"a":|1|2}`, "WEEW SSSS"}, {`{"a":|t|rue}`, "WEEE SSSS"}, {`{"a":|[|]}`, "WEEE SSSS"}, {`{"a":|"x|"}`, "WEEE SSSS"},
		{`{"a":|x`, "WRRN BBBB"}, {`{"a":1,"b":|@`, "WRRN BBBB"}, {`{"a":|}`, "WRRN BBBB"}, {`{"a":|]`, "WRRN BBBB"}, // garbage is not a value
	} {
		const chunk = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
		wire := fmt.Sprintf(chunk, `{"tool_calls":[{"index":0,"id":"call_9","type":"function","function":{"name":"f","arguments":""}}]}`, "null")
		for delta := range strings.SplitSeq(test.deltas, "|") {
			wire += fmt.Sprintf(chunk, fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, delta), "null")
		}
		wire += fmt.Sprintf(chunk, "{}", `"tool_calls"`) + "data: [DONE]\n\n"
		if got := ran(inspect([]byte(wire))); len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: %v, want %s", test.deltas, got, test.want)
		}
	}
}

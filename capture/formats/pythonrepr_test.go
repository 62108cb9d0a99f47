package formats

import (
	"strings"
	"testing"
)

var reprCases = []struct {
	name, text, want string // want is JSON, or "" if the text is not read
}{
	{"fields", `Message(id='m', usage=Usage(input_tokens=1, ratio=-0.5), content=[], stop=None, ok=True)`,
		`{"id":"m","usage":{"input_tokens":1,"ratio":-0.5},"content":[],"stop":null,"ok":true}`},
	{"quotes", `Message(a='{"city": "O\'Hare"}', b="it's", c='a\\b\n\t')`, `{"a":"{\"city\": \"O'Hare\"}","b":"it's","c":"a\\b\n\t"}`},
	{"characters", `Message(a='\xe9\u20ac\U0001f600', b='\x00', c='\ud83d')`, `{"a":"é€😀","b":"\u0000","c":"\ud83d"}`},
	{"a type by the class", `RawContentBlockStopEvent(index=0)`, `{"index":0,"type":"content_block_stop"}`},
	{"a type of its own", `RawContentBlockStopEvent(index=0, type='x')`, `{"index":0,"type":"x"}`},
	{"values that JSON lacks", `Message(a=nan, b=datetime.datetime(2026, 1, 2), c=<object at 0x7f>, d=NOT_GIVEN, e=(1, 2,), f=-inf)`,
		`{"a":null,"b":null,"c":null,"d":null,"e":[1,2],"f":null}`},
	{"Google's names", `GenerateContentResponse(candidates=[Candidate(finish_reason=<FinishReason.STOP: 'STOP'>, part=Part(thought_signature=b'\x01\x02', args={'a_b': 1}))])`,
		`{"candidates":[{"finishReason":"STOP","part":{"thoughtSignature":"AQI=","args":{"a_b":1}}}]}`},
	{"a dictionary", `{'id': 'x', 'n': 1.5, 'of': {'a': []}}`, `{"id":"x","n":1.5,"of":{"a":[]}}`},
	{"a named character", `Message(a='\N{BULLET}')`, ""},
	{"cut off", `Message(a='x`, ""},
	{"cut off in a list", `Message(a=[1, 2`, ""},
	{"a set", `{'a', 'b'}`, ""},
	{"very deep", "Message(a=" + strings.Repeat("[", 1000), ""},
}

// TestRepr checks how Python values are read. It also cuts each value off at every byte: a value without its end must
// not be read.
func TestRepr(t *testing.T) {
	for _, c := range reprCases {
		r := reprReader{rest: []byte(c.text)}
		got := ""
		if r.readValue(0) {
			got = string(r.json)
		}
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		for n := range c.text {
			cut := reprReader{rest: []byte(c.text[:n])}
			if cut.readValue(0) && strings.ContainsAny(c.text[:1], "MRG{") && strings.ContainsAny(c.text[:n], "({") {
				t.Errorf("%s: %q is read as %s", c.name, c.text[:n], cut.json)
			}
		}
	}
}

// printedChunks are lines from a program that prints its chunks.
const printedChunks = `value of async chunk: ChatCompletionChunk(id='c', choices=[Choice(delta=ChoiceDelta(tool_calls=[ChoiceDeltaToolCall(index=0, id='t', function=ChoiceDeltaToolCallFunction(arguments='{"a":', name='w'))]), index=0)], object='chat.completion.chunk')
value of async chunk: ChatCompletionChunk(id='c', choices=[Choice(delta=ChoiceDelta(tool_calls=[ChoiceDeltaToolCall(index=0, function=ChoiceDeltaToolCallFunction(arguments='1}'))]), index=0)], object='chat.completion.chunk')
`

// prose has names of classes and calls of functions, but no payload.
const prose = `Call f(x=1) or Message(a=1), then ChatCompletion(2).
log(Message(type='message', role='assistant', content=[]))
print(json.dumps({'type': 'message_start'}))
{'name': 'x'} is a dictionary, Message( is cut.
`

// TestPrintedByPython checks that all lines printed by Python programs are read as one stream, and that nothing is
// read from prose.
func TestPrintedByPython(t *testing.T) {
	for _, size := range []int{7, 1 << 20} {
		all, others := streamsOf(readLog(t, []byte(printedChunks), size))
		if len(all) != 1 || others != 0 || strings.Count(all[0], `"chat.completion.chunk"`) != 2 || !strings.Contains(all[0], `"arguments":"{\"a\":"`) {
			t.Errorf("%d streams, %d other lines: %s", len(all), others, all)
		}
		if all, _ := streamsOf(readLog(t, []byte(prose), size)); len(all) > 0 {
			t.Errorf("prose is read as %s", all)
		}
	}
}

// TestWebServerLog checks that the bodies of a request and its response are read from one line of a log in which
// quotes are \x22.
func TestWebServerLog(t *testing.T) {
	const line = `127.0.0.1 - - [11/Jun/2026:10:00:00 +0000] "POST /v1/chat/completions HTTP/1.1" 200 ` +
		`"{\x22model\x22:\x22m\x22,\x22messages\x22:[{\x22role\x22:\x22user\x22,\x22content\x22:\x22caf\xC3\xA9\x22}]}" ` +
		`"{\x22id\x22:\x22c\x22,\x22object\x22:\x22chat.completion\x22,\x22choices\x22:[{\x22index\x22:0,\x22message\x22:` +
		`{\x22role\x22:\x22assistant\x22,\x22content\x22:\x22say \x5C\x22x\x5C\x22\x22}}]}"` + "\n"
	all, _ := streamsOf(readLog(t, []byte(line), 1<<20))
	const request, response = `{"model":"m","messages":[{"role":"user","content":"café"}]}`, `"content":"say \"x\""}}]}`
	if len(all) != 1 || !strings.Contains(all[0], request) || !strings.Contains(all[0], response) {
		t.Errorf("%s", all)
	}
}

// TestInvocationLog checks that Bedrock's log of model invocations is read, even inside CloudWatch events.
func TestInvocationLog(t *testing.T) {
	const response = `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"w","input":{"a":1}}}]}},"stopReason":"tool_use"}`
	const entry = `{"schemaType":"ModelInvocationLog","timestamp":"2026-06-11T10:00:00Z","operation":"Converse","input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":"go"}]}]}},"output":{"outputBodyJson":` + response + `}}`
	for _, log := range []string{entry, `{"events":[{"timestamp":1781000000000,"message":"` + strings.ReplaceAll(entry, `"`, `\"`) + `"}]}`} {
		all, _ := streamsOf(readLog(t, []byte(log+"\n"), 1<<20))
		if len(all) != 1 || !strings.Contains(all[0], response) {
			t.Errorf("%s", all)
		}
	}
}

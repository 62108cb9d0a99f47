package textcall

import (
	"slices"
	"strings"
	"testing"
)

// calls are texts that end with a call of get_time, each with the name of its form.
var calls = []struct{ form, text string }{
	{"hermes", `<tool_call>{"name":"get_time","arguments":{"zone":"CET"}}</tool_call>`},
	{"hermes", "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"b\", \"arguments\": {}}\n</tool_call>"},
	{"hermes", `<tool_call>{"name":"get_time","arguments":{"zone":"CET"}}`},
	{"hermes", "<tool_call>\n<function=get_time>\n<parameter=zone>\nCET\n</parameter>\n</function>\n</tool_call>"},
	{"hermes", "<tool_call>get_time\n<arg_key>zone</arg_key>\n<arg_value>CET</arg_value>\n</tool_call>"},
	{"hermes", "<tool_call>get_time</tool_call>"},
	{"glm", "get_time<arg_key>zone</arg_key><arg_value>CET</arg_value><arg_key>at</arg_key><arg_value>1</arg_value></tool_call>"},
	{"qwen", "<function=get_time>\n<parameter=zone>CET</parameter>\n</function>"},
	{"qwen", `<function=get_time>{"zone":"CET"}</function>`},
	{"function", `<function>get_time{"zone":"CET"}</function>`},
	{"antml", "<invoke name=\"get_time\">\n<parameter name=\"zone\">CET</parameter>\n</invoke>"},
	{"antml", "court\n<invoke name=\"get_time\">\n</invoke>\n</function_calls>"},
	{"antml", "<function_calls>\n<invoke name=\"get_time\"></invoke>\n<invoke name=\"b\"></invoke>\n</function_calls>"},
	{"antml", "<" + antml + "function_calls>\n<" + antml + "invoke name=\"get_time\"></" + antml + "invoke>\n</" + antml + "function_calls>"},
	{"minimax", "<minimax:tool_call>\n<invoke name=\"get_time\">\n<parameter name=\"zone\">CET</parameter>\n</invoke>\n</minimax:tool_call>"},
	{"seed", "<seed:tool_call>\n<function=get_time>\n<parameter=zone>CET</parameter>\n</function>\n</seed:tool_call>"},
	{"minimax", "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"get_time\">]<]minimax[>[<zone>CET]<]minimax[>[</zone>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"},
	{"minimax", "]<]minimax[>[<invoke name=\"get_time\">]<]minimax[>[</invoke>]<]minimax[>[<invoke name=\"b\">]<]minimax[>[</invoke>"},
	{"minimax_arrow", "[TOOL_CALL]\n{ tool => \"get_time\", args => {\n  --zone \"CET\"\n}}\n[/TOOL_CALL]"},
	{"minimax_arrow", "[TOOL_CALL]{tool => \"get_time\", args => {\"zone\":\"CET\"}}[/TOOL_CALL]"},
	{"longcat", "<longcat_tool_call>{\"name\": \"get_time\", \"arguments\": {\"zone\": \"CET\"}}</longcat_tool_call>"},
	{"longcat", "<longcat_tool_call>get_time\n<longcat_arg_key>zone</longcat_arg_key>\n<longcat_arg_value>CET</longcat_arg_value>\n</longcat_tool_call>"},
	{"doubao", "<|FunctionCallBegin|>[{\"name\":\"get_time\",\"parameters\":{\"zone\":\"CET\"}}]<|FunctionCallEnd|>"},
	{"liquid", "<|tool_call_start|>[get_time(zone=\"CET\")]<|tool_call_end|>"},
	{"liquid", "<|tool_call_start|>[{\"name\": \"get_time\", \"arguments\": {\"zone\": \"CET\"}}]<|tool_call_end|>"},
	{"dsml", "<｜DSML｜invoke name=\"get_time\">\n<｜DSML｜parameter name=\"zone\" string=\"true\">CET</｜DSML｜parameter>\n</｜DSML｜invoke>"},
	{"dsml", "<|DSML|function_calls><|DSML|invoke name=\"get_time\"></|DSML|invoke></|DSML|function_calls>"},
	{"step", `<steptml:invoke name="get_time"><steptml:parameter name="zone">CET</steptml:parameter></steptml:invoke>`},
	{"mistral", `[TOOL_CALLS][{"name":"get_time","arguments":{"zone":"CET"}}]`},
	{"mistral", `[TOOL_CALLS]get_time{"zone":"CET"}`},
	{"mistral", `[TOOL_CALLS]get_time[CALL_ID]abcDEF123[ARGS]{"zone":"CET"}`},
	{"args", `get_time[ARGS]{"zone":"CET"}</s>`},
	{"deepseek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{\"zone\":\"CET\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
	{"deepseek", "<｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{\"zone\":\"CET\"}<｜tool▁call▁end｜>"},
	{"deepseek", "<｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{\"zone\":\"CET\"}<｜Assistant｜>"},
	{"kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{"zone":"CET"}<|tool_call_end|><|tool_calls_section_end|>`},
	{"harmony", `<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{"zone":"CET"}<|call|>`},
	{"harmony", `<|start|>assistant to=functions.get_time<|channel|>commentary json<|message|>{"zone":"CET"}`},
	{"harmony", `commentary to=functions.get_time json{"zone":"CET"}`},
	{"granite", `<|tool_call|>[{"name":"get_time","arguments":{"zone":"CET"}}]`},
	{"gemma", "<|tool_call>call:get_time{zone:<|\"|>CET<|\"|>}<tool_call|>"},
	{"gemma", "<start_function_call>call:get_time{zone:<escape>CET<escape>}<end_function_call>"},
	{"tool_code", "```tool_code\nprint(default_api.get_time(zone='CET'))\n```"},
	{"tool_code", "```tool_code\nget_time()\n```"},
	{"python_tag", `<|python_tag|>{"name":"get_time","parameters":{"zone":"CET"}}`},
	{"python_tag", `<|python_tag|>get_time.call(zone="CET")<|eom_id|>`},
	{"nemotron", `<TOOLCALL>[{"name":"get_time","arguments":{"zone":"CET"}}]</TOOLCALL>`},
	{"hunyuan", `<tool_calls>[{"name":"get_time","arguments":{}}]</tool_calls>`},
	{"gigachat", `<|function_call|>{"name":"get_time","arguments":{"zone":"CET"}}`},
	{"internlm", `<|action_start|><|plugin|>{"name":"get_time","parameters":{"zone":"CET"}}<|action_end|>`},
	{"cohere", `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"get_time","parameters":{"zone":"CET"}}]<|END_ACTION|>`},
}

// offered are texts that count as calls only if the tool is declared.
var offered = []struct{ form, text string }{
	{"bracket", `[Tool call: get_time]`},
	{"bracket", "[Tool call: get_time]\n{\"zone\":\"CET\"}"},
	{"bracket", `[Calling tool: get_time({"zone":"CET"})]`},
	{"json", `{"name":"get_time","parameters":{"zone":"CET"}}`},
	{"json", "{\n  \"tool\": \"get_time\",\n  \"args\": {\"zone\": \"CET\"}\n}\n"},
	{"json", `{"tool_call":{"name":"get_time","arguments":{}}}`},
	{"json", `{"action":{"name":"get_time","input":{}}}`},
	{"json", `{"type":"function","function":{"name":"get_time","arguments":{}}}`},
	{"json", `[{"name":"get_time","arguments":{}},{"name":"b","arguments":{}}]`},
	{"python", `[get_time(zone='CET')]`},
	{"python", `[get_time(zone=")'"), b()]`},
}

func declared(names ...string) func() Tools {
	return func() Tools {
		return Tools{Known: true, Has: func(name string) bool { return slices.Contains(names, name) }}
	}
}

func unknown() Tools { return Tools{} }

func TestForms(t *testing.T) {
	for _, c := range calls {
		for _, before := range []string{"", "Let me see. ", "I look.\n\n"} {
			got, ok := Find([]byte(before+c.text), unknown, true)
			if !ok || got.Form != c.form || got.Tool != "get_time" || got.Offset < len(before) {
				t.Errorf("%q: %+v %v, want %s", before+c.text, got, ok, c.form)
			}
		}
		if _, ok := Find([]byte("I call "+c.text), declared("get_time"), false); !ok {
			t.Errorf("%q: not found after words", c.text)
		}
		if got, ok := Find([]byte(c.text), declared("other"), false); ok {
			t.Errorf("%q: found %+v, but its tool is not declared", c.text, got)
		}
	}
	for _, c := range offered {
		got, ok := Find([]byte("I look.\n"+c.text), declared("get_time"), false)
		if !ok || got.Form != c.form || got.Tool != "get_time" || got.Offset != 8 {
			t.Errorf("%q: %+v %v, want %s", c.text, got, ok, c.form)
		}
		for what, ok := range map[string]bool{
			"without a request":      found(c.text, unknown, false),
			"without the tool":       found(c.text, declared("b"), false),
			"in the middle of words": c.form != "bracket" && found("It is "+c.text, declared("get_time"), false),
			"with other calls":       c.form != "bracket" && found(c.text, declared("get_time"), true),
		} {
			if ok {
				t.Errorf("%q: found %s", c.text, what)
			}
		}
	}
	patch := "I change it.\n*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n"
	if got, ok := Find([]byte(patch), declared("apply_patch"), false); !ok || got.Form != "patch" {
		t.Errorf("%q: %+v", patch, got)
	}
	if found(patch, declared("get_time"), false) || found("> "+patch[13:], declared("apply_patch"), false) {
		t.Error("a patch is found without the tool, or inside a line")
	}
}

// TestLaterCall checks that a call is found after one that doesn't count: its tool is not declared, or the words before
// it don't end a sentence.
func TestLaterCall(t *testing.T) {
	const text = `I call <tool_call>{"name":"a"}</tool_call>` + "\n" + `<tool_call>{"name":"b"}</tool_call>`
	for _, c := range []struct {
		tools func() Tools
		want  string
	}{{unknown, "b"}, {declared("b"), "b"}, {declared("a", "b"), "a"}, {declared("c"), ""}} {
		if got, ok := Find([]byte(text), c.tools, false); got.Tool != c.want || ok != (c.want != "") || ok && got.Offset != strings.Index(text, `<tool_call>{"name":"`+c.want) {
			t.Errorf("%+v %v, want %q", got, ok, c.want)
		}
	}
}

// TestOpening checks the beginning of a call that a message quotes: the first line, up to the first >, and at most 48
// bytes, without half of a character.
func TestOpening(t *testing.T) {
	for text, want := range map[string]string{
		`<tool_call>{"name":"get_time"}</tool_call>`:               "<tool_call>",
		"```tool_code\nget_time()\n```":                            "```tool_code",
		"```tool_code\r\nget_time()\r\n```":                        "```tool_code",
		`[TOOL_CALLS]get_time{"zone":"CET"}`:                       `[TOOL_CALLS]get_time{"zone":"CET"}`,
		`[TOOL_CALLS]get_time{"zone":"` + "1234567890123456789\"}": `[TOOL_CALLS]get_time{"zone":"` + "1234567890123456789",
		`[TOOL_CALLS]get_time{"zone":"` + "123456789012345678é\"}": `[TOOL_CALLS]get_time{"zone":"` + "123456789012345678",
	} {
		if got, ok := Find([]byte(text), unknown, false); !ok || got.Opening != want {
			t.Errorf("%q: %q %v, want %q", text, got.Opening, ok, want)
		}
	}
}

func found(text string, tools func() Tools, besides bool) bool {
	_, ok := Find([]byte(text), tools, besides)
	return ok
}

// TestQuoted checks that a quoted form is not a call. The text continues after the form, or marks the form as a
// quotation.
func TestQuoted(t *testing.T) {
	for _, c := range slices.Concat(calls, offered) {
		for _, text := range []string{
			c.text + "\n\nThe server parses this.",
			"The model writes `" + c.text + "`",
			"The model writes `" + c.text,
			"An example:\n\n```\n" + c.text + "\n```",
			"An example:\n\n```xml\n" + c.text + "\n```\n",
			"The model writes \"" + c.text + "\"",
			"The model writes \"" + c.text,
			"call = re.compile(r'" + c.text + "')",
		} {
			if strings.HasPrefix(c.text, "court") || strings.HasPrefix(c.text, "```") && strings.Contains(text, "```\n```") {
				continue // the quotation marks don't directly precede the form, or a code block is inside another
			}
			for _, tools := range []func() Tools{unknown, declared("get_time")} {
				if got, ok := Find([]byte(text), tools, false); ok {
					t.Errorf("%q: found %+v", text, got)
				}
			}
		}
	}
	for _, text := range []string{
		"", "}", "The tokens <|tool_call_begin|> and <|tool_call_end|>", "[len(x) for x in rows]", `{"name":"Ann","age":3}`,
		`{"name":"get_time","parameters":{"type":"object","properties":{}}}`, `{"name":"get_time","parameters":{"type":"object"}}`,
		`{"name":"get_time","parameters":{"properties":{}}}`, "Usage: get_time [OPTIONS] [ARGS]", "<tool_call>",
		"<tool_call></tool_call>", "The answer is [42]", "f(x)", "get_time(zone)", "[get_time]", "Use <invoke name=\"get_time\">",
	} {
		if got, ok := Find([]byte(text), declared("get_time"), false); ok {
			t.Errorf("%q: found %+v", text, got)
		}
	}
}

// TestCut checks that a call that is cut off is not found, unless only closing markup is missing.
func TestCut(t *testing.T) {
	for _, c := range calls {
		for cut := range len(c.text) {
			if got, ok := Find([]byte(c.text[:cut]), declared("get_time"), false); ok && strings.Count(c.text[:cut], "{") != strings.Count(c.text[:cut], "}") {
				t.Errorf("%q: found %+v", c.text[:cut], got)
			}
		}
	}
}

// TestCost checks that the time for a text full of openings grows only in proportion to the length of the text.
func TestCost(t *testing.T) {
	for _, part := range []string{"<tool_call>{", "<", "[", "{\"name\":", "<|tool_call|>", "[TOOL_CALLS]", "a[ARGS]{", "\n[a(", "\n{"} {
		text := strings.Repeat(part, 200_000) + ">"
		if got, ok := Find([]byte(text), declared("a"), false); ok {
			t.Errorf("%q: found %+v", part, got)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, c := range slices.Concat(calls, offered) {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := Find([]byte(text), unknown, false); ok && (c.Offset < 0 || c.Offset >= len(text) || c.Tool == "") {
			t.Errorf("%q: %+v", text, c)
		}
	})
}

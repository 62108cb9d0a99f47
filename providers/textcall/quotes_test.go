package textcall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// quotations are the ways in which documents quote a call, with CALL in its place. The text ends directly after the
// quotation, or is cut off there.
var quotations = []string{
	"<code>CALL</code>", "<pre>\nCALL\n</pre>", "<pre><code class=\"xml\">CALL</code></pre>", "<p>The model writes <kbd>CALL</kbd></p>",
	"<example>\nCALL\n</example>", "<examples>\n<example>\nCALL\n</example>\n</examples>", "<li>CALL</li>", "<table><tr><td>CALL</td></tr></table>",
	"<details>\n<summary>Output</summary>\n\nCALL\n\n</details>", "<blockquote>CALL</blockquote>", "<example>\nCALL", "Use <code>CALL",
	"It writes:\n\n    CALL", "It writes:\n\n\tCALL", "example: |\n    CALL", "1. The model writes:\n\n        CALL",
	"> CALL", "The report says:\n\n> I look.\n> CALL", "> > CALL", ">>> CALL",
	"Forms:\n\n- CALL", "Forms:\n\n* CALL", "Forms:\n\n1. CALL", "Forms:\n\n 12) CALL", "+ CALL", "+CALL", "-CALL",
	"// CALL", "# CALL", "## CALL", "  // CALL", "/* CALL */", " * CALL", "<!-- CALL -->", "-- CALL", "; CALL",
	"| form | text |\n| --- | --- |\n| a | CALL |", "It is “CALL”", "It is “CALL", "Es heißt „CALL“", "C’est «CALL»", "C’est « CALL »", "It is 'CALL'", "text = \"\"\"CALL\"\"\"",
	"text = \"\"\"\nCALL\n\"\"\"", "text = '''\nCALL\n'''", "text := `\nCALL\n`", "assert parse('CALL')", "(for example CALL)", "**CALL**", "_CALL_", "CALL.", "CALL [1]",
	"CALL -> parsed", "CALL\nis what the parser reads", "CALL …", "````\n```\nCALL\n```\n````", "~~~\nCALL\n~~~", "~~~ xml\nCALL", "```\nCALL", "1. ```xml\n   CALL\n   ```",
	"- ```\n  CALL", "$ cat out.txt\nCALL\n$ ", "\"CALL\"", "out.txt:3:CALL", "[2026-02-03 10:00:00] CALL",
}

// TestQuotations checks that no call is found in a quotation, whether or not the request is known.
func TestQuotations(t *testing.T) {
	checked := 0
	failed := map[string]int{}
	for _, c := range slices.Concat(calls, offered) {
		if strings.HasPrefix(c.text, "court") {
			continue // the words before the form are part of the call
		}
		for _, quotation := range quotations {
			call := c.text
			if prefix, _, _ := strings.Cut(quotation[strings.LastIndexByte(quotation[:strings.Index(quotation, "CALL")], '\n')+1:], "CALL"); strings.Trim(prefix, " \t>/#*+;-") == "" {
				call = strings.ReplaceAll(call, "\n", "\n"+prefix) // each line of the quotation has the prefix
			}
			if strings.HasPrefix(call, "get_time") && strings.HasPrefix(quotation, "out.txt") {
				continue // the prefix may be a part of the name
			}
			if strings.Contains(call, "```") && strings.Contains(quotation, "```") {
				continue // a code block is inside another
			}
			text := strings.ReplaceAll(quotation, "CALL", call)
			for i, tools := range []func() Tools{unknown, declared("get_time")} {
				checked++
				if i == 1 && (strings.HasPrefix(quotation, "out.txt") || strings.HasPrefix(quotation, "[2026")) {
					continue // words of any kind may precede a call of a declared tool
				}
				if got, ok := Find([]byte(text), tools, false); ok {
					if failed[quotation]++; failed[quotation] == 1 {
						t.Errorf("%q: found %+v", text, got)
					}
				}
			}
		}
	}
	for quotation, n := range failed {
		t.Errorf("%q: %d calls found", quotation, n)
	}
	t.Log(checked)
}

// TestData checks that JSON and Python that resemble a call are not calls, although the tool is declared.
func TestData(t *testing.T) {
	for _, text := range []string{
		`{"name":"get_time","description":"Returns the time","parameters":{}}`,
		`{"type":"function","function":{"name":"get_time","description":"Returns the time","parameters":{}}}`,
		`[{"name":"get_time","description":"Returns the time","parameters":{}}]`,
		`{"name":"get_time","parameters":{"zone":{"type":"string"}},"required":["zone"]}`,
		`{"name":"get_time","input":{"zone":"CET"},"output":"12:00"}`, `{"tool":"get_time","args":{"zone":"CET"},"result":"12:00"}`,
		`{"name":"get_time","arguments":{"zone":"CET"},"error":"no such zone"}`, `{"tool":"get_time","input":{},"score":0.5,"reason":"it is the wrong tool"}`,
		`{"name":"get_time","arguments":{},"expected":"none"}`, `[{"tool":"get_time","input":{},"status":"done"},{"tool":"b","input":{},"status":"failed"}]`,
		`{"name":"get_time"}`, `{"tools":["get_time"],"input":{}}`, `{"calls":[{"name":"get_time","arguments":{}}],"verdict":"good"}`,
		`{"name":"get_time","input_schema":{"type":"object"}}`, `[get_time(zone)](docs/time.md)`, `[get_time](docs/time.md)`, `[get_time(zone) for zone in zones]`,
		`[x for x in get_time()]`, `[get_time()][0]`, `[get_time(), 2]`, `def get_time(zone): return [zone]`, `get_time()`, `print(get_time())`,
	} {
		for _, before := range []string{"", "It is this:\n"} {
			if got, ok := Find([]byte(before+text), declared("get_time"), false); ok {
				t.Errorf("%q: found %+v", text, got)
			}
		}
	}
}

// TestVariants checks that calls are found in the variants in which models write them: with end tokens, with another
// name or other arguments, twice, after reasoning, and with other line ends.
func TestVariants(t *testing.T) {
	found := 0
	for _, c := range calls {
		variants := map[string]string{
			"with an end token": c.text + "<|im_end|>", "with a line end": c.text + "\n\n", "with Llama's token": c.text + "<|eot_id|>\n", "with Gemma's token": c.text + "\n<eos>",
			"with </s>": c.text + "</s>", "at the end of a turn": c.text + "<end_of_turn>", "after reasoning": "<think>\nI need the time.\n</think>\n\n" + c.text,
			"in reasoning": "<think>\nI need it.\n" + c.text + "\n</think>", "after a code block": "The code:\n\n```go\nx := 1\n```\n\n" + c.text,
			"after HTML": "The tag <code>b</code> is old.\n" + c.text, "after a list": "I do this:\n\n- look\n- ask\n\n" + c.text, "after a quotation": "> when?\n\n" + c.text,
			"after a rule": "Now.\n---\n" + c.text, "with two blanks before it": "Now.\n  " + c.text,
		}
		if !strings.HasPrefix(c.text, "<｜") && !strings.HasPrefix(c.text, "```") {
			variants["with CR LF"] = "I look.\r\n\r\n" + strings.ReplaceAll(c.text, "\n", "\r\n")
		}
		if !strings.Contains(c.text, "court") {
			variants["twice"] = c.text + "\n" + c.text
			variants["a long name"] = strings.ReplaceAll(c.text, "get_time", "mcp__clock-2__get_time")
			variants["special values"] = strings.ReplaceAll(c.text, "CET", `Ä{"`+"é — 東京")
		}
		for what, text := range variants {
			if what == "special values" && (strings.Contains(text, `"zone":"Ä{"`) || strings.Contains(text, `"Ä{"`) || strings.Contains(text, `'Ä`) || c.form == "gemma") {
				text = strings.ReplaceAll(text, `Ä{"`, `Ä{} `)
			}
			got, ok := Find([]byte(text), declared("get_time", "mcp__clock-2__get_time"), true)
			if !ok || got.Form != c.form || !strings.HasSuffix(got.Tool, "get_time") {
				t.Errorf("%s: %q: %+v %v, want %s", what, text, got, ok, c.form)
			}
			found++
		}
	}
	t.Log(fmt.Sprint(found))
}

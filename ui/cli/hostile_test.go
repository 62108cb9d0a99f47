//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostile is text that controls a terminal, or is invisible.
const hostile = "\x1b]0;title\a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b]52;c;QUJD\a\x1b[2J\x1b[31m\x1b[?1000h\x1bPq\x1b\\\x1b_a\x1b\\\x1bc" +
	"\u009b32m\u009d0;t\u009c\u0085\r\b\a\x00\x7f\u202eRTL\u2066\u200f\u061c\u200b\u200d\ufeff\u00ad\u2060\ufe0f\u3164" +
	"\U000e0041\U000e007f\U000e0100\u2028\ue000\U000f0000\x1b]2;unterminated "

// raw is text that is not valid UTF-8: single control bytes, and incomplete characters.
const raw = "\x9b31m\x9d0;t\x9c\xff\xc2\xed\xa0\xbd\x9f"

// named returns hostile text with a name. The name shows whether the text after it was lost.
func named(what string) string { return "<" + what + hostile + what + ">" }

// fill replaces each $name with a hostile string of that name, and each $$ with bytes that are not text. A name
// that begins with json is for JSON inside JSON.
func fill(text string) []byte {
	return []byte(os.Expand(text, func(what string) string {
		if what == "$" {
			return raw
		}
		q := quoted(named(what))
		if strings.HasPrefix(what, "json") {
			q = quoted(q[1 : len(q)-1])
		}
		return q[1 : len(q)-1]
	}))
}

const hostileAnthropic = `: comment $$

event: message_start
data: {"type":"message_start","message":{"id":"$message_id","type":"message","role":"assistant","model":"$model","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: $$
id: $$
retry: $$
$$: $$
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"$call_id","name":"$call_name","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"$key\": \"$value $$\", "}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"text\": \"one\\n\\u001b[31m\\u009b\\u202e\\ud800 two\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"$kind","text":"$text"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"broken","input":{}}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\": $$$broken"}}

data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_3","name":"sound","input":{}}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"$json_key\": \"$json_value\", \"b\": 1}"}}

data: {"type":"content_block_stop","index":3}

event: error
data: {"type":"error","error":{"type":"$error_type","message":"$error_message"}}

`

const hostileChat = `data: {"id":"$chat_id","model":"$chat_model","choices":[{"index":0,"delta":{"content":"$said","tool_calls":[{"index":0,"id":"$chat_call","type":"$chat_kind","function":{"name":"$chat_name","arguments":"{\"$chat_key\":\"$chat_value\"}"}}]}}]}

data: {"id":"c","model":"gpt","choices":[{"index":0,"delta":{},"finish_reason":"$finish"}],"$unknown":"$unknown"}

data: [DONE]

data: $$ this is not JSON

`

const hostileDump = "HTTP/1.1 500 $reason\r\nContent-Type: application/json\r\nX-$$: $$\r\nX-H: $header\r\n\r\n" +
	`{"error":{"type":"$body_type","code":"$code","message":"$body_message"}}`

const hostileCapture = `{"toolscope":1,"created":"2026-11-20T09:00:00Z","by":"$by"}
{"t":0,"x":1,"side":"request","head":{"file":"$file","method":"$method","url":"https://x/$url","header":{"$h":["$v"]}}}
{"t":1,"x":1,"head":{"status":200,"header":{"Content-Type":["$type"]}},"note":"$note"}
this line is damaged $$
{"t":2,"x":1,"d":"data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n"}
{"t":3,"x":1,"end":"cut","why":"$why"}
`

// hostileFiles writes one file of each kind. The files have hostile names too.
func hostileFiles(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range []string{hostileAnthropic, hostileChat, hostileDump, hostileCapture, "$$ $nonsense"} {
		name := strings.ReplaceAll(fmt.Sprint(i, hostile), "/", "")
		if i == 0 {
			name += raw
		}
		paths = append(paths, filepath.Join(dir, strings.ReplaceAll(name, "\x00", "")))
		if err := os.WriteFile(paths[i], fill(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// wantClean checks printed text. It must have no control characters except line breaks, and no invisible characters.
func wantClean(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	for i, r := range text {
		if r != '\n' && r != utf8.RuneError && invisible(r) {
			t.Errorf("%U in %q", r, text[i:min(len(text), i+80)])
			return
		}
	}
}

// places identifies the panes and modes by words that only they show.
var places = []string{"enter open ", "r raw", " raw ", " B ", "enter frame", "record 1", "enter go there", "esc cancel", "Keys here", "Copy ", "Theme ", " filter ", "of 7", "WOULD HAVE RUN"}

// TestHostileScreen opens every pane and mode with hostile text. At the end, the emulated terminal checks every
// byte.
func TestHostileScreen(t *testing.T) {
	tour := "1 g " + strings.Repeat("2 j enter q 2 r r 3 j enter q 1 j ", 10) +
		"4 j enter 4 j enter ! ! 1 / $ enter n esc 3 / $ esc ? G esc z z t down esc y esc f $ esc : $ esc , , esc 5 j enter 6 j 1 F tab shift"
	for name, l := range map[string]launch{
		"small": {w: 40, h: 10},
		"usual": {w: 80, h: 24},
		"large": {w: 170, h: 40},
		"ascii": {w: 80, h: 24, args: []string{"--ascii", "--no-color"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.args = append(append(l.args, "open"), hostileFiles(t)...)
			p := start(t, l)
			p.untilShown("END")
			missing := slices.Clone(places)
			for round := 0; round == 0 || len(missing) > 0 && l.w >= 80; round++ {
				if round == 5 {
					t.Fatalf("the tour did not come by %q", missing)
				}
				for _, key := range strings.Fields(tour) {
					p.press(key)
					shown := now(p, (*screen).text)
					missing = slices.DeleteFunc(missing, func(place string) bool { return strings.Contains(shown, place) })
				}
			}
			p.keys("\x03")
			p.wantExit(130)
			p.wantRestored()
			if name == "ascii" {
				wantASCII(t, p.out)
			}
		})
	}
}

// press types a key and waits for a new frame. The wait is limited, because not every key has an effect everywhere.
func (p *console) press(key string) {
	p.t.Helper()
	size := now(p, func(*screen) int { return len(p.out) })
	p.keys(strings.NewReplacer("enter", "\r", "esc", "\x1b", "tab", "\t", "shift", "\x1b[Z",
		"$", "\x1b[200~\u009b31m\u202e\u200b\x07\x1b[201~").Replace(key))
	for deadline := time.Now().Add(60 * time.Millisecond); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if now(p, func(s *screen) bool { return len(p.out) > size && s.whole() }) {
			return
		}
	}
}

// TestHostilePrint checks that print on a terminal shows all text, and that the text is harmless.
func TestHostilePrint(t *testing.T) {
	files := hostileFiles(t)
	for _, format := range []string{"text", "jsonl"} {
		p := start(t, launch{w: 400, args: append([]string{"print", "--format", format}, files...)})
		p.wantExit(1)
		out := strings.ReplaceAll(string(p.out), "\r\n", "\n")
		out = withoutInks(out)
		wantClean(t, out)
		for _, what := range []string{
			"call_id", "call_name", "key", "value", "broken", "model", "error_message",
			"chat_model", "chat_call", "chat_name", "chat_key", "chat_value", "finish", "body_message",
		} {
			if !strings.Contains(out, what+">") {
				t.Errorf("%s: the end of %s is missing in\n%s", format, what, out)
			}
		}
	}
}

// TestHostileValues checks that values in machine-readable output are exact, even if they are hostile.
func TestHostileValues(t *testing.T) {
	files := hostileFiles(t)
	out := command(t, nil, append([]string{"print", "--format", "jsonl"}, files...)...)
	calls, turns := out.decode(t)
	wantClean(t, out.stdout)
	wantClean(t, out.stderr)
	if len(calls) < 5 || len(turns) < 4 {
		t.Fatalf("%d calls, %d turns:\n%s", len(calls), len(turns), out.stdout)
	}
	first, sound, chat := calls[0], calls[2], calls[3]
	same(t, 0, "file", first.File, fffd(files[0]))
	same(t, 0, "id", first.ID, named("call_id"))
	same(t, 0, "name", first.Name, named("call_name"))
	same(t, 0, "model", turns[0].Model, named("model"))
	same(t, 2, "arguments", sound.Arguments, any(map[string]any{named("json_key"): named("json_value"), "b": 1.0}))
	same(t, 3, "file", chat.File, files[1])
	same(t, 3, "id", chat.ID, named("chat_call"))
	same(t, 3, "name", chat.Name, named("chat_name"))
	same(t, 3, "raw", chat.Raw, `{"`+named("chat_key")+`":"`+named("chat_value")+`"}`)
	same(t, 2, "finish", turns[1].Finish, named("finish"))
}

// TestHostileReplay checks that hostile text is complete and harmless in every format of replay. Machine-readable
// output must have the exact bytes.
func TestHostileReplay(t *testing.T) {
	files := hostileFiles(t)[:2]
	for _, args := range [][]string{
		{"--format", "text"}, {"--format", "text", "--to", "anthropic"}, {"--format", "text", "--to", "openai-chat", "--policy", "repair"},
		{"--whole", "--to", "openai-chat", "--policy", "wrap"}, {"--policy", "all", "--format", "json"}, {"--whole", "--format", "json"},
	} {
		out := command(t, nil, append(append([]string{"replay"}, args...), files...)...)
		wantClean(t, out.stdout)
		wantClean(t, out.stderr)
		if !strings.Contains(out.stdout, "call_name>") && !strings.Contains(out.stdout, "chat_name>") {
			t.Errorf("%v: no name in\n%s", args, out.stdout)
		}
		if args[len(args)-1] == "json" {
			readPreviews(t, out.stdout)
		}
	}
	chat := previews(t, "--to", "openai-chat", files[1])[0]
	var body struct {
		Calls []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(chat.Body, &body); err != nil || len(body.Calls) != 1 {
		t.Fatalf("%v: body %s", err, chat.Body)
	}
	same(t, 0, "name", body.Calls[0].Function.Name, named("chat_name"))
	same(t, 0, "arguments", body.Calls[0].Function.Arguments, `{"`+named("chat_key")+`":"`+named("chat_value")+`"}`)
}

// fffd returns s with U+FFFD in place of each byte that is not UTF-8, as JSON encoders write it.
func fffd(s string) string { return string([]rune(s)) }

// TestHostileErrors checks that errors quote a hostile command line in a harmless form.
func TestHostileErrors(t *testing.T) {
	bad := strings.ReplaceAll(strings.ReplaceAll(hostile, "\x00", ""), "/", "") + raw
	for _, args := range [][]string{
		{bad},
		{"open", bad}, {"print", bad}, {"print", bad + "\n\n\n\nmore"},
		{"print", "--format", bad, "x"}, {"print", "--" + bad}, {"print", "-" + bad},
		{"--theme", bad, "demo"}, {"demo", "--theme", bad}, {"demo", bad}, {"open", "--speed", bad, "x"},
		{"replay", bad}, {"replay", "--to", bad, "x"}, {"replay", "--policy", bad, "x"}, {"replay", "--fail-on-loss", bad, "x"},
		{"replay", "--format", bad, "x"}, {"replay", "--turn", bad, "x"}, {"replay", "--turn", "9", "demo/cut.tsc" + bad},
		{"check", bad}, {"check", "--fail-on", bad, "x"}, {"check", "--baseline", bad, "x"}, {"check", "--max-cost", bad, "x"},
		{"check", "--expect-tool", bad, "demo/cut.tsc"}, {"check", "--format", "junit", "--forbid-tool", bad, "--expect-tool", bad, "demo/cut.tsc"},
		{"export", bad, "--as", "jsonl"}, {"export", "x", "--as", bad}, {"export", "x", "--as", "jsonl", "--turn", bad},
		{"export", "demo/cut.tsc", "--as", "jsonl", "-o", bad + "/x"},
		{"version", bad}, {"demo", "--list=" + bad}, {"completion", bad}, {"completion", "bash", bad}, {"help", bad},
		{"__complete", bad}, {"__complete", "open", "--theme", bad}, {"__complete", "--" + bad},
		{"serve", bad}, {"serve", "--fault", bad, "x"}, {"serve", "--listen", bad, "x"}, {"serve", "--speed", bad, "x"},
		{"proxy", bad}, {"proxy", "--to", bad}, {"proxy", "--to", "http://x/" + bad}, {"proxy", "--listen", bad}, {"proxy", "--token", bad}, {"proxy", "--format", bad},
	} {
		got := command(t, nil, args...)
		wantClean(t, got.stdout)
		wantClean(t, got.stderr)
		if strings.Count(got.stderr, "\n") > 3 {
			t.Errorf("%q says\n%s", args, got.stderr)
		}
	}
	for _, args := range [][]string{{"print", bad}, {"demo", "--theme", bad}} { // on a terminal
		p := start(t, launch{args: args, asks: true})
		p.exit()
		wantClean(t, withoutInks(strings.ReplaceAll(string(p.out), "\r\n", "\n")))
		if !p.shows("toolscope: ") {
			t.Errorf("%q says\n%s", args, p.describe())
		}
	}
}

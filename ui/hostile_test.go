package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolscope/stream"
)

// hostile has texts of each kind that must not reach a terminal unchanged.
var hostile = []string{
	"\x00", "\a", "\b", "\t", "\n", "\v", "\r", "\r\n", "\x1f", "\x7f", // C0 and DEL
	"\x1b[31m", "\x1b[2J", "\x1b]0;owned\a", "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b]8;;http://x", "\x1bP1q", "\x1b_x", "\x1b^x", "\x1bX", "\x1b", "\x1b[",
	"\u009b31m", "\u009d0;t", "\u0085", "\x9b31m", "\x9d0;t", "\x90", // C1, in UTF-8 and as single bytes
	"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", // bidi
	"\u00ad", "\u034f", "\u115f", "\u180b", "\u180e", "\u200b", "\u200c", "\u200d", "\u2028", "\u2029", "\u2060", "\u2064", "\u206f",
	"\u3164", "\ufeff", "\uffa0", "\ufff9", "\ufffb", "\ufe0e", "\ufe0f", "\U000e0100", // invisible
	"\U000e0001", "\U000e0069\U000e0067\U000e006e", "🏴\U000e0067\U000e007f", // tags
	"\ue000", "\U000f0000", "\U0010fffd", "\ufdd0", "\uffff", "\u0378", // private use, noncharacters, unassigned
	"\xff", "\xc0\xaf", "\xe2\x82", "\xed\xa0\xbd", "\xf4\x90\x80\x80", // not UTF-8
	"a" + strings.Repeat("\u0301", 40), "\u0301", "👩\u200d", "👩\u200d\u200d👧", "1\ufe0f", "🏽", "🇳", "\u0e33", // marks and joiners
	"👨‍👩‍👧", "❤️", "日本語", "שלום", "e\u0301", "نص", // text that is drawn unchanged
}

// attack returns streams with text in every field that a provider or a network controls.
func attack(text string) map[string][]stream.Record {
	q := quote(strings.ToValidUTF8(text, "")) // JSON escapes what must be escaped; raw bytes have their own cases
	a := new(anthropic).open("msg_" + text)
	a.text("say "+text, text).call("toolu_"+text, "tool"+text+"after", chop(`{"key`+text+`":"value `+text+` end`, 3)...)
	a.args(1, `","escaped":"`, strings.Trim(fmt.Sprintf("%+q", text), `"`), `"}`).seal()
	a.say(`{"type":%s,"x":1}`, q)
	a.say(`{"type":"error","error":{"type":%s,"message":%s}}`, q, q)
	a.records[0].Head = &stream.Head{Method: "PO" + text, URL: "http://h/" + text + "?q=" + text, File: "/tmp/" + text + ".sse", Status: 500}
	a.records[0].Note = "note " + text
	a.records[len(a.records)-1].End = true

	raw := new(anthropic).open("msg_1")
	raw.call("toolu_1", "tool", "{}")
	raw.bytes(": " + text + "\n\nevent: " + text + "\ndata: " + text + "\n\nid: " + text + "\n\n" + text + "\n\n")
	raw.bytes(`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + text + `"}}` + "\n\n")

	chat := chatChunk(`"role":"assistant","content":%s`, q) +
		chatChunk(`"tool_calls":[{"index":0,"id":%s,"type":%s,"function":{"name":%s,"arguments":%s}}]`, q, q, q, q) +
		chatChunk(`"tool_calls":[{"index":0,"function":{"arguments":"`+text+`"}}]`) + "data: {\"error\":{\"message\":" + q + ",\"code\":" + q + "}}\n\n"
	return map[string][]stream.Record{
		"anthropic": a.records, "raw": raw.records, "nothing known": {{Data: []byte(text + "\n" + text)}},
		"chat": {{Data: []byte(chat), Head: &stream.Head{File: text}}},
	}
}

func chatChunk(delta string, args ...any) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{`+delta+
		`},"finish_reason":null}]}`+"\n\n", args...)
}

// TestFramesOfHostileStreams checks that whatever text arrives in whatever field, only text and SGR sequences
// are drawn, and every row is as wide as the window.
func TestFramesOfHostileStreams(t *testing.T) {
	drawsAlone(t)
	for i, text := range hostile {
		if i%thin() != 0 {
			continue
		}
		for name, records := range attack(text) {
			t.Run(fmt.Sprintf("%+q in %s", text, name), func(t *testing.T) {
				for _, s := range []*rig{newScreen(t, 72, 20), newScreen(t, 72, 20, ascii, colourless)} {
					s.opt.Source = "file" + text
					for _, r := range records {
						s.feed(r)
						checkFrame(t, s)
					}
					s.inbox.Close(fmt.Errorf("read %s: it failed", text))
					s.send(inboxReady{})
					tour(t, [][2]int{{72, 20}, {160, 30}}[i%2:i%2+1], s)
				}
			})
		}
	}
}

// TestNothingIsSwallowed checks that text after a sequence that never ends stays visible.
func TestNothingIsSwallowed(t *testing.T) {
	for _, open := range []string{"\x1b]0;", "\x1b]8;;", "\x1bP", "\x1b_", "\x1b[", "\u009d", "\u0090", "\x1b"} {
		a := new(anthropic).open("msg_1").call("toolu_1", "n"+open+"NAME", `{"k`+strings.Trim(quote(open), `"`)+`KEY":"v`+strings.Trim(quote(open), `"`)+`VALUE"}`)
		s := newScreen(t, 120, 30).feed(a.records...)
		s.shows("NAME", "KEY", "VALUE").press("2jl<enter>").shows("VALUE")
		s.press("<esc>/" + open + "FIND").shows("FIND")
	}
}

// TestInvisibleCharactersShow checks that a tool name with invisible characters doesn't look like another
// name.
func TestInvisibleCharactersShow(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "read\u200b_file", "{}").seal()
	a.call("toolu_2", "read\u202e_file", "{}").seal().call("toolu_3", "read_file\U000e0068\U000e0069", "{}").seal()
	newScreen(t, 120, 40).feed(a.stop("tool_use").records...).
		shows("read⟨U+200B⟩_file", "read⟨U+202E⟩_file", `read_file⟨tags:"hi"⟩`).press("1gj3").shows("Findings 1")
}

// TestFramesOfRandomBytes checks the frames after random bytes that are not valid in any protocol.
func TestFramesOfRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	pieces := append([]string{"data: ", "event: ", "\n\n", "{", "}", "[", `"`, ":", ",", `"type":`, `"index":0`, "\\", "\\u00", " "}, hostile...)
	for range 300 / thin() {
		screens := quartet(t)
		for range 1 + random.IntN(8) {
			var data []byte
			for range random.IntN(30) {
				data = append(data, pieces[random.IntN(len(pieces))]...)
			}
			record := stream.Record{Exchange: random.IntN(3), Data: data, End: random.IntN(20) == 0}
			for _, s := range screens {
				s.feed(record)
			}
		}
		look := looks[random.IntN(len(looks))]
		for _, s := range screens {
			s.press(look.keys)
		}
		checkQuartet(t, screens)
	}
}

// FuzzFrame checks the same properties of every frame, for any bytes and keys.
func FuzzFrame(f *testing.F) {
	for _, text := range []string{"\x1b]0;t\a", "\u202e", "\xff", "👩\u200d"} {
		for _, records := range attack(text) {
			var all []byte
			for _, r := range records {
				all = append(all, r.Data...)
			}
			f.Add(all, "2jlr3\r/e", uint8(50), uint8(80), uint8(24))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, keys string, step, w, h uint8) {
		if len(data)/(int(step)+1) > 1000 {
			return // a longer stream would show no more errors than a short one
		}
		screens := []*rig{newScreen(t, 80, 24), newScreen(t, 80, 24, colourless)}
		if w%2 == 0 {
			screens = []*rig{newScreen(t, 80, 24, ascii), newScreen(t, 80, 24, ascii, colourless)}
		}
		for _, s := range screens {
			s.resize(int(w), int(h))
			for at := 0; at < len(data); at += int(step) + 1 {
				s.feed(stream.Record{Data: data[at:min(at+int(step)+1, len(data))]})
			}
			for i, r := range keys[:min(len(keys), 20)] {
				if s.press(strings.NewReplacer("\r", "<enter>", "\x1b", "<esc>", "<", "g").Replace(string(r))); i == 5 {
					s.end()
				}
			}
		}
		checkQuartet(t, screens)
	})
}

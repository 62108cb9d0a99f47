package display

import "strings"

// hostile has a string of each class that must not reach the screen unchanged, and strings that look similar but are
// allowed.
var hostile = []struct {
	name  string
	in    string
	shown string
	cells int
	ascii string
}{
	{"empty", "", "", 0, ""},
	{"plain", "a b~", "a b~", 4, "a b~"},
	{"nul", "\x00", "␀", 1, `\x00`},
	{"bell", "\a", "␇", 1, `\x07`},
	{"backspace", "a\bb", "a␈b", 3, `a\x08b`},
	{"tab", "\t", "␉", 1, `\t`},
	{"line feed", "a\nb", "a␊b", 3, `a\nb`},
	{"vertical tab", "\v", "␋", 1, `\x0b`},
	{"carriage return", "real\rfake", "real␍fake", 9, `real\rfake`},
	{"unit separator", "\x1f", "␟", 1, `\x1f`},
	{"sgr", "\x1b[31mred", "␛[31mred", 8, `\x1b[31mred`},
	{"title", "\x1b]0;owned\aafter", "␛]0;owned␇after", 15, `\x1b]0;owned\x07after`},
	{"clipboard", "\x1b]52;c;ZXZpbA==\x1b\\", `␛]52;c;ZXZpbA==␛\`, 17, `\x1b]52;c;ZXZpbA==\x1b\`},
	{"unterminated osc", "\x1b]8;;http://x after", "␛]8;;http://x after", 19, `\x1b]8;;http://x after`},
	{"unterminated dcs", "\x1bPq after", "␛Pq after", 9, `\x1bPq after`},
	{"del", "\x7f", `\x7f`, 4, `\x7f`},
	{"c1 csi in utf-8", "\u009b31m", `\x9b31m`, 7, `\x9b31m`},
	{"c1 csi raw", "\x9b31m", `\x9b31m`, 7, `\x9b31m`},
	{"c1 osc raw, unterminated", "\x9d0;t after", `\x9d0;t after`, 13, `\x9d0;t after`},
	{"nel", "\u0085", `\x85`, 4, `\x85`},
	{"rlo", "a\u202egpj.exe", "a⟨U+202E⟩gpj.exe", 16, `a\u202egpj.exe`},
	{"isolate", "\u2066\u2069", "⟨U+2066⟩⟨U+2069⟩", 16, `\u2066\u2069`},
	{"arabic letter mark", "\u061c", "⟨U+061C⟩", 8, `\u061c`},
	{"lrm rlm", "\u200e\u200f", "⟨U+200E⟩⟨U+200F⟩", 16, `\u200e\u200f`},
	{"soft hyphen", "co\u00adop", "co⟨U+00AD⟩op", 12, `co\u00adop`},
	{"grapheme joiner", "a\u034fb", "a⟨U+034F⟩b", 10, `a\u034fb`},
	{"zero width space", "pass\u200bword", "pass⟨U+200B⟩word", 16, `pass\u200bword`},
	{"byte order mark", "\ufeff{}", "⟨U+FEFF⟩{}", 10, `\ufeff{}`},
	{"word joiner", "\u2060", "⟨U+2060⟩", 8, `\u2060`},
	{"hangul filler", "\u3164\u115f\uffa0", "⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩", 24, `\u3164\u115f\uffa0`},
	{"interlinear", "\ufff9", "⟨U+FFF9⟩", 8, `\ufff9`},
	{"mongolian selector", "\u180b\u180e", "⟨U+180B⟩⟨U+180E⟩", 16, `\u180b\u180e`},
	{"variation selector on a letter", "a\ufe0f", "a⟨U+FE0F⟩", 9, `a\ufe0f`},
	{"text selector", "☺\ufe0e", "☺⟨U+FE0E⟩", 9, `\u263a\ufe0e`},
	{"ideographic selector", "中\U000e0100", "中⟨U+E0100⟩", 11, `\u4e2d\U000e0100`},
	{"tags", "a" + tagged("ignore previous") + "b", `a⟨tags:"ignore previous"⟩b`, 26, `a<tags:"ignore previous">b`},
	{"tag quotes", tagged(`"\`) + "\U000e0001", `⟨tags:"\"\\\x01"⟩`, 17, `<tags:"\"\\\x01">`},
	{"flag with tags", "🏴" + tagged("gbeng") + "\U000e007f", `🏴⟨tags:"gbeng\x7f"⟩`, 20, `\U0001f3f4<tags:"gbeng\x7f">`},
	{"private use", "\ue000\U000f0000\U0010fffd", "⟨U+E000⟩⟨U+F0000⟩⟨U+10FFFD⟩", 27, `\ue000\U000f0000\U0010fffd`},
	{"noncharacters", "\ufdd0\uffff\U0001fffe", "⟨U+FDD0⟩⟨U+FFFF⟩⟨U+1FFFE⟩", 25, `\ufdd0\uffff\U0001fffe`},
	{"unassigned", "\u0378\u2065", "⟨U+0378⟩⟨U+2065⟩", 16, `\u0378\u2065`},
	{"line separators", "\u2028\u2029", "⟨U+2028⟩⟨U+2029⟩", 16, `\u2028\u2029`},
	{"not utf-8", "\xff\xc0\xaf", `\xff\xc0\xaf`, 12, `\xff\xc0\xaf`},
	{"half a character", "\xe2\x82", `\xe2\x82`, 8, `\xe2\x82`},
	{"half a character, then text", "\xe2\x82a", `\xe2\x82a`, 9, `\xe2\x82a`},
	{"surrogates", "\xed\xa0\xbd\xed\xb8\x80", `\ud83d\ude00`, 12, `\ud83d\ude00`},
	{"half a surrogate", "\xed\xa0", `\xed\xa0`, 8, `\xed\xa0`},
	{"replacement character", "\ufffd", "\ufffd", 1, `\ufffd`},
	{"zalgo", "a" + strings.Repeat("\u0301", 48) + "b", "a" + strings.Repeat("\u0301", 8) + "⟨+40⟩b", 7, "a" + strings.Repeat(`\u0301`, 48) + "b"},
	{"zalgo without base", strings.Repeat("\u0301", 9), "◌" + strings.Repeat("\u0301", 8) + "⟨+1⟩", 5, strings.Repeat(`\u0301`, 9)},
	{"eight marks", "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 8), 1, "a" + strings.Repeat(`\u0301`, 8)},
	{"mark without base", "\u0301x", "◌\u0301x", 2, `\u0301x`},
	{"mark after a control", "a\x1b\u0301", "a␛◌\u0301", 3, `a\x1b\u0301`},
	{"sara am without base", "\u0e33", "⟨U+0E33⟩", 8, `\u0e33`},
	{"dot reph", "\u0d4e\u0d15", "⟨U+0D4E⟩ക", 9, `\u0d4e\u0d15`},
	{"joiner in text", "a\u200db\u200cc", "a⟨U+200D⟩b⟨U+200C⟩c", 19, `a\u200db\u200cc`},
	{"joiner at an end", "👩\u200d", "👩⟨U+200D⟩", 10, `\U0001f469\u200d`},
	{"joiner and letter", "👩\u200da", "👩⟨U+200D⟩a", 11, `\U0001f469\u200da`},
	{"family", "👨‍👩‍👧", "👨‍👩‍👧", 2, `\U0001f468\u200d\U0001f469\u200d\U0001f467`},
	{"rainbow flag", "🏳️‍🌈", "🏳️‍🌈", 2, `\U0001f3f3\ufe0f\u200d\U0001f308`},
	{"keycap", "1️⃣", "1️⃣", 2, `1\ufe0f\u20e3`},
	{"digit selector", "1\ufe0fx", "1⟨U+FE0F⟩x", 10, `1\ufe0fx`},
	{"heart", "❤️", "❤️", 2, `\u2764\ufe0f`},
	{"skin tone", "👍🏽", "👍🏽", 2, `\U0001f44d\U0001f3fd`},
	{"skin tone alone", "a🏽☕🏽", "a⟨U+1F3FD⟩☕⟨U+1F3FD⟩", 21, `a\U0001f3fd\u2615\U0001f3fd`},
	{"flag and half", "🇳🇴🇳", "🇳🇴🇳", 4, `\U0001f1f3\U0001f1f4\U0001f1f3`},
	{"accents", "é e\u0301 ñ", "é e\u0301 ñ", 5, `\u00e9 e\u0301 \u00f1`},
	{"cjk", "日本語、한국어", "日本語、한국어", 14, `\u65e5\u672c\u8a9e\u3001\ud55c\uad6d\uc5b4`},
	{"rtl letters", "שלום مرحبا", "שלום مرحبا", 10, `\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627`},
	{"devanagari", "नमस्ते", "नमस्ते", 3, `\u0928\u092e\u0938\u094d\u0924\u0947`},
	{"spaces", "a\u00a0b\u3000c", "a\u00a0b\u3000c", 6, `a\u00a0b\u3000c`},
	{"symbols", "€ → ∑ ½ ●", "€ → ∑ ½ ●", 9, `\u20ac \u2192 \u2211 \u00bd \u25cf`},
}

// tagged returns s in tag characters.
func tagged(s string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, s)
}

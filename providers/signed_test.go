package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestSigned checks that a signature belongs to the run of text or reasoning before it, and never to another
// kind of content.
func TestSigned(t *testing.T) {
	want := map[string]string{
		"anthropic/thinking_then_call":                 `thinking "Weather is asked." c2lnbmVk | hidden "" b3BhcXVl | call`,
		"anthropic/thinking_not_shown":                 `text "Well." | thinking "" c2lnMQ== | thinking "" c2lnMg== | thinking "" c2lnMw==`,
		"anthropic/body_thinking":                      `thinking "Weather is asked." c2lnMQ== | thinking "" c2lnMg== | thinking "And more." | hidden "" b3BhcXVl | text "Well."`,
		"bedrock/reasoning":                            `thinking "Weather tool." RXZBQQ== | hidden "" RXZBQQ== | call`,
		"bedrock/reasoning_not_shown":                  `text "Well." | thinking "" c2lnMQ== | thinking "Hm." c2lnMg==`,
		"bedrock/body_reasoning":                       `thinking "Hm." c2lnMQ== | thinking "" c2lnMg== | hidden "" b3BhcXVl | text "Well."`,
		"openaichat/reasoning_details":                 `thinking "Weather." c2ln | thinking "Asked." | hidden "" b3Bh call_1 | call`,
		"openaichat/reasoning_details_body":            `thinking "Weather? " c2lnMQ== | thinking "Oslo." c2lnMg== | call`,
		"openaichat/reasoning_details_signature_alone": `thinking "Weather is asked." c2ln | text "Looking." | thinking "" bmV4dA== rs_2 | text " Done."`,
		"openaichat/gemini_compat_signed_text":         `text "I can look it up." c2ln | text " Shall I?"`,
	}
	found := 0
	for _, f := range fixtures(t) {
		if parts, ok := want[f.name]; ok {
			found++
			if got := partWords(f.inspect(f.wire).Session().Turns[0]); got != parts {
				t.Errorf("%s:\n%s, want\n%s", f.name, got, parts)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d fixtures of %d", found, len(want))
	}
}

// partWords returns the parts of a turn on one line.
func partWords(turn *stream.Turn) string {
	var words []string
	text, thinking := 0, 0
	for _, p := range turn.Parts {
		var w []string
		switch {
		case p.Kind == stream.PartCall:
			w = []string{"call"}
		case p.Kind == stream.PartText:
			w = []string{"text", fmt.Sprintf("%q", turn.Text[text:p.End])}
			text = p.End
		default:
			w = []string{"thinking", fmt.Sprintf("%q", turn.Thinking[thinking:p.End])}
			thinking = p.End
		}
		if p.SignatureOnly {
			w[0] = "hidden"
		}
		w = append(w, p.Signature, p.ID)
		words = append(words, strings.Join(slices.DeleteFunc(w, func(s string) bool { return s == "" }), " "))
	}
	return strings.Join(words, " | ")
}

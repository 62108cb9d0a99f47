package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInText checks that JSON lines contain the place of a call that a model wrote as text.
func TestInText(t *testing.T) {
	finish := "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for text, want := range map[string]*inTextJSON{
		"Now.\n<tool_call>{\"name\":\"ring_bell\",\"arguments\":{}}</tool_call>":           {"hermes", "ring_bell", "text", 5},
		"Now.\n<tool_call>{\"name\":\"ring_bell\",\"arguments\":{}}</tool_call> rings it.": nil,
	} {
		body := "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":" +
			asJSON(text) + "},\"finish_reason\":null}]}\n\n" + finish
		_, turns := command(t, []byte(body), "print", "--format", "jsonl", "-").decode(t)
		if len(turns) != 1 {
			t.Fatalf("%q: %d turns", text, len(turns))
		}
		var got *inTextJSON
		for _, f := range turns[0].Findings {
			if f.InText != nil {
				got = f.InText
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

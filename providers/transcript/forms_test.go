package transcript

import (
	"testing"

	"toolscope/stream/json"
)

// TestContentWith checks that the images of a result stay in its content, and that a result without images keeps its
// text as it is.
func TestContentWith(t *testing.T) {
	for _, c := range []struct{ text, attachments, kind, want string }{
		{`"a"`, ``, "file", `"a"`},
		{`"a"`, `[]`, "file", `"a"`},
		{`"a"`, `[{"type":"text","text":"a"}]`, "image", `"a"`},
		{`"a"`, `[{"type":"file","mime":"image/png","url":"data:,x"}]`, "file", `[{"type":"text","text":"a"},{"type":"image","mime":"image/png","url":"data:,x"}]`},
		{`""`, `[{"type":"text","text":""},{"type":"image","data":"eA=="}]`, "image", `[{"type":"image","data":"eA=="}]`},
	} {
		if got := string(contentWith(json.Value(c.text), json.Value(c.attachments), c.kind)); got != c.want {
			t.Errorf("%s with %s: %s, not %s", c.text, c.attachments, got, c.want)
		}
	}
}

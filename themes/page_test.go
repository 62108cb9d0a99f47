package themes

import (
	"testing"

	"github.com/alecthomas/chroma/v2"
)

// TestPages checks that all text is legible on the background that a theme paints: roles and text at 4.5:1,
// tokens at 3:1.
func TestPages(t *testing.T) {
	own := 0
	for _, name := range Names() {
		th, err := Lookup(name, true)
		if err != nil {
			t.Fatal(err)
		}
		page := chroma.ParseColour(th.Page.BG)
		if !page.IsSet() || (luminanceOf(page) < midLuminance) != th.Dark {
			t.Errorf("%s paints %q", name, th.Page.BG)
		}
		if th.Page.BG != Default(th.Dark).Page.BG {
			own++
		}
		inks := inksOf(th)
		inks["text"] = TextStyle{FG: th.Page.FG}
		for what, ink := range inks {
			least := tokenContrast
			switch what {
			case "live", "good", "caution", "bad", "muted", "accent", "text":
				least = roleContrast
			}
			if c := contrastRatio(chroma.ParseColour(ink.FG), page); ink.FG != "" && c < least {
				t.Errorf("%s: %s has a contrast of %.2f on %s", name, what, c, th.Page.BG)
			}
		}
	}
	if own < 10 {
		t.Errorf("only %d themes paint a background of their own", own)
	}
}

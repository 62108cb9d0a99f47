package cli

import (
	"context"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/capture"
	"toolscope/themes"
	"toolscope/ui"
)

var update = flag.Bool("update", false, "write the picture of the README anew")

const picture = "../../.github/toolscope.svg"

// TestPicture checks that the README's picture is a frame of the demo as the program draws it. With -update, it
// redraws the picture.
func TestPicture(t *testing.T) {
	got := svg(demoFrame(t, 118, 32))
	looksAs(t, picture, got, "Picture")
}

// looksAs checks that a file of the README has the same content as the program's output. With -update, it rewrites
// the file.
func looksAs(t *testing.T, file, got, test string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := written(t, file); got != want {
		t.Errorf("the program looks different now: go test ./ui/cli -run %s -update", test)
	}
}

// TestKeyTable checks that the table of keys lists the keys of the screen. With -update, it rewrites the table.
func TestKeyTable(t *testing.T) {
	const file, head = "../docs/keys.md", "| part | keys |\n| --- | --- |\n"
	text := written(t, file)
	before, old, found := strings.Cut(text, head)
	switch keys := keyTable() + "\n"; {
	case !found:
		t.Fatal("there is no table of keys")
	case old == keys:
	case *update:
		if err := os.WriteFile(file, []byte(before+head+keys), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the keys are others now: go test ./ui/cli -run Key -update")
	}
}

// TestPackageTable checks that every package is listed in the table of packages.
func TestPackageTable(t *testing.T) {
	_, table, _ := strings.Cut(written(t, "../../CONTRIBUTING.md"), "| package | purpose |")
	out, err := exec.Command("go", "list", "toolscope/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out))[1:] {
		name = strings.TrimPrefix(name, "toolscope/")
		if !strings.Contains(table, "`"+name+"`") && !strings.Contains(table, "`"+path.Base(name)+"`") {
			t.Errorf("CONTRIBUTING.md lacks the package %s", name)
		}
	}
}

func written(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keyTable returns the keys of the screen in the README's form. Each section of the help screen is a row.
func keyTable() string {
	var rows []string
	part := ""
	for _, k := range ui.Keys(nil) {
		keys := strings.ReplaceAll(k.Keys, "|", `\|`)
		if k.Group != "Words" { // each of the words is a separate key
			keys = strings.ReplaceAll(keys, " ", "` `")
		}
		keys = "`" + keys + "` " + k.Does
		if k.Group == part {
			rows[len(rows)-1] += " · " + keys
			continue
		}
		part = k.Group
		rows = append(rows, "| "+part+" | "+keys)
	}
	return strings.Join(rows, " |\n") + " |"
}

// demoFrame returns the screen in the middle of a call, after two malformed turns.
func demoFrame(t *testing.T, w, h int) string {
	in := fileInbox()
	exchange := 0
	for _, part := range []struct {
		name  string
		until time.Duration
	}{{"malformed", time.Minute}, {"cut", time.Minute}, {"parallel", 2300 * time.Millisecond}} {
		src, err := demoSource(context.Background(), part.name)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if r.At < part.until || r.At == capture.NoTime {
				r.Exchange += exchange
				in.Put(r)
			}
		}
		exchange++
	}
	dark := themes.Default(true)
	var m tea.Model = ui.New(ui.Options{Source: "demo", Inbox: in, Theme: dark, Depth: termenv.TrueColor, Now: noon})
	m, _ = m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for in.Waiting() > 0 { // a batch ends after a fixed time, so one may not be enough
		m, _ = m.Update(m.Init()())
	}
	return m.View()
}

// These constants are the size of a cell of the picture, in pixels.
const cellWidth, cellHeight = 8.4, 18.0

// svg draws a frame as an SVG picture. The frame must have no escape sequences except SGR.
func svg(frame string) string {
	lines := strings.Split(frame, "\n")
	var b strings.Builder
	for y, line := range lines {
		drawLine(&b, line, 12, 12+float64(y)*cellHeight)
	}
	return canvas(ansi.StringWidth(lines[0]), len(lines), "", b.String())
}

// canvas returns a picture of the given size in cells, with the given contents.
func canvas(columns, rows int, head, drawn string) string {
	var b strings.Builder
	width, height := float64(columns)*cellWidth+24, float64(rows)*cellHeight+24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	b.WriteString(head)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#16181d"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#d8dee9" xml:space="preserve">` + "\n")
	b.WriteString(drawn)
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine draws the runs of a line. Each run has its own position, so the width of the font does not matter.
func drawLine(b *strings.Builder, line string, x, y float64) {
	style := ""
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			codes, rest, _ := strings.Cut(line[2:], "m")
			style, line = codes, rest
			continue
		}
		text := line
		if i := strings.IndexByte(line, '\x1b'); i >= 0 {
			text = line[:i]
		}
		line = line[len(text):]
		w := float64(ansi.StringWidth(text)) * cellWidth
		drawRun(b, text, style, x, y, w)
		x += w
	}
}

func drawRun(b *strings.Builder, text, codes string, x, y, w float64) {
	attrs := ""
	fields := strings.Split(codes, ";")
	for i := 0; i < len(fields); i++ {
		switch fields[i] {
		case "1":
			attrs += ` font-weight="bold"`
		case "3":
			attrs += ` font-style="italic"`
		case "4":
			if !strings.Contains(attrs, "underline") { // lipgloss may write this code twice
				attrs += ` text-decoration="underline"`
			}
		case "38", "48":
			colour := "rgb(" + strings.Join(fields[i+2:i+5], ",") + ")"
			if fields[i] == "48" {
				fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, cellHeight, colour)
			} else {
				attrs += ` fill="` + colour + `"`
			}
			i += 4
		}
	}
	if strings.TrimSpace(text) != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x, y+13.5, w, attrs, html.EscapeString(text))
	}
}

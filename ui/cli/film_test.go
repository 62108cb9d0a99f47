package cli

import (
	"fmt"
	"slices"
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

const film = "../../.github/film.svg"

// frameTime is the time for which a frame of the film is visible. lastTime is the time for the last frame.
const (
	frameTime = 120 * time.Millisecond
	lastTime  = 3 * time.Second
)

// TestFilm checks that the README's film shows the frames of the demo as the program draws them. With -update, it
// redraws the film.
func TestFilm(t *testing.T) {
	got := animated(demoFrames(t, 100, 24))
	looksAs(t, film, got, "Film")
	if len(got) > 600<<10 {
		t.Errorf("%d bytes are much for the first thing that somebody loads", len(got))
	}
}

// demoFrames returns frames of the screen while a malformed call and two complete calls arrive.
func demoFrames(t *testing.T, w, h int) (frames []string) {
	in := fileInbox()
	var m tea.Model = ui.New(ui.Options{Source: "demo", Inbox: in, Theme: themes.Default(true), Depth: termenv.TrueColor, Now: noon})
	m, _ = m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	next := time.Duration(0)
	for i, name := range []string{"malformed", "parallel"} {
		for _, r := range demoRecords(t, name) {
			if r.At != capture.NoTime && r.At >= next {
				m, frames = shot(m, in, frames)
				next = r.At + frameTime
			}
			r.Exchange += i
			in.Put(r)
		}
		next = 0
	}
	_, frames = shot(m, in, frames)
	return frames
}

// noon is a clock with a constant time, so that a picture does not depend on the speed of the machine.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// shot draws the screen with all records so far. It appends a frame if the screen has changed.
func shot(m tea.Model, in *screenInbox, frames []string) (tea.Model, []string) {
	for in.Waiting() > 0 {
		m, _ = m.Update(m.Init()())
	}
	if view := m.View(); len(frames) == 0 || frames[len(frames)-1] != view {
		frames = append(frames, view)
	}
	return m, frames
}

// animated returns frames as one animated picture. If a line of the screen is the same in consecutive frames, it is
// drawn only once. Readers with reduced motion see the last frame.
func animated(frames []string) string {
	var b, styles strings.Builder
	height := strings.Count(frames[0], "\n") + 1
	total := time.Duration(len(frames)-1)*frameTime + lastTime
	at := func(i int) string {
		return fmt.Sprintf("%.2f", 100*float64(time.Duration(i)*frameTime)/float64(total))
	}
	var named []string
	for y := range height {
		for from := 0; from < len(frames); {
			line, to := lineOfFrame(frames[from], y), from+1
			for to < len(frames) && lineOfFrame(frames[to], y) == line {
				to++
			}
			class := fmt.Sprintf("f%d-%d", from, to)
			if !slices.Contains(named, class) && to-from < len(frames) {
				named = append(named, class)
				shown := at(from) + "%{visibility:visible}"
				if from > 0 {
					shown = "0%{visibility:hidden}" + shown
				}
				if to < len(frames) {
					shown += at(to) + "%,100%{visibility:hidden}"
				} else {
					shown += "100%{visibility:visible}"
				}
				fmt.Fprintf(&styles, "@keyframes %s{%s}.%s{animation:%s %.2fs step-end infinite}\n", class, shown, class, class, total.Seconds())
			}
			if to == len(frames) {
				class += " last"
			}
			fmt.Fprintf(&b, `<g class="%s">`+"\n", class)
			drawLine(&b, line, 12, 12+float64(y)*cellHeight)
			b.WriteString("</g>\n")
			from = to
		}
	}
	styles.WriteString("@media (prefers-reduced-motion:reduce){g g{animation:none!important;visibility:hidden}g .last{visibility:visible}}\n")
	width := ansi.StringWidth(lineOfFrame(frames[0], 0))
	return canvas(width, height, "<style>\n"+styles.String()+"</style>\n", b.String())
}

func lineOfFrame(frame string, y int) string { return strings.Split(frame, "\n")[y] }

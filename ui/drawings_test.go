package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// A drawing is a view of the program. It is drawn in colour, without colour, and in ASCII.
type drawing struct {
	name   string
	sizes  [][2]int
	change []func(*Options)
	begin  func(*rig)
	shots  []string // keys to press; a picture is taken after each entry
}

// plainSizes are a small corner of a screen, the usual terminal, and a large terminal.
var plainSizes = [][2]int{{40, 10}, {80, 24}, {140, 40}}

var drawings = []drawing{
	{name: "02-browse", sizes: [][2]int{{20, 5}, {40, 10}, {60, 18}, {80, 24}, {140, 40}, {250, 60}}, begin: feeding(twoAtOnce), shots: []string{"", "gj"}},
	{name: "02-worst", sizes: acceptedSizes, change: []func(*Options){static}, begin: feeding(failures), shots: []string{"", "!"}},
	{name: "02-healthy", sizes: [][2]int{{80, 24}, {140, 40}}, change: []func(*Options){static}, begin: feeding(demoRecords("parallel")), shots: []string{"", "K"}},
	{name: "02-failures", sizes: [][2]int{{60, 18}, {80, 24}, {140, 40}}, begin: feeding(failures), shots: []string{"g!3"}},
	{name: "02-turn", sizes: plainSizes, begin: feeding(session), shots: []string{"gjjj"}},
	{name: "03-cut", sizes: plainSizes, begin: feeding(demoRecords("cut")), shots: []string{"2", "1gj2jj-"}},
	{name: "03-malformed", sizes: plainSizes, begin: feeding(demoRecords("malformed")), shots: []string{"2", "jl4"}},
	{name: "03-schema", sizes: plainSizes, begin: feeding(demoRecords("schema")), shots: []string{"3"}},
	{name: "03-opened", sizes: plainSizes, begin: func(s *rig) { s.feed(demo(s.t, "parallel")[:50]...).press("2j<enter>").finish() }, shots: []string{"", "/fmt<enter>"}},
	{name: "04-rules", sizes: plainSizes, begin: feeding(demoRecords("early")), shots: []string{"5", "jz"}},
	{name: "04-request", sizes: plainSizes, begin: feeding(demoRecords("history")), shots: []string{"gj6"}},
	{name: "04-breakdown", sizes: acceptedSizes, change: []func(*Options){static}, begin: feeding(measuredSession), shots: []string{"G6", "z", "o"}},
	{name: "04-result", sizes: plainSizes, begin: feeding(demoRecords("history")), shots: []string{"gj7"}},
	{name: "05-time", sizes: [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}}, change: []func(*Options){cutting}, begin: feeding(demoRecords("parallel")), shots: []string{" {{,", "x", "w"}},
	{name: "06-compare", sizes: append(slices.Clone(plainSizes), [2]int{250, 60}), begin: feeding(sevenForecasts), shots: []string{"=jj"}},
	{name: "07-replay", sizes: [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}}, begin: feeding(demoRecords("malformed")), shots: []string{"p"}},
	{name: "08-sent-back", sizes: [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}}, begin: feeding(demoRecords("history")), shots: []string{"gjjjjo"}},
	{name: "09-refusal", sizes: [][2]int{{40, 10}, {80, 24}, {140, 40}, {250, 60}}, change: []func(*Options){static}, begin: feeding(refusedSession), shots: []string{"!", "2z"}},
	{name: "09-live", sizes: acceptedSizes, change: []func(*Options){awaiting}, begin: threeStreams, shots: []string{"", "s"}},
	{name: "09-waiting", sizes: plainSizes, change: []func(*Options){awaiting}, begin: func(s *rig) {
		s.feed(refusedFor(1, "no provider in the path: put /openai before it")...)
	}, shots: []string{""}},
	{name: "09-streams", sizes: plainSizes, change: []func(*Options){awaiting}, begin: threeStreams, shots: []string{"L", "<esc>:hosts<enter>"}},
	{name: "09-leaving", sizes: [][2]int{{60, 18}, {80, 24}}, change: []func(*Options){awaiting}, begin: threeStreams, shots: []string{"<c-c>"}},
	{name: "09-break", sizes: plainSizes, change: []func(*Options){breaking}, begin: feeding(demoRecords("malformed")), shots: []string{"b", "b"}},
	{name: "10-filter", sizes: plainSizes, begin: feeding(demoRecords("protocols")), shots: []string{"fmodel:g cost>0 costs>1", "<bs><bs><bs><bs><bs><bs><bs><bs><enter>"}},
	{name: "10-nomatch", sizes: plainSizes, change: []func(*Options){static}, begin: feeding(failures), shots: []string{"fzzzz<enter>"}},
	{name: "10-find", sizes: plainSizes, begin: feeding(failures), shots: []string{"g/malf"}},
	{name: "10-palette", sizes: plainSizes, begin: feeding(demoRecords("malformed")), shots: []string{":repl"}},
	{name: "10-sort", sizes: plainSizes, begin: feeding(demoRecords("protocols")), shots: []string{":sort cost<enter>"}},
	{name: "10-copy", sizes: plainSizes, change: []func(*Options){handed}, begin: feeding(demoRecords("malformed")), shots: []string{"2jy"}},
	{name: "10-help", sizes: plainSizes, begin: feeding(demoRecords("malformed")), shots: []string{"?", "/stat"}},
	{name: "10-themes", sizes: plainSizes, begin: feeding(demoRecords("malformed")), shots: []string{"t<down><down>"}},
	{name: "10-log", sizes: plainSizes, begin: func(s *rig) {
		s.feed(demo(s.t, "malformed")...).feed(stream.Record{Exchange: -1, Note: "left out: line 12, byte 340: no JSON"}).end()
	}, shots: []string{"gm:log<enter>"}},
	{name: "10-bookmarks", sizes: plainSizes, begin: feeding(demoRecords("parallel")), shots: []string{"gj2jj:mark here<enter>1GB'"}},
	{name: "10-jq", sizes: plainSizes, begin: feeding(demoRecords("protocols")), shots: []string{"g:jq .guests<enter>", "<tab>"}},
	{name: "11-demo", sizes: [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}}, change: []func(*Options){touring}, begin: tourWhole, shots: []string{"", "}}}", "}}}}}}}}}"}},
	{name: "12-large", sizes: [][2]int{{60, 8}, {80, 24}, {250, 60}}, change: []func(*Options){touring, large}, begin: tourWhole, shots: []string{"}}"}},
}

func feeding(records func(testing.TB) []stream.Record) func(*rig) {
	return func(s *rig) {
		all := records(s.t)
		if last := all[len(all)-1]; !last.End {
			s.feed(all...) // the stream continues
			return
		}
		s.feed(all...).end()
	}
}

func touring(o *Options) { o.Source, o.Tour = "demo tour", true }

func tourWhole(s *rig) { s.feed(tourRecords(s.t, scenarios...)...).end() }

func awaiting(o *Options) { waiting(new([]StatusNote))(o) }

// threeStreams adds three open streams, two of them from one client.
func threeStreams(s *rig) {
	s.feed(refusedFor(1, "no provider in the path: put /openai before it")...)
	s.feed(asking(2, "curl/8", growing("gpt-5.2", "run_tests", `{}`))...)
	s.feed(asking(42, "claude-cli/2.1", begun)...)
	s.feed(asking(43, "claude-cli/2.1", growing("claude-haiku-4-5-20251001", "edit_file", `{"path":"a.go","edits":[{"old":"x","new":"y"},{"old":"`))...)
}

// breaking sets a breakpoint that holds a response.
func breaking(o *Options) {
	o.Status = func() []StatusNote { return []StatusNote{{Text: "HELD 1", Alarm: true}} }
	o.Break = &stopper{filter: "tool:run_shell", holds: []modes.Hold{{
		Exchange: 0, Why: "run_shell of turn 1 matches tool:run_shell", For: 3 * time.Second, Left: time.Minute, Given: 1204, Waiting: 340,
		Next: []byte("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"),
	}}}
}

// cutting provides a function that saves a capture up to a moment.
func cutting(o *Options) {
	o.Cut = func(*providers.View) ([]byte, error) { return []byte("{}"), nil }
	o.Save = func(name string, _ []byte) (string, error) { return "./" + name, nil }
}

// handed provides functions for copying, saving and editing.
func handed(o *Options) {
	o.Copy = func([]byte) (string, error) { return "OSC 52", nil }
	o.Forms = []modes.ExportForm{{Key: "c", What: display.Lit("request as curl, keys $ENV"), Make: func(*providers.View, stream.Ref) ([]byte, error) { return nil, errors.New("not captured") }}}
}

// TestDrawnScenes draws every view at the sizes that matter. The text must be the same without colours and on a light
// background. In ASCII, no byte may be above 0x7F.
func TestDrawnScenes(t *testing.T) {
	for _, d := range drawings {
		t.Run(d.name, func(t *testing.T) {
			var out strings.Builder
			for _, size := range d.sizes {
				colour := d.start(t, size)
				none, light := d.start(t, size, colourless), d.start(t, size, lightTheme)
				for _, keys := range d.shots {
					colour.take(keys)
					none.take(keys)
					light.take(keys)
					fmt.Fprintf(&out, "== %dx%d, keys %s\n", size[0], size[1], keys)
					inks, plain := colour.inks(), none.attributes()
					other, bright := none.rows(), light.rows()
					for y, row := range colour.rows() {
						if !strings.HasPrefix(d.name, "10-themes") && row != other[y] {
							t.Errorf("%v: without colours row %d is %q, not %q", size, y, other[y], row)
						}
						if !strings.HasPrefix(d.name, "10-themes") && row != bright[y] {
							t.Errorf("%v: on a light ground row %d is %q, not %q", size, y, bright[y], row)
						}
						fmt.Fprintf(&out, "  %s\n", row)
						for i, marks := range []string{inks[y][0], inks[y][1], plain[y]} {
							if marks = strings.TrimRight(marks, " "); marks != "" {
								fmt.Fprintf(&out, "%c %s\n", "ign"[i], marks)
							}
						}
					}
				}
				checkFrame(t, colour)
			}
			ascii := d.start(t, [2]int{80, 24}, ascii, colourless)
			for _, keys := range d.shots {
				ascii.take(keys)
				fmt.Fprintf(&out, "== ASCII, keys %s\n%s\n", keys, strings.Join(ascii.rows(), "\n"))
				if at := strings.IndexFunc(ascii.View(), func(r rune) bool { return r > 0x7f }); at >= 0 {
					t.Errorf("in ASCII there is %q", ascii.View()[at:min(at+20, len(ascii.View()))])
				}
			}
			checkFile(t, filepath.Join("testdata", "drawings", d.name+".txt"), out.String())
		})
	}
}

func (d drawing) start(t *testing.T, size [2]int, change ...func(*Options)) *rig {
	s := newScreen(t, size[0], size[1], append(slices.Clone(d.change), change...)...)
	d.begin(s)
	return s
}

func lightTheme(o *Options) { o.Theme = themes.Default(false) }

// take presses keys, and runs the command that the last key returned.
func (s *rig) take(keys string) {
	if s.press(keys); strings.HasSuffix(keys, "<enter>") || strings.HasSuffix(keys, "<tab>") {
		s.finish()
	}
}

// inkLetters are the letters for roles in a drawing, with "*" for any other colour. groundLetters are the
// letters for backgrounds.
const (
	inkLetters    = " lgcb.aksentpj~f"
	groundLetters = " SLMG-+"
)

// inks returns a letter for the role and the background of each cell of the frame, by row. If two roles look the
// same, it uses the first.
func (s *rig) inks() (rows [][2]string) {
	of := map[string][2]byte{}
	for g := range screen.NumGrounds {
		for r := range screen.NumRoles {
			if on := s.pen.Ink.Escape(r, g); of[on] == [2]byte{} {
				of[on] = [2]byte{inkLetters[r], groundLetters[g]}
			}
		}
	}
	for _, row := range strings.Split(s.View(), "\n") {
		var marks [2][]byte
		cells(s, row, func(sgr string, width int) {
			as, ok := of[sgr]
			if !ok {
				as = [2]byte{'*', ' '}
			}
			for range width {
				marks[0], marks[1] = append(marks[0], as[0]), append(marks[1], as[1])
			}
		})
		rows = append(rows, [2]string{string(marks[0]), string(marks[1])})
	}
	return rows
}

// attributes returns a letter for each cell: b bold, u underlined, r reversed, B bold and reversed, x bold
// and underlined, X all of them.
func (s *rig) attributes() (rows []string) {
	for _, row := range strings.Split(s.View(), "\n") {
		var marks []byte
		cells(s, row, func(sgr string, width int) {
			n := 0
			for p := range strings.SplitSeq(strings.Trim(sgr, "\x1b[m"), ";") {
				switch v, _ := strconv.Atoi(p); v {
				case 1:
					n |= 1
				case 4:
					n |= 2
				case 7:
					n |= 4
				}
			}
			for range width {
				marks = append(marks, " buxrBUX"[n])
			}
		})
		rows = append(rows, string(marks))
	}
	return rows
}

// cells calls the function each for every character of a row, with the current SGR sequence and the character's
// width.
func cells(s *rig, row string, each func(sgr string, width int)) {
	on := ""
	for state := byte(0); row != ""; {
		seq, width, n, next := ansi.DecodeSequence(row, state, s.parser)
		switch {
		case width > 0:
			each(on, width)
		case seq == "\x1b[0m":
			on = ""
		case ansi.HasCsiPrefix(seq):
			on = seq
		}
		row, state = row[n:], next
	}
}

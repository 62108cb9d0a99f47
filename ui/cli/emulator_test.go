//go:build linux

package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// screen is an emulated terminal that shows the output of a program. It lists sequences that the program must never
// write, and ignores them.
type screen struct {
	w, h     int
	row, col int
	cells    [][]cell
	fg       string       // current colour of text, as #rrggbb, if it is a true colour
	modes    map[int]bool // DEC private modes
	saved    bool         // saved state of alternate scroll
	entered  int          // number of times the alternate screen was entered
	colours  int          // number of SGR sequences that set a colour
	queries  []string     // terminal queries
	copied   []string     // text that was copied to the clipboard, in base64
	bad      []string
	parser   *ansi.Parser
}

type cell struct{ text, fg string }

// modeDefaults has the modes that the program may set, with their defaults.
var modeDefaults = map[int]bool{
	25: true, 1000: false, 1002: false, 1003: false, 1004: false, 1006: false, 1007: false, 1049: false, 2004: false,
}

func newScreen(w, h int) *screen {
	s := &screen{modes: map[int]bool{}, parser: ansi.NewParser()}
	for mode, on := range modeDefaults {
		s.modes[mode] = on
	}
	s.resize(w, h)
	s.parser.SetHandler(ansi.Handler{
		Print:     s.print,
		Execute:   s.execute,
		HandleCsi: s.csi,
		HandleEsc: func(cmd ansi.Cmd) {
			if cmd.Final() != '\\' { // ends a string, which was checked when it arrived
				s.illegal("ESC %c", cmd.Final())
			}
		},
		HandleOsc: func(_ int, data []byte) {
			switch text, isCopy := strings.CutPrefix(string(data), "52;c;"); {
			case string(data) == "11;?":
				s.queries = append(s.queries, "background")
			case isCopy:
				s.copied = append(s.copied, text)
			default:
				s.illegal("OSC %s", data)
			}
		},
		HandleDcs: func(_ ansi.Cmd, _ ansi.Params, data []byte) { s.illegal("DCS %s", data) },
		HandlePm:  func(data []byte) { s.illegal("PM %s", data) },
		HandleApc: func(data []byte) { s.illegal("APC %s", data) },
		HandleSos: func(data []byte) { s.illegal("SOS %s", data) },
	})
	return s
}

func (s *screen) illegal(format string, args ...any) {
	s.bad = append(s.bad, fmt.Sprintf("%q", fmt.Sprintf(format, args...)))
}

func (s *screen) write(p []byte) {
	for _, b := range p {
		s.parser.Advance(b)
	}
}

// resize changes the size and keeps the part of the content that fits.
func (s *screen) resize(w, h int) {
	old := s.cells
	s.w, s.h = w, h
	s.cells = make([][]cell, h)
	for y := range s.cells {
		s.cells[y] = make([]cell, w)
		if y < len(old) {
			copy(s.cells[y], old[y])
		}
	}
	s.row, s.col = min(s.row, h-1), min(s.col, w)
}

func (s *screen) print(r rune) {
	if invisible(r) {
		s.illegal("%U", r)
	}
	width := ansi.StringWidth(string(r))
	if width == 0 { // a combining mark, which applies to the cell before it
		if s.col > 0 {
			s.cells[s.row][s.col-1].text += string(r)
		}
		return
	}
	if s.col+width > s.w {
		s.newline()
		s.col = 0
	}
	for i := range min(width, s.w-s.col) {
		s.cells[s.row][s.col+i] = cell{" ", s.fg}
	}
	if s.col < s.w {
		s.cells[s.row][s.col].text = string(r)
	}
	if width == 2 && s.col+1 < s.w {
		s.cells[s.row][s.col+1].text = ""
	}
	s.col = min(s.col+width, s.w)
}

// invisible reports whether a terminal would not show r, or would show it at another place. The list is independent
// of the sanitiser's list, so that the tests can find mistakes in the sanitiser.
func invisible(r rune) bool {
	return r == unicode.ReplacementChar ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
			unicode.Bidi_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func (s *screen) execute(b byte) {
	switch b {
	case '\r':
		s.col = 0
	case '\n':
		s.newline()
	case '\t':
		s.col = min(s.col/8*8+8, s.w-1)
	default:
		s.illegal("control %#02x", b)
	}
}

func (s *screen) newline() {
	if s.row+1 < s.h {
		s.row++
		return
	}
	s.cells = append(s.cells[1:], make([]cell, s.w))
}

func (s *screen) csi(cmd ansi.Cmd, params ansi.Params) {
	first, _, _ := params.Param(0, 0)
	switch {
	case cmd.Intermediate() != 0:
		s.illegal("CSI %s", describe(cmd, params))
	case cmd.Prefix() == '?' && (cmd.Final() == 'h' || cmd.Final() == 'l'):
		s.setMode(first, cmd.Final() == 'h', params)
	case cmd.Prefix() == '?' && cmd.Final() == 's' && first == 1007:
		s.saved = s.modes[first]
	case cmd.Prefix() == '?' && cmd.Final() == 'r' && first == 1007:
		s.modes[first] = s.saved
	case cmd.Prefix() != 0:
		s.illegal("CSI %s", describe(cmd, params))
	case cmd.Final() == 'c':
		s.queries = append(s.queries, "kind")
	case cmd.Final() == 'm':
		s.sgr(params)
	case cmd.Final() == 'H':
		column, _, _ := params.Param(1, 1)
		s.row, s.col = min(max(first, 1), s.h)-1, min(max(column, 1), s.w)-1
	case cmd.Final() == 'A':
		s.row = max(s.row-max(first, 1), 0)
	case cmd.Final() == 'B':
		s.row = min(s.row+max(first, 1), s.h-1)
	case cmd.Final() == 'C':
		s.col = min(s.col+max(first, 1), s.w-1)
	case cmd.Final() == 'D':
		s.col = max(s.col-max(first, 1), 0)
	case cmd.Final() == 'J' || cmd.Final() == 'K':
		s.erase(cmd.Final(), first)
	default:
		s.illegal("CSI %s", describe(cmd, params))
	}
}

func describe(cmd ansi.Cmd, params ansi.Params) string {
	return fmt.Sprintf("%c%v%c%c", cmd.Prefix(), params, cmd.Intermediate(), cmd.Final())
}

func (s *screen) setMode(mode int, on bool, params ansi.Params) {
	if _, known := modeDefaults[mode]; !known || len(params) != 1 {
		s.illegal("mode %v", params)
		return
	}
	s.modes[mode] = on
	if mode == 1049 && on {
		s.entered++
	}
}

// erase clears the line or the screen: from the cursor to the end (0), up to the cursor (1), or completely (2).
func (s *screen) erase(what byte, part int) {
	from, to := 0, s.w
	if part == 0 {
		from = s.col
	} else if part == 1 {
		to = min(s.col+1, s.w)
	}
	clear(s.cells[s.row][from:to])
	for y := range s.h {
		if what == 'J' && (y > s.row && part == 0 || y < s.row && part == 1 || part == 2) {
			clear(s.cells[y])
		}
	}
}

// sgr tracks colours. It ignores other attributes.
func (s *screen) sgr(params ansi.Params) {
	n := make([]int, len(params))
	for i := range params {
		n[i], _, _ = params.Param(i, 0)
	}
	if len(n) == 0 || n[0] == 0 {
		s.fg = ""
	}
	if i := slices.Index(n, 38); i >= 0 && len(n) >= i+5 && n[i+1] == 2 {
		s.fg = fmt.Sprintf("#%02x%02x%02x", n[i+2], n[i+3], n[i+4])
	}
	for _, c := range n {
		if c >= 30 && c <= 48 && c != 39 || c >= 90 && c <= 107 {
			s.colours++
			return
		}
	}
}

// lines returns the text of each row.
func (s *screen) lines() []string {
	var all []string
	for _, row := range s.cells {
		var b strings.Builder
		for x, c := range row {
			if c.text == "" && (x == 0 || ansi.StringWidth(row[x-1].text) < 2) {
				c.text = " "
			}
			b.WriteString(c.text)
		}
		all = append(all, strings.TrimRight(b.String(), " "))
	}
	return all
}

// whole reports whether a frame was written completely. Bubble Tea leaves the cursor at the start of the last row
// after a frame.
func (s *screen) whole() bool { return s.row == s.h-1 && s.col == 0 }

func (s *screen) text() string { return strings.Join(s.lines(), "\n") }

func (s *screen) shows(text string) bool { return strings.Contains(s.text(), text) }

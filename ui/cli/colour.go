package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

// This file gives printed text the screen's colours. Colours never change the text: without the escape sequences, it
// is the same as in a pipe. Output on a terminal differs in three more ways. Long lines are wrapped, a call has the
// sign and the words of its verdict, and a sign is under the first wrong byte.

// colourPen colours printed lines. A lineWriter without a colourPen writes plain text.
type colourPen struct {
	paints *units.Paints
	signs  *units.Glyphs
	bold   string // escape sequence for names and titles
	cells  int    // width of the terminal; 0 if it is not a terminal
}

// ink is the colour of a part of a line: a role of the screen, or one of the extra inks below.
type ink uint8

const (
	plainInk = ink(units.Plain)
	mutedInk = ink(units.Muted)
	badInk   = ink(units.Bad)

	boldInk  = ink(units.NumRoles)     // names and titles
	wrongInk = ink(units.NumRoles) + 1 // the invalid bytes
)

// escapeOf returns the escape sequence of an ink, or "" for plain text.
func (p *colourPen) escapeOf(i ink) string {
	switch i {
	case boldInk:
		return p.bold
	case wrongInk:
		return p.paints.Escape(units.JunkToken, units.Growing)
	}
	return p.paints.Escape(units.Role(i), units.Bare)
}

// tinted is an argument for printLine with an ink.
type tinted struct {
	ink ink
	of  any
}

// inInk gives an ink to an argument for printLine.
func inInk(i ink, of any) any { return tinted{i, of} }

// Each of the next four functions calls inInk with a particular ink.
func inBold[T any](of T) any                   { return inInk(boldInk, of) }
func inMuted[T any](of T) any                  { return inInk(mutedInk, of) }
func ofRole(role units.Role, of any) any       { return inInk(ink(role), of) }
func ofSeverity(s stream.Severity, of any) any { return ofRole(units.SeverityRoles[s], of) }

// withoutInk returns an argument for printLine without its ink.
func withoutInk(arg any) any {
	if t, is := arg.(tinted); is {
		return t.of
	}
	return arg
}

// withInkOf gives text the same ink as arg, which is an argument for printLine.
func withInkOf(arg, text any) any {
	if t, is := arg.(tinted); is {
		return inInk(t.ink, text)
	}
	return text
}

// inkedLine is a line before it is sanitised, and the places where its inks end.
type inkedLine struct {
	raw  []byte
	inks []inkEnd
}

// inkEnd is an ink and the index of the first byte after it.
type inkEnd struct {
	ink ink
	end int
}

// add appends text. Blanks at the start and the end of text have no ink.
func (l *inkedLine) add(i ink, text string) {
	lead := len(text) - len(strings.TrimLeft(text, " "))
	l.raw = append(l.raw, text...)
	tail := len(text) - len(strings.TrimRight(text, " "))
	l.inks = append(l.inks, inkEnd{plainInk, len(l.raw) - len(text) + lead}, inkEnd{i, len(l.raw) - tail}, inkEnd{plainInk, len(l.raw)})
}

// inkedLineOf formats a line. It formats each argument separately, so that the argument's place in the line
// is known.
func inkedLineOf(format string, args []any) (l inkedLine) {
	for n := 0; format != ""; {
		verb := strings.IndexByte(format, '%')
		if verb < 0 {
			l.add(plainInk, format)
			break
		}
		l.add(plainInk, format[:verb])
		end := verb + 1
		for strings.IndexByte("-+# 0123456789.", format[end]) >= 0 {
			end++
		}
		end++
		switch piece := format[verb:end]; {
		case piece == "%%":
			l.add(plainInk, "%")
		default:
			i := plainInk
			if t, is := args[n].(tinted); is {
				i = t.ink
			}
			l.add(i, fmt.Sprintf(piece, withoutInk(args[n])))
			n++
		}
		format = format[end:]
	}
	l.raw = bytes.TrimRight(l.raw, " ")
	return l
}

// inkedWriter writes a line in ink. It wraps the line if the terminal is too narrow for it.
type inkedWriter struct {
	to    io.Writer
	pen   *colourPen
	rows  display.Rows[ink]
	ink   ink    // ink of the last piece
	used  int    // number of used cells in the current row, on a terminal
	about string // text next to the sign under the first wrong byte; "" for no sign
	wrong int    // cell of the first wrong byte in the current row, or -1
}

// newInkedWriter returns a writer for a line. The writer indents all rows of the line except the first.
func newInkedWriter(l lineWriter, indent int) *inkedWriter {
	w := &inkedWriter{to: l.to, pen: l.pen, wrong: -1}
	w.rows = display.Rows[ink]{Cells: l.pen.cells, Indent: min(indent, l.pen.cells/2), Write: w.write, Break: w.endRow}
	return w
}

// write writes a piece of a row in its ink, and remembers where the first wrong byte is.
func (w *inkedWriter) write(i ink, t display.Text) {
	if w.about != "" && i == wrongInk && w.wrong < 0 {
		w.wrong = w.used
	}
	if w.pen.cells > 0 {
		w.used += t.Width()
	}
	if !t.Empty() {
		w.changeInk(i)
		_, _ = io.WriteString(w.to, t.String())
	}
}

// changeInk writes the escape sequences that change the ink, unless the new ink looks the same.
func (w *inkedWriter) changeInk(i ink) {
	was, on := w.pen.escapeOf(w.ink), w.pen.escapeOf(i)
	if w.ink = i; was == on {
		return
	}
	if was != "" {
		_, _ = io.WriteString(w.to, "\x1b[0m")
	}
	_, _ = io.WriteString(w.to, on)
}

// endRow ends a row. If the row has the first wrong byte, it writes the sign and the text under that byte.
func (w *inkedWriter) endRow() {
	w.changeInk(plainInk)
	_, _ = io.WriteString(w.to, "\n")
	w.used = 0
	if w.wrong >= 0 {
		l := lineWriter{to: w.to, pen: w.pen}
		l.printLine("%s%s", strings.Repeat(" ", w.wrong), inInk(badInk, "^ "+w.about))
		w.about, w.wrong = "", -1
	}
}

// endLine writes the rest of the line and ends its last row.
func (w *inkedWriter) endLine() {
	w.rows.End()
	w.endRow()
}

// withHang returns a writer that indents the continuation rows of a wrapped line by the given number of
// cells.
func (l lineWriter) withHang(cells int) lineWriter {
	l.hang = cells
	return l
}

// onTerminal reports whether the output goes to a terminal in colour. Such output is wrapped and has signs.
func (l lineWriter) onTerminal() bool { return l.pen != nil && l.pen.cells > 0 }

// writeInkedArgs writes the arguments of a call on a separate line. Each token has the ink of its kind. On a
// terminal, a sign appears under the first wrong byte.
func (l lineWriter) writeInkedArgs(c *stream.Call, args []byte) {
	indent := argsIndent
	if l.onTerminal() {
		indent = display.Lit("    ")
	}
	w := newInkedWriter(l, indent.Width()+1)
	w.rows.Add(plainInk, indent)
	at, wrong, mark := 0, len(args), wrongByte(c)
	if mark != nil {
		wrong = min(mark.Offset, len(args))
	}
	add := func(i ink, end int) {
		clean, rest := display.CleanStart(args[at:], end-at)
		at = len(args) - len(rest)
		w.rows.Add(i, clean)
	}
	if !c.Freeform() {
		for _, t := range c.Lexer().Tokens().All() {
			if end := min(int(t.End), wrong); end > at {
				add(ink(units.TokenRoles[t.Kind]), end)
			}
		}
	}
	if mark != nil && wrong > at {
		add(plainInk, wrong)
	}
	if mark != nil && l.onTerminal() {
		w.about = fmt.Sprintf("%s  byte %d, delta %d", mark.Brief(), mark.Offset, c.DeltaAt(mark.Offset)+1)
	}
	add(ifElse(mark != nil, wrongInk, plainInk), len(args))
	w.endLine()
}

// argsIndent is the indentation of arguments.
var argsIndent = display.Lit("                ")

// wrongByte returns the finding about the first wrong byte in the arguments of a malformed call, or nil.
func wrongByte(c *stream.Call) *stream.Finding {
	for i := range c.Findings {
		if f := &c.Findings[i]; f.ExplainsState && f.Severity == stream.Error && f.Offset >= 0 && f.Offset < c.ArgsLen() && c.Status() == stream.Malformed {
			return f
		}
	}
	return nil
}

// callState returns the state of a call for a line of text. On a terminal, it returns the sign and the words of the
// verdict.
func (l lineWriter) callState(c *stream.Call) any {
	if l.pen == nil {
		return fmt.Sprintf("%-13s", c.Status())
	}
	v := present.VerdictOfCall(c)
	if !l.onTerminal() {
		return ofRole(v.Role, fmt.Sprintf("%-13s", c.Status()))
	}
	sign, words := l.pen.signs.Status[v.State].String(), ifElse(v.Words == "", c.Status().String(), v.Words)
	if v.Finding != nil {
		sign = strings.TrimSpace(l.pen.signs.Severity[v.Finding.Severity].String())
	}
	return ofRole(v.Role, sign+" "+words+" ")
}

// outcomeRole returns the role for the outcome of a call that a request sent back.
func outcomeRole(name string) units.Role {
	for o, side := range units.OutcomeSides {
		if replay.Outcome(o).String() == name {
			return units.SideRoles[side]
		}
	}
	return units.Plain
}

// colourFlags adds the flags for the colours of printed text. These flags share their variables with the
// flags for the screen.
func (a *app) colourFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.colour, "color", "auto", "")
	f.BoolVar(&a.flags.noColor, "no-color", false, "")
	f.BoolVar(&a.flags.plain, "plain", false, "")
	f.StringVar(&a.flags.theme, "theme", "auto", "")
	addFlagCheck(f, "color", func(when string) error {
		if !slices.Contains(colourModes, when) {
			return usageErrorf("--color %q: unknown value\nuse %s", when, present.JoinWords(colourModes...))
		}
		return nil
	})
	asPaths(f, "theme")
	cmd.MarkFlagsMutuallyExclusive("color", "no-color")
	cmd.MarkFlagsMutuallyExclusive("color", "plain")
}

// colourModes are the values of --color.
var colourModes = []string{"auto", "always", "never"}

// outputFor returns a buffered writer to standard output. For text, the writer has a pen if standard output is a
// terminal with colours, or with --color always.
func (a *app) outputFor(format string) (lineWriter, error) {
	to := a.stdout.withBuffer()
	if format != "text" {
		return to, nil
	}
	if _, err := lookTheme(a.flags.theme, true, func(string) {}); err != nil && a.origin["theme"] == (valueOrigin{}) {
		return to, err
	}
	terminal := a.output != nil && isTerminal(a.output)
	depth := a.flags.colourDepth()
	switch {
	case a.flags.noColor, a.flags.plain, a.colour == "never":
		return to, nil
	case a.colour == "always":
		if depth == termenv.Ascii {
			depth = termenv.ANSI
		}
	case !terminal, depth == termenv.Ascii:
		return to, nil
	}
	theme := a.flags.theme
	if kept := readSavedState(); !a.flags.isThemeSet() && kept.theme != "" {
		theme = kept.theme
	}
	to.pen = &colourPen{signs: units.UnicodeGlyphs}
	if asciiLocale() {
		to.pen.signs = units.ASCIIGlyphs
	}
	dark, known := darkFromEnv(os.Getenv("COLORFGBG"))
	if terminal {
		if width, _, err := term.GetSize(a.output.Fd()); err == nil {
			to.pen.cells = max(width, minWidth)
		}
		if !known && !a.flags.isThemeSet() && theme == a.flags.theme {
			// Only the screen queries the terminal's background, because keys typed during a query would be lost.
			// The terminal's own 16 colours are legible on its background.
			depth = max(depth, termenv.ANSI)
		}
		if _, err := termenv.EnableVirtualTerminalProcessing(termenv.NewOutput(a.output)); err != nil { // old Windows
			to.pen = nil
			return to, nil
		}
	}
	t, err := lookTheme(theme, dark || !known, func(string) {})
	if err != nil || known && t.Dark != dark && !a.flags.isThemeSet() { // the theme's text would be illegible on the background
		t = themes.Default(dark || !known)
	}
	to.pen.paints = units.NewPaints(t, depth, false)
	to.pen.bold = boldEscape
	return to, nil
}

// boldEscape is the escape sequence for bold text.
const boldEscape = "\x1b[1m"

// minWidth is the minimum width to which lines are wrapped.
const minWidth = 20

// lookTheme returns the theme with a name. It can be the user's own theme, a built-in theme, or the theme for a
// chroma style. A name that contains a slash or ends with .toml is the path of a file. The function note receives the
// problems in a file that don't prevent its use.
func lookTheme(name string, dark bool, note func(string)) (themes.Theme, error) {
	path, err := name, error(nil)
	if !strings.ContainsAny(name, "/"+string(filepath.Separator)) && !strings.HasSuffix(name, ".toml") {
		if path, err = inConfigFolder(filepath.Join(themesFolder, strings.ToLower(name)+".toml")); err != nil || !isFile(path) {
			t, err := themes.Lookup(name, dark)
			var unknown *themes.UnknownError
			if errors.As(err, &unknown) {
				unknown.Near = themes.Near(strings.ToLower(name), themeNames())
				return t, &usageError{err}
			}
			return t, err
		}
	}
	data, err := readFile(path)
	if err != nil {
		return themes.Theme{}, usageErrorf("theme %s: %w\n'toolscope config theme' prints a theme to start from", path, capture.WithoutPath(err))
	}
	t, problems := themes.Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
	for _, p := range problems {
		text := fmt.Sprintf("%s:%d:%d: %s", path, p.Line, p.Column, p.Text)
		if p.Grave {
			return t, usageErrorf("%s", text)
		}
		note(text)
	}
	return t, nil
}

// themesFolder is the folder for the user's own themes, inside the configuration folder.
const themesFolder = "themes"

// isFile reports whether a path is a regular file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// userThemes returns the names of the user's own themes.
func userThemes() (names []string) {
	folder, err := inConfigFolder(themesFolder)
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(folder) // the folder may not exist
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".toml"); ok && f.Type().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// themeNames returns the names of all themes. Each name occurs once, and the user's own themes come first.
func themeNames() []string {
	names := userThemes()
	for _, name := range themes.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ownThemes returns the user's own themes, without invalid ones.
func ownThemes(dark bool) (all []themes.Theme) {
	for _, name := range userThemes() {
		if t, err := lookTheme(name, dark, func(string) {}); err == nil {
			all = append(all, t)
		}
	}
	return all
}

// themeCommand returns the command that prints a theme as a file.
func (a *app) themeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "theme [NAME|FILE]", Short: "Print a theme as a file, or check a theme",
		Example: "toolscope config theme dracula > ~/.config/toolscope/themes/mine.toml\ntoolscope config theme mine\ntoolscope --theme mine",
		Long: `The output is a theme file that also lists the contrast of each colour. Use the output
to start your own theme, or to check a theme.

A style is bold, faint, italic, underline, reverse, a colour #rrggbb, a background
bg:#rrggbb, or a combination of these. base = "NAME" names a theme for the styles that the file
leaves out, and code = "NAME" names a theme for the colours of code.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("config theme: takes one NAME or FILE, got %d", len(args))
			}
			t, err := lookTheme(strings.Join(args, ""), true, func(text string) { a.printNote("%s", text) })
			if err != nil {
				return err
			}
			to := a.stdout
			to.printLine("# theme %s, with the contrast of each colour against the background of the theme or the terminal", t.Name)
			to.printLine("dark = %t", t.Dark)
			for _, r := range t.Roles() {
				line := fmt.Sprintf("%s = %s", r.Name, tomlText(r.Style))
				switch {
				case r.Style == "":
					line = "# " + r.Name + " is the terminal's"
				case r.Contrast == 0:
				case r.Contrast < r.MinContrast:
					line = fmt.Sprintf("%-40s # %.1f, hard to read: use %g or more", line, r.Contrast, r.MinContrast)
				default:
					line = fmt.Sprintf("%-40s # %.1f", line, r.Contrast)
				}
				to.printLine("%s", line)
			}
			return nil
		},
	}
}

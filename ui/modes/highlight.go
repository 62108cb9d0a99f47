package modes

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// lexerFor guesses what content is: by what it looks like, by the file named beside it, by its key.
func lexerFor(content string, h panes.Hint) chroma.Lexer {
	name := ""
	switch {
	case strings.HasPrefix(content, "diff --git") || strings.HasPrefix(content, "--- ") && strings.Contains(content, "\n+++ ") || strings.HasPrefix(content, "@@ "):
		name = "diff"
	case strings.HasPrefix(content, "*** Begin Patch"):
		name = "diff"
	case h.File != "":
		if l := lexers.Match(path.Base(h.File)); l != nil {
			return l
		}
	}
	key := strings.ToLower(h.Key)
	switch {
	case name != "":
	case key == "command" || key == "cmd" || key == "script" || strings.HasPrefix(content, "#!"):
		name = "bash"
	case json.Valid([]byte(content)) && strings.ContainsAny(content, "{["):
		name = "json"
	case strings.HasPrefix(content, "# ") || strings.Contains(content, "\n## ") || strings.Contains(content, "\n```"):
		name = "markdown"
	case key == "query" || key == "sql":
		name = "sql"
	default:
		if l := lexers.Analyse(content); l != nil {
			return l
		}
		return nil
	}
	return lexers.Get(name)
}

// highlight colours content line by line. It runs outside the UI's goroutine.
func highlight(content string, h panes.Hint, p *screen.Paints, draw display.Drawer) (kind string, lines []codeLine) {
	plain := plainLines(content, draw)
	lexer := lexerFor(content, h)
	if lexer == nil {
		return "text", plain
	}
	it, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, strings.ReplaceAll(content, "\t", "    "))
	if err != nil {
		return "text", plain
	}
	on := map[chroma.TokenType]screen.Paint{}
	for _, tokens := range chroma.SplitTokensIntoLines(it.Tokens()) {
		var line codeLine
		for _, tok := range tokens {
			if _, ok := on[tok.Type]; !ok {
				on[tok.Type] = p.Of(p.Theme.CodeInk(tok.Type))
			}
			if text := strings.TrimSuffix(tok.Value, "\n"); text != "" {
				line = append(line, codeSpan{on[tok.Type], draw.Clean(text)})
			}
		}
		lines = append(lines, line)
	}
	if lines = fitted(lines, len(plain)); !slices.EqualFunc(lines, plain, sameText) {
		return "text", plain // a lexer that changes the text: some drop or add line ends
	}
	return lexer.Config().Name, lines
}

// fitted is lines with n of them, if only an empty one at the end was missing
// or too much.
func fitted(lines []codeLine, n int) []codeLine {
	switch {
	case len(lines) == n-1:
		return append(lines, nil)
	case len(lines) == n+1 && len(lines[n]) == 0:
		return lines[:n]
	}
	return lines
}

func sameText(a, b codeLine) bool { return a.text() == b.text() }

// text is the line without colours.
func (l codeLine) text() (all display.Text) {
	for _, s := range l {
		all = display.Join(all, s.text)
	}
	return all
}

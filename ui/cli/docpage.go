package cli

import (
	"regexp"
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/docs"
)

// writeDocument writes the Markdown of a topic as a page of help. It supports the parts of Markdown that the
// pages use: headings, code, tables, lists of one level and paragraphs.
func (l lineWriter) writeDocument(topic string) {
	text, _ := docs.Page(topic)
	_, text, _ = strings.Cut(text, "\n") // without the heading: the user typed the topic
	for i, block := range splitParagraphs(text) {
		if i > 0 {
			l.printLine("")
		}
		l.writeBlock(block)
	}
}

// splitParagraphs splits text at blank lines, except inside fenced code.
func splitParagraphs(text string) (all []string) {
	fenced, open := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if line == "" && !fenced {
			all = append(all, open)
			open = ""
			continue
		}
		open += line + "\n"
	}
	return nonEmpty(append(all, open))
}

func (l lineWriter) writeBlock(block string) {
	body := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	switch {
	case strings.HasPrefix(block, "```"):
		for _, line := range body[1 : len(body)-1] {
			l.writeCode(line)
		}
	case strings.HasPrefix(block, "#"):
		l.printLine("%s", strings.ToUpper(strings.Trim(plainText(block), "# \n")))
	case strings.HasPrefix(block, "|"):
		l.writeTableRows(body[2:])
	case strings.HasPrefix(block, "- "):
		for item := range strings.SplitSeq(strings.TrimPrefix(block, "- "), "\n- ") {
			l.writeWrapped("- ", plainText(strings.Join(strings.Fields(item), " ")))
		}
	default:
		l.writeWrapped("", plainText(strings.Join(body, " ")))
	}
}

// writeCode writes a line of code. It breaks a line that is too long after a comma or a space.
func (l lineWriter) writeCode(line string) {
	lead := "  "
	for c := []rune(line); ; {
		n := min(len(c), columns-len(lead))
		if n < len(c) {
			if at := strings.LastIndexAny(string(c[:n]), ", "); at > 0 {
				n = len([]rune(string(c[:n])[:at+1]))
			}
		}
		l.printLine("%s%s", lead, string(c[:n]))
		if c = c[n:]; len(c) == 0 {
			return
		}
		lead = "      "
	}
}

// writeTableRows writes the rows of a table: the first cell, and the others to its right or, if a first cell
// is wide, below it.
func (l lineWriter) writeTableRows(body []string) {
	const widest = 30
	var table [][2]string
	wide := 0
	for _, line := range body {
		line = strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00")
		first, rest, _ := strings.Cut(plainText(line), " | ")
		first = strings.ReplaceAll(first, "\x00", "|")
		rest = strings.ReplaceAll(strings.ReplaceAll(rest, " | ", " · "), "\x00", "|")
		table = append(table, [2]string{first, rest})
		wide = max(wide, display.Clean(first).Width())
	}
	for _, row := range table {
		if wide > widest {
			l.writeWrapped("  ", row[0])
			l.writeWrapped("      ", row[1])
			continue
		}
		l.writeWrapped("  "+row[0]+strings.Repeat(" ", wide+2-display.Clean(row[0]).Width()), row[1])
	}
}

// Marks of Markdown that plainText removes.
var (
	linkMark = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	codeMark = strings.NewReplacer("`", "", "**", "")
)

// plainText returns text without Markdown marks.
func plainText(text string) string {
	return codeMark.Replace(linkMark.ReplaceAllString(text, "$1"))
}

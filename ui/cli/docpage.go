package cli

import (
	"regexp"
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/docs"
)

// writeDocument writes the Markdown of a topic as a page of help: it is written so that little more is
// needed than to leave the marks out.
func (l lineWriter) writeDocument(topic string) {
	text, _ := docs.Page(topic)
	_, text, _ = strings.Cut(text, "\n") // the heading is what was asked for
	for i, block := range splitParagraphs(text) {
		if i > 0 {
			l.printLine("")
		}
		l.writeBlock(block)
	}
}

// splitParagraphs are what blank lines set apart; what stands between fences stays together.
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

// writeCode is a line as it is; one that is too long goes on in the next, behind a comma or blank.
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

// writeTableRows are those of a table: the last cell stands beside the others, or below where those are wide.
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

// Marks of Markdown that mean nothing on a page of help.
var (
	linkMark = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	codeMark = strings.NewReplacer("`", "", "**", "")
)

// plainText is text without its marks.
func plainText(text string) string {
	return codeMark.Replace(linkMark.ReplaceAllString(text, "$1"))
}

package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/ui"
	"toolscope/ui/display"
)

// rootHelp is the start of the program's help. The complete help has at most 60 lines.
const rootHelp = `toolscope shows the tool calls of a language model while they stream. For each
call, you see the arguments as they arrive, and the real state of the call.

  toolscope                          list recent captures, or play the demo
  toolscope agent.sse                open a capture, a log or a saved response
  toolscope -f proxy.log             follow a file or directory as it grows
  curl -N … | toolscope              watch a stream
  toolscope run -- claude -p "…"     run an agent behind a recording proxy

Usage:
  toolscope [FILE…] [flags]
  toolscope COMMAND [flags]
`

// rootFlags are the flags that rootHelp lists. 'open --help' lists all flags.
var rootFlags = []string{"follow", "from", "protocol", "theme", "plain", "ascii", "no-color", "help", "version"}

// rootFlagTexts are shorter descriptions of flags for rootHelp.
var rootFlagTexts = map[string]string{
	"follow":   "keep reading as files grow; pick up new files",
	"from":     "input format; see 'help formats'",
	"protocol": "protocol of every response; see 'help protocols'",
	"theme":    "auto, a name, or a theme file",
	"plain":    "print a sentence per event instead of drawing a screen",
}

const rootHelpEnd = `'toolscope open --help' lists all flags for files. Topics for 'toolscope help TOPIC':`

// commandGroups are the commands in the order in which rootHelp lists them.
var commandGroups = []struct {
	title    string
	commands string
}{
	{"Look", "open print diff explain ask stats demo"},
	{"Capture", "run proxy mcp acp connect hub"},
	{"Test", "check fix replay serve cut shrink torture suite export"},
	{"Setup", "config completion man help version"},
}

// exitMeaning is an exit code with its meaning. commonExits is for commands without a table of their own.
type exitMeaning struct{ code, means string }

var (
	commonExits = []exitMeaning{
		{"0", "success"},
		{"1", "the command failed, or a file is damaged or contains no model traffic"},
		{"2", "wrong usage"},
		{"3", "data is missing (a capture or a hub has gaps, or spans were not delivered), or a capture may contain secrets"},
		{"128+n", "signal n ended the command"},
	}
	briefExits   = []exitMeaning{{"0", "success"}, {"1", "the command failed"}, {"2", "wrong usage"}}
	commandExits = map[string][]exitMeaning{
		"check":   {{"0", "no findings that make the check fail"}, {"1", "findings that make the check fail"}, {"2", "wrong usage, or a file can't be read, is damaged or contains no model traffic"}},
		"stats":   {{"0", "no condition of --fail-on is met"}, {"1", "a condition of --fail-on is met or, with --strict, can't be decided"}, {"2", "wrong usage, or a file can't be read, is damaged or contains no model traffic"}},
		"fix":     {{"0", "nothing to fix, or --write wrote a corrected copy"}, {"1", "faults that make the provider refuse the request"}, {"2", "wrong usage, or a file can't be read or written"}},
		"suite":   {{"0", "no wrong cases, except those in the baseline"}, {"1", "wrong cases"}, {"2", "wrong usage, or the adapter broke its rules, ended too early or didn't answer"}},
		"diff":    {{"0", "no differences"}, {"1", "differences"}, {"2", "wrong usage, or a file can't be read"}},
		"replay":  append([]exitMeaning{{"0", "success"}, {"1", "the command failed or, with --fail-on-loss, a preview is refused or has such a loss"}}, commonExits[2:]...),
		"torture": {{"0", "the client was right in all scenes"}, {"1", "the client was wrong in a scene or, with --strict, a result is unknown; with --compare: results differ"}, {"2", "wrong usage, the client failed the control, or its program wasn't found"}, {"128+n", "signal n ended the command"}},
		"shrink":  {{"0", "success"}, {"1", "the command failed"}, {"2", "wrong usage, or the condition is false for the file"}, {"3", "a limit ended the search, or content of the original remains"}},
		"run":     {{"N", "the agent ended with exit code N"}, {"2", "wrong usage"}, {"3", "the agent succeeded, but the capture has gaps or may contain secrets"}, {"128+n", "signal n ended the agent"}},
		"mcp":     {{"N", "the server ended with exit code N"}, {"2", "wrong usage"}, {"127", "the server's command was not found"}, {"128+n", "signal n ended the server"}},
		"acp":     {{"N", "the agent ended with exit code N"}, {"2", "wrong usage"}, {"127", "the agent's command was not found"}, {"128+n", "signal n ended the agent"}},
		"explain": briefExits, "ask": {{"0", "success"}, {"1", "the run, call or code doesn't exist"}, {"2", "wrong usage"}}, "config": briefExits, "show": briefExits, "edit": briefExits, "path": briefExits, "theme": briefExits,
		"completion": briefExits, "man": briefExits, "version": briefExits, "help": briefExits, "demo": briefExits,
	}
)

// exitCodesOf returns the exit codes of a command.
func exitCodesOf(cmd *cobra.Command) []exitMeaning {
	if cmd.Parent() != nil && cmd.Parent().Name() == "config" {
		return briefExits // 'config check' and 'check' are different commands
	}
	if cmd.Parent() != nil && cmd.Parent().Name() == "suite" {
		return commandExits["suite"]
	}
	if own := commandExits[cmd.Name()]; own != nil {
		return own
	}
	return commonExits
}

// printHelp prints the help for a command. 'help COMMAND' and 'COMMAND --help' use the same text.
func (a *app) printHelp(cmd *cobra.Command) {
	l := a.stdout
	if !cmd.HasParent() {
		l.printRootHelp(cmd)
		return
	}
	l.printLine("%s.", cmd.Short)
	l.printLine("")
	l.printLine("Usage:")
	usage := cmd.UseLine()
	if before, after, ok := strings.Cut(usage, " [flags] -- "); ok {
		usage = before + " [flags] -- " + strings.TrimSuffix(after, " [flags]")
	}
	l.printLine("  %s", usage)
	if sub := cmd.Commands(); len(sub) > 0 {
		l.printLine("")
		l.printLine("Commands:")
		for _, c := range sub {
			l.printLine("  %-10s %s", c.Name(), c.Short)
		}
	}
	about := aboutText(cmd)
	example, _, _ := strings.Cut(cmd.Example, "\n")
	if cmd.Example != "" && !strings.Contains(about, example) {
		l.printLine("")
		l.printLine("Examples:")
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			l.printLine("  %s", line)
		}
	}
	l.printLine("")
	for line := range strings.SplitSeq(about, "\n") {
		l.printLine("%s", line)
	}
	l.printLine("")
	l.printLine("Flags:")
	l.printFlags(cmd, nil)
	l.printLine("")
	l.printLine("Exit codes:")
	for _, e := range exitCodesOf(cmd) {
		l.writeWrapped(fmt.Sprintf("  %-6s ", e.code), e.means)
	}
}

// aboutText returns the detailed description of a command, from its page or else its Long text.
func aboutText(cmd *cobra.Command) string {
	if _, ok := ui.DocPage(cmd.Name()); ok && cmd.Parent() == cmd.Root() {
		return helpPage(documentOf(cmd.Name()))
	}
	return helpPage(func(l lineWriter) {
		for i, para := range strings.Split(strings.TrimSpace(cmd.Long), "\n\n") {
			if i > 0 {
				l.printLine("")
			}
			if !strings.Contains("\n"+para, "\n ") {
				l.writeWrapped("", strings.ReplaceAll(para, "\n", " "))
				continue
			}
			for line := range strings.SplitSeq(para, "\n") { // indented lines stay as they are
				l.printLine("%s", line)
			}
		}
	})
}

func (l lineWriter) printRootHelp(root *cobra.Command) {
	for line := range strings.SplitSeq(rootHelp, "\n") {
		l.printLine("%s", line)
	}
	for _, g := range commandGroups {
		l.printLine("%s:", g.title)
		for name := range strings.FieldsSeq(g.commands) {
			if c, _, err := root.Find([]string{name}); err == nil {
				l.printLine("  %-11s %s", c.Name(), c.Short)
			}
		}
	}
	l.printLine("")
	l.printLine("Flags:")
	l.printFlags(root, rootFlags)
	l.printLine("")
	topics := []string(nil)
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			topics = append(topics, c.Name())
		}
	}
	l.writeWrapped("", rootHelpEnd+" "+strings.Join(topics, " ")+".")
}

// maxFlagCells is the maximum width of a flag whose description starts on the same line.
const maxFlagCells = 24

// printFlags prints the flags with the given names. If names is nil, it prints all of the command's flags. It
// leaves out hidden flags.
func (l lineWriter) printFlags(cmd *cobra.Command, names []string) {
	var all []*pflag.Flag
	if names == nil {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	}
	for _, name := range names {
		all = append(all, cmd.Flags().Lookup(name))
	}
	widest := 0
	for _, f := range all {
		if n := len([]rune(flagWords(f))); n <= maxFlagCells && !f.Hidden {
			widest = max(widest, n)
		}
	}
	for _, f := range all {
		if f.Hidden {
			continue
		}
		words, text := flagWords(f), f.Usage+flagDefault(f)
		if short := rootFlagTexts[f.Name]; short != "" && names != nil {
			text = short
		}
		if len([]rune(words)) > widest {
			l.printLine("  %s", words)
			l.writeWrapped(strings.Repeat(" ", widest+4), text)
			continue
		}
		l.writeWrapped(fmt.Sprintf("  %-*s  ", widest, words), text)
	}
}

// flagWords returns a flag with its short form and the METAVAR of its value.
func flagWords(f *pflag.Flag) string {
	words := "    --" + f.Name
	if f.Shorthand != "" {
		words = "-" + f.Shorthand + ", --" + f.Name
	}
	return strings.TrimRight(words+" "+flagValue(f), " ")
}

// writeDocument writes the Markdown of a topic as a help page. It supports only the parts of Markdown that the
// pages use: headings, code, tables, lists of one level and paragraphs.
func (l lineWriter) writeDocument(topic string) {
	text, _ := ui.DocPage(topic)
	_, text, _ = strings.Cut(text, "\n") // leave out the heading, because the user typed the topic
	for i, block := range splitParagraphs(text) {
		if i > 0 {
			l.printLine("")
		}
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

// writeCode writes a line of code. It breaks a long line after a comma or a space.
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

// writeTableRows writes the rows of a table. The other cells are to the right of the first cell or, if a
// first cell is wide, below it.
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

// These variables match the Markdown that plainText removes.
var (
	linkMark = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	codeMark = strings.NewReplacer("`", "", "**", "")
)

// plainText returns text without Markdown marks.
func plainText(text string) string {
	return codeMark.Replace(linkMark.ReplaceAllString(text, "$1"))
}

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Args: noArgs,
		Example: "toolscope man | man -l -\ntoolscope man > /usr/local/share/man/man1/toolscope.1",
		Long:    "The manual page lists every command, flag, key and exit code, as input for man.",
		Run:     func(cmd *cobra.Command, _ []string) { manual{a.stdout}.writePage(cmd.Root()) },
	}
}

// manual writes roff, the input format of man.
type manual struct{ lineWriter }

// writeSection writes the heading of a section, and calls write for its content.
func (m manual) writeSection(title string, write func()) {
	m.printLine(".SH %s", escapeRoff(strings.ToUpper(title)))
	write()
}

func (m manual) writePage(root *cobra.Command) {
	m.printLine(`.TH TOOLSCOPE 1 "" "toolscope %s" "User Commands"`, escapeRoff(releaseVersion()))
	m.writeSection("name", func() { m.printLine("%s", escapeRoff("toolscope - inspect LLM tool calls while they stream")) })
	m.writeSection("synopsis", func() { m.writeLiteral("toolscope [FILE…] [flags]\ntoolscope COMMAND [flags]") })
	m.writeSection("description", func() { m.writeLiteral(strings.TrimRight(rootHelp, "\n")) })
	m.writeSection("options", func() { m.writeFlags(root) })
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			m.writeSection(c.CommandPath(), func() {
				m.writeLiteral(strings.TrimPrefix(c.UseLine(), "toolscope "))
				m.writeLiteral(c.Short + ".")
				if c.Example != "" {
					m.writeLiteral(c.Example)
				}
				m.writeLiteral(aboutText(c))
				m.writeFlags(c)
				for _, e := range exitCodesOf(c) {
					m.writeEntry("exit code "+e.code, e.means)
				}
			})
		}
	}
	m.writeSection("keys", func() {
		for _, k := range ui.Keys(nil) {
			m.writeEntry(k.Keys, fmt.Sprintf("%s (%s)", k.Does, k.Group))
		}
	})
	m.writeSection("exit status", func() {
		for _, e := range commonExits {
			m.writeEntry(e.code, e.means)
		}
	})
	m.writeSection("see also", func() {
		for _, c := range root.Commands() {
			if c.IsAdditionalHelpTopicCommand() {
				m.writeEntry("toolscope help "+c.Name(), c.Short)
			}
		}
	})
}

func (m manual) writeFlags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		m.writeEntry(strings.TrimSpace(flagWords(f)), f.Usage+flagDefault(f))
	})
}

// writeEntry writes a word and its meaning.
func (m manual) writeEntry(word, means string) {
	m.printLine(".TP")
	m.printLine(".B %s", escapeRoff(word))
	m.printLine("%s", escapeRoff(means))
}

// writeLiteral writes text with its line breaks.
func (m manual) writeLiteral(text string) {
	m.printLine(".PP")
	m.printLine(".nf")
	for line := range strings.SplitSeq(text, "\n") {
		m.printLine("%s", escapeRoff(line))
	}
	m.printLine(".fi")
}

// escapeRoff escapes text so that man prints it unchanged.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/ui"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Args: noArgs,
		Long: `Prints the manual page in the form that man reads, with every command and flag:

  toolscope man | man -l -
  toolscope man > /usr/local/share/man/man1/toolscope.1`,
		Run: func(cmd *cobra.Command, _ []string) { manual{a.stdout}.writePage(cmd.Root()) },
	}
}

// A manual writes roff, as man reads it.
type manual struct{ lineWriter }

// writeSection is a heading of a manual page, and what stands under it.
func (m manual) writeSection(title string, write func()) {
	m.printLine(".SH %s", escapeRoff(strings.ToUpper(title)))
	write()
}

func (m manual) writePage(root *cobra.Command) {
	m.printLine(`.TH TOOLSCOPE 1 "" "toolscope %s" "User Commands"`, escapeRoff(releaseVersion()))
	m.writeSection("name", func() { m.printLine("%s", escapeRoff("toolscope - inspect LLM tool calls while they stream")) })
	m.writeSection("synopsis", func() { m.writeLiteral("toolscope [FILE…] [flags]\ntoolscope COMMAND [flags]") })
	m.writeSection("description", func() { m.writeLiteral(root.Long) })
	m.writeSection("options", func() { m.writeFlags(root) })
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			m.writeSection(c.CommandPath(), func() { m.writeCommand(c) })
		}
	}
	m.writeSection("keys", func() {
		for _, k := range ui.Keys(nil) {
			m.writeEntry(k.Keys, fmt.Sprintf("%s (%s)", k.Does, k.Group))
		}
	})
	m.writeSection("exit status", func() {
		for _, e := range exits {
			m.writeEntry(e[0], e[1])
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

// exits are the exit codes.
var exits = [][2]string{
	{"0", "fine; of check nothing was found, of diff nothing differs"},
	{"1", "the work failed: nothing is recognised, a file is damaged, a loss that it was to fail on; of check something was found, of diff something differs"},
	{"2", "wrong usage; of check and diff any trouble"},
	{"3", "a recording has gaps, or more secrets than can be looked for"},
	{"128+n", "ended by signal n; run ends with the code of its client"},
}

func (m manual) writeCommand(c *cobra.Command) {
	m.writeLiteral(strings.TrimPrefix(c.UseLine(), "toolscope "))
	m.writeLiteral(c.Short + ".")
	if c.Long != "" {
		m.writeLiteral(c.Long)
	}
	m.writeFlags(c)
}

func (m manual) writeFlags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		m.writeEntry(strings.TrimRight(name+" "+kind, " "), usage)
	})
}

// writeEntry is a word and what it means.
func (m manual) writeEntry(word, means string) {
	m.printLine(".TP")
	m.printLine(".B %s", escapeRoff(word))
	m.printLine("%s", escapeRoff(means))
}

// writeLiteral is text whose lines stay as they are.
func (m manual) writeLiteral(text string) {
	m.printLine(".PP")
	m.printLine(".nf")
	for line := range strings.SplitSeq(text, "\n") {
		m.printLine("%s", escapeRoff(line))
	}
	m.printLine(".fi")
}

// escapeRoff is text that man prints as it is.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

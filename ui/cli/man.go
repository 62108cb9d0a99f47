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
		Example: "toolscope man | man -l -\ntoolscope man > /usr/local/share/man/man1/toolscope.1",
		Long:    "The manual page lists every command, flag, key and exit code, in the format of man.",
		Run:     func(cmd *cobra.Command, _ []string) { manual{a.stdout}.writePage(cmd.Root()) },
	}
}

// manual writes roff, the input format of man.
type manual struct{ lineWriter }

// writeSection writes the heading of a section and calls write for its content.
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
			m.writeSection(c.CommandPath(), func() { m.writeCommand(c) })
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

func (m manual) writeCommand(c *cobra.Command) {
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

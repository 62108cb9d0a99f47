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
		Run: func(cmd *cobra.Command, _ []string) { manual{a.stdout}.page(cmd.Root()) },
	}
}

// A manual writes roff, as man reads it.
type manual struct{ lines }

// section is a heading of a manual page, and what stands under it.
func (m manual) section(title string, write func()) {
	m.linef(".SH %s", roff(strings.ToUpper(title)))
	write()
}

func (m manual) page(root *cobra.Command) {
	m.linef(`.TH TOOLSCOPE 1 "" "toolscope %s" "User Commands"`, roff(release()))
	m.section("name", func() { m.linef("%s", roff("toolscope - inspect LLM tool calls while they stream")) })
	m.section("synopsis", func() { m.literal("toolscope [FILE…] [flags]\ntoolscope COMMAND [flags]") })
	m.section("description", func() { m.literal(root.Long) })
	m.section("options", func() { m.flags(root) })
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			m.section(c.CommandPath(), func() { m.command(c) })
		}
	}
	m.section("keys", func() {
		for _, k := range ui.Keys(nil) {
			m.entry(k.Keys, fmt.Sprintf("%s (%s)", k.Does, k.Group))
		}
	})
	m.section("exit status", func() {
		for _, e := range exits {
			m.entry(e[0], e[1])
		}
	})
	m.section("see also", func() {
		for _, c := range root.Commands() {
			if c.IsAdditionalHelpTopicCommand() {
				m.entry("toolscope help "+c.Name(), c.Short)
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

func (m manual) command(c *cobra.Command) {
	m.literal(strings.TrimPrefix(c.UseLine(), "toolscope "))
	m.literal(c.Short + ".")
	if c.Long != "" {
		m.literal(c.Long)
	}
	m.flags(c)
}

func (m manual) flags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		m.entry(strings.TrimRight(name+" "+kind, " "), usage)
	})
}

// entry is a word and what it means.
func (m manual) entry(word, means string) {
	m.linef(".TP")
	m.linef(".B %s", roff(word))
	m.linef("%s", roff(means))
}

// literal is text whose lines stay as they are.
func (m manual) literal(text string) {
	m.linef(".PP")
	m.linef(".nf")
	for line := range strings.SplitSeq(text, "\n") {
		m.linef("%s", roff(line))
	}
	m.linef(".fi")
}

// roff is text that man prints as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// helpCommand adds 'help', which prints the help of a command or a topic. The root command accepts any
// word as a FILE, so an unknown word is an error here.
func (a *app) helpCommand(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help for a command or topic",
		Example:           "toolscope help print\ntoolscope help filter\ntoolscope help config show",
		Long:              "'help COMMAND' prints the same text as 'COMMAND --help'. 'toolscope --help' lists the\ncommands and the topics.",
		ValidArgsFunction: a.cobraCompleter(fixedCompletions(func() []completion { return pageCompletions(root) })),
		RunE: func(_ *cobra.Command, args []string) error {
			page, _, err := root.Find(args)
			if len(args) > 0 && (err != nil || page == root) {
				names := mapSlice(pageCompletions(root), func(o completion) string { return o.word })
				return usageErrorf("help: unknown command or topic %q%s\n'toolscope help' lists them", args[0], suggestName(args[0], names))
			}
			if page.IsAdditionalHelpTopicCommand() && slices.Contains([]string{"dialects", "executed", "fleet", "hosts"}, args[0]) {
				a.noteOldName("help "+args[0], "help "+page.Name())
				a.printOldNames()
			}
			return page.Help()
		},
	})
	root.InitDefaultHelpCmd()
}

// pageCompletions returns the commands and topics that have a page of help.
func pageCompletions(root *cobra.Command) []completion {
	return mapSlice(root.Commands(), func(c *cobra.Command) completion { return completion{c.Name(), c.Short} })
}

package cli

import (
	"github.com/spf13/cobra"

	"toolscope/ui/docs"
)

// helpCommand has help show a page: that of a command, or of a topic. Root takes any word for a
// FILE, so left alone help would show its page for a word that it has none of.
func (a *app) helpCommand(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help about a command or a topic",
		ValidArgsFunction: a.cobraCompleter(fixedCompletions(func() []completion { return pageCompletions(root) })),
		RunE: func(_ *cobra.Command, args []string) error {
			page, _, err := root.Find(args)
			if len(args) > 0 && (err != nil || page == root) {
				names := mapSlice(pageCompletions(root), func(o completion) string { return o.word })
				return usageErrorf("help: there is no page %q%s\n'toolscope help' lists them", args[0], suggestName(args[0], names))
			}
			page.InitDefaultHelpFlag()
			if _, ok := docs.Page(page.Name()); !ok || page.IsAdditionalHelpTopicCommand() {
				return page.Help()
			}
			a.stdout.writeDocument(page.Name())
			a.stdout.printLine("")
			a.stdout.printLine("'%s --help' lists the flags", page.CommandPath())
			return nil
		},
	})
	root.InitDefaultHelpCmd()
}

// pageCompletions are what there is help about.
func pageCompletions(root *cobra.Command) []completion {
	return mapSlice(root.Commands(), func(c *cobra.Command) completion { return completion{c.Name(), c.Short} })
}

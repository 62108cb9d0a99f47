package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamedFlags are flags with an old name that still works. Help and completions show the new one.
var renamedFlags = []struct{ commands, old, new string }{
	{"toolscope open print diff check replay", "as", "from"},
	{"toolscope open print diff check replay cut export", "dialect", "protocol"},
	{"toolscope open run proxy show", "keep", "memory"},
	{"connect", "keep", "long-cache"},
	{"hub", "keep", "max-age"},
	{"hub", "keep-bytes", "max-bytes"},
	{"toolscope open print check", "model", "hub-model"},
	{"toolscope open print check", "status", "hub-state"},
	{"run proxy show", "kept-days", "prune-days"},
	{"run proxy show", "kept-size", "prune-size"},
	{"run proxy show", "break-time", "break-timeout"},
	{"show", "origin", "show-origin"},
	{"toolscope open print proxy check export show", "tls-ca", "hub-ca"},
}

// acceptOldFlags makes a command and its subcommands accept the old names of flags.
func (a *app) acceptOldFlags(cmd *cobra.Command) {
	names := map[string]string{}
	for _, r := range renamedFlags {
		if slices.Contains(strings.Fields(r.commands), cmd.Name()) {
			names[r.old] = r.new
		}
	}
	if len(names) > 0 {
		cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if now, old := names[name]; old {
				a.noteOldName("--"+name, "--"+now)
				return pflag.NormalizedName(now)
			}
			return pflag.NormalizedName(name)
		})
	}
	for _, sub := range cmd.Commands() {
		a.acceptOldFlags(sub)
	}
}

// noteOldName adds a note about an old name of a flag or a topic.
func (a *app) noteOldName(old, now string) {
	if note := old + " is now called " + now; !slices.Contains(a.oldNames, note) {
		a.oldNames = append(a.oldNames, note)
	}
}

// printOldNames prints the notes about old names, but only to a terminal: the output of scripts doesn't
// change.
func (a *app) printOldNames() {
	for _, note := range a.oldNames {
		if a.stderrIsTerminal {
			a.printNote("%s", note)
		}
	}
	a.oldNames = nil
}

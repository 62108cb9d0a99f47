package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagTexts checks that every flag has a description, and a METAVAR unless it is a switch. Every command must
// have an example and a detailed description.
func TestFlagTexts(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch isSwitch := f.Value.Type() == "bool"; {
			case f.Usage == "":
				t.Errorf("%s --%s: no description", cmd.CommandPath(), f.Name)
			case isSwitch != (flagValue(f) == ""):
				t.Errorf("%s --%s: METAVAR %q for a %s", cmd.CommandPath(), f.Name, flagValue(f), f.Value.Type())
			}
		})
		if cmd.HasParent() && (cmd.Example == "" && aboutText(cmd) == "" || cmd.Short == "" || strings.HasSuffix(cmd.Short, ".")) {
			t.Errorf("%s: needs an example, a text and a short description", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(new(app).linkParts().rootCommand())
}

// TestRootHelp checks that the help of the program fits on one page.
func TestRootHelp(t *testing.T) {
	out := command(t, nil, "--help").stdout
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	wantNarrow(t, out)
	for _, cmd := range new(app).linkParts().rootCommand().Commands() {
		if a, b := command(t, nil, "help", cmd.Name()).stdout, command(t, nil, cmd.Name(), "--help").stdout; a != b && !cmd.Hidden && cmd.Name() != "help" {
			t.Errorf("help %s and %s --help differ:\n%s\n%s", cmd.Name(), cmd.Name(), a, b)
		}
	}
}

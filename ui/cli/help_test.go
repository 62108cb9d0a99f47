package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpFits checks that no help page is wider than wrapped prose. For every flag that can have an invalid value,
// there must be a description of the valid values.
func TestHelpFits(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		page := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		for line := range strings.Lines(command(t, nil, page...).stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%v: %d columns: %s", page, n, line)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); wantedOf[kind] == "" && !slices.Contains([]string{"string", "stringArray"}, kind) {
				t.Errorf("%v: nothing is said of a wrong %s", page, kind)
			}
		})
		for _, each := range cmd.Commands() {
			look(each)
		}
	}
	look(new(app).linkParts().rootCommand())
}

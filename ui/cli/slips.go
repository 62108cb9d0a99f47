package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/themes"
)

// suggestName suggests the names that are similar to a word, "" if none is.
func suggestName(word string, names []string) string {
	return didYouMean(themes.Near(strings.ToLower(word), names))
}

// suggestCompletion is suggestName for the words of a completion.
func suggestCompletion(word string, of []completion) string {
	return suggestName(word, mapSlice(of, func(o completion) string { return o.word }))
}

// didYouMean returns the question whether one of the names was meant, "" without names.
func didYouMean(names []string) string {
	return textIf(len(names) > 0, fmt.Sprintf("; did you mean %s?", strings.Join(names, " or ")))
}

// suggestCommand returns an error if the first word is not a file and looks like a mistyped command.
func suggestCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], `/\.*?[]:`) {
		return nil
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return nil
	}
	if may := suggestName(args[0], commandNames(cmd.Root())); may != "" {
		return usageErrorf("unknown command or file %q%s\n'toolscope --help' lists the commands", args[0], may)
	}
	return nil
}

// commandNames returns the names of the commands, without help topics.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// wrongFlag returns the error for an invalid or unknown flag, with a suggestion.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s: invalid value %q: use %s", f.Name, invalid.GetValue(), wantedBy(f.Value))
	case errors.As(err, &unknown):
		if wrong := suggestCommand(cmd, cmd.Flags().Args()); cmd == cmd.Root() && wrong != nil {
			return wrong
		}
		err = fmt.Errorf("%w%s", err, suggestFlag(cmd, unknown))
	}
	return usageErrorf("%w\n%s --help lists the flags", err, cmd.CommandPath())
}

// suggestFlag suggests the flags that are similar to a mistyped one.
func suggestFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	if unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return didYouMean(mapSlice(themes.Near(strings.ToLower(unknown.GetSpecifiedName()), names), func(n string) string { return "--" + n }))
}

// wantedOf describes the valid values of a flag, by type.
var wantedOf = map[string]string{
	"bool": "true or false", "int": "a whole number, e.g. 3", "float64": "a number, e.g. 0.5", "duration": "a time, e.g. 30s or 2m",
}

// wantedBy describes the valid values of a flag.
func wantedBy(v pflag.Value) string {
	if w, ok := v.(*enumFlag); ok {
		return w.choiceText()
	}
	return wantedOf[v.Type()]
}

// enumFlag is a flag whose value is one of a list of words.
type enumFlag struct {
	to    *string
	of    []string
	usual string
}

// addFormatFlag adds the flag of the output format. json means jsonl: every command writes JSON as one object
// per line.
func addFormatFlag(flags *pflag.FlagSet, to *string, usual string, of ...string) {
	*to = usual
	flags.Var(&enumFlag{to, of, usual}, "format", "")
}

// String returns the value.
func (w *enumFlag) String() string     { return *w.to }
func (w *enumFlag) Type() string       { return "string" }
func (w *enumFlag) choiceText() string { return "one of " + strings.Join(w.of, ", ") }

// Set sets the value, in any case.
func (w *enumFlag) Set(text string) error {
	text = strings.ToLower(text)
	if text == "json" {
		text = "jsonl"
	}
	if text != w.usual && !slices.Contains(w.of, text) {
		return errors.New("use " + w.choiceText())
	}
	*w.to = text
	return nil
}

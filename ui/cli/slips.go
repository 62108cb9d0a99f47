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

// suggestName asks for what was perhaps meant by a word that is none of the names; nothing where no name
// is near it.
func suggestName(word string, names []string) string {
	return didYouMean(themes.Near(strings.ToLower(word), names))
}

// suggestCompletion is perhaps of what a shell offers.
func suggestCompletion(word string, of []completion) string {
	return suggestName(word, mapSlice(of, func(o completion) string { return o.word }))
}

func didYouMean(names []string) string {
	return textIf(len(names) > 0, fmt.Sprintf("; did you mean %s?", strings.Join(names, " or ")))
}

// suggestCommand is the error of a first word that is no file and looks like a command that was mistyped.
func suggestCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], `/\.*?[]:`) {
		return nil
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return nil
	}
	if may := suggestName(args[0], commandNames(cmd.Root())); may != "" {
		return usageErrorf("%q is no command and no file%s\n'toolscope --help' lists the commands", args[0], may)
	}
	return nil
}

// commandNames are the commands, without the pages of help that are none.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// wrongFlag is the error of a flag that is not understood, with what would have been right.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s %q: wanted is %s", f.Name, invalid.GetValue(), wantedBy(f.Value))
	case errors.As(err, &unknown):
		if wrong := suggestCommand(cmd, cmd.Flags().Args()); cmd == cmd.Root() && wrong != nil {
			return wrong
		}
		err = fmt.Errorf("%w%s", err, suggestFlag(cmd, unknown))
	}
	return usageErrorf("%w\n%s --help lists the flags", err, cmd.CommandPath())
}

// suggestFlag asks for the flags that a mistyped one is near.
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

// wantedOf says what would be right for a flag of a type.
var wantedOf = map[string]string{
	"bool": "true or false", "int": "a whole number, as in 3", "float64": "a number, as in 0.5", "duration": "a time, as in 30s or 2m",
}

// wantedBy says what would be right for a flag.
func wantedBy(v pflag.Value) string {
	if w, ok := v.(*enumFlag); ok {
		return w.choiceText()
	}
	return wantedOf[v.Type()]
}

// A enumFlag is the value of a flag that takes one of some words.
type enumFlag struct {
	to    *string
	of    []string
	usual string
}

// addFormatFlag adds the flag of what a command writes. Whoever writes JSON writes one object a line, so
// json and jsonl are the same to all of them.
func addFormatFlag(flags *pflag.FlagSet, to *string, usual, usage string, of ...string) {
	*to = usual
	flags.Var(&enumFlag{to, of, usual}, "format", usage)
}

func (w *enumFlag) String() string     { return *w.to }
func (w *enumFlag) Type() string       { return "string" }
func (w *enumFlag) choiceText() string { return "one of " + strings.Join(w.of, ", ") }

// Set takes one of the words, in small letters or not.
func (w *enumFlag) Set(text string) error {
	text = strings.ToLower(text)
	if text == "json" {
		text = "jsonl"
	}
	if text != w.usual && !slices.Contains(w.of, text) {
		return errors.New("wanted is " + w.choiceText())
	}
	*w.to = text
	return nil
}

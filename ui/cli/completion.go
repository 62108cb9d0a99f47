package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/host"
	"toolscope/providers/price"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/suite"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/filter"
	"toolscope/ui/present"
	"toolscope/ui/stats"
)

const completionHelp = `The script completes commands, flags and their values: protocols, themes,
providers, models, and the tools in a FILE. To load it in every session, put the
example for your shell into ~/.bashrc, ~/.zshrc (after compinit),
~/.config/fish/config.fish or $PROFILE. bash needs the package bash-completion.`

// shells lists the supported shells, each with the function that writes its script.
var shells = []struct {
	name  string
	write func(root *cobra.Command, to io.Writer) error
}{
	{"bash", func(root *cobra.Command, to io.Writer) error { return root.GenBashCompletionV2(to, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, to io.Writer) error { return root.GenFishCompletion(to, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func shellNames() (names []string) {
	for _, s := range shells {
		names = append(names, s.name)
	}
	return names
}

func (se *settingSources) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print a shell completion script",
		Example: "source <(toolscope completion bash)\nsource <(toolscope completion zsh)\ntoolscope completion fish | source\ntoolscope completion powershell | Out-String | Invoke-Expression",
		Long:    completionHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("completion: needs one SHELL\nuse one of %s", present.JoinWords(shellNames()...))
			}
			i := slices.Index(shellNames(), args[0])
			if i < 0 {
				return usageErrorf("completion: unknown shell %q%s\nuse one of %s", args[0], suggestName(args[0], shellNames()), present.JoinWords(shellNames()...))
			}
			return shells[i].write(cmd.Root(), se.app.output)
		},
	}
}

// completion is a suggested word with its description.
type completion struct{ word, means string }

// completer suggests completions of the word that the user is typing. The parameter begun is the typed part of that
// word, and args has the arguments before it. cobraCompleter removes suggestions that don't start with begun.
type completer func(a *app, args []string, begun string) []completion

// flagCompleters complete flag values. The keys are "COMMAND FLAG", or "FLAG" for all commands.
var flagCompleters = map[string]completer{
	"protocol": fixedCompletions(func() []completion {
		return append(protocolCompletions(), completion{"auto", "detect the protocol from the bytes"})
	}),
	"from": fixedCompletions(formatCompletions),
	"export as": fixedCompletions(func() []completion {
		return mapSlice(exportForms(), func(f exportForm) completion { return completion{f.name, f.says} })
	}),
	"theme":     fixedCompletions(func() []completion { return wordCompletions(append([]string{"auto"}, themes.Names()...)) }),
	"fix to":    fixedCompletions(targetCompletions),
	"replay to": fixedCompletions(targetCompletions),
	"proxy to":  fixedCompletions(func() []completion { return withSuffix(providerNameCompletions(), "=") }),
	"run to":    fixedCompletions(func() []completion { return withSuffix(providerNameCompletions(), "=") }),
	"stats by":  commaCompletions(fixedCompletions(func() []completion { return wordCompletions(stats.KeyNames()) })),
	"stats fail-on": commaCompletions(fixedCompletions(func() []completion {
		return append(wordCompletions([]string{"worse", "bad>1%", "failed>1%", "first.p95>10s", "cost>5"}), withSuffix(codeCompletions(), ">1%")...)
	})),
	"suite/run only":  fixedCompletions(caseCompletions),
	"suite/run not":   fixedCompletions(caseCompletions),
	"suite/list only": fixedCompletions(caseCompletions),
	"suite/list not":  fixedCompletions(caseCompletions),
	"policy":          fixedCompletions(policyCompletions),
	"fail-on":         commaCompletions(fixedCompletions(func() []completion { return append(wordCompletions(severityWords), codeCompletions()...) })),
	"fail-on-loss":    fixedCompletions(func() []completion { return wordCompletions(mapSlice(replay.Severities, replay.Severity.String)) }),
	"fault":           fixedCompletions(faultCompletions),
	"model":           (*app).modelCompletions,
	"expect-tool":     (*app).toolCompletions,
	"forbid-tool":     (*app).toolCompletions,
	"filter":          (*app).filterCompletions,
	"break":           (*app).filterCompletions,
}

// caseCompletions suggests the protocols and tags of test cases.
func caseCompletions() []completion {
	_, all, _ := suite.LoadCases()
	return wordCompletions(append(protocolsOf(all), suite.OffSpec, suite.Cut, suite.Rare))
}

// argCompleters complete the arguments of commands. The arguments of all other commands are files.
var argCompleters = map[string]completer{
	"completion": fixedCompletions(func() []completion { return wordCompletions(shellNames()) }),
	"connect":    firstArgOnly(commaCompletions((*app).providerCompletions)),
	"demo":       firstArgOnly(fixedCompletions(demoCompletions)),
	"explain":    firstArgOnly(fixedCompletions(codeCompletions)),
	"run":        firstArgOnly(fixedCompletions(clientCompletions)),
	"version":    fixedCompletions(func() []completion { return nil }),
}

// fileFlags are the flags whose values are files or folders.
var fileFlags = []string{
	"auth", "baseline", "creds", "hub-token", "nkey", "output", "prices", "record", "request", "save", "spool", "store", "system", "hub-ca", "tls-cert", "tls-key", "tools", "vs", "write",
}

// addCompletions registers the completers of arguments and flags with cobra.
func (se *settingSources) addCompletions(root *cobra.Command) {
	suites, _, _ := root.Find([]string{"suite"})
	for _, cmd := range slices.Concat(root.Commands(), suites.Commands(), []*cobra.Command{root}) {
		name := commandKey(cmd)
		if of := argCompleters[name]; of != nil && cmd != root {
			cmd.ValidArgsFunction = se.cobraCompleter(of)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			of := flagCompleters[name+" "+f.Name]
			if of == nil {
				of = flagCompleters[f.Name]
			}
			if w, ok := f.Value.(*enumFlag); ok {
				of = fixedCompletions(func() []completion { return wordCompletions(w.of) })
			}
			if of == nil && !slices.Contains(fileFlags, f.Name) {
				of = fixedCompletions(func() []completion { return nil })
			}
			if of != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, se.cobraCompleter(of))
			}
		})
	}
}

// cobraCompleter adapts a completer to cobra.
func (se *settingSources) cobraCompleter(of completer) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
		then := cobra.ShellCompDirectiveNoFileComp
		for _, o := range of(se.app, args, begun) {
			if strings.HasPrefix(o.word, begun) {
				all = append(all, cobra.CompletionWithDesc(o.word, o.means))
			}
			if strings.HasSuffix(o.word, "=") || strings.HasSuffix(o.word, "/") {
				then |= cobra.ShellCompDirectiveNoSpace
			}
		}
		return all, then
	}
}

// fixedCompletions returns a completer that suggests the words in a list, whatever was typed.
func fixedCompletions(list func() []completion) completer {
	return func(*app, []string, string) []completion { return list() }
}

// firstArgOnly returns a completer for the first argument only.
func firstArgOnly(of completer) completer {
	return func(a *app, args []string, begun string) []completion {
		if len(args) > 0 {
			return nil
		}
		return of(a, args, begun)
	}
}

// commaCompletions returns a completer for a comma-separated list. The completer completes the word after the
// last comma.
func commaCompletions(of completer) completer {
	return func(a *app, args []string, begun string) []completion {
		kept := begun[:strings.LastIndexByte(begun, ',')+1]
		all := of(a, args, begun[len(kept):])
		for i := range all {
			all[i].word = kept + all[i].word
		}
		return all
	}
}

func withSuffix(all []completion, end string) []completion {
	for i := range all {
		all[i].word += end
	}
	return all
}

func wordCompletions(words []string) []completion {
	return mapSlice(words, func(w string) completion { return completion{word: w} })
}

func protocolCompletions() []completion {
	return mapSlice(providers.All, func(d protocol.Protocol) completion { return completion{d.Name, d.Title} })
}

func formatCompletions() []completion {
	return append(mapSlice(formats.All, func(f capture.Format) completion { return completion{formatName(f), f.Title} }),
		completion{"auto", "detect the format from the first bytes"}, completion{"body", "one response body"})
}

func providerNameCompletions() (all []completion) {
	for i := range host.All {
		all = append(all, completion{host.All[i].Name, host.All[i].Title})
	}
	return all
}

func targetCompletions() []completion {
	return append(mapSlice(providers.Targets(), func(t *protocol.Target) completion { return completion{t.Name, t.Title} }), completion{"all", "every target"})
}

func policyCompletions() []completion {
	all := []completion{{"all", "every policy"}, {"behaviours", "all policies named after their behaviour"}, {"clients", "all policies named after clients"}}
	for i := range replay.Policies {
		all = append(all, completion{replay.Policies[i].Name, replay.Policies[i].Description})
	}
	return all
}

func codeCompletions() []completion {
	return mapSlice(byCode(providers.Findings()), func(d *stream.Diagnosis) completion { return completion{d.Code, d.Meaning} })
}

func faultCompletions() []completion {
	return mapSlice(fault.Faults(), func(f [2]string) completion { return completion{f[0], f[1]} })
}

func demoCompletions() []completion {
	all := []completion{{tour, "the scenarios, one after the other"}}
	return append(all, mapSlice(scenarios, func(s scenario) completion { return completion{s.name, s.shows} })...)
}

func clientCompletions() (all []completion) {
	for _, p := range client.ProxySetups {
		for _, name := range p.Commands {
			all = append(all, completion{name, p.Title})
		}
	}
	return all
}

// providerCompletions suggests the names of providers. After a name and a slash, it suggests the models of
// that provider.
func (se *settingSources) providerCompletions(_ []string, begun string) []completion {
	name, _, slash := strings.Cut(begun, "/")
	if !slash {
		return providerNameCompletions()
	}
	return mapSlice(modelsAt(name), func(m string) completion { return completion{word: name + "/" + m} })
}

// modelsAt returns a provider's models from the built-in price table, or nil if the provider is unknown.
func modelsAt(name string) []string {
	h, err := host.Find(name)
	if err != nil {
		return nil
	}
	return price.Embedded().Models(h.Address)
}

// modelCompletions suggests models of the providers in the first argument.
func (se *settingSources) modelCompletions(args []string, _ string) []completion {
	if len(args) == 0 {
		return nil
	}
	var all []string
	for name := range strings.SplitSeq(args[0], ",") {
		all = append(all, modelsAt(name)...)
	}
	return wordCompletions(all)
}

// filterCompletions completes the last word of a filter.
func (se *settingSources) filterCompletions(_ []string, begun string) []completion {
	kept := begun[:strings.LastIndexAny(begun, " \t")+1]
	_, all := filter.Complete(begun, nil)
	return mapSlice(all, func(w string) completion { return completion{word: kept + strings.TrimPrefix(w, kept)} })
}

// peekTime is the maximum time for a completion to read files, because the user waits for it.
const peekTime = 2 * time.Second

// toolCompletions suggests the tools that are called in the files in args.
func (se *settingSources) toolCompletions(args []string, _ string) []completion {
	ctx, cancel := context.WithTimeout(context.Background(), peekTime)
	defer cancel()
	names := map[string]bool{}
	_ = se.app.eachSource(ctx, args, func(src capture.Source, _ string, in *providers.Inspector) error {
		err := inspectSource(src, in, func() bool { return ctx.Err() == nil })
		for _, t := range in.Session().Turns {
			for _, c := range t.Calls {
				names[c.Name] = true
			}
		}
		return err
	})
	delete(names, "")
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return wordCompletions(all)
}

// suggestName returns a question that suggests the names similar to a word, or "" if no name is similar.
func suggestName(word string, names []string) string {
	return didYouMean(themes.Near(strings.ToLower(word), names))
}

// suggestCompletion is like suggestName, but for a list of completions.
func suggestCompletion(word string, of []completion) string {
	return suggestName(word, mapSlice(of, func(o completion) string { return o.word }))
}

// didYouMean returns a question that suggests the names, or "" if there are none.
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
	var names []string
	for _, c := range cmd.Root().Commands() {
		if c.IsAvailableCommand() { // not a help topic
			names = append(names, c.Name())
		}
	}
	if may := suggestName(args[0], names); may != "" {
		return usageErrorf("unknown command or file %q%s\n'toolscope --help' lists the commands", args[0], may)
	}
	return nil
}

// wrongFlag returns the error for an invalid or unknown flag. The error may contain a suggestion.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		wanted := wantedOf[f.Value.Type()]
		if w, ok := f.Value.(*enumFlag); ok {
			wanted = w.choiceText()
		}
		err = fmt.Errorf("--%s: invalid value %q: use %s", f.Name, invalid.GetValue(), wanted)
	case errors.As(err, &unknown):
		if wrong := suggestCommand(cmd, cmd.Flags().Args()); cmd == cmd.Root() && wrong != nil {
			return wrong
		}
		err = fmt.Errorf("%w%s", err, suggestFlag(cmd, unknown))
	}
	return usageErrorf("%w\n%s --help lists the flags", err, cmd.CommandPath())
}

// Cobra keeps the names of the flags that exclude or need each other in these annotations. Each value is one group.
const (
	exclusiveFlags = "cobra_annotation_mutually_exclusive"
	dependentFlags = "cobra_annotation_required_if_others_set"
)

// checkFlagGroups makes the commands report flags that can't be combined, and flags that need each other, as wrong
// usage. Cobra's own check would be a failure of the command, which for check means that there are findings.
func checkFlagGroups(cmd *cobra.Command) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) (err error) {
		cmd.Flags().Visit(func(f *pflag.Flag) {
			for name := range flagsInGroups(f, exclusiveFlags) {
				if err == nil && cmd.Flags().Changed(name) {
					err = usageErrorf("--%s: can't be combined with --%s\nuse one of them", f.Name, name)
				}
			}
			for name := range flagsInGroups(f, dependentFlags) {
				if err == nil && !cmd.Flags().Changed(name) {
					err = usageErrorf("--%s: needs --%s\nuse both of them", f.Name, name)
				}
			}
		})
		if err != nil || before == nil {
			return err
		}
		return before(cmd, args)
	}
	for _, sub := range cmd.Commands() {
		checkFlagGroups(sub)
	}
}

// flagsInGroups returns the names of the other flags in the groups of a flag.
func flagsInGroups(f *pflag.Flag, kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, group := range f.Annotations[kind] {
			for name := range strings.FieldsSeq(group) {
				if name != f.Name && !yield(name) {
					return
				}
			}
		}
	}
}

// suggestFlag suggests the flags that are similar to an unknown long flag.
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

// wantedOf describes the valid values of flags, by the type of the flag.
var wantedOf = map[string]string{
	"bool": "true or false", "int": "a whole number, e.g. 3", "float64": "a number, e.g. 0.5", "duration": "a time, e.g. 30s or 2m",
}

// enumFlag is a flag whose value must be in a list of words.
type enumFlag struct {
	to    *string
	of    []string
	usual string
}

// addFormatFlag adds the flag for the output format. json is an alias of jsonl, because every command writes JSON
// as one object per line.
func addFormatFlag(flags *pflag.FlagSet, to *string, usual string, of ...string) {
	*to = usual
	flags.Var(&enumFlag{to, of, usual}, "format", "")
}

// String returns the value.
func (w *enumFlag) String() string     { return *w.to }
func (w *enumFlag) Type() string       { return "string" }
func (w *enumFlag) choiceText() string { return "one of " + strings.Join(w.of, ", ") }

// Set sets the value. It ignores case.
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

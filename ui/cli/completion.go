package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/bend"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/dialect"
	"toolscope/providers/host"
	"toolscope/providers/price"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/filter"
)

const completionHelp = `Prints the script that has a shell complete commands, flags and their values:
dialects, themes, providers, models, the tools in a FILE.

  bash        source <(toolscope completion bash)
  zsh         source <(toolscope completion zsh)
  fish        toolscope completion fish | source
  powershell  toolscope completion powershell | Out-String | Invoke-Expression

To have it in every session put that line into ~/.bashrc, ~/.zshrc (behind
compinit), ~/.config/fish/config.fish or $PROFILE. In bash it needs the package
bash-completion.`

// shells are those whose completion is known, each with what writes its script.
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

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Have bash, zsh, fish or powershell complete what is typed", Long: completionHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion: of which shell?\ntoolscope completion SHELL, which is one of %s", list(shellNames()...))
			}
			i := slices.Index(shellNames(), args[0])
			if i < 0 {
				return usagef("completion: no shell %q%s\nthere are %s", args[0], perhaps(args[0], shellNames()), list(shellNames()...))
			}
			return shells[i].write(cmd.Root(), a.output)
		},
	}
}

// An offer is a word that may stand somewhere, and what it means.
type offer struct{ word, means string }

// offers are what may stand in a place of the command line; begun is what is there already.
type offers func(a *app, args []string, begun string) []offer

// flagOffers are the values of flags, by the command and the flag or by the flag alone.
var flagOffers = map[string]offers{
	"dialect":      fixed(func() []offer { return append(dialectOffers(), offer{"auto", "what the bytes tell"}) }),
	"as":           fixed(formatOffers),
	"from":         fixed(formatOffers),
	"export as":    fixed(func() []offer { return each(forms(), func(f form) offer { return offer{f.name, f.says} }) }),
	"theme":        fixed(func() []offer { return plainOffers(append([]string{"auto"}, themes.Names()...)) }),
	"replay to":    fixed(targetOffers),
	"proxy to":     fixed(func() []offer { return suffixed(hostOffers(), "=") }),
	"run to":       fixed(func() []offer { return suffixed(hostOffers(), "=") }),
	"policy":       fixed(policyOffers),
	"fail-on":      listed(fixed(func() []offer { return append(plainOffers(severityWords), codeOffers()...) })),
	"fail-on-loss": fixed(func() []offer { return plainOffers(each(replay.Severities, replay.Severity.String)) }),
	"fault":        fixed(faultOffers),
	"model":        (*app).modelOffers,
	"expect-tool":  (*app).toolOffers,
	"forbid-tool":  (*app).toolOffers,
	"filter":       (*app).filterOffers,
	"break":        (*app).filterOffers,
}

// argOffers are the arguments of commands; those of the others are files.
var argOffers = map[string]offers{
	"completion": fixed(func() []offer { return plainOffers(shellNames()) }),
	"connect":    first(listed((*app).providerOffers)),
	"demo":       first(fixed(demoOffers)),
	"explain":    first(fixed(codeOffers)),
	"run":        first(fixed(clientOffers)),
	"version":    fixed(func() []offer { return nil }),
}

// fileFlags are those whose value is a file, or a folder.
var fileFlags = []string{
	"auth", "baseline", "creds", "hub-token", "nkey", "output", "prices", "record", "request", "save", "spool", "store", "system", "tls-ca", "tls-cert", "tls-key", "tools",
}

// offerWords has a shell offer what may stand in each place.
func (a *app) offerWords(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		if of := argOffers[cmd.Name()]; of != nil && cmd != root {
			cmd.ValidArgsFunction = a.offered(of)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			of := flagOffers[cmd.Name()+" "+f.Name]
			if of == nil {
				of = flagOffers[f.Name]
			}
			if w, ok := f.Value.(*word); ok {
				of = fixed(func() []offer { return plainOffers(w.of) })
			}
			if of == nil && !slices.Contains(fileFlags, f.Name) {
				of = fixed(func() []offer { return nil })
			}
			if of != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, a.offered(of))
			}
		})
	}
}

// offered is offers as the command library asks for them.
func (a *app) offered(of offers) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
		then := cobra.ShellCompDirectiveNoFileComp
		for _, o := range of(a, args, begun) {
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

// fixed are offers that are the same whatever stands before them.
func fixed(list func() []offer) offers {
	return func(*app, []string, string) []offer { return list() }
}

// first are offers of the first argument only.
func first(of offers) offers {
	return func(a *app, args []string, begun string) []offer {
		if len(args) > 0 {
			return nil
		}
		return of(a, args, begun)
	}
}

// listed are offers of words with commas between: what stands before the last comma stays.
func listed(of offers) offers {
	return func(a *app, args []string, begun string) []offer {
		kept := begun[:strings.LastIndexByte(begun, ',')+1]
		all := of(a, args, begun[len(kept):])
		for i := range all {
			all[i].word = kept + all[i].word
		}
		return all
	}
}

func suffixed(all []offer, end string) []offer {
	for i := range all {
		all[i].word += end
	}
	return all
}

func plainOffers(words []string) []offer {
	return each(words, func(w string) offer { return offer{word: w} })
}

func dialectOffers() []offer {
	return each(providers.All, func(d dialect.Protocol) offer { return offer{d.Name, d.Title} })
}

func formatOffers() []offer {
	return append(each(formats.All, func(f capture.Format) offer { return offer{formatName(f), f.Title} }),
		offer{"auto", "what the first bytes tell"}, offer{"body", "one response as it was sent"})
}

func hostOffers() (all []offer) {
	for i := range host.All {
		all = append(all, offer{host.All[i].Name, host.All[i].Title})
	}
	return all
}

func targetOffers() []offer {
	return append(each(providers.Targets(), func(t *dialect.Target) offer { return offer{t.Name, t.Title} }), offer{"all", "every target"})
}

func policyOffers() []offer {
	all := []offer{{"all", "every policy"}, {"behaviours", "those named after what they do"}, {"clients", "those of clients"}}
	for i := range replay.Policies {
		all = append(all, offer{replay.Policies[i].Name, replay.Policies[i].Description})
	}
	return all
}

func codeOffers() []offer {
	return each(byCode(providers.Findings()), func(d *stream.Diagnosis) offer { return offer{d.Code, d.Meaning} })
}

func faultOffers() []offer {
	return each(bend.Faults(), func(f [2]string) offer { return offer{f[0], f[1]} })
}

func demoOffers() []offer {
	all := []offer{{tour, "all of these, one after the other"}}
	return append(all, each(scenarios, func(s scenario) offer { return offer{s.name, s.shows} })...)
}

func clientOffers() (all []offer) {
	for _, p := range client.ProxySetups {
		for _, name := range p.Commands {
			all = append(all, offer{name, p.Title})
		}
	}
	return all
}

// providerOffers are hosts, and behind a slash the models of one.
func (a *app) providerOffers(_ []string, begun string) []offer {
	name, _, slash := strings.Cut(begun, "/")
	if !slash {
		return hostOffers()
	}
	return each(modelsAt(name), func(m string) offer { return offer{word: name + "/" + m} })
}

// modelsAt are the models of a host, as far as the table of prices has them.
func modelsAt(name string) []string {
	h, err := host.Find(name)
	if err != nil {
		return nil
	}
	return price.Embedded().Models(h.Address)
}

// modelOffers are the models of the hosts that are asked.
func (a *app) modelOffers(args []string, _ string) []offer {
	if len(args) == 0 {
		return nil
	}
	var all []string
	for name := range strings.SplitSeq(args[0], ",") {
		all = append(all, modelsAt(name)...)
	}
	return plainOffers(all)
}

// filterOffers are what the last word of a filter may become.
func (a *app) filterOffers(_ []string, begun string) []offer {
	kept := begun[:strings.LastIndexAny(begun, " \t")+1]
	_, all := filter.Complete(begun, nil)
	return each(all, func(w string) offer { return offer{word: kept + strings.TrimPrefix(w, kept)} })
}

// peekTime is how long files are looked into while somebody waits for a word to be completed.
const peekTime = 2 * time.Second

// toolOffers are the tools that are called in the files that were named.
func (a *app) toolOffers(args []string, _ string) []offer {
	ctx, cancel := context.WithTimeout(context.Background(), peekTime)
	defer cancel()
	names := map[string]bool{}
	_ = a.eachSource(ctx, args, func(src capture.Source, _ string, in *providers.Inspector) error {
		err := inspect(src, in, func() bool { return ctx.Err() == nil })
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
	return plainOffers(all)
}

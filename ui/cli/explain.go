package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/present"
)

func byCode(all []*stream.Diagnosis) []*stream.Diagnosis {
	slices.SortFunc(all, func(a, b *stream.Diagnosis) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// severitiesOf lists the severities that a finding may have, with the usual one first.
func severitiesOf(d *stream.Diagnosis) string {
	return present.JoinWords(append([]string{d.Severity.String()}, mapSlice(d.OtherSeverities, stream.Severity.String)...)...)
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain CODE", Short: "Explain a finding and what to do about it",
		Example: "toolscope explain ARGS_BROKEN", Long: "CODE is the code of a finding. 'toolscope help findings' lists all codes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("explain: needs one CODE\n'toolscope help findings' lists the codes")
			}
			all := byCode(providers.Findings())
			i := slices.IndexFunc(all, func(d *stream.Diagnosis) bool { return strings.EqualFold(d.Code, args[0]) })
			if i < 0 {
				return usageErrorf("explain: unknown code %q%s\n'toolscope help findings' lists the codes", args[0], similarCodes(all, strings.ToUpper(args[0])))
			}
			l, d := a.stdout, all[i]
			l.printLine("%s", d.Code)
			l.writeWrapped("  severity  ", present.SeverityText(d))
			l.printLine("  by        %s, unless the finding names another party", d.By)
			l.writeWrapped("  means     ", d.Meaning)
			l.writeWrapped("  do        ", d.Advice)
			for _, k := range replay.Kinds {
				if k.Diagnosis == d {
					l.writeWrapped("  replay    ", fmt.Sprintf("a loss of severity %s: %s", k.Severity, k.Description))
				}
			}
			return nil
		},
	}
}

// similarCodes suggests the codes that are similar to code.
func similarCodes(all []*stream.Diagnosis, code string) string {
	codes := themes.Near(code, mapSlice(all, func(d *stream.Diagnosis) string { return d.Code }))
	return didYouMean(codes)
}

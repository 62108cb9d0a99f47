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
)

func byCode(all []*stream.Diagnosis) []*stream.Diagnosis {
	slices.SortFunc(all, func(a, b *stream.Diagnosis) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// grades are the severities a finding may have, the usual one first.
func grades(d *stream.Diagnosis) string {
	return list(append([]string{d.Severity.String()}, each(d.OtherSeverities, stream.Severity.String)...)...)
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain CODE", Short: "What a finding means, who did it, and what to do",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("explain takes one code\n'toolscope help findings' lists them")
			}
			return explain(a.stdout, args[0])
		},
	}
}

// explain writes all there is to say about a code.
func explain(l lines, code string) error {
	all := byCode(providers.Findings())
	i := slices.IndexFunc(all, func(d *stream.Diagnosis) bool { return strings.EqualFold(d.Code, code) })
	if i < 0 {
		return usagef("no finding has the code %q%s\n'toolscope help findings' lists them", code, near(all, strings.ToUpper(code)))
	}
	d := all[i]
	l.linef("%s", d.Code)
	l.linef("  severity  %s", grades(d))
	l.linef("  by        %s, unless the finding names another", d.By)
	l.prose("  means     ", d.Meaning)
	l.prose("  do        ", d.Advice)
	for _, k := range replay.Kinds {
		if k.Diagnosis == d {
			l.prose("  replay    ", fmt.Sprintf("a loss of severity %s: %s", k.Severity, k.Description))
		}
	}
	return nil
}

// near names the codes that could be meant.
func near(all []*stream.Diagnosis, code string) string {
	codes := themes.Near(code, each(all, func(d *stream.Diagnosis) string { return d.Code }))
	return didYouMean(codes)
}

package cli

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/ui"
	"toolscope/ui/present"
)

//go:embed demo/*.tsc
var demos embed.FS

// scenario is an embedded capture for the demo, with its caption.
type scenario struct{ name, shows string }

// scenarios are in the order of the tour. The tour leaves out the last one.
var scenarios = []scenario{
	{"malformed", "arguments that stop being JSON at a marked byte"},
	{"cut", "the token limit ends a call in the middle of a string"},
	{"index-zero", "two parallel calls that share index 0, and the same turn from another provider"},
	{"early", "arguments that parse as an object long before they are complete"},
	{"schema", "arguments that can no longer match their tool's schema"},
	{"history", "an agent that changes its own calls when it sends them back"},
	{"aistudio", "arguments in nested arrays, which decoders read differently"},
	{"protocols", "one call in six protocols: as text, patches, binary, or all at once"},
	{"compare", "three models that answer the same request differently"},
	{"parallel", "a turn without problems: two calls, one of which writes a program"},
	{"executed", "a tool that ran with only the beginning of its arguments, and its result"},
}

// tour is the scenario that plays all others except byName, one after another.
const tour = "tour"

// byName is the scenario that plays only if the user names it. It also shows tool runs, which the tour does not
// explain.
const byName = "executed"

func (a *app) demoCommand() *cobra.Command {
	list, save := false, ""
	cmd := &cobra.Command{
		Use: "demo [SCENARIO]", Short: "Play the built-in demo, or one of its scenarios",
		Example: "toolscope demo\ntoolscope demo protocols --speed 2\ntoolscope demo --list\ntoolscope demo --save samples",
		Long:    "The demo plays its scenarios one after the other, with captions. It\nneeds no network and no API key. --save writes the scenarios as captures, so that you can use other\ncommands on them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				a.stdout.printLine("  %-12s %s", tour, "all scenarios except "+byName+", with explanations")
				for _, s := range scenarios {
					a.stdout.printLine("  %-12s %s", s.name, s.shows)
				}
				return nil
			case len(args) > 1:
				return usageErrorf("demo: takes one SCENARIO, got %d", len(args))
			case save != "":
				return a.saveDemos(save, cmp.Or(append(args, tour)...))
			case len(args) == 1:
				return a.playDemo(cmd.Context(), args[0])
			}
			return a.playDemo(cmd.Context(), tour)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "")
	cmd.Flags().StringVar(&save, "save", "", "")
	cmd.Flags().Float64Var(&a.speed, "speed", 0, "")
	a.flags.add(cmd.Flags())
	return cmd
}

// playDemo plays a scenario on the screen. Without a screen, it prints the scenario.
func (a *app) playDemo(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	src, err := demoSource(ctx, name)
	if err != nil {
		return err
	}
	if !a.onScreen() {
		p := a.printerOf(a.stdout.withBuffer(), "text", prices)
		if err := a.printSource(src, "demo/"+name, new(providers.Inspector), p); err != nil {
			return err
		}
		endPrint(p)
		return nil
	}
	o := ui.Options{Source: "demo " + name, Prices: prices}
	if name == tour && !a.isPlain() { // the screen plays the tour, and stops at each caption
		o.Tour, o.Speed = true, a.speed
		return a.showSource(ctx, src, 0, o)
	}
	return a.showSource(ctx, src, cmp.Or(a.speed, 1), o)
}

// demoSource returns the source of a scenario.
func demoSource(ctx context.Context, name string) (capture.Source, error) {
	var parts []capture.Source
	for _, s := range scenarios {
		if name != s.name && (name != tour || s.name == byName) {
			continue
		}
		data, err := demos.ReadFile("demo/" + s.name + ".tsc")
		if err != nil {
			return nil, err
		}
		src, err := capture.Open(ctx, "-", capture.Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			return nil, err
		}
		parts = append(parts, mapSource(src, func(r *capture.Record) {
			if r.Head != nil { // replace the name of the embedded file
				head := *r.Head
				head.File = "demo/" + s.name
				r.Head = &head
			}
		}))
	}
	if name == tour {
		return oneAfterAnother(parts), nil
	}
	if len(parts) == 0 {
		names := mapSlice(scenarios, func(s scenario) string { return s.name })
		return nil, usageErrorf("demo: unknown scenario %q%s\nscenarios: %s, %s", name, suggestName(name, append(names, tour)), tour, present.JoinWords(names...))
	}
	return capture.Concat(parts...), nil
}

// betweenScenarios is the time between the end of one scenario and the start of the next.
const betweenScenarios = 400 * time.Millisecond

// oneAfterAnother joins sources. It shifts their times, so that each source starts after the previous one.
func oneAfterAnother(parts []capture.Source) capture.Source {
	began, latest := time.Duration(0), time.Duration(0)
	for i, src := range parts {
		first := i > 0
		parts[i] = mapSource(src, func(r *capture.Record) {
			if first {
				first, began = false, latest+betweenScenarios
			}
			if r.At >= 0 {
				r.At += began
				latest = max(latest, r.At)
			}
		})
	}
	return capture.Concat(parts...)
}

// afterOthers is added to the exchange numbers of the demo. It keeps them apart from the numbers of a source that was
// open before, even if that source sent no records.
const afterOthers = 1 << 20

// bringTour puts the tour into an inbox. If own is true, it closes the inbox at the end.
func bringTour(to *screenInbox, own bool) {
	src, err := demoSource(context.Background(), tour)
	if err != nil {
		to.Close(err)
		return
	}
	src = mapSource(src, func(r *capture.Record) { r.Exchange += afterOthers })
	copySource(src, to.Put, func(err error) {
		if own {
			to.Close(err)
		}
	})
}

// saveDemos writes one scenario, or all scenarios, to a folder as captures.
func (a *app) saveDemos(dir, name string) error {
	if _, err := demoSource(context.Background(), name); err != nil {
		return err
	}
	for _, s := range scenarios {
		if name != tour && name != s.name {
			continue
		}
		data, err := demos.ReadFile("demo/" + s.name + ".tsc")
		if err != nil {
			return err
		}
		path, err := saveInto(dir, s.name+".tsc", data)
		if err != nil {
			return fmt.Errorf("--save: %w", err)
		}
		a.stdout.writeWrapped(path+"  ", s.shows)
	}
	return nil
}

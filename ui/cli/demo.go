package cli

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/ui"
)

//go:embed demo/*.tsc
var demos embed.FS

// scenario is one embedded capture, of our own writing, and what it shows.
type scenario struct{ name, shows string }

// scenarios are in the order in which the tour shows them; the last is played by its name alone.
var scenarios = []scenario{
	{"malformed", "arguments that stop being JSON at a byte one can point at"},
	{"cut", "the token limit ends a call in the middle of a string"},
	{"index-zero", "two parallel calls share index 0, beside the same turn from another provider"},
	{"early", "arguments that parse as an object long before they are whole"},
	{"schema", "arguments that can no longer become what their tool declares"},
	{"history", "an agent that sends its own calls back changed, and what came of it"},
	{"aistudio", "arrays in arrays, and what a decoder makes of them that goes by their length"},
	{"protocols", "one call as six protocols send it: text, patches, binary, all at once"},
	{"compare", "three models that were asked the same, and differ"},
	{"parallel", "two calls of one clean turn, one of them writing a program"},
	{"executed", "a tool that was run with the beginning of its arguments, and what the model was told"},
}

// tour is the scenario that is all of them but one, one after the other.
const tour = "tour"

// byName is the scenario that the tour does not show: what is seen of it stands beside the model's turns.
const byName = "executed"

func (a *app) demoCommand() *cobra.Command {
	list, save := false, ""
	cmd := &cobra.Command{
		Use: "demo [SCENARIO]", Short: "Play an embedded scenario, with its own timing",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				a.listDemos()
				return nil
			case len(args) > 1:
				return usageErrorf("demo: one SCENARIO, got %d", len(args))
			case save != "":
				return a.saveDemos(save, cmp.Or(append(args, tour)...))
			case len(args) == 1:
				return a.playDemo(cmd.Context(), args[0])
			}
			return a.playDemo(cmd.Context(), tour)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the scenarios")
	cmd.Flags().StringVar(&save, "save", "", "write the scenarios as captures into this `FOLDER`, to try things with")
	cmd.Flags().Float64Var(&a.speed, "speed", 0, "0.25 to 16 times as fast")
	markSettings(cmd.Flags(), "demo", "speed")
	a.flags.add(cmd.Flags())
	return cmd
}

func (a *app) listDemos() {
	a.stdout.printLine("  %-12s %s", tour, "all of these but "+byName+", with what there is to say of each")
	for _, s := range scenarios {
		a.stdout.printLine("  %-12s %s", s.name, s.shows)
	}
}

// playDemo plays a scenario on the screen, or prints it where there is none.
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
		p := a.printerOf("text", prices)
		if err := a.printSource(src, "demo/"+name, new(providers.Inspector), p); err != nil {
			return err
		}
		endPrint(p)
		return nil
	}
	o := ui.Options{Source: "demo " + name, Prices: prices}
	if name == tour && !a.isPlain() { // which the screen plays: it stops at what there is to say
		o.Tour, o.Speed = true, a.speed
		return a.showSource(ctx, src, 0, o)
	}
	return a.showSource(ctx, src, cmp.Or(a.speed, 1), o)
}

// demoSource is the source of a scenario.
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
			if r.Head != nil { // in place of the name it was read by
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
		return nil, usageErrorf("demo: no scenario %q%s\nthere are %s, %s", name, suggestName(name, append(names, tour)), tour, joinCommas(names...))
	}
	return capture.Concat(parts...), nil
}

// betweenScenarios is how much time passes from the end of one to the start of the next.
const betweenScenarios = 400 * time.Millisecond

// oneAfterAnother is sources whose times follow each other.
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

// afterOthers sets the demo's exchanges apart from those of a source that was silent when the demo
// was asked for.
const afterOthers = 1 << 20

// bringTour puts the tour into an inbox, which it closes if it is its own.
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

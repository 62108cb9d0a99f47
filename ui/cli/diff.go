package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/diff"
	"toolscope/ui/panes"
	units "toolscope/ui/screen"
)

const diffHelp = `Puts turns of two or more files side by side: which calls each of them made, in
what state they ended, and what each call has of every member of its arguments.
Values are compared, not how they are written: 3 is 3.0, and the order of
members is nothing. The first file is the base. The exit code is that of diff:
0 nothing differs, 1 something does, 2 there was trouble.

  toolscope diff monday.tsc tuesday.tsc
  toolscope diff sonnet.sse gpt.sse mistral.sse
  toolscope diff direct.tsc openrouter.tsc --turn 3 --format jsonl

Turns of the same request belong together, then turns that call the same tools,
in order; that of which nothing is left over in another file is told. A file
with one turn belongs to any other with one.

= is the same, ≈ the same written otherwise, ≠ something else, — is missing.
Where the same model was asked the same at another host, it is said what came
otherwise over that way: ids, bytes, pieces, the finish word, usage.

With --format jsonl there is an object a line: {"type":"diff"} for turns that
belong together, {"type":"alone"} for one that has no partner. In "members" the
path is a JSON pointer, and in "is" stands, for each side, own (the base's),
same, alike, differs or absent.`

func (a *app) diffCommand() *cobra.Command {
	turn := 0
	cmd := &cobra.Command{
		Use: "diff FILE FILE…", Short: "Put turns of files side by side", Long: diffHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runDiff(cmd.Context(), args, turn, cmd.Flags().Changed("turn"))
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	cmd.Flags().IntVar(&turn, "turn", 0, "only turn `N` of each file")
	addFormatFlag(cmd.Flags(), &a.format, "text", "text, or jsonl: one JSON object a line", "text", "jsonl")
	markSettings(cmd.Flags(), "diff", "format")
	a.pricesFlag(cmd)
	a.reading.add(cmd.Flags())
	return cmd
}

// diffTurn is a turn of one of the files that are compared.
type diffTurn struct {
	file string
	in   *providers.Inspector
	turn *stream.Turn
}

// diffCommand compares what files hold.
type diffCommand struct {
	files   [][]diffTurn // the turns of each
	names   []string     // of the files
	prices  *price.Table
	to      lineWriter
	differs bool
}

func (a *app) runDiff(ctx context.Context, paths []string, turn int, chosen bool) (err error) {
	switch {
	case len(paths) < 2:
		return usageErrorf("diff: two FILEs at least, the first is the base\ntoolscope diff FILE FILE…")
	case chosen && turn < 1:
		return usageErrorf("--turn %d: they are counted from 1", turn)
	}
	d := &diffCommand{to: a.stdout.withBuffer()}
	if d.prices, err = a.loadPrices(); err != nil {
		return err
	}
	err = a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
		if err := inspectSource(src, in, func() bool { return true }); err != nil {
			return err
		}
		a.printSourceNotes(path, in, false)
		return d.addTurns(path, in, turn)
	})
	switch {
	case err != nil:
		return err
	case a.code != 0 || len(d.files) < 2:
		a.code = exitTrouble
		return nil
	}
	for _, set := range d.pairTurns() {
		d.writeTurns(set, a.format == "jsonl")
	}
	if d.differs {
		a.code = exitFound
	}
	return d.to.flush()
}

// addTurns takes the turns of a file, or one of them.
func (d *diffCommand) addTurns(path string, in *providers.Inspector, turn int) error {
	var all []diffTurn
	for _, t := range in.Session().Turns {
		switch {
		case t.Retention != stream.InMemory:
			return fmt.Errorf("%s: turn %d: its calls are too much to be kept", path, t.Number+1)
		case panes.IsPlain(t), turn != 0 && turn != int(t.Number)+1:
		default:
			all = append(all, diffTurn{fileOf(path, in.Exchange(t.Exchange)), in, t})
		}
	}
	if turn != 0 && len(all) == 0 {
		return usageErrorf("--turn %d: %s has %s", turn, path, count.Of(len(in.Session().Turns), "turn"))
	}
	d.files, d.names = append(d.files, all), append(d.names, path)
	return nil
}

// turnSet are turns that belong together, by file; nil where one has none.
type turnSet []*diffTurn

// pairTurns finds the turns that belong together: of the same request, then with the same tools, in
// order. One turn of each file belongs to those of the others.
func (d *diffCommand) pairTurns() (sets []turnSet) {
	single := !slices.ContainsFunc(d.files, func(f []diffTurn) bool { return len(f) != 1 })
	var keys [][2]string // of the first of each set
	for n, file := range d.files {
		at := make([]int, len(file))
		for i := range at {
			at[i] = -1
		}
		for pass := range 2 {
			for i := range file {
				key := file[i].matchKeys()
				for s := 0; at[i] < 0 && s < len(sets); s++ {
					if sets[s][n] == nil && (key[pass] != "" && keys[s][pass] == key[pass] || single) {
						at[i], sets[s][n] = s, &file[i]
					}
				}
			}
		}
		before := -1
		for i := range file {
			if at[i] >= 0 {
				before = slices.IndexFunc(sets, func(p turnSet) bool { return p[n] == &file[i] })
				continue
			}
			if before++; n == 0 {
				before = len(sets)
			}
			set := make(turnSet, len(d.files))
			set[n] = &file[i]
			sets, keys = slices.Insert(sets, before, set), slices.Insert(keys, before, file[i].matchKeys())
		}
	}
	return sets
}

// matchKeys are what a turn is known again by: what it was asked, and the tools it calls.
func (s *diffTurn) matchKeys() (keys [2]string) {
	if x := s.in.Exchange(s.turn.Exchange); x != nil {
		if asks := x.PromptHash(); asks != 0 {
			keys[0] = fmt.Sprint(asks)
		}
	}
	calls, _ := wireCalls(s.turn)
	keys[1] = strings.Join(mapSlice(calls, func(c *stream.Call) string { return c.Name }), "\n")
	return keys
}

// writeTurns writes turns that belong together, and says of one alone that it is.
func (d *diffCommand) writeTurns(p turnSet, asJSON bool) {
	var sides []*diffTurn
	for _, s := range p {
		if s != nil {
			sides = append(sides, s)
		}
	}
	if len(sides) < len(p) {
		d.differs = true
	}
	if len(sides) == 1 {
		d.writeUnmatched(sides[0], asJSON)
		return
	}
	c := d.compareTurns(sides)
	count := c.Count()
	failed := slices.ContainsFunc(c.Sides, func(s diff.Side) bool { return s.Fails != c.Sides[0].Fails })
	c.equal = count.Equal() && !failed
	d.differs = d.differs || !c.equal
	if asJSON {
		c.writeJSON(d)
	} else {
		c.writeText(d)
	}
}

// comparison is turns that are compared.
type comparison struct {
	diff.Comparison
	sides     []*diffTurn
	times     []diff.Times
	equal     bool
	ways      []diff.SameRequest // of each side, no host where it is none
	wire      []diff.Fact        // how the answers came, where one came another way
	sentences []string           // the sentences
}

// compareTurns compares turns; the first is the base.
func (d *diffCommand) compareTurns(sides []*diffTurn) *comparison {
	c := &comparison{sides: sides, ways: make([]diff.SameRequest, len(sides))}
	turns := make([]*stream.Turn, len(sides))
	names := diff.DistinctNames(len(sides), func(i int) string { return panes.ShortModel(sides[i].turn.Model) },
		func(i int) string { return filepath.Base(sides[i].file) }, func(i int) string { return sides[i].file },
		func(i int) string { return fmt.Sprintf("%s %d", filepath.Base(sides[i].file), i+1) })
	for i, s := range sides {
		turns[i] = s.turn
		times := diff.TimesOf(s.in.View(), s.turn)
		c.times = append(c.times, times)
		c.Sides = append(c.Sides, diff.Side{Name: units.ShortName(names[i]), Turn: s.turn, Over: true, Took: times.End, Fails: s.failureText()})
	}
	lists, named := diff.Calls(turns, diff.ArgsHash)
	for _, at := range diff.Align(named, 0) {
		set := diff.CallSet{Calls: make([]*stream.Call, len(sides))}
		args := make([]*diff.Args, len(sides))
		for i, n := range at {
			if n >= 0 {
				set.Calls[i] = lists[i][n]
				args[i] = diff.ArgsOf(set.Calls[i])
			}
		}
		set.Rows, set.Sums = diff.CompareArgs(args, 0, make([]bool, len(sides)))
		c.Sets = append(c.Sets, set)
	}
	c.makeSentences()
	return c
}

// makeSentences makes the sentences.
func (c *comparison) makeSentences() {
	request := func(i int) diff.Request {
		return diff.RequestOf(c.sides[i].in.View(), c.sides[i].in.Exchange(c.sides[i].turn.Exchange))
	}
	base := request(0)
	if forms := c.Sentence(func(t time.Duration) string { return units.Time(t).String() }); len(forms) > 0 {
		c.sentences = append(c.sentences, forms[0])
	}
	for i := 1; i < len(c.sides); i++ {
		r := request(i)
		way, ok := r.SameElsewhere(&base)
		if !ok {
			continue
		}
		if c.ways[i] = way; c.wire == nil {
			c.wire = c.WireFacts()
		}
		c.sentences = append(c.sentences, c.ChangeSentence(i, way, c.wire))
	}
}

// failureText is why nothing of use came of a turn.
func (s *diffTurn) failureText() string {
	x := s.in.Exchange(s.turn.Exchange)
	switch {
	case x != nil && x.Head.Status >= 300:
		return fmt.Sprintf("HTTP %d", x.Head.Status)
	case s.turn.Failure != "" && len(s.turn.Calls) == 0:
		return units.ShortName(s.turn.Failure)
	}
	return ""
}

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

func (a *app) diffCommand() *cobra.Command {
	turn := 0
	cmd := &cobra.Command{
		Use: "diff FILE FILE…", Short: "Compare the turns of several files",
		Example: "toolscope diff monday.tsc tuesday.tsc\ntoolscope diff sonnet.sse gpt.sse mistral.sse\ntoolscope diff direct.tsc openrouter.tsc --turn 3 --format jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runDiff(cmd.Context(), args, turn, cmd.Flags().Changed("turn"))
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	cmd.Flags().IntVar(&turn, "turn", 0, "")
	addFormatFlag(cmd.Flags(), &a.format, "text", "text", "jsonl")
	markSettings(cmd.Flags(), "diff", "format")
	a.pricesFlag(cmd)
	a.reading.add(cmd.Flags())
	return cmd
}

// diffTurn is a turn of one of the compared files.
type diffTurn struct {
	file string
	in   *providers.Inspector
	turn *stream.Turn
}

// diffCommand compares the turns of files.
type diffCommand struct {
	files   [][]diffTurn // the turns, by file
	names   []string     // names of the files
	prices  *price.Table
	to      lineWriter
	differs bool
}

// runDiff compares files and sets the exit code.
func (a *app) runDiff(ctx context.Context, paths []string, turn int, chosen bool) (err error) {
	switch {
	case len(paths) < 2:
		return usageErrorf("diff: needs two FILEs or more; the first is the base\ntoolscope diff FILE FILE…")
	case chosen && turn < 1:
		return usageErrorf("--turn %d: numbers start at 1", turn)
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

// addTurns adds the turns of a file, or one of them.
func (d *diffCommand) addTurns(path string, in *providers.Inspector, turn int) error {
	var all []diffTurn
	for _, t := range in.Session().Turns {
		switch {
		case t.Retention != stream.InMemory:
			return fmt.Errorf("%s: turn %d: its calls are too large to keep in memory", path, t.Number+1)
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

// turnSet is a set of matching turns, indexed by file; nil where a file has none.
type turnSet []*diffTurn

// pairTurns matches turns: those of the same request, then those with the same tools, in order. If each file
// has one turn, these match.
func (d *diffCommand) pairTurns() (sets []turnSet) {
	single := !slices.ContainsFunc(d.files, func(f []diffTurn) bool { return len(f) != 1 })
	var keys [][2]string // keys of the first turn of each set
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

// matchKeys returns the keys that a turn is matched by: its request and its tools. "" matches nothing.
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

// writeTurns writes matching turns, or a turn without a match.
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

// comparison is a comparison of matching turns.
type comparison struct {
	diff.Comparison
	sides     []*diffTurn
	times     []diff.Times
	equal     bool
	ways      []diff.SameRequest // by side; without a host for another request
	wire      []diff.Fact        // facts of the responses, if a side has the same request
	sentences []string
}

// compareTurns compares turns with the first one.
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

// makeSentences fills in the sentences, and the differences between hosts that got the same request.
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

// failureText returns why a turn failed, "" if it did not.
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

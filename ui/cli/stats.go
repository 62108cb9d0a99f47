package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/price"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/stats"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	by, failOn   string
	since, until string
	vs           []string
	strict       bool
	drift        bool
	alarms       float64 // with drift: expected number of false alarms in a year
	format       string
}

// period is a period of time. A zero start or end means no limit.
type period struct{ since, until time.Time }

// parsePeriod parses --since and --until, which may be relative to now.
func (f *statsFlags) parsePeriod(now time.Time) (of period, err error) {
	for _, of := range []struct {
		name, text string
		to         *time.Time
	}{{"since", f.since, &of.since}, {"until", f.until, &of.until}} {
		if of.text == "" {
			continue
		}
		at, err := fleet.ParseTimeSpec(of.text)
		if err != nil {
			return period{}, usageErrorf("--%s %q: %w", of.name, of.text, err)
		}
		*of.to = at.Resolve(now)
	}
	if !of.until.IsZero() && !of.since.Before(of.until) {
		return of, usageErrorf("--until %s: not after --since %s\nuse a later time", f.until, f.since)
	}
	return of, nil
}

// comparedPeriod parses --vs as a period, which is used instead of other files. It returns false if --vs names files.
func (f *statsFlags) comparedPeriod(now time.Time) (of period, is bool, err error) {
	for _, text := range f.vs {
		since, until, _ := strings.Cut(text, "..")
		_, wrong := fleet.ParseTimeSpec(since)
		_, also := fleet.ParseTimeSpec(until)
		if wrong != nil || also != nil {
			continue
		}
		bounds := statsFlags{since: since, until: until}
		if of, err = bounds.parsePeriod(now); err == nil && len(f.vs) > 1 {
			err = usageErrorf("--vs %s: can't be combined with another --vs\nuse one period, or files", text)
		}
		return of, true, err
	}
	return period{}, false, nil
}

func (a *app) statsCommand() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use: "stats [FILE…]", Short: "Count and compare failures, latencies and costs",
		Example: "toolscope stats logs\ntoolscope stats --by model,day logs\ntoolscope stats --by tool run.tsc\ntoolscope stats --since 7d\ntoolscope stats new --vs old --fail-on worse\ntoolscope stats logs --fail-on 'bad>1%,first.p95>10s'\ntoolscope stats logs --format prometheus",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runStats(cmd, args, &f)
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.by, "by", "model", "")
	to.StringVar(&f.since, "since", "", "")
	to.StringVar(&f.until, "until", "", "")
	to.StringArrayVar(&f.vs, "vs", nil, "")
	to.BoolVar(&f.drift, "drift", false, "")
	to.Float64Var(&f.alarms, "alarms-per-year", 1, "")
	to.StringVar(&f.failOn, "fail-on", "", "")
	to.BoolVar(&f.strict, "strict", false, "")
	addFormatFlag(to, &f.format, "text", "text", "jsonl", "prometheus")
	a.colourFlags(cmd)
	a.addFilterFlag(to)
	a.pricesFlag(cmd)
	a.reading.add(to)
	a.hubFlags(cmd)
	a.callFlags(cmd)
	return cmd
}

// parseFlags returns the keys and the conditions in the flags. It returns an error if flags contradict each other.
func (f *statsFlags) parseFlags() (keys []stats.Key, conditions []stats.Condition, err error) {
	if strings.TrimSpace(f.by) == "" {
		return nil, nil, usageErrorf("--by: needs a key\nkeys: %s", present.JoinWords(stats.KeyNames()...))
	}
	keys, unknown := stats.ParseKeys(f.by)
	if unknown != "" || len(keys) == 0 {
		return nil, nil, usageErrorf("--by: unknown key %q%s\nkeys: %s", unknown, suggestName(unknown, stats.KeyNames()), present.JoinWords(stats.KeyNames()...))
	}
	codes := mapSlice(providers.Findings(), func(d *stream.Diagnosis) string { return d.Code })
	conditions, wrong := stats.ParseConditions(f.failOn, codes)
	switch {
	case wrong != "":
		return nil, nil, usageErrorf("--fail-on: unknown condition %s\n%s; 'toolscope help findings' lists the codes", wrong, stats.ConditionHelp)
	case f.format == "prometheus" && len(f.vs) > 0:
		return nil, nil, usageErrorf("--vs: --format prometheus has no comparisons\nuse --format text or jsonl")
	case len(f.vs) == 0 && slices.ContainsFunc(conditions, stats.Condition.NeedsComparison):
		return nil, nil, usageErrorf("--fail-on worse: needs the older files\nuse --vs FILE, or a period such as --vs 14d..7d")
	}
	return keys, conditions, f.checkDrift(keys, conditions)
}

// runStats reads every file and writes the numbers.
func (a *app) runStats(cmd *cobra.Command, args []string, f *statsFlags) error {
	keys, conditions, err := f.parseFlags()
	if err != nil {
		return err
	}
	byTool := slices.Contains(keys, stats.Tool)
	if i := slices.IndexFunc(conditions, stats.Condition.NeedsTurns); byTool && i >= 0 {
		return turnConditionError(conditions[i])
	}
	now := time.Now()
	newer, err := f.parsePeriod(now)
	if err != nil {
		return err
	}
	older, isPeriod, err := f.comparedPeriod(now)
	if err != nil {
		return err
	}
	if isPeriod && newer.since.IsZero() {
		newer.since = older.until
	}
	if f.drift {
		if newer.until.IsZero() {
			newer.until = now
		}
		newer.since = newer.until.Add(-time.Nanosecond).UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-stats.DriftDays)
	}
	paths := a.inputPaths(args)
	if len(args) == 0 && len(paths) == 0 {
		paths = mapSlice(recentCaptures(), func(r recentCapture) string { return r.Path })
	}
	if len(paths) == 0 {
		return usageErrorf("stats: needs a FILE, because toolscope's folder has no captures\ntoolscope stats FILE…")
	}
	if err := a.checkHubFlags(slices.Concat(paths, ifElse(isPeriod, nil, f.vs))); err != nil {
		return err
	}
	prices, err := a.loadPrices()
	if err == nil {
		err = a.parseFilter(prices)
	}
	if err != nil {
		return err
	}
	var before *stats.Set
	if len(f.vs) > 0 && !isPeriod {
		if before, err = a.collectStats(cmd.Context(), f.vs, prices); err != nil {
			return err
		}
	}
	set, err := a.collectStats(cmd.Context(), paths, prices)
	if err != nil {
		return err
	}
	if isPeriod {
		before = set.SelectPeriod(older.since, older.until)
	}
	set = set.SelectPeriod(newer.since, newer.until)
	if i := slices.IndexFunc(conditions, func(c stats.Condition) bool { return c.CountsTurnFinding(set) }); byTool && i >= 0 {
		return turnConditionError(conditions[i])
	}
	to, err := a.outputFor(f.format)
	if err != nil {
		return err
	}
	w := &statsWriter{lineWriter: to, keys: keys, set: set, groups: set.Groups(keys)}
	switch {
	case before != nil:
		w.compared = stats.Compare(before, set, keys)
	case f.drift:
		w.compared = stats.FindDrift(set, keys, f.alarms)
	}
	w.write(f.format)
	if err := to.flush(); err != nil {
		return err
	}
	fails := a.checkConditions(conditions, w, f.strict)
	switch {
	case a.code != 0:
		a.code = exitTrouble
	case fails:
		a.code = exitFound
	}
	return nil
}

// checkDrift returns an error if --drift is used with other flags that contradict it.
func (f *statsFlags) checkDrift(keys []stats.Key, conditions []stats.Condition) error {
	switch {
	case !f.drift && slices.ContainsFunc(conditions, stats.Condition.NeedsDrift):
		return usageErrorf("--fail-on drift: needs --drift\ntoolscope stats --drift --fail-on drift")
	case !f.drift:
		return nil
	case len(f.vs) > 0:
		return usageErrorf("--drift: can't be combined with --vs\nuse one of them")
	case f.since != "":
		return usageErrorf("--drift: compares the last %s, so --since has no effect\nleave out --since; --until sets the last day", count.Of(stats.DriftDays, "day"))
	case f.format == "prometheus":
		return usageErrorf("--drift: --format prometheus has no comparisons\nuse --format text or jsonl")
	case slices.Contains(keys, stats.Day):
		return usageErrorf("--by day: can't be used with --drift, which compares days\nleave day out of --by")
	case !(f.alarms > 0 && f.alarms <= 365):
		return usageErrorf("--alarms-per-year %g: out of range\nuse a number above 0, up to 365", f.alarms)
	}
	return nil
}

// turnConditionError returns the error for a condition about turns with --by tool.
func turnConditionError(c stats.Condition) error {
	return usageErrorf("--fail-on %s: with --by tool, conditions about turns can't be checked\nleave tool out of --by", c)
}

// collectStats reads the turns in files and folders.
func (a *app) collectStats(ctx context.Context, paths []string, prices *price.Table) (*stats.Set, error) {
	set := new(stats.Set)
	c, index := &statsCollector{set: set, prices: prices}, a.openStatsIndex(prices)
	a.joins = true
	a.isKnown = func(files []capture.FoundFile) bool {
		set.StartSource()
		return index.loadTurns(files, set)
	}
	defer func() { a.isKnown = nil }()
	err := a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
		code, notes := a.code, a.notes.Load()
		a.code, c.unsure = 0, a.isOneOfMany()
		err := a.printSource(src, path, in, c)
		if err == nil && a.code == 0 && a.notes.Load() == notes && !c.unsure { // a source with notes is not stored, because the next run must repeat the notes
			index.storeTurns(set.SourceTurns())
		}
		a.code = max(a.code, code)
		return err
	})
	return set, err
}

// statsOfView returns the tables about the ended turns of a view, for a screen with the given width.
func statsOfView(v *providers.View, prices *price.Table, cells int) string {
	if prices == nil {
		prices = price.Embedded()
	}
	set, dropped := new(stats.Set), v.Session().TrimmedTurns()
	set.StartSource()
	c := &statsCollector{set: set, prices: prices}
	for _, t := range v.Session().Turns {
		switch {
		case t.Retention == stream.Dropped:
			dropped++
		case t.Closed():
			c.addTurn(v, "", t)
		}
	}
	var text strings.Builder
	keys := []stats.Key{stats.Model}
	w := &statsWriter{lineWriter: lineWriter{to: &text}, keys: keys, set: set, groups: set.Groups(keys), cells: cells}
	w.writeTables()
	if dropped > 0 {
		w.writeWrapped("", count.Of(dropped, "older turn")+" not counted, because only their rows are in memory (--memory)")
	}
	return text.String()
}

// checkConditions prints the conditions that are met, and the conditions for which there is too little data. It
// reports whether the command fails.
func (a *app) checkConditions(conditions []stats.Condition, w *statsWriter, strict bool) (fails bool) {
	if len(conditions) == 0 {
		return false
	}
	total := w.set.Total()
	for _, c := range conditions {
		for _, r := range c.Check(w.groups, total, w.compared) {
			a.printNote("--fail-on %s", r.Text)
			fails = fails || r.Fails || r.TooFew && strict
		}
	}
	return fails
}

// statsReceiver receives the facts about turns. It is either a set of statistics or the metrics.
type statsReceiver interface {
	AddTurn(number int32, t stats.Turn)
	AddFindings(of stream.Ref, list []stream.Finding)
	AddResult(of stream.Ref, result stream.Code)
}

// statsCollector is a printer that collects the facts about turns.
type statsCollector struct {
	set    statsReceiver
	prices *price.Table
	unsure bool // the turns depend on more than the source's content
}

func (c *statsCollector) addTurn(v *providers.View, _ string, t *stream.Turn) {
	if of, ok := stats.ReadTurn(v, c.prices, t); ok {
		if x := v.Exchange(t.Exchange); x != nil && slices.Contains(x.Head.Lacks, string(capture.LateTimes)) {
			of.ForgetLatency()
		}
		c.set.AddTurn(t.Number, of)
	}
	c.unsure = c.unsure || !isRecognised(v.Exchange(t.Exchange), t) // the note is hidden if the source is one of many
}

// sentBack adds the results of calls and the findings about calls that later requests sent back.
func (c *statsCollector) sentBack(calls []sentBackCall) {
	for i := range calls {
		c.set.AddFindings(calls[i].of, calls[i].findings)
		c.set.AddResult(calls[i].of, providers.ToolOutcome(&calls[i].SentBackCall))
	}
}

// addRequest adds the findings about a request to an MCP server, if the request is the run of a known call.
func (c *statsCollector) addRequest(_ string, _ *mcp.Request, a *toolrun.ToolRequest) {
	if a != nil && a.Call != nil {
		c.set.AddFindings(a.Call.Ref, a.Findings)
	}
}

// notRun adds the finding about a call without a tool run.
func (c *statsCollector) notRun(_ string, n *toolrun.CallWithoutRun) {
	c.set.AddFindings(n.Ref, []stream.Finding{n.Finding})
}

func (c *statsCollector) addServer(string, *mcp.Server) {}
func (c *statsCollector) flush() error                  { return nil }

// statsWriter writes the numbers of a set.
type statsWriter struct {
	lineWriter
	keys     []stats.Key
	set      *stats.Set
	cells    int // maximum width of a table, if the output is not a terminal; 0 for no limit
	groups   []*stats.Group
	compared *stats.Comparison // nil without --vs
}

func (w *statsWriter) write(format string) {
	switch {
	case format == "prometheus":
		for _, line := range w.set.Prometheus(versionText()) {
			w.writeLine(display.Clean(line))
		}
	case format == "jsonl":
		w.writeJSONL()
	case w.compared != nil:
		w.writeComparison()
	default:
		w.writeTables()
	}
}

// writeTables writes the tables, separated by empty lines, and notes about facts that the tables leave out.
func (w *statsWriter) writeTables() {
	if text := w.set.EmptyText(w.groups); text != "" {
		w.printLine("%s", text)
	}
	for i, table := range stats.Tables(w.keys, w.groups) {
		if i > 0 {
			w.printLine("")
		}
		// Align numbers to the right. If the terminal is too narrow for the table, each row becomes a list.
		rows := make([][]any, len(table.Rows))
		for i := range table.Rows[0] {
			wide := 0
			for _, row := range table.Rows {
				wide = max(wide, display.Clean(row[i]).Width())
			}
			for n, row := range table.Rows {
				text := row[i]
				if i >= table.Keys {
					text = fmt.Sprintf("%*s", wide-display.Clean(text).Width()+len([]rune(text)), text)
				}
				rows[n] = append(rows[n], ifElse[any](n == 0, inMuted(text), text))
			}
		}
		if w.fitsTerminal(rows) {
			writeTable(w.lineWriter, rows, maxStatsCells)
		} else {
			w.writeRecords(table)
		}
	}
	if notes := w.set.Notes(); len(notes) > 0 {
		w.printLine("")
		w.writeWrapped("", present.JoinWords(notes...))
	}
}

// maxStatsCells is the maximum width of a column. It is wide enough for all numbers of a comparison.
const maxStatsCells = 120

// fitsTerminal reports whether no row of a table is wider than the terminal.
func (w *statsWriter) fitsTerminal(rows [][]any) bool {
	_, widths := measureTable(rows, maxStatsCells)
	all := 0
	for _, cells := range widths {
		all += cells + 2
	}
	limit := w.cells
	if w.onTerminal() {
		limit = w.pen.cells
	}
	return limit == 0 || all <= limit
}

// writeRecords writes each row of a table on several lines, with one number on each line.
func (w *statsWriter) writeRecords(table stats.Table) {
	wide := 0
	for _, title := range table.Rows[0] {
		wide = max(wide, len(title))
	}
	for n, row := range table.Rows[1:] {
		if n > 0 {
			w.printLine("")
		}
		for i, title := range table.Rows[0] {
			w.writeWrapped(fmt.Sprintf("  %-*s  ", wide, title), row[i])
		}
	}
}

// writeComparison writes the changes that are shown, and a sentence about the other changes.
func (w *statsWriter) writeComparison() {
	c := w.compared
	var rows [][]any
	for i := range c.Changes {
		var row []any
		for n, cell := range c.Changes[i].Text(c.Limit, c.Tests) {
			row = append(row, ifElse[any](n == 0 && c.Changes[i].Verdict.IsBad(), inInk(badInk, cell), cell))
		}
		rows = append(rows, row)
	}
	switch {
	case len(rows) > 0 && w.fitsTerminal(rows):
		writeTable(w.lineWriter, rows, maxStatsCells)
	default:
		for _, row := range rows {
			words := strings.Fields(display.Clean(joinDots(mapSlice(row[1:], func(cell any) string { return cell.(string) })...)).String())
			w.writeWrappedWords([]any{"  ", row[0], "  "}, mapSlice(words, func(word string) any { return word }))
		}
	}
	if text := c.RestText(); text != "" {
		w.writeWrapped("", text)
	}
	for _, text := range c.Also {
		w.printLine("also different: %s", text)
	}
}

// writeJSONL writes an object for each number, and an object with the totals.
func (w *statsWriter) writeJSONL() {
	var lines []present.Facts
	for _, g := range w.groups {
		lines = append(lines, g.Lines(w.keys)...)
	}
	if w.compared != nil {
		lines = append(lines, w.compared.Lines(w.keys)...)
	}
	for _, facts := range append(lines, w.set.Summary()) {
		o := new(jsonObject)
		o.addFacts(facts)
		w.writeObject(o)
	}
}

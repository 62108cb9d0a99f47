package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/panes"
)

func (a *app) printCommand() *cobra.Command {
	var traces traceFlags
	cmd := &cobra.Command{
		Use: "print FILE…", Short: "Print the calls, without a screen",
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			if a.counting {
				return a.countFiles(cmd.Context(), paths)
			}
			var say func(string)
			endless := a.follow || isEndless(paths)
			if endless { // otherwise the end comes soon enough, and says it
				say = a.traceNotices(traces.to)
			}
			if a.tracing, err = a.startTracing(&traces, stream.Machine{}, say); err != nil {
				return err
			}
			if a.tracing != nil {
				a.tracing.patient = !endless
			}
			defer a.tracing.finishAndReport(a)
			return a.runPrint(cmd.Context(), paths)
		},
	}
	addFormatFlag(cmd.Flags(), &a.format, "text", "text, or jsonl: one JSON object a call and turn", "text", "jsonl")
	cmd.Flags().BoolVar(&a.summary, "summary", false, "print only what it comes to: turns, calls by state, cost")
	cmd.Flags().BoolVar(&a.counting, "count", false, "print only lines, and about how many answers, of files that are not read for it")
	markSettings(cmd.Flags(), "print", "format")
	cmd.Flags().StringVar(&a.jq, "jq", "", "print what jq's `EXPR` makes of each call's arguments; of each line, with --format jsonl")
	cmd.MarkFlagsMutuallyExclusive("summary", "jq", "count")
	a.addFilterFlag(cmd.Flags(), "print only the turns that")
	a.pricesFlag(cmd)
	a.followFlag(cmd)
	a.reading.add(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("count", "follow")
	a.hubFlags(cmd)
	a.callFlags(cmd)
	a.traceFlags(cmd, &traces, "print")
	cmd.MarkFlagsMutuallyExclusive("otlp", "count")
	return cmd
}

// A printer writes turns that have ended, and what later requests made of their calls. What a tool
// gave is told once: with its call, or where that was printed before, when a request brings it.
type printer interface {
	addTurn(v *providers.View, file string, t *stream.Turn)
	sentBack(calls []sentBackCall)
	flush() error
}

// runPrint writes the turns of every file, each as it ends.
func (a *app) runPrint(ctx context.Context, paths []string) error {
	if err := a.checkHubFlags(paths); err != nil {
		return err
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	if err := a.parseFilter(prices); err != nil {
		return err
	}
	if a.isIndexOnly(paths) {
		return a.printLines(ctx, paths)
	}
	p := a.printerOf(a.format, prices)
	if a.jq != "" {
		if p, err = a.newJQPrinter(prices); err != nil {
			return err
		}
	}
	a.follow = a.follow || isEndless(paths)
	if a.follow || slices.Contains(paths, "-") {
		defer a.endWithReader()()
	}
	if a.follow {
		err = a.printFollowed(ctx, paths, p)
	} else {
		a.joins = true
		err = a.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
			return a.printSource(src, path, in, p)
		})
	}
	if err == nil {
		endPrint(p)
	}
	return err
}

// printFollowed writes the turns of all files as they come. They are numbered in that order; the
// notes of the source are written when they come.
func (a *app) printFollowed(ctx context.Context, paths []string, p printer) error {
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return err
	}
	in := new(providers.Inspector)
	prepare(in)
	if a.sends.to != "" || a.tracing != nil || isEndless(paths) { // there is something to end
		var stop func()
		ctx, stop = a.untilCaught(ctx)
		defer stop()
	}
	src, err := a.openSources(ctx, paths)
	if err != nil {
		return err
	}
	src, end, err := a.publishFollowed(ctx, src)
	if err != nil {
		return err
	}
	defer end()
	if a.sending != nil {
		defer a.sending.watchChanges(a)()
	}
	said := mapSource(a.failOnDamage(src), func(r *capture.Record) {
		if r.OfSource() && r.Note != "" {
			a.printNote("%s", r.Note)
			r.Note = ""
		}
	})
	return a.printSource(said, followedName(paths), in, p)
}

// followedName is what sources are called that are read as one; "" where the heads of the exchanges tell.
func followedName(paths []string) string {
	if len(paths) > 1 || capture.IsPlace(paths[0]) && !fleet.IsAddress(paths[0]) { // ? is no pattern in an address
		return ""
	}
	return paths[0]
}

// failOnDamage is a source; a damaged record in it has the run fail, and reading goes on. At its end it is told
// what of a hub's captures did not come.
func (a *app) failOnDamage(src capture.Source) capture.Source {
	sound := mapSource(src, func(r *capture.Record) {
		if r.Damaged {
			a.code = max(a.code, 1)
		}
	})
	return func(yield func(capture.Record, error) bool) {
		sound(yield)
		a.reportViews()
	}
}

// printSource writes the turns of one source; they are numbered within it.
func (a *app) printSource(src capture.Source, path string, in *providers.Inspector, p printer) error {
	defer quitQuietly()()
	name := path
	if fleet.IsAddress(path) {
		name = "" // the heads of the exchanges tell whose they are
	}
	q := newTurnPrinter(in, name, p)
	q.among, q.only, q.run, q.traces = a.isOneOfMany(), a.turnFilter, a.isRun, a.tracing
	q.patient = !a.follow && path != "-"
	var failed error
	err := inspectSource(src, in, func() bool {
		failed = q.printEnded(false)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	a.printSourceNotes(path, in, q.known || hasServers(in) || a.isIndexed(path))
	err = errors.Join(err, q.printEnded(true))
	if o, is := p.(interface {
		others(string, providers.OtherLines)
	}); is && in.Others.Count > 0 && (q.known || !a.isOneOfMany()) {
		if path == "-" {
			path = "stdin" // as turns of it are called
		}
		o.others(path, in.Others)
		err = errors.Join(err, p.flush())
	}
	return err
}

// inspectSource has an inspector take a source, and goes on after each record as long as more says so.
// The error is the source's.
func inspectSource(src capture.Source, in *providers.Inspector, more func() bool) error {
	defer in.Close()
	for r, err := range src {
		if err != nil {
			return err
		}
		in.MakeRoom() // only now: when nothing comes any more nobody needs it
		in.Write(coreRecord(r))
		if !more() {
			break
		}
	}
	return nil
}

// fileOf is the file a turn came from, as the user wrote it.
func fileOf(path string, x *providers.Exchange) string {
	if (path == "-" || path == "") && x != nil && x.Head.File != "" {
		return x.Head.File
	}
	return path
}

// printSourceNotes writes what is to be said of the source itself. One in which nothing is recognised has the
// run fail; known says that something was, which may be there no more.
func (a *app) printSourceNotes(path string, in *providers.Inspector, known bool) {
	of := ifElse(path == "", "", path+": ")
	for _, f := range in.Session().Findings {
		a.printNote("%s%s", of, f.Message)
	}
	switch turns := in.Session().Turns; {
	case known || slices.ContainsFunc(turns, func(t *stream.Turn) bool { return isRecognised(in.Exchange(t.Exchange), t) }):
		return
	case a.isOneOfMany():
		a.unrecognised = append(a.unrecognised, path)
		return
	case len(turns) == 0 && len(in.Exchanges()) == 0 && in.Others.Count == 0 && hasStartTime(path):
		a.printNote("%s: nothing came in that time", path)
		return
	case len(turns) == 0:
		a.printNote("%snothing to show: %s", of, emptyReason(in))
	default:
		a.explainUnrecognised(path, in)
	}
	a.code = max(a.code, 1)
}

// emptyReason says why there are no turns.
func emptyReason(in *providers.Inspector) string {
	for _, x := range in.Exchanges() {
		switch n := x.Response.Size(); {
		case n > 0:
			return count.Of(n, "byte") + " came, and no response is in " + ifElse(n == 1, "it", "them")
		case x.Request.Size() > 0 && slices.Contains(x.Head.Lacks, string(capture.NoBody)):
			return "a request without its answer, and without calls in its history; --request FILE has the calls of an answer checked against it"
		}
	}
	switch n := in.Others.Count; n {
	case 0:
		return "no bytes came"
	case 1:
		return "one line came, and nothing in it looks like what a model is sent or sends"
	default:
		return count.Of(n, "line") + " came, and nothing in " + ifElse(n == 1, "it", "them") + " looks like what a model is sent or sends"
	}
}

// explainUnrecognised says what an input looks like in which nothing is recognised, and what may be done.
func (a *app) explainUnrecognised(path string, in *providers.Inspector) {
	looks, of := "text", ifElse(path == "", "", path+": ")
	for _, x := range in.Exchanges() {
		if looks = cmp.Or(x.Guess, looks); x.Head.Wrappers != "" {
			a.printNote("%snothing is recognised: of what this %s has nothing was sent by a model", of, x.Head.Wrappers)
			return
		}
	}
	a.printNote("%snothing is recognised: it looks like %s, and no response of a known protocol is in it", of, looks)
	name := strings.TrimPrefix(filepath.Ext(path), ".")
	if _, ok := formats.Find(name); ok {
		a.printNote("--as %s reads it as what its name says; 'toolscope help formats' lists what opens", name)
		return
	}
	a.printNote("'toolscope help formats' lists what opens, and --as NAME has it read so")
}

// isRecognised reports whether a turn says anything: it is of a known protocol, or it is at least
// known why there is nothing else. What others recorded of the web is nothing for its own sake.
func isRecognised(x *providers.Exchange, t *stream.Turn) bool {
	if x != nil && x.Head.Wrappers != "" && panes.IsPlain(t) {
		return false
	}
	return t.Protocol != "unknown" || t.Failure != ""
}

// printerOf prints in a format to standard output.
func (a *app) printerOf(format string, prices *price.Table) printer {
	to := a.stdout.withBuffer()
	switch {
	case a.summary:
		return &summary{lineWriter: to, prices: prices, script: format == "jsonl"}
	case format == "jsonl":
		return &jsonPrinter{to, prices}
	}
	return &textPrinter{lineWriter: to, prices: prices}
}

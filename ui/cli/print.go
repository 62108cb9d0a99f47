package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/formats"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
)

const printHelp = `print writes each turn with its cost and findings, and each call with its state,
arguments and findings. It then writes the totals for the file. With --format jsonl,
print writes one JSON object per line; 'toolscope help jsonl' lists the fields. With -f,
print continues as files grow. On a terminal, the text has the same colours as the
screen.

--filter selects turns ('toolscope help filter'). --hub-model and --hub-state use
the hub's index to select exchanges. toolscope doesn't read the other exchanges.`

func (pr *printing) printCommand() *cobra.Command {
	var traces traceFlags
	cmd := &cobra.Command{
		Use: "print FILE…", Short: "Print calls as text or JSON lines",
		Example: "toolscope print agent.sse\ntoolscope print --filter state:bad logs\ntoolscope print run.tsc --format jsonl | jq .name\ntoolscope print run.tsc --jq .path\ntoolscope print run.tsc --summary",
		Long:    printHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := pr.app.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			if pr.app.counting {
				return pr.app.countFiles(cmd.Context(), paths)
			}
			var say func(string)
			endless := pr.app.follow || isEndless(paths)
			if endless { // a source that ends reports its missing data at its end instead
				say = pr.app.traceNotices(traces.to)
			}
			if pr.app.tracing, err = pr.app.startTracing(&traces, stream.Machine{}, say); err != nil {
				return err
			}
			if pr.app.tracing != nil {
				pr.app.tracing.patient = !endless
			}
			defer pr.app.tracing.finishAndReport(pr.app)
			return pr.runPrint(cmd.Context(), paths)
		},
	}
	addFormatFlag(cmd.Flags(), &pr.format, "text", "text", "jsonl")
	pr.app.colourFlags(cmd)
	cmd.Flags().BoolVar(&pr.summary, "summary", false, "")
	cmd.Flags().BoolVar(&pr.app.counting, "count", false, "")
	cmd.Flags().StringVar(&pr.jq, "jq", "", "")
	cmd.MarkFlagsMutuallyExclusive("summary", "jq", "count")
	pr.app.addFilterFlag(cmd.Flags())
	pr.app.pricesFlag(cmd)
	pr.app.followFlag(cmd)
	pr.app.reading.add(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("count", "follow")
	pr.app.hubFlags(cmd)
	pr.app.callFlags(cmd)
	pr.app.traceFlags(cmd, &traces)
	cmd.MarkFlagsMutuallyExclusive("otlp", "count")
	return cmd
}

// printer writes ended turns, and the calls that later requests send back. It prints a result only once: with its
// call or, if the call has already been printed, when a request carries the result.
type printer interface {
	addTurn(v *providers.View, file string, t *stream.Turn)
	sentBack(calls []sentBackCall)
	flush() error
}

// runPrint writes the turns of every file. It writes each turn when the turn ends.
func (pr *printing) runPrint(ctx context.Context, paths []string) error {
	if err := pr.app.checkHubFlags(paths); err != nil {
		return err
	}
	prices, err := pr.app.loadPrices()
	if err != nil {
		return err
	}
	if err := pr.app.parseFilter(prices); err != nil {
		return err
	}
	if pr.app.isIndexOnly(paths) {
		return pr.app.printLines(ctx, paths)
	}
	to, err := pr.app.outputFor(pr.format)
	if err != nil {
		return err
	}
	p := pr.printerOf(to, pr.format, prices)
	if pr.jq != "" {
		if p, err = pr.newJQPrinter(prices); err != nil {
			return err
		}
	}
	pr.app.follow = pr.app.follow || isEndless(paths)
	if pr.app.follow || slices.Contains(paths, "-") {
		defer pr.app.endWithReader()()
	}
	if pr.app.follow {
		err = pr.printFollowed(ctx, paths, p)
	} else {
		pr.app.joins = true
		// Files can be printed at the same time if only the totals of text output depend on earlier files.
		if pr.jq == "" && !pr.summary && to.pen == nil && pr.app.turnFilter == nil && pr.app.tracing == nil {
			pr.app.together = func(files []capture.FoundFile, prepare func(*providers.Inspector)) error {
				return pr.printTogether(ctx, files, to, p, prices, prepare)
			}
		}
		err = pr.app.eachSource(ctx, paths, func(src capture.Source, path string, in *providers.Inspector) error {
			return pr.printSource(src, path, in, p)
		})
	}
	if err == nil {
		endPrint(p)
	}
	return err
}

// printFollowed writes the turns of all files as they arrive, numbered in that order. It also prints notes
// about the source as they arrive.
func (pr *printing) printFollowed(ctx context.Context, paths []string, p printer) error {
	prepare, err := pr.app.reading.inspectorSetup()
	if err != nil {
		return err
	}
	in := new(providers.Inspector)
	prepare(in)
	if pr.app.sends.to != "" || pr.app.tracing != nil || isEndless(paths) { // a signal must end the source, not the program
		var stop func()
		ctx, stop = pr.app.untilCaught(ctx)
		defer stop()
	}
	src, err := pr.app.openSources(ctx, paths)
	if err != nil {
		return err
	}
	src, end, err := pr.app.publishFollowed(ctx, src)
	if err != nil {
		return err
	}
	defer end()
	if pr.app.sending != nil {
		defer pr.app.sending.watchChanges(pr.app)()
	}
	said := mapSource(pr.failOnDamage(src), func(r *capture.Record) {
		if r.OfSource() && r.Note != "" {
			pr.app.printNote("%s", r.Note)
			r.Note = ""
		}
	})
	return pr.printSource(said, followedName(paths), in, p)
}

// followedName returns a name for the source that paths make up. It returns "" if the exchanges name their own
// sources.
func followedName(paths []string) string {
	if len(paths) > 1 || capture.IsPlace(paths[0]) && !fleet.IsAddress(paths[0]) { // in an address, ? is not part of a pattern
		return ""
	}
	return paths[0]
}

// failOnDamage returns a source in which a damaged record sets the exit code. Reading continues after such a
// record. At its end, the source reports data that is missing from hubs.
func (pr *printing) failOnDamage(src capture.Source) capture.Source {
	sound := mapSource(src, func(r *capture.Record) {
		if r.Damaged {
			pr.app.code = max(pr.app.code, 1)
		}
	})
	return func(yield func(capture.Record, error) bool) {
		sound(yield)
		pr.app.reportViews()
	}
}

// printSource writes the turns of one source. Turns are numbered within the source.
func (pr *printing) printSource(src capture.Source, path string, in *providers.Inspector, p printer) error {
	defer quitQuietly()()
	name := path
	if fleet.IsAddress(path) {
		name = "" // the headings of the exchanges name the machines
	}
	q := newTurnPrinter(in, name, p)
	q.among, q.only, q.run, q.traces = pr.app.isOneOfMany(), pr.app.turnFilter, pr.app.isRun, pr.app.tracing
	q.patient = !pr.app.follow && path != "-"
	q.buffers = q.patient && isFile(path)
	var failed error
	err := inspectSource(src, in, func() bool {
		failed = q.printEnded(false)
		return failed == nil
	})
	if failed = errors.Join(failed, p.flush()); failed != nil { // notes about the source follow its turns
		return failed
	}
	pr.printSourceNotes(path, in, err != nil || q.known || len(in.Executed().Servers) > 0 || pr.app.isIndexed(path))
	err = errors.Join(err, q.printEnded(true))
	if o, is := p.(interface {
		others(string, providers.OtherLines)
	}); is && in.Others.Count > 0 && (q.known || !pr.app.isOneOfMany()) {
		o.others(fileTitle(path), in.Others)
		err = errors.Join(err, p.flush())
	}
	return err
}

// inspectSource passes a source's records to an inspector until the function more returns false. It returns the
// source's error.
func inspectSource(src capture.Source, in *providers.Inspector, more func() bool) error {
	defer in.Close()
	for r, err := range src {
		if err != nil {
			return err
		}
		in.MakeRoom() // before the record is added: after the last record, no room is needed
		in.Write(coreRecord(r))
		if r.Release != nil && !in.HoldsBytes(r.Exchange) {
			r.Release()
		}
		if !more() {
			break
		}
	}
	return nil
}

// fileOf returns the file of a turn, as the user wrote it. If the user named no file, it returns the name in the
// exchange, if there is one.
func fileOf(path string, x *providers.Exchange) string {
	if (path == "-" || path == "") && x != nil && x.Head.File != "" {
		return x.Head.File
	}
	return path
}

// printSourceNotes prints the notes about a source. If nothing in the source is recognised, it sets the exit code,
// unless the file is one of many or a hub has no data in the period. The parameter known says that something was
// recognised and may have been evicted, or that an error has already given the reason.
func (pr *printing) printSourceNotes(path string, in *providers.Inspector, known bool) {
	of := ifElse(path == "", "", path+": ")
	for _, f := range in.Session().Findings {
		pr.app.printNote("%s%s", of, f.Message)
	}
	aboutRequest := slices.ContainsFunc(in.Session().Findings, func(f stream.Finding) bool { return f.By == stream.Client })
	switch turns := in.Session().Turns; {
	case known || aboutRequest || slices.ContainsFunc(turns, func(t *stream.Turn) bool { return isRecognised(in.Exchange(t.Exchange), t) }):
		return
	case pr.app.isOneOfMany():
		pr.app.unrecognised = append(pr.app.unrecognised, path)
		return
	case len(turns) == 0 && len(in.Exchanges()) == 0 && in.Others.Count == 0 && hasStartTime(path):
		pr.app.printNote("%s: no data in this period", path)
		return
	case len(turns) == 0:
		pr.app.printNote("%snothing to show: %s", of, emptyReason(path, in))
	default:
		pr.explainUnrecognised(path, in)
	}
	pr.app.code = max(pr.app.code, 1)
}

// emptyReason returns the reason why a source has no turns.
func emptyReason(path string, in *providers.Inspector) string {
	for _, x := range in.Exchanges() {
		switch n := x.Response.Size(); {
		case n > 0:
			return count.Of(n, "byte") + " arrived, but there is no response in " + ifElse(n == 1, "it", "them")
		case x.Request.Size() > 0 && slices.Contains(x.Head.Lacks, string(capture.NoBody)):
			return "this is a request that has no response, and its history has no calls; to check a response against the tools in the request, use --request FILE"
		}
	}
	switch n := in.Others.Count; n {
	case 0:
		if filepath.Ext(path) == record.Extension && record.IsOpen(path) {
			return "a program is still recording this file, and nothing from a model has arrived yet"
		}
		if file, err := os.Stat(path); err == nil && file.Mode().IsRegular() && file.Size() > 0 {
			return "the file contains nothing from a model"
		}
		return "no bytes arrived"
	case 1:
		return "one line arrived, but nothing in it looks like model traffic"
	default:
		return count.Of(n, "line") + " arrived, but nothing in them looks like model traffic"
	}
}

// explainUnrecognised describes an unrecognised input and gives advice.
func (pr *printing) explainUnrecognised(path string, in *providers.Inspector) {
	looks, of := "text", ifElse(path == "", "", path+": ")
	for _, x := range in.Exchanges() {
		if looks = cmp.Or(x.Guess, looks); x.Head.Wrappers != "" {
			pr.app.printNote("%snothing recognised: this %s has no model response", of, x.Head.Wrappers)
			return
		}
	}
	pr.app.printNote("%snothing recognised: the input looks like %s, but has no response in a known protocol", of, looks)
	name := strings.TrimPrefix(filepath.Ext(path), ".")
	if _, ok := formats.Find(name); ok {
		pr.app.printNote("to read the file as its name suggests, use --from %s; 'toolscope help formats' lists the formats", name)
		return
	}
	pr.app.printNote("'toolscope help formats' lists the formats; --from NAME selects a format")
}

// isRecognised reports whether toolscope recognised a turn: it has a known protocol, or a reason for its failure. A
// plain web exchange in another program's log is not recognised.
func isRecognised(x *providers.Exchange, t *stream.Turn) bool {
	if x != nil && x.Head.Wrappers != "" && present.IsPlain(t) {
		return false
	}
	return t.Protocol != "unknown" || t.Failure != ""
}

// printerOf returns a printer for a format.
func (pr *printing) printerOf(to lineWriter, format string, prices *price.Table) printer {
	switch {
	case pr.summary:
		return &summary{lineWriter: to, prices: prices, script: format == "jsonl"}
	case format == "jsonl":
		return &jsonPrinter{lineWriter: to, prices: prices}
	}
	return &textPrinter{lineWriter: to, prices: prices}
}

// maxEarlyOutput is the maximum size of the output of a file that is kept until the files before it are printed.
const maxEarlyOutput = 4 << 20

// orderedWriter keeps the output of a file until it is the file's turn, and then writes it. Beyond maxEarlyOutput,
// writing waits for that moment.
type orderedWriter struct {
	to   io.Writer
	turn chan struct{} // closed when the output may be written
	kept bytes.Buffer
	open bool // the kept output has been written
}

// Write keeps p if there is room. Otherwise, it waits for the file's turn and writes p.
func (w *orderedWriter) Write(p []byte) (int, error) {
	if !w.open && w.kept.Len()+len(p) <= maxEarlyOutput {
		return w.kept.Write(p)
	}
	if err := w.writeKept(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// writeKept waits for the file's turn and writes the kept output.
func (w *orderedWriter) writeKept() error {
	if w.open {
		return nil
	}
	<-w.turn
	w.open = true
	_, err := w.kept.WriteTo(w.to)
	w.kept = bytes.Buffer{}
	return err
}

// fileJob prints one of several files with an app and a printer of its own.
type fileJob struct {
	app       *app
	printer   printer
	out, errs *orderedWriter
	done      chan struct{} // closed at the end of the job
}

// printTogether reads as many files at the same time as there are processors, and prints them one after the other.
func (pr *printing) printTogether(ctx context.Context, files []capture.FoundFile, to lineWriter, p printer, prices *price.Table, prepare func(*providers.Inspector)) (failed error) {
	a, room, jobs := pr.app, make(chan struct{}, runtime.GOMAXPROCS(0)), make(chan *fileJob, runtime.GOMAXPROCS(0))
	go func() {
		defer close(jobs)
		for _, file := range files {
			room <- struct{}{}
			turn := make(chan struct{})
			job := &fileJob{out: &orderedWriter{to: to.to, turn: turn}, errs: &orderedWriter{to: a.stderr.to, turn: turn}, done: make(chan struct{})}
			job.app = (&app{stdin: a.stdin, stdout: lineWriter{to: job.out}, messageOutput: messageOutput{stderr: lineWriter{to: job.errs}}, output: a.output, ending: a.ending}).linkParts()
			job.app.reading, job.app.found, job.app.format = a.reading, file, pr.format
			job.printer = job.app.printerOf(job.app.stdout, pr.format, prices)
			go func() {
				defer func() { <-room; close(job.done) }()
				in := new(providers.Inspector)
				prepare(in)
				src, err := job.app.openInParts(ctx, file.Path)
				if err == nil {
					err = job.app.printSource(job.app.failOnDamage(src), file.Path, in, job.printer)
				}
				job.app.failIf(err)
			}()
			jobs <- job
		}
	}()
	for job := range jobs {
		close(job.out.turn)
		<-job.done
		_, _ = job.out.writeKept(), job.errs.writeKept()
		a.code, a.failed = max(a.code, job.app.code), a.failed || job.app.failed
		a.unrecognised = append(a.unrecognised, job.app.unrecognised...)
		if t, is := p.(*textPrinter); is {
			t.summaryTotals.addTotals(&job.printer.(*textPrinter).summaryTotals)
		}
		failed = cmp.Or(failed, p.flush())
	}
	return failed
}

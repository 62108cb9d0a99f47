package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
)

// exportFlags say what is exported, as what, and where to.
type exportFlags struct {
	as, out       string
	turn, call    int // 0 for all
	redact, force bool
}

// A exportForm is a way to write what a source holds.
type exportForm struct {
	name, says string
	turn, call bool // it can be of one turn, of one call
	raw        bool // what it writes is not for a terminal: it is not clean, or binary
	write      func(*export) error
}

// exportForms are all there are, one line each.
func exportForms() []exportForm {
	return []exportForm{
		{"jsonl", "the calls and turns, as print --format jsonl has them", true, true, false, (*export).writeJSONL},
		{"html", "one page for a browser: timeline, calls, findings, what would be sent back", true, true, false, (*export).writeHTML},
		{"har", "an HTTP Archive, with bodies and the messages of WebSockets", true, false, false, (*export).writeHAR},
		{"otlp", "a trace in OTLP/JSON, by OpenTelemetry's conventions for GenAI", true, false, false, (*export).writeOTLP},
		{"capture", "toolscope's own format, with every chunk and its time", true, false, true, (*export).writeCapture},
		{"svg", "the timeline of a turn, or of a call, as a picture", true, true, false, (*export).writeSVG},
		{"md", "a bug report of a turn, or of a call, in Markdown", true, true, false, (*export).writeMarkdown},
		{"sse", "a response's bytes without what it says: the bug report one may send", true, false, true, (*export).writeSSE},
	}
}

// An export is a source, what is wanted of it, and where that is written.
type export struct {
	exportFlags
	app    *app
	path   string // as the user wrote it
	src    capture.Source
	in     *providers.Inspector // ready to read the source; once read is called, what it holds
	prices *price.Table
	to     io.Writer
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export FILE --as FORM", Short: "Write what a file holds in another form",
		Long: `Writes what a file holds in another form, to standard output or into a new file:

` + helpPage(formTable) + `

  toolscope export run.tsc --as html --redact -o run.html
  toolscope export run.tsc --as capture --redact -o clean.tsc
  toolscope export run.tsc --as jsonl --redact --turn 3

Captures that are opened are shown as they are; --redact takes keys and other
secrets out, as the proxy does of what it records.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			for _, flag := range []string{"turn", "call"} {
				if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
					return usageErrorf("--%s %d: they are counted from 1", flag, n)
				}
			}
			return a.runExport(cmd.Context(), paths, f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.as, "as", "", "the `FORM`: "+formNames(func(exportForm) bool { return true }))
	to.StringVarP(&f.out, "output", "o", "", "write into this new `FILE`, not to standard output")
	to.BoolVar(&f.force, "force", false, "replace the file if there is one")
	to.IntVar(&f.turn, "turn", 0, "only turn `N`")
	to.IntVar(&f.call, "call", 0, "only call `N` of its turn")
	to.BoolVar(&f.redact, "redact", false, "take keys and other secrets out")
	a.pricesFlag(cmd)
	a.reading.addAs(to, "from")
	a.hubFlags(cmd)
	return cmd
}

// formTable lists the forms.
func formTable(l lineWriter) {
	for _, f := range exportForms() {
		l.writeWrapped(fmt.Sprintf("  %-8s ", f.name), f.says)
	}
}

func formNames(of func(exportForm) bool) string {
	var names []string
	for _, f := range exportForms() {
		if of(f) {
			names = append(names, f.name)
		}
	}
	return joinCommas(names...)
}

// chosenForm is the form that the flags name, if it can be of what they choose.
func (f *exportFlags) chosenForm() (chosen exportForm, err error) {
	all := exportForms()
	i := slices.IndexFunc(all, func(of exportForm) bool { return of.name == f.as })
	switch {
	case f.as == "":
		return exportForm{}, usageErrorf("export: as what?\n--as FORM, which is one of %s", formNames(func(exportForm) bool { return true }))
	case i < 0:
		return exportForm{}, usageErrorf("--as %q: there are %s%s", f.as, formNames(func(exportForm) bool { return true }), suggestName(f.as, mapSlice(all, func(of exportForm) string { return of.name })))
	case f.turn > 0 && !all[i].turn:
		return exportForm{}, usageErrorf("--turn: %s is of a whole file; of one turn can be %s", f.as, formNames(func(of exportForm) bool { return of.turn }))
	case f.call > 0 && !all[i].call:
		return exportForm{}, usageErrorf("--call: %s is not of one call; that can be %s", f.as, formNames(func(of exportForm) bool { return of.call }))
	case f.force && f.out == "":
		return exportForm{}, usageErrorf("--force is about the file of -o, and there is none")
	}
	return all[i], nil
}

// runExport writes what one source holds.
func (a *app) runExport(ctx context.Context, paths []string, f exportFlags) error {
	as, err := f.chosenForm()
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return usageErrorf("export: one FILE at a time, got %d", len(paths))
	}
	if as.raw && f.out == "" && isTerminal(a.output) {
		return usageErrorf("export: %s is not for a terminal\n-o FILE, or a pipe", as.name)
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	a.reading.flag = "from"
	prepare, err := a.reading.inspectorSetup()
	if err != nil {
		return err
	}
	src, err := a.openSource(ctx, paths[0])
	if err != nil {
		return err
	}
	if f.redact {
		r := newRedactor()
		src = redactedSource(src, r)
		defer a.reportRedactor(r)
	}
	e := &export{exportFlags: f, app: a, path: paths[0], src: a.failOnDamage(src), in: new(providers.Inspector), prices: prices}
	prepare(e.in)
	if f.out == "" {
		e.to = a.output // a file, and not words
		return as.write(e)
	}
	return saveAs(f.out, f.force, func(w io.Writer) error {
		e.to = w
		return as.write(e)
	})
}

// redactedSource is a source without its secrets. It is searched as it is read, so a key is known by value
// from where it stood as one.
func redactedSource(src capture.Source, r *redact.Redactor) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for rec, err := range src {
			if err != nil {
				yield(rec, err)
				return
			}
			damaged := rec.Damaged
			for _, c := range r.Take(rec) {
				clean := c.Unwrap()
				clean.Damaged, clean.Location = damaged, capture.Location{} // what is there has the secrets
				if !yield(clean, nil) {
					return
				}
			}
		}
		for _, c := range r.Flush() {
			if !yield(c.Unwrap(), nil) {
				return
			}
		}
	}
}

// reportRedactor says that secrets may be left, if the redactor came to a limit.
func (a *app) reportRedactor(r *redact.Redactor) {
	if limit := r.Limit(); limit != "" {
		a.printNote("--redact: secrets may be left: %s", limit)
		a.code = max(a.code, exitGaps)
	}
}

// read has the inspector take the whole source, and see what a record brings before it does, if it
// is not nil. What cannot be told is said.
func (e *export) read(see func(capture.Record)) error {
	src := e.src
	if see != nil {
		src = mapSource(src, func(r *capture.Record) { see(*r) })
	}
	err := inspectSource(src, e.in, func() bool { return true })
	e.app.printSourceNotes(e.path, e.in, false)
	if err == nil && len(e.in.Session().Turns) == 0 {
		return errors.New("nothing was exported")
	}
	return err
}

// chosenTurns are those that the flags name, all where they name none.
func (e *export) chosenTurns() ([]*stream.Turn, error) {
	all := e.in.Session().Turns
	if e.turn == 0 {
		return all, nil
	}
	for _, t := range all {
		if int(t.Number)+1 == e.turn {
			return []*stream.Turn{t}, nil
		}
	}
	return nil, usageErrorf("--turn %d: %s has %s", e.turn, e.path, count.Of(len(all), "turn"))
}

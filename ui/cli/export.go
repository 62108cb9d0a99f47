package cli

import (
	"context"
	"errors"
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

// exportFlags are the flags of export.
type exportFlags struct {
	as, out       string
	turn, call    int // 0 for all
	redact, force bool
}

// exportForm is an output form of export.
type exportForm struct {
	name, says string
	turn, call bool // the output can be limited to a turn, to a call
	raw        bool // the output is not for a terminal: not sanitised, or binary
	write      func(*export) error
}

// exportForms returns all forms.
func exportForms() []exportForm {
	return []exportForm{
		{"jsonl", "calls and turns, as print --format jsonl writes them", true, true, false, (*export).writeJSONL},
		{"html", "a page for a browser: timeline, calls, findings, replay previews", true, true, false, (*export).writeHTML},
		{"har", "an HTTP Archive, with bodies and WebSocket messages", true, false, false, (*export).writeHAR},
		{"otlp", "a trace in OTLP/JSON, with OpenTelemetry's GenAI conventions", true, false, false, (*export).writeOTLP},
		{"capture", "toolscope's own format, with every chunk and its time", true, false, true, (*export).writeCapture},
		{"svg", "the timeline of a turn or a call, as a picture", true, true, false, (*export).writeSVG},
		{"md", "a bug report about a turn or a call, in Markdown", true, true, false, (*export).writeMarkdown},
		{"sse", "a response's bytes without its content: a bug report that you can share", true, false, true, (*export).writeSSE},
	}
}

// export is one run of the command: the source, the choice of turns, and the output.
type export struct {
	exportFlags
	app    *app
	path   string // as the user wrote it
	src    capture.Source
	in     *providers.Inspector // has read the source once read returns
	prices *price.Table
	to     io.Writer
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use: "export FILE --as FORM", Short: "Convert to HTML, HAR, OTLP and other forms",
		Example: "toolscope export run.tsc --as html --redact -o run.html\ntoolscope export run.tsc --as capture --redact -o clean.tsc\ntoolscope export run.tsc --as jsonl --redact --turn 3",

		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.somePaths(cmd, args, "FILE")
			if err != nil {
				return err
			}
			for _, flag := range []string{"turn", "call"} {
				if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
					return usageErrorf("--%s %d: numbers start at 1", flag, n)
				}
			}
			return a.runExport(cmd.Context(), paths, f)
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.as, "as", "", "")
	to.StringVarP(&f.out, "output", "o", "", "")
	to.BoolVar(&f.force, "force", false, "")
	to.IntVar(&f.turn, "turn", 0, "")
	to.IntVar(&f.call, "call", 0, "")
	to.BoolVar(&f.redact, "redact", false, "")
	a.pricesFlag(cmd)
	a.reading.add(to)
	a.hubFlags(cmd)
	return cmd
}

// formNames returns the names of the forms that of selects.
func formNames(of func(exportForm) bool) string {
	var names []string
	for _, f := range exportForms() {
		if of(f) {
			names = append(names, f.name)
		}
	}
	return joinCommas(names...)
}

// chosenForm returns the form of the flags, or an error if the form can't be limited to the turn or call of
// the flags.
func (f *exportFlags) chosenForm() (chosen exportForm, err error) {
	all := exportForms()
	i := slices.IndexFunc(all, func(of exportForm) bool { return of.name == f.as })
	switch {
	case f.as == "":
		return exportForm{}, usageErrorf("export: needs --as\nuse --as FORM, one of %s", formNames(func(exportForm) bool { return true }))
	case i < 0:
		return exportForm{}, usageErrorf("--as: unknown form %q%s\nuse one of %s", f.as, suggestName(f.as, mapSlice(all, func(of exportForm) string { return of.name })), formNames(func(exportForm) bool { return true }))
	case f.turn > 0 && !all[i].turn:
		return exportForm{}, usageErrorf("--turn: --as %s exports only complete files\nforms for one turn: %s", f.as, formNames(func(of exportForm) bool { return of.turn }))
	case f.call > 0 && !all[i].call:
		return exportForm{}, usageErrorf("--call: --as %s can't export one call\nforms for one call: %s", f.as, formNames(func(of exportForm) bool { return of.call }))
	case f.force && f.out == "":
		return exportForm{}, usageErrorf("--force: needs -o FILE")
	}
	return all[i], nil
}

// runExport exports one source.
func (a *app) runExport(ctx context.Context, paths []string, f exportFlags) error {
	as, err := f.chosenForm()
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return usageErrorf("export: takes one FILE, got %d", len(paths))
	}
	if as.raw && f.out == "" && isTerminal(a.output) {
		return usageErrorf("export: can't write %s to a terminal\nuse -o FILE or a pipe", as.name)
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
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
		e.to = a.output // a file needs no sanitiser
		return as.write(e)
	}
	return saveAs(f.out, f.force, func(w io.Writer) error {
		e.to = w
		return as.write(e)
	})
}

// redactedSource is a source without its secrets. Secrets are searched while the source is read, so a key is
// recognised by its value only after its first occurrence in a field for keys.
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
				clean.Damaged, clean.Location = damaged, capture.Location{} // the bytes there contain the secrets
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

// reportRedactor prints that secrets may remain, if the redactor reached a limit.
func (a *app) reportRedactor(r *redact.Redactor) {
	if limit := r.Limit(); limit != "" {
		a.printNote("--redact: secrets may remain: %s", limit)
		a.code = max(a.code, exitGaps)
	}
}

// read reads the complete source and prints its notes. see gets each record before the inspector does; it may
// be nil.
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

// chosenTurns returns the turn of the flags, or all turns.
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

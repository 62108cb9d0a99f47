package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/price"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
	"toolscope/ui/report"
	"toolscope/ui/web"
)

// exportFlags are the flags of export.
type exportFlags struct {
	as, out       string
	turn, call    int // 0 for all turns or calls
	redact, force bool
}

// exportForm is an output form of export.
type exportForm struct {
	name, says string
	turn, call bool // the output can be limited to a turn, or to a call
	raw        bool // the output is not suitable for a terminal: not sanitised, or binary
	write      func(*export) error
}

// exportForms returns all forms.
func exportForms() []exportForm {
	return []exportForm{
		{"jsonl", "calls and turns, as print --format jsonl writes them", true, true, false, (*export).writeJSONL},
		{"html", "a page for a browser: timeline, calls, findings and replay previews", true, true, false, (*export).writeHTML},
		{"har", "an HTTP Archive, with bodies and WebSocket messages", true, false, false, (*export).writeHAR},
		{"otlp", "a trace in OTLP/JSON, with OpenTelemetry's GenAI conventions", true, false, false, (*export).writeOTLP},
		{"capture", "toolscope's own format, with every chunk and its time", true, false, true, (*export).writeCapture},
		{"svg", "the timeline of a turn or a call, as a picture", true, true, false, (*export).writeSVG},
		{"md", "a bug report about a turn or a call, in Markdown", true, true, false, (*export).writeMarkdown},
		{"sse", "a response's bytes, with its content replaced: a bug report that you can share", true, false, true, (*export).writeSSE},
	}
}

// export is one run of the export command: the source, the selected turns, and the output.
type export struct {
	exportFlags
	app    *app
	path   string // path of the source, as the user wrote it
	src    capture.Source
	in     *providers.Inspector // complete when read returns
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
			if err = cmp.Or(err, checkNumbers(cmd, "turn", "call")); err != nil {
				return err
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

// formNames returns the names of the forms that satisfy a condition.
func formNames(of func(exportForm) bool) string {
	var names []string
	for _, f := range exportForms() {
		if of(f) {
			names = append(names, f.name)
		}
	}
	return present.JoinWords(names...)
}

// chosenForm returns the form that --as selects. It returns an error if the form can't be limited to the selected
// turn or call.
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
		defer func() {
			if limit := r.Limit(); limit != "" {
				a.printNote("--redact: secrets may remain: %s", limit)
				a.code = max(a.code, exitGaps)
			}
		}()
	}
	e := &export{exportFlags: f, app: a, path: paths[0], src: a.failOnDamage(src), in: new(providers.Inspector), prices: prices}
	prepare(e.in)
	if f.out == "" {
		e.to = a.output // each form sanitises its own text, because some forms are raw
		return as.write(e)
	}
	return saveAs(f.out, f.force, func(w io.Writer) error {
		e.to = w
		return as.write(e)
	})
}

// redactedSource returns a source without its secrets. It finds secrets while it reads the source. So it recognises
// the value of a key only after the value first occurs in a field for keys.
func redactedSource(src capture.Source, r *redact.Redactor) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for rec, err := range src {
			if err != nil {
				yield(rec, err)
				return
			}
			redactArgvNote(r, &rec)
			damaged := rec.Damaged
			for _, c := range r.Take(rec) {
				clean := c.Unwrap()
				clean.Damaged, clean.Location = damaged, capture.Location{} // no Location, because the bytes there contain the secrets
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

// read reads the complete source and prints its notes. The function see receives each record before the inspector
// does; it may be nil. If there are no turns, read returns an error.
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

// chosenTurns returns the turn that --turn selects, or all turns.
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

// writeCapture writes the records unchanged. If a turn is selected, it writes only the records of the turn's
// exchange.
func (e *export) writeCapture() error {
	if e.turn == 0 {
		return e.writeRecords(func(capture.Record) bool { return true })
	}
	var all []capture.Record
	err := e.read(func(r capture.Record) { all = append(all, r) })
	turns, wrong := e.chosenTurns()
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	e.src = recordSource(all)
	return errors.Join(err, e.writeRecords(func(r capture.Record) bool { return r.Exchange == turns[0].Exchange }))
}

// writeRecords writes the records for which wanted returns true.
func (e *export) writeRecords(wanted func(capture.Record) bool) error {
	w, left := captureFile{to: e.to, by: "toolscope export"}, 0
	for r, err := range e.src {
		if err != nil {
			return err
		}
		if !wanted(r) {
			continue
		}
		switch err := w.write(r); {
		case w.failed != nil:
			return w.failed
		case err != nil:
			e.app.printNote("%s: a record was left out: %v", e.path, err)
			left++
		}
	}
	switch {
	case !w.begun:
		return fmt.Errorf("%s: no bytes arrived", e.path)
	case left > 0:
		return fmt.Errorf("%s: %s could not be written", e.path, count.Of(left, "record"))
	}
	return nil
}

// captureFile writes records as a capture.
type captureFile struct {
	to     io.Writer
	by     string // command that writes the capture
	begun  bool
	failed error // error in the header or in a write, after which no more records can be written
}

// write writes a record. Before the first record, it writes the header. If failed is nil, an error concerns
// only this record.
func (w *captureFile) write(r capture.Record) error {
	if !w.begun {
		began := time.Now()
		if r.Head != nil && !r.Head.Start.IsZero() && r.At >= 0 {
			began = r.Head.Start.Add(-r.At) // time 0 of the records
		}
		line, err := capture.EncodeHeader(began, w.by, "")
		if err == nil {
			_, err = w.to.Write(line)
		}
		if w.failed = err; err != nil {
			return err
		}
		w.begun = true
	}
	line, err := capture.EncodeRecord(r)
	if err == nil {
		_, err = w.to.Write(line)
		w.failed = err
	}
	return err
}

// recordSource returns a source that has the given records.
func recordSource(all []capture.Record) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// writeHTML writes an HTML page with the selected turns and calls.
func (e *export) writeHTML() error {
	err := e.read(nil)
	turns, wrong := e.chosenTurns()
	if wrong != nil || len(turns) == 0 {
		return errors.Join(err, wrong)
	}
	p := web.Page{Name: e.path, Redacted: e.redact, Partial: e.turn+e.call > 0, In: e.in, Prices: e.prices}
	calls := 0
	for _, t := range turns {
		of := web.Turn{Turn: t, Calls: t.Calls}
		if e.call > 0 {
			of.Calls = slices.DeleteFunc(slices.Clone(t.Calls), func(c *stream.Call) bool { return c.Number != e.call })
		}
		calls += len(of.Calls)
		if e.call == 0 || len(of.Calls) > 0 {
			p.Turns = append(p.Turns, of)
		}
	}
	if e.call > 0 && calls == 0 {
		return usageErrorf("--call %d: no turn in %s has that many calls", e.call, e.path)
	}
	return errors.Join(err, web.Write(e.to, &p))
}

// writeJSONL writes the lines of print --format jsonl for the selected turns and calls.
func (e *export) writeJSONL() error {
	to := &onlyPrinter{jsonPrinter: &jsonPrinter{lineWriter: lineWriter{to: e.to}.withBuffer(), prices: e.prices}, of: e}
	err := errors.Join(e.app.printSource(e.src, e.path, e.in, to), to.flush())
	if err == nil && to.printed == 0 && e.turn+e.call > 0 {
		return usageErrorf("%s has no such turn or call: %s", e.path, present.JoinWords(textIf(e.turn > 0, fmt.Sprint("--turn ", e.turn)), textIf(e.call > 0, fmt.Sprint("--call ", e.call))))
	}
	return err
}

// onlyPrinter is a jsonPrinter that prints only the selected turns and calls.
type onlyPrinter struct {
	*jsonPrinter
	of      *export
	printed int // number of printed turns and calls
}

// wantsTurn reports whether a turn is selected. The parameter turn counts from 0.
func (p *onlyPrinter) wantsTurn(turn int32) bool { return p.of.turn == 0 || p.of.turn == int(turn)+1 }

// addTurn prints a turn, or its selected call.
func (p *onlyPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	switch {
	case !p.wantsTurn(t.Number):
	case p.of.call == 0:
		p.printed++
		p.jsonPrinter.addTurn(v, file, t)
	case p.of.call <= len(t.Calls):
		p.printed++
		p.writeCall(v, file, t, t.Calls[p.of.call-1])
	}
}

// sentBack prints the calls that were sent back and are selected.
func (p *onlyPrinter) sentBack(calls []sentBackCall) {
	p.jsonPrinter.sentBack(slices.DeleteFunc(calls, func(r sentBackCall) bool {
		return !p.wantsCall(r.of)
	}))
}

// addRequest prints a request to a server. If a turn is selected, it prints only a request whose call is
// known and selected.
func (p *onlyPrinter) addRequest(file string, r *mcp.Request, a *toolrun.ToolRequest) {
	if p.of.turn == 0 || a != nil && a.Call != nil && p.wantsCall(a.Call.Ref) {
		p.jsonPrinter.addRequest(file, r, a)
	}
}

// notRun prints a call without a tool run, if the call is selected.
func (p *onlyPrinter) notRun(file string, n *toolrun.CallWithoutRun) {
	if p.wantsCall(n.Ref) {
		p.jsonPrinter.notRun(file, n)
	}
}

// wantsCall reports whether a call is selected.
func (p *onlyPrinter) wantsCall(of stream.Ref) bool {
	return p.wantsTurn(of.Turn) && (p.of.call == 0 || p.of.call == int(of.Call))
}

// addServer prints a server, unless a turn is selected.
func (p *onlyPrinter) addServer(file string, s *mcp.Server) {
	if p.of.turn == 0 {
		p.jsonPrinter.addServer(file, s)
	}
}

// writeMarkdown writes a bug report about a turn or a call.
func (e *export) writeMarkdown() error {
	if err := e.read(nil); err != nil {
		return err
	}
	t, c, err := e.turnAndCall()
	if err != nil {
		return err
	}
	r := caseOf(e.in.View(), e.prices, sourceTitle([]string{e.path}), t, c)
	_, err = e.to.Write(r.Markdown())
	return err
}

// caseOf returns the content of a bug report about a turn, or about one of its calls.
func caseOf(v *providers.View, prices *price.Table, file string, t *stream.Turn, c *stream.Call) *report.Subject {
	r, x := &report.Subject{Version: versionText(), File: file, Turn: t, Call: c}, v.Exchange(t.Exchange)
	for _, f := range present.OfTurn(v, prices, t).Labelled("protocol", "model", "phase", "finish", "ended by", "error", "usage", "HTTP status") {
		if f.Word == "finish" {
			f.Text = t.Finish
		}
		r.Facts = append(r.Facts, [2]string{f.Word, f.Text})
	}
	r.Title = reportTitle(v, t, c)
	r.Verdict = func(c *stream.Call) (sentence string, rows [][2]string) {
		o := present.CalloutOfCall(v, t, c, nil)
		for _, row := range o.Rows {
			rows = append(rows, [2]string{row.Label, row.Text})
		}
		return o.Sentence, rows
	}
	r.Frame = func(event int) []byte {
		f := v.Event(event)
		if f.Turn == stream.NoTurn || x == nil || f.Frame < 0 || int(f.Frame) >= x.Response.Frames() {
			return nil
		}
		return x.Response.Bytes(x.Response.FrameSpan(f.Frame))
	}
	return r
}

// reportTitle returns the tool, the verdict and the party at fault of a call. If c is nil, it uses the worst call of
// the turn. It returns "" if the turn has no bad or doubtful call.
func reportTitle(v *providers.View, t *stream.Turn, c *stream.Call) string {
	if c == nil {
		worst := present.Healthy
		for _, call := range t.Calls {
			if harm := present.VerdictOfCall(call).Harm; harm < worst && (harm.IsBad() || harm.IsCaution()) {
				worst, c = harm, call
			}
		}
	}
	if c == nil {
		return ""
	}
	o := present.CalloutOfCall(v, t, c, nil)
	title := present.CallName(c.Name) + ": " + cmp.Or(o.Verdict.Words, c.Status().String())
	if cause := o.Row("cause"); cause != "" && cause != "not known" {
		title += ", caused by " + cause
	}
	return title
}

// writeSVG draws the timeline of a turn or a call.
func (e *export) writeSVG() error {
	if err := e.read(nil); err != nil {
		return err
	}
	t, c, err := e.turnAndCall()
	if err != nil {
		return err
	}
	r := report.Subject{File: sourceTitle([]string{e.path}), Turn: t, Call: c}
	_, err = e.to.Write(r.SVG(func(event int) time.Duration {
		f, kept := e.in.Timeline.Event(event)
		if !kept {
			return stream.NoTime
		}
		return f.At
	}))
	return err
}

// turnAndCall returns the turn to export, and the call if one is selected. If no turn is selected, it returns the
// first turn that has the call. If no call is selected either, it returns the result of suspectTurn.
func (e *export) turnAndCall() (*stream.Turn, *stream.Call, error) {
	if e.call == 0 {
		t, err := e.suspectTurn()
		return t, nil, err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range turns {
		if len(t.Calls) >= e.call {
			return t, t.Calls[e.call-1], nil
		}
	}
	return nil, nil, usageErrorf("--call %d: no selected turn in %s has that many calls", e.call, e.path)
}

// writeOTLP writes the turns as OTLP/JSON.
func (e *export) writeOTLP() error {
	if err := e.read(nil); err != nil {
		return err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return err
	}
	tracer := report.Tracer{Content: true}
	spans := []report.Span{}
	for _, t := range turns {
		if !hasSpan(e.in.Exchange(t.Exchange), t) {
			continue
		}
		spans = append(spans, tracer.Spans(tracedTurn(e.in.View(), t, e.path))...)
	}
	_, err = e.to.Write(report.OTLP(versionText(), spans))
	return err
}

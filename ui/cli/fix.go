package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/claudecode"
	"toolscope/providers/codexexec"
	"toolscope/providers/fix"
	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// fixFlags are the flags of fix.
type fixFlags struct{ write, to, format string }

func (a *app) fixCommand() *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use: "fix FILE", Short: "Find and correct faults in requests and sessions",
		Example: "toolscope fix request.json\ntoolscope fix --to mistral request.json\ntoolscope fix --write corrected.jsonl rollout.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runFix(cmd, args, &f)
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	to := cmd.Flags()
	to.StringVar(&f.write, "write", "", "")
	to.StringVar(&f.to, "to", "", "")
	addFormatFlag(to, &f.format, "text", "text", "jsonl")
	a.colourFlags(cmd)
	return cmd
}

// maxFixFile is the maximum size of a file that fix reads.
const maxFixFile = 256 << 20

// runFix reports the faults of a file. With --write, it also writes a corrected copy.
func (a *app) runFix(cmd *cobra.Command, args []string, f *fixFlags) error {
	paths, err := a.somePaths(cmd, args, "FILE")
	switch {
	case err != nil:
		return err
	case len(paths) != 1:
		return usageErrorf("fix: needs one FILE, got %d", len(paths))
	case f.write != "":
		if err := checkNewFile(f.write); err != nil {
			return err
		}
	}
	var to *protocol.Target
	if f.to != "" {
		if to, err = providers.FindTarget(f.to); err != nil {
			return usageErrorf("--to: %w", err)
		}
	}
	text, err := a.readWhole(paths[0])
	if err != nil {
		return fmt.Errorf("%s: %w", paths[0], err)
	}
	form, format := fixFormOf(text)
	if form == nil {
		return fmt.Errorf("%s: neither a request body nor a session of Codex or Claude Code%s\nuse 'toolscope check' for other files", paths[0], textIf(format != "", ": its format is "+format))
	}
	if to == nil && form.DefaultTarget != "" {
		to = providers.TargetOf(form.DefaultTarget)
	}
	r, err := fix.Correct(text, form, func(body []byte) (*requestrules.Request, error) { return providers.ReadRequest(body, to) })
	if err != nil {
		return fmt.Errorf("%s: %w\nfix needs a complete request body or a session file", paths[0], err)
	}
	out, err := a.outputFor(f.format)
	if err != nil {
		return err
	}
	rep := &fixReport{Result: r, path: fileTitle(paths[0]), file: paths[0], wanted: f.write, text: text, form: form}
	canWrite := r.NeedsCorrection() && len(r.Left) == 0
	if f.write != "" && canWrite {
		if err := writeCopy(f.write, r.Text); err != nil {
			return err
		}
		rep.written = f.write
	}
	if f.format == "jsonl" {
		rep.writeJSONL(out)
	} else {
		rep.writeText(out)
	}
	if r.NeedsCorrection() && rep.written == "" {
		a.code = exitFound
	}
	return out.flush()
}

// readWhole reads a file or, for -, standard input.
func (a *app) readWhole(path string) (text []byte, err error) {
	var from io.Reader = a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, capture.WithoutPath(err)
		}
		defer f.Close()
		from = f
	}
	text, err = io.ReadAll(io.LimitReader(from, maxFixFile+1))
	if err == nil && len(text) > maxFixFile {
		err = fmt.Errorf("larger than %d MiB\nfix reads the whole file into memory", maxFixFile>>20)
	}
	return text, capture.WithoutPath(err)
}

// maxFixSniff is the number of bytes that are read to recognise the form of a file.
const maxFixSniff = 1 << 20

// fixFormOf returns the form of a file, or nil if fix can't read the file. The result format is the name of a format
// that fix can't read, or "".
func fixFormOf(text []byte) (form *fix.Form, format string) {
	first := text[:min(len(text), maxFixSniff)]
	for _, f := range formats.All {
		if f.Sniff(first, len(first) == len(text)).Is != capture.Yes {
			continue
		}
		switch f.Name {
		case codexexec.SessionWrapper:
			return fix.Codex, ""
		case claudecode.SessionWrapper:
			return fix.ClaudeCode, ""
		case "request", "conversation", "log":
		default:
			return nil, f.Name
		}
	}
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		return fix.Body, ""
	}
	return nil, ""
}

// checkNewFile returns an error unless path names a file that does not exist yet.
func checkNewFile(path string) error {
	if path == "-" {
		return usageErrorf("--write -: a copy is written only to a file\nuse a name, or ./- for a file with this name")
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return usageErrorf("--write %s: the file exists\nfix never overwrites a file: use another name", path)
	case !errors.Is(err, fs.ErrNotExist):
		return usageErrorf("--write %s: %w", path, capture.WithoutPath(err))
	}
	return nil
}

// fixReport is the result of a correction, and the settings for printing it.
type fixReport struct {
	*fix.Result
	path    string
	file    string // the argument FILE
	wanted  string // the path from --write; "" without the flag
	text    []byte
	form    *fix.Form
	written string // the corrected copy; "" if none was written
}

// maxChangeBytes is the maximum number of bytes of a change that are shown.
const maxChangeBytes = 240

// writeText writes the faults, the corrections and the changed bytes.
func (r *fixReport) writeText(to lineWriter) {
	to.printLine("%s: %s, %s, checked against the rules of %s", r.path, r.form.Title, count.Of(r.Items, r.form.ItemTitle), r.Target.Title)
	for i := range r.Faults {
		f := &r.Faults[i]
		severity := stream.Error
		if f.Client != "" {
			severity = stream.Info
		}
		place := r.path + textIf(f.Line > 0, fmt.Sprintf(":%d", f.Line))
		to.printLine("%s: %s: %s", place, ofCode(severity, f.Code), display.Clean(f.Message.Text+textIf(f.Path != "", " ("+f.Path+")")))
		if f.Client != "" {
			to.printLine("  %s", inMuted(f.Client))
		} else if r.form.Client != "" {
			to.printLine("  %s", inMuted(r.form.Client+" sends this unchanged"))
		}
	}
	if r.Damaged > 0 {
		to.printLine("%s:%d: lines that are not JSON, from this line on: %d; a corrected copy contains them unchanged", r.path, r.FirstDamaged, r.Damaged)
	}
	if r.Torn > 0 {
		to.printLine("%s:%d: the entry before this one is missing, so %s reads the session only from here on", r.path, r.Torn, r.form.Client)
	}
	if !r.NeedsCorrection() {
		to.printLine("%s", inBold("nothing to fix"+textIf(len(r.Faults) > 0, ": "+r.form.Client+" corrects this when it reads the session")+textIf(r.wanted != "", "; no copy written")))
		return
	}
	for _, c := range r.Corrections {
		to.printLine("%s line %d: %s", inBold("correction"), c.Line, display.Clean(c.Words.Text))
	}
	for _, c := range r.Changes {
		to.printLine("%s", inMuted(fmt.Sprintf("@ line %d, byte %d", c.Line, c.Start)))
		r.writeSide(to, "-", r.text[c.Start:c.End])
		r.writeSide(to, "+", c.Text)
	}
	for i := range r.Left {
		to.printLine("can't be corrected: %s: %s", r.Left[i].Code, display.Clean(r.Left[i].Message.Text))
	}
	to.printLine("%s, %s", inBold(count.Of(len(r.Corrections), "correction")), count.Of(len(r.Changes), "changed range"))
	switch {
	case len(r.Left) > 0:
		to.printLine("no corrected copy: begin a new conversation, or remove these messages")
	case r.written != "":
		to.printLine("the corrected copy is in %s", r.written)
	default:
		to.printLine("to write the corrected copy: toolscope fix --write NEW %s", commandLine([]string{r.file}))
	}
}

// writeSide writes the old or the new bytes of a change.
func (r *fixReport) writeSide(to lineWriter, sign string, text []byte) {
	if len(text) == 0 {
		return
	}
	more := ""
	if len(text) > maxChangeBytes {
		more = fmt.Sprintf(" (the first %d of %d bytes)", maxChangeBytes, len(text))
	}
	to.printLine("%s %s%s", sign, display.Clean(strings.TrimRight(stream.Clip(text, 0, maxChangeBytes), "\n")), inMuted(more))
}

// writeJSONL writes an object for each fault, correction and change, and an object with the totals.
func (r *fixReport) writeJSONL(to lineWriter) {
	for _, f := range r.Faults {
		o := new(jsonObject)
		o.text("type", "fault")
		o.text("code", f.Code)
		o.text("rule", f.Rule)
		o.addMessage(f.Message.Text, f.Message.Quoted)
		o.optionalText("path", f.Path)
		if f.End > 0 {
			o.int("start", f.Start)
			o.int("end", f.End)
			o.int("line", f.Line)
		}
		o.optionalText("client", f.Client)
		o.flagIf("left", slices.ContainsFunc(r.Left, func(l fix.Fault) bool { return l.Rule == f.Rule && l.Message.Text == f.Message.Text }))
		to.writeObject(o)
	}
	for _, c := range r.Corrections {
		o := new(jsonObject)
		o.text("type", "correction")
		o.text("code", c.Code)
		o.addMessage(c.Words.Text, c.Words.Quoted)
		o.int("line", c.Line)
		to.writeObject(o)
	}
	for _, c := range r.Changes {
		o := new(jsonObject)
		o.text("type", "change")
		o.int("start", c.Start)
		o.int("end", c.End)
		o.text("old", string(r.text[c.Start:c.End]))
		o.text("new", string(c.Text))
		to.writeObject(o)
	}
	o := new(jsonObject)
	o.text("type", "fix")
	o.text("file", r.path)
	o.text("target", r.Target.Name)
	o.int("items", r.Items)
	o.int("faults", len(r.Faults))
	o.int("corrections", len(r.Corrections))
	o.int("left", len(r.Left))
	o.int("damaged", r.Damaged)
	if r.Torn > 0 {
		o.int("torn", r.Torn)
	}
	o.optionalText("written", r.written)
	to.writeObject(o)
}

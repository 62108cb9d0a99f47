package report

import "toolscope/ui/display"

// Text returns the finding in one line: its place in the form that editors and CI read, its severity, code
// and message, and the party that caused it.
func (f *Finding) Text() display.Text {
	where := display.Clean(f.subjectText())
	if f.File != "" {
		file := display.Clean(f.File)
		if f.Place.Line > 0 {
			file = display.Format("%s:%d", file, f.Place.Line)
		}
		if where = display.Join(file, display.Lit(": "), where); f.Turn == 0 {
			where = file
		}
	}
	if !where.Empty() {
		where = display.Join(where, display.Lit(": "))
	}
	return display.Format("%s%s %s: %s (by %s)", where, f.Severity, f.Code, f.Message, f.CausedBy())
}

// Text returns the finding in one line, as one that was not found again.
func (k *KnownFinding) Text() display.Text {
	where := display.Clean(k.File)
	if k.Tool != "" {
		where = display.Join(where, display.Lit(": "), display.Clean(k.Tool))
	}
	if !where.Empty() {
		where = display.Join(where, display.Lit(": "))
	}
	return display.Format("gone: %s%s: %s", where, k.Code, k.Message)
}

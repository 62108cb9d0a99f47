package report

import "toolscope/ui/display"

// Text is the finding in one line: where it is, as editors and CI read it, how bad it is, what was
// found, and who did it.
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

// Text is the finding of the baseline in one line.
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

package mcp

import (
	"strings"
	"time"

	"toolscope/stream"
)

// How the notes of a recording begin that are about a process.
const (
	stderrNote = "stderr: "
	argvNote   = "argv: "
)

// readNote takes the words beside a record.
func (t *dialogue) readNote(r *stream.Record) {
	if text, is := strings.CutPrefix(r.Note, stderrNote); is {
		for line := range strings.Lines(text) {
			t.server.addNote(ServerNote{At: r.At, Text: strings.TrimRight(line, "\r\n")})
		}
	}
	if r.Lost > 0 {
		for _, open := range t.log.open {
			if open.Server == t.server && open.FromServer == r.Request {
				open.State = Unseen
			}
		}
	}
}

// AddFinding adds what others found of the server.
func (s *Server) AddFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	s.noteFinding(at, d, format, args...)
}

// noteFinding adds what was found. The same thing is told once for every line, up to a limit.
func (s *Server) noteFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	s.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
}

func (s *Server) addNote(n ServerNote) {
	if s.Notes = append(s.Notes, n); len(s.Notes) > maxNotes {
		s.Notes = append(s.Notes[:0], s.Notes[1:]...)
	}
}

// Findings are those of a server.
func (s *Server) Findings() (list []stream.Finding) {
	for _, n := range s.Notes {
		if n.Finding != nil {
			list = append(list, *n.Finding)
		}
	}
	return list
}

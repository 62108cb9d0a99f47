package mcp

import (
	"strings"
	"time"

	"toolscope/stream"
)

// Prefixes of a capture's notes about a process.
const (
	stderrNote = "stderr: "
	argvNote   = "argv: "
)

// readNote reads the note of a record.
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

// AddFinding adds a finding about the server that another package made.
func (s *Server) AddFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	s.noteFinding(at, d, format, args...)
}

// noteFinding adds a finding. A repeated finding is added each time, up to maxNotes.
func (s *Server) noteFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	s.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
}

func (s *Server) addNote(n ServerNote) {
	if s.Notes = append(s.Notes, n); len(s.Notes) > maxNotes {
		s.Notes = append(s.Notes[:0], s.Notes[1:]...)
	}
}

// Findings returns the findings about a server.
func (s *Server) Findings() (list []stream.Finding) {
	for _, n := range s.Notes {
		if n.Finding != nil {
			list = append(list, *n.Finding)
		}
	}
	return list
}

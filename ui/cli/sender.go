package cli

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers/host"
	"toolscope/ui"
)

// answerWait is how long the first byte of an answer may take where the command
// line does not say.
const answerWait = 5 * time.Minute

// sender sends what the screen asks for, to hosts whose keys are in the
// environment. What a command line says of a host holds for it here too.
type sender struct {
	ctx     context.Context // ends when the screen is left
	client  *http.Client
	program *tea.Program
	said    map[string]*connectFlags // by name of the host
	live    *live                    // where what comes of it passes
	flights sync.WaitGroup
}

// flags are what was said of a host.
func (s *sender) flags(h *host.Host) *connectFlags {
	if f := s.said[h.Name]; f != nil {
		return f
	}
	return &connectFlags{timeout: answerWait}
}

// sendPlaces are the known hosts, and what keeps from sending to them.
func sendPlaces(said map[string]*connectFlags) (all []ui.Place) {
	s := sender{said: said}
	for i := range host.All {
		p := ui.Place{Host: &host.All[i]}
		f := s.flags(p.Host)
		var err error
		if p.Address, err = p.Host.Where(f.baseURL, os.Getenv); err != nil {
			p.Trouble = trouble(p.Host, err)
			all = append(all, p)
			continue
		}
		q := query{host: p.Host, url: p.Address}
		if err := q.address(f); err != nil {
			p.Trouble = trouble(p.Host, err)
		} else if q.exposed {
			p.Warning = "its key goes to another machine unencrypted"
		}
		all = append(all, p)
	}
	return all
}

// trouble is an error about a host in one line that does not name it.
func trouble(h *host.Host, err error) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), h.Name+": "), "\n", ": ")
}

// send sends a request; its records pass as they come.
func (s *sender) send(r ui.SendRequest) error {
	f := s.flags(r.Host)
	q := query{label: r.Host.Name, host: r.Host, model: r.Model, url: r.URL, body: r.Body}
	if err := q.address(f); err != nil {
		return err
	}
	s.live.learn(q.header)
	s.flights.Go(func() {
		defer sendCrash(s.program)
		for rec, err := range q.source(s.ctx, s.client, s.live.began, f.timeout) {
			if err != nil {
				rec = q.failed(err)
			}
			rec.Exchange = sentFrom - r.Exchange
			s.live.take(rec)
		}
	})
	return nil
}

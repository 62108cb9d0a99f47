package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/capture"
	"toolscope/providers/host"
	"toolscope/ui/send"
)

// sendAll sends the requests and returns the responses as they arrive. For a provider that doesn't answer it
// returns an ended exchange; the other requests continue.
func sendAll(ctx context.Context, list []preparedRequest, began time.Time, limit time.Duration) capture.Source {
	var all []capture.Source
	client := webClient()
	for i := range list {
		all = append(all, list[i].responseSource(ctx, client, began, limit))
	}
	if len(all) == 1 {
		return all[0]
	}
	return capture.Merge(ctx, all...)
}

// webClient returns a client that sends requests unchanged. It doesn't decode responses, doesn't repeat
// requests, and follows redirects only within the same scheme and host. It uses HTTP/2 if the host does.
func webClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// responseSource sends the request and returns its exchange, whose records name the provider.
func (q *preparedRequest) responseSource(ctx context.Context, client *http.Client, began time.Time, limit time.Duration) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var late atomic.Bool
		timer := time.AfterFunc(limit, func() { late.Store(true); cancel() })
		defer timer.Stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(q.body))
		if err != nil {
			yield(q.failedRecord(fmt.Errorf("not a valid URL: %s", q.host.Name)), nil)
			return
		}
		req.Header = q.header
		for r, err := range capture.Fetch(ctx, client, req, 1, began) {
			if err != nil {
				yield(q.failedRecord(err), nil)
				return
			}
			if r.Side == capture.Response && (len(r.Data) > 0 || r.End != "") {
				timer.Stop()
			}
			if r.End == capture.EndCut && late.Load() {
				r.Why, r.By = fmt.Sprintf("no byte of a response arrived within %s", limit), capture.Toolscope
			}
			if r.Head != nil {
				r.Head.File = q.label
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// failedRecord returns the record of an exchange that did not start.
func (q *preparedRequest) failedRecord(err error) capture.Record {
	return capture.Record{
		Exchange: 1, At: capture.NoTime, Head: &capture.Head{File: q.label, Method: http.MethodPost, URL: q.url},
		End: capture.EndCut, Why: err.Error(), By: capture.Network,
	}
}

// answerWait is the default limit for the first byte of a response.
const answerWait = 5 * time.Minute

// sender sends the requests of the screen, to hosts with keys in the environment. Flags for a host on the
// command line apply here too.
type sender struct {
	ctx           context.Context // ends when the user leaves the screen
	client        *http.Client
	program       *tea.Program
	providerFlags map[string]*connectFlags // flags by name of the host
	live          *liveInput               // gets the records
	flights       sync.WaitGroup
}

// flagsFor returns the flags for a host.
func (s *sender) flagsFor(h *host.Host) *connectFlags {
	if f := s.providerFlags[h.Name]; f != nil {
		return f
	}
	return &connectFlags{timeout: answerWait}
}

// sendPlaces returns the known hosts, each with the problem that prevents sending to it.
func sendPlaces(said map[string]*connectFlags) (all []send.Destination) {
	s := sender{providerFlags: said}
	for i := range host.All {
		q := preparedRequest{host: &host.All[i]}
		f := s.flagsFor(q.host)
		var err error
		if q.url, err = q.host.ResolveAddress(f.baseURL, os.Getenv); err == nil {
			err = q.setHeaders(f)
		}
		p := send.Destination{Host: q.host, Address: q.url}
		switch {
		case err != nil: // on one line, without the host's name
			p.Trouble = strings.ReplaceAll(strings.TrimPrefix(err.Error(), q.host.Name+": "), "\n", ": ")
		case q.exposed:
			p.Warning = "its key goes unencrypted to another machine"
		}
		all = append(all, p)
	}
	return all
}

// sendRequest sends a request and passes its records on as they arrive.
func (s *sender) sendRequest(r send.Request, exchange int) error {
	f := s.flagsFor(r.Host)
	q := preparedRequest{label: r.Host.Name, host: r.Host, model: r.Model, url: r.URL, body: r.Body}
	if err := q.setHeaders(f); err != nil {
		return err
	}
	s.live.redactor.Header(q.header)
	s.flights.Go(func() {
		defer sendCrash(s.program)
		for rec, err := range q.responseSource(s.ctx, s.client, s.live.began, f.timeout) {
			if err != nil {
				rec = q.failedRecord(err)
			}
			rec.Exchange = sentFrom - exchange
			s.live.addRecord(rec)
		}
	})
	return nil
}

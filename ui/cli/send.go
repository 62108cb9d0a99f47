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

// sendAll is the answers to all requests, as they come. A provider that does not answer is a note and
// an end, so that the others go on.
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

// client sends requests as they are: what comes back is not decoded, no request is sent twice, and
// none goes where it was not addressed to. HTTP/2 is spoken where the host does.
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

// responseSource is one exchange, whose records say which provider it is with.
func (q *preparedRequest) responseSource(ctx context.Context, client *http.Client, began time.Time, limit time.Duration) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var late atomic.Bool
		timer := time.AfterFunc(limit, func() { late.Store(true); cancel() })
		defer timer.Stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(q.body))
		if err != nil {
			yield(q.failedRecord(fmt.Errorf("not a URL that can be asked: %s", q.host.Name)), nil)
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
				r.Why, r.By = fmt.Sprintf("no byte of an answer came within %s", limit), capture.Toolscope
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

// failedRecord is the record of an exchange that never was.
func (q *preparedRequest) failedRecord(err error) capture.Record {
	return capture.Record{
		Exchange: 1, At: capture.NoTime, Head: &capture.Head{File: q.label, Method: http.MethodPost, URL: q.url},
		End: capture.EndCut, Why: err.Error(), By: capture.Network,
	}
}

// answerWait is how long the first byte of an answer may take where the command line does not say.
const answerWait = 5 * time.Minute

// sender sends what the screen asks for, to hosts whose keys are in the environment. What a command
// line says of a host holds for it here too.
type sender struct {
	ctx           context.Context // ends when the screen is left
	client        *http.Client
	program       *tea.Program
	providerFlags map[string]*connectFlags // by name of the host
	live          *liveInput               // where what comes of it passes
	flights       sync.WaitGroup
}

// flagsFor are what was said of a host.
func (s *sender) flagsFor(h *host.Host) *connectFlags {
	if f := s.providerFlags[h.Name]; f != nil {
		return f
	}
	return &connectFlags{timeout: answerWait}
}

// sendPlaces are the known hosts, and what keeps from sending to them.
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
		case err != nil: // in one line, under the host's name
			p.Trouble = strings.ReplaceAll(strings.TrimPrefix(err.Error(), q.host.Name+": "), "\n", ": ")
		case q.exposed:
			p.Warning = "its key goes to another machine unencrypted"
		}
		all = append(all, p)
	}
	return all
}

// sendRequest sends a request; its records pass as they come.
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

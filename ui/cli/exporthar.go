package cli

import (
	"net/http"
	"time"

	"toolscope/capture"
	"toolscope/ui/report"
)

// harArchive collects exchanges in the order in which they began.
type harArchive struct {
	all []*harExchange
	of  map[int]*harExchange
}

// harExchange is an exchange that is being read. Its times are those of its first and last bytes.
type harExchange struct {
	report.Exchange
	number       int
	epoch        time.Time // wall-clock time at time 0 of the source, zero if unknown
	asked, began time.Duration
	last         time.Duration
	messages     []capture.Record
}

// writeHAR writes exchanges as an HTTP Archive.
func (e *export) writeHAR() error {
	a := harArchive{of: map[int]*harExchange{}}
	if err := e.read(a.addRecord); err != nil {
		return err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return err
	}
	var list []report.Exchange
	for _, x := range a.all {
		if e.turn == 0 || turns[0].Exchange == x.number {
			list = append(list, x.decodedExchange())
		}
	}
	_, err = e.to.Write(report.HAR(versionText(), list))
	return err
}

// addRecord adds a record to its exchange.
func (a *harArchive) addRecord(r capture.Record) {
	if len(r.Data) == 0 && r.Head == nil && r.End == "" {
		return
	}
	x := a.of[r.Exchange]
	if x == nil {
		x = &harExchange{number: r.Exchange, asked: capture.NoTime, began: capture.NoTime, last: capture.NoTime}
		a.of[r.Exchange] = x
		a.all = append(a.all, x)
	}
	if r.Head != nil {
		x.readHead(r)
	}
	switch {
	case r.Side == capture.Request:
		x.RequestBody = append(x.RequestBody, r.Data...)
		x.asked = max(x.asked, r.At)
	case len(r.Data) > 0 || r.End != "":
		x.ResponseBody = append(x.ResponseBody, r.Data...)
		if x.began == capture.NoTime {
			x.began = r.At
		}
		x.last = max(x.last, r.At)
	}
	if r.End == capture.EndCut {
		x.Why = ifElse(r.Why != "", r.Why, "the connection was cut")
	}
	if len(r.Data) > 0 {
		x.messages = append(x.messages, r)
	}
}

// readHead adds the head of a request or response to the exchange.
func (x *harExchange) readHead(r capture.Record) {
	h := r.Head
	if h.URL != "" {
		x.Method, x.URL = h.Method, h.URL
	}
	if r.Side == capture.Request {
		x.RequestHeader = h.Header
	} else if h.Status != 0 {
		x.Status, x.ResponseHeader = h.Status, h.Header
	}
	if x.Start.IsZero() && !h.Start.IsZero() {
		x.Start = h.Start
		if r.At >= 0 {
			x.epoch = h.Start.Add(-r.At)
		}
	}
}

// decodedExchange returns the exchange with decoded bodies, or with the messages of its WebSocket.
func (x *harExchange) decodedExchange() report.Exchange {
	if x.Status == http.StatusSwitchingProtocols {
		x.RequestBody, x.ResponseBody = nil, nil
		for _, r := range x.messages {
			m := report.Message{Sent: r.Side == capture.Request, Data: r.Data}
			if !x.epoch.IsZero() && r.At >= 0 {
				m.At = x.epoch.Add(r.At)
			}
			x.Messages = append(x.Messages, m)
		}
		return x.Exchange
	}
	x.Sent = len(x.ResponseBody)
	x.ResponseBody, x.RequestBody = plainBody(x.ResponseHeader, x.ResponseBody), plainBody(x.RequestHeader, x.RequestBody)
	if x.asked >= 0 && x.began >= x.asked {
		x.Wait = x.began - x.asked
	}
	if x.began >= 0 && x.last >= x.began {
		x.Receive = x.last - x.began
	}
	return x.Exchange
}

// plainBody returns a decoded body, or the body itself if it can't be decoded.
func plainBody(h http.Header, coded []byte) []byte {
	if body, err := decodeBody(h, coded); err == nil {
		return body
	}
	return coded
}

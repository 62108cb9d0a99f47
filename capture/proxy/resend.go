package proxy

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
)

// sender sends one request to its upstream.
//
// An upstream may close a connection that the proxy keeps open for later requests, at the moment in which
// the proxy sends a request on it. The client, with a connection of its own, would have got a response.
// So the request is sent again, once, on a new connection: as net/http does for requests that are safe to
// repeat, and browsers do for all. A request that can't be sent again gets a new connection at once.
type sender struct {
	x        *exchange
	single   bool // use a new connection, and don't keep it open
	trace    httptrace.ClientTrace
	reused   atomic.Bool // the connection was used before
	answered atomic.Bool // the first byte of the response has arrived
}

func newSender(x *exchange, r *http.Request) *sender {
	s := &sender{x: x, single: r.Close || r.ContentLength > maxKeptBytes}
	s.trace.GotConn = func(info httptrace.GotConnInfo) { s.reused.Store(info.Reused) }
	s.trace.GotFirstResponseByte = func() { s.answered.Store(true) }
	return s
}

// RoundTrip implements http.RoundTripper.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	p := s.x.p
	if s.single {
		return p.single.RoundTrip(req)
	}
	res, err := p.transport.RoundTrip(req)
	if err == nil || !s.wasStale(req, err) {
		return res, err
	}
	again := *req // a RoundTripper must not change its request
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, errStale
		}
	}
	s.x.resent = true
	return p.single.RoundTrip(&again)
}

// errStale means that the upstream had closed a connection that was kept open, and that the request can't
// be sent again.
var errStale = errors.New("the connection that toolscope kept open was closed, and " + errUploadGone.Error())

// wasStale reports whether a request got no response because a connection ended that was used before.
func (s *sender) wasStale(req *http.Request, err error) bool {
	return s.reused.Load() && !s.answered.Load() && req.Context().Err() == nil && s.x.sentError() == nil &&
		!errors.As(err, new(streamError))
}

// resendNote returns a note about a request that was sent again.
func (x *exchange) resendNote() string {
	if !x.resent {
		return ""
	}
	return "the request was sent again: the upstream had closed the connection that toolscope kept open"
}

// isOwnLimit reports whether a connection failed for a lack of descriptors here.
func isOwnLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// streamError matches net/http's error for one stream of an HTTP/2 connection. The connection is alive: the
// upstream refused the request. net/http's type has no exported name, but can be converted to one with the
// same fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "an HTTP/2 stream ended" }

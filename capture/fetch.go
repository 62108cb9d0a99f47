package capture

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Fetch sends a request when the source is read and yields the records of that exchange: the request's
// head and body, the response's head, each chunk of its body as it was read, and its end. Times count
// from began. The request's body is read completely before it is sent.
//
// If the request gets no response because the name lookup, the connection or TLS fails, the source ends
// with an error. A response that breaks off ends with EndCut and the reason. So does a response that ctx cancels,
// with or without a head.
//
// The client decides about redirects, time limits and content decoding.
func Fetch(ctx context.Context, client *http.Client, req *http.Request, exchange int, began time.Time) Source {
	return func(yield func(Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		f := ownRequest{exchange: exchange, began: began, yield: yield}
		if req = f.yieldRequest(req.WithContext(ctx)); req == nil {
			return
		}
		resp, err := client.Do(req)
		switch {
		case err != nil && ctx.Err() != nil:
			f.yieldRecord(f.endRecord(ctx.Err()))
			return
		case err != nil:
			yield(Record{}, &unanswered{req.URL.Host, err})
			return
		}
		defer resp.Body.Close()
		f.yieldResponse(ctx, resp)
	}
}

// ownRequest is an exchange that toolscope itself begins.
type ownRequest struct {
	exchange int
	began    time.Time
	yield    func(Record, error) bool
}

func (f *ownRequest) yieldRecord(r Record) bool {
	r.Exchange = f.exchange
	return f.yield(r, nil)
}

func (f *ownRequest) recordTime() time.Duration { return max(0, time.Since(f.began)) }

func (f *ownRequest) endRecord(err error) Record {
	end, why, by := EndOf(err)
	return Record{At: f.recordTime(), End: end, Why: why, By: by}
}

// yieldRequest yields the request's side. It returns the request to send, or nil if it must not be sent.
func (f *ownRequest) yieldRequest(req *http.Request) *http.Request {
	head := Head{Method: req.Method, URL: req.URL.String(), Header: req.Header.Clone(), Start: time.Now()}
	if head.Method == "" {
		head.Method = http.MethodGet
	}
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			f.yield(Record{}, fmt.Errorf("can't read the request's body: %w", err))
			return nil
		}
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(body))
	}
	if !f.yieldRecord(Record{Side: Request, At: f.recordTime(), Head: &head, Data: bytes.Clone(body)}) {
		return nil
	}
	return req
}

// yieldResponse yields the response's side.
func (f *ownRequest) yieldResponse(ctx context.Context, resp *http.Response) {
	head := Head{Status: resp.StatusCode, Header: resp.Header.Clone(), Start: time.Now()}
	if !f.yieldRecord(Record{At: f.recordTime(), Head: &head}) {
		return
	}
	for buf := make([]byte, chunkSize); ; {
		n, err := resp.Body.Read(buf)
		if n > 0 && !f.yieldRecord(Record{At: f.recordTime(), Data: bytes.Clone(buf[:n])}) {
			return
		}
		if err != nil {
			if ctx.Err() != nil && err != io.EOF {
				err = ctx.Err()
			}
			f.yieldRecord(f.endRecord(err))
			return
		}
	}
}

// unanswered is the error of a request without a response.
type unanswered struct {
	host string
	err  error
}

func (u *unanswered) Error() string { return "no answer from " + u.host + ": " + FailureText(u.err) }
func (u *unanswered) Unwrap() error { return u.err }

// FailureText describes why a request got no response. Unlike the error's own text, it never contains the request's
// URL, which may contain a key.
func FailureText(err error) string {
	if ue := (*url.Error)(nil); errors.As(err, &ue) {
		err = ue.Err
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		switch {
		case dns.IsNotFound:
			return fmt.Sprintf("unknown host name %q", dns.Name)
		case dns.IsTimeout:
			return fmt.Sprintf("looking up the host name %q timed out", dns.Name)
		}
		return fmt.Sprintf("can't look up the host name %q: %s", dns.Name, dns.Err)
	}
	if words := tlsTrouble(err); words != "" {
		return words
	}
	var late net.Error
	where := ""
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Addr != nil {
		where = " by " + op.Addr.String()
	}
	switch {
	case errors.Is(err, errRefused):
		return "connection refused" + where
	case errors.Is(err, errNoHost), errors.Is(err, errNoNetwork):
		return "no route to the host" + where
	case errors.Is(err, errReset), errors.Is(err, errGone):
		return "the connection was reset before the server answered"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the server answered"
	case errors.As(err, &late) && late.Timeout():
		return "no answer in time: " + err.Error()
	}
	if _, what, ok := strings.Cut(err.Error(), "malformed "); ok { // net/http has no type for this error
		return "the response is not HTTP: malformed " + what
	}
	return err.Error()
}

// tlsTrouble describes a TLS error, and returns "" for other errors.
func tlsTrouble(err error) string {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		unknown   x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		unchecked *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "TLS: the server doesn't speak TLS; use http instead of https in its URL"
	case errors.As(err, &unknown):
		return "TLS: the certificate is signed by an unknown authority"
	case errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &unchecked):
		return "TLS: the certificate is not valid: " + err.Error()
	case errors.As(err, &alert):
		return "TLS: refused by the server: " + alert.Error()
	}
	return ""
}

// EndOf describes how err ended a body from the network: the end, the reason in words, and the party. The
// error of a body that was read to its end is io.EOF. Toolscope is the party for deadlines and cancellation.
func EndOf(err error) (end End, why string, by Party) {
	switch {
	case err == io.EOF:
		return EndEOF, "", Provider
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return EndCut, "the time limit was exceeded", Toolscope
	case errors.Is(err, context.Canceled):
		return EndCut, "cancelled", Toolscope
	case errors.Is(err, io.ErrUnexpectedEOF):
		return EndCut, "the connection was closed before the body was complete", Network
	case errors.Is(err, errReset):
		return EndCut, "the connection was reset", Network
	}
	return EndCut, err.Error(), Network
}

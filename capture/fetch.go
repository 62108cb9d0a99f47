package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Fetch sends a request when the source is read and yields the records of that exchange: the request's
// head and body, the response's head, each chunk of its body as it was read, and its end. Times count
// from began. The request's body is read completely before it is sent.
//
// If the request gets no response, because of the name, the connection or TLS, that is the source's
// error. A response that breaks ends with EndCut and the reason, and so does one that ctx cancels, with
// or without a head.
//
// Redirects, time limits and content decoding are up to client.
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

// ownRequest is one exchange that toolscope itself makes.
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

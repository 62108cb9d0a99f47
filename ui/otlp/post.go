//go:build !nootlp

package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"toolscope/ui/report"
)

// protobuf is the type of what is posted, and of what comes back; from some that is JSON.
const (
	protobuf = "application/x-protobuf"
	jsonKind = "application/json"
)

// maxResponseBytes is how much of an answer is read: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
const maxResponseBytes = 4 << 20

// A httpSender posts spans to a collector. Where to and with which headers is settled when it is made: no
// variable that was meant for the program that is watched changes it.
type httpSender struct {
	url     string
	headers http.Header
	hide    func(string) string // takes the values of those out of a text
	version string              // of the program
	client  http.Client
}

func newHTTPSender(to *url.URL, headers http.Header, version string) *httpSender {
	return &httpSender{url: to.String(), headers: headers, hide: hideValues(headers), version: version, client: http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: defaultTimeout,
		// Headers are for the one who was named, and a POST that is sent elsewhere becomes a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// postSpans posts spans once.
func (p *httpSender) postSpans(ctx context.Context, spans []report.Span) collectorResponse {
	r, err := p.newRequest(ctx, spans)
	if err != nil {
		return collectorResponse{refused: true, why: "not sent: " + err.Error()}
	}
	res, err := p.client.Do(r)
	if err != nil {
		return collectorResponse{why: errorReason(err)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxResponseBytes))
	return readResponse(res, body, err, time.Now(), p.hide)
}

func (p *httpSender) newRequest(ctx context.Context, spans []report.Span) (*http.Request, error) {
	// On the wire it is an ExportTraceServiceRequest. The package of that one brings gRPC along.
	raw, err := proto.Marshal(&trace.TracesData{ResourceSpans: resourceSpans(spans, p.version)})
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(raw) // into memory
	_ = z.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, &zipped)
	if err != nil {
		return nil, err
	}
	for name, values := range p.headers {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "toolscope/"+p.version)
	r.Header.Set("Content-Type", protobuf)
	r.Header.Set("Content-Encoding", "gzip")
	return r, nil
}

// errorReason is why nobody answered, without what is known: the address, and that something was posted.
func errorReason(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

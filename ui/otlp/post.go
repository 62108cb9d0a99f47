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

// The media types of requests and responses. Requests are protobuf; some collectors respond with JSON.
const (
	protobuf = "application/x-protobuf"
	jsonKind = "application/json"
)

// maxResponseBytes is the maximum number of bytes read of a response: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
const maxResponseBytes = 4 << 20

// An httpSender posts spans to a collector. Its URL and its headers are fixed when it is created: it ignores
// variables that are meant for the watched program.
type httpSender struct {
	url     string
	headers http.Header
	hide    func(string) string // removes the values of the headers from a text
	version string              // of toolscope
	client  http.Client
}

func newHTTPSender(to *url.URL, headers http.Header, version string) *httpSender {
	return &httpSender{url: to.String(), headers: headers, hide: hideValues(headers), version: version, client: http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: defaultTimeout,
		// The headers are only for the configured collector, and a redirected POST can become a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// postSpans posts spans once, without a retry.
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
	// TracesData has the wire format of an ExportTraceServiceRequest, whose package would import gRPC.
	raw, err := proto.Marshal(&trace.TracesData{ResourceSpans: resourceSpans(spans, p.version)})
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(raw) // writing to memory can't fail
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

// errorReason returns why a request failed, without the method and the URL, which are known.
func errorReason(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

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

// mostAnswer is how much of an answer is read: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
const mostAnswer = 4 << 20

// A poster posts spans to a collector. Where to and with which headers is settled when it is made: no
// variable that was meant for the program that is watched changes it.
type poster struct {
	url     string
	headers http.Header
	hide    func(string) string // takes the values of those out of a text
	version string              // of the program
	client  http.Client
}

func newPoster(to *url.URL, headers http.Header, version string) *poster {
	return &poster{url: to.String(), headers: headers, hide: hideValues(headers), version: version, client: http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: patience,
		// Headers are for the one who was named, and a POST that is sent elsewhere becomes a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// post posts spans once.
func (p *poster) post(ctx context.Context, spans []report.Span) answer {
	r, err := p.request(ctx, spans)
	if err != nil {
		return answer{refused: true, why: "not sent: " + err.Error()}
	}
	res, err := p.client.Do(r)
	if err != nil {
		return answer{why: reason(err)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, mostAnswer))
	return answerOf(res, body, err, time.Now(), p.hide)
}

func (p *poster) request(ctx context.Context, spans []report.Span) (*http.Request, error) {
	// On the wire it is an ExportTraceServiceRequest. The package of that one brings gRPC along.
	raw, err := proto.Marshal(&trace.TracesData{ResourceSpans: request(spans, p.version)})
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

// reason is why nobody answered, without what is known: the address, and that something was posted.
func reason(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"toolscope/capture/hostguard"
)

// Serve answers on l until ctx is done or the proxy is closed. Then it cuts the open exchanges, closes l
// and returns nil. It refuses a listener that other machines can reach, unless the proxy is public.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	if !p.options.Public && !isLocal(l.Addr()) {
		l.Close()
		return fmt.Errorf("proxy: other machines can reach %s: listen on 127.0.0.1, or allow it and set a token", l.Addr())
	}
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(errClosed)
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: p.limits.HeaderTime,
		MaxHeaderBytes:    p.limits.HeaderBytes,
		IdleTimeout:       keepAlive,
		Protocols:         hostguard.Protocols(),
		ErrorLog:          p.log,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, headKey{}, c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				c.(*headWatch).expectHead()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(watchedListener{l}) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-p.closing.Done():
	}
	stop(errClosed) // before the connections close, so that this is the reason of the cuts
	server.Close()
	if err == nil {
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("proxy: listening ended: %w", err)
}

func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// A headWatch looks in the bytes of each request's head for a Content-Length next to a
// Transfer-Encoding. net/http removes it silently (RFC 9112 §6.3 allows that), and the forwarded request
// gets its own framing, so nothing can be smuggled. But a client that sends both is wrong or malicious.
//
// It reads the first bytes of the connection, and the first after each idle time, up to an empty line.
// It doesn't see a request that was sent before the previous response.
type headWatch struct {
	net.Conn
	mu     sync.Mutex
	inBody bool
	line   []byte // the beginning of an unfinished line
	length bool
}

const lengthField = "content-length:"

type headKey struct{}

type watchedListener struct{ net.Listener }

func (l watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headWatch{Conn: c}, nil
}

func (c *headWatch) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest, complete := p[:n], true; complete && !c.inBody; {
		var line []byte
		if line, rest, complete = bytes.Cut(rest, []byte("\n")); len(c.line) <= len(lengthField) {
			c.line = append(c.line, line[:min(len(line), len(lengthField)+1)]...)
		}
		if !complete {
			break
		}
		c.inBody = len(bytes.TrimSuffix(c.line, []byte("\r"))) == 0
		c.length = c.length || bytes.HasPrefix(bytes.ToLower(c.line), []byte(lengthField))
		c.line = c.line[:0]
	}
	return n, err
}

func (c *headWatch) expectHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inBody, c.length, c.line = false, false, c.line[:0]
}

// CloseWrite closes the write side. net/http ends a refusal with it; an upgraded connection uses it when
// one side is done.
func (c *headWatch) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// hadLength reports whether the head of the request had a Content-Length, also if net/http removed it.
func hadLength(r *http.Request) bool {
	c, ok := r.Context().Value(headKey{}).(*headWatch)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.length
}

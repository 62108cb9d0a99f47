package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/ui/display"
	"toolscope/ui/stats"
)

// metricsServer serves metrics about live traffic in Prometheus' text format.
type metricsServer struct {
	*stats.Metrics
	prices *price.Table
	in     *screenInbox // records from the network; nil if the source is a hub
	server *http.Server
	done   chan struct{} // closed when no more turns can be added
}

// startMetrics starts serving metrics at an address on this machine. It returns nil if the address is "". Other
// machines can't read the metrics, which contain costs and the names of models and tools.
func (a *app) startMetrics(address string, prices *price.Table) (*metricsServer, error) {
	if address == "" {
		return nil, nil
	}
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usageErrorf("--metrics %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:9464", address, err)
	}
	if !addr.IP.IsLoopback() {
		return nil, usageErrorf("--metrics %s: other machines could read the metrics\nuse 127.0.0.1:%d for this machine only", address, addr.Port)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w\nuse --metrics %s for a free port", address, err, net.JoinHostPort(addr.IP.String(), "0"))
	}
	m := &metricsServer{Metrics: stats.NewMetrics(versionText()), prices: prices, in: liveInbox(), done: make(chan struct{})}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /metrics", m.serveText)
	rules := proxy.GuardRules{Purpose: "this server serves only metrics"}
	m.server = &http.Server{
		Handler:           rules.Handler(pages, "toolscope --metrics", func(*proxy.Refusal) {}), // the response itself states the reason
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = m.server.Serve(listener) }() // returns an error only after the server is closed
	a.printNote("metrics: http://%s/metrics", listener.Addr())
	return m, nil
}

// serveText serves the current metrics.
func (m *metricsServer) serveText(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	var text strings.Builder
	for _, line := range m.Lines() {
		text.WriteString(display.Clean(line).String() + "\n")
	}
	_, _ = io.WriteString(w, text.String())
}

// countSource counts the turns of a source until it ends.
func (m *metricsServer) countSource(src capture.Source) {
	defer close(m.done)
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "", &statsCollector{set: m, prices: m.prices})
	_ = inspectSource(src, in, func() bool { return q.printEnded(false) == nil }) // the source's reader reports its errors
	_ = q.printEnded(true)
}

// countNetwork counts the turns in the records that are added to m.in.
func (m *metricsServer) countNetwork() {
	m.countSource(func(yield func(capture.Record, error) bool) {
		for r := range m.in.All {
			if !yield(r, nil) {
				return
			}
		}
	})
}

// close stops the server.
func (m *metricsServer) close() {
	if m == nil {
		return
	}
	m.server.Close()
	m.in.Close(nil)
}

// watchHub counts the turns that a hub receives after the given time. The returned function stops the count.
func (m *metricsServer) watchHub(hub *fleet.Hub, began time.Time) (end func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	view, err := hub.Watch(ctx, began)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	go m.countSource(view.Source(ctx))
	return func() {
		cancel()
		<-m.done
	}, nil
}

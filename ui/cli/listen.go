package cli

import (
	"fmt"
	"net"
	"strings"
)

// listenAt listens at an address. Without public, the address must be one of this machine only.
func listenAt(address string, public bool) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usageErrorf("--listen %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:8080", address, err)
	}
	if !public && !addr.IP.IsLoopback() {
		return nil, usageErrorf("--listen %s: other machines could connect\nallow that with --public, or use 127.0.0.1:%d for this machine only", address, addr.Port)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if isTaken(err) {
		return nil, fmt.Errorf("--listen %s: another program uses this port\nuse --listen %s for a free port", address, net.JoinHostPort(addr.IP.String(), "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// printRefused prints that a request was refused.
func (a *app) printRefused(status int, why string) { a.printNote("refused with %d: %s", status, why) }

// firstLine prints the first line of each message of net/http, without stacks.
type firstLine struct{ app *app }

// Write prints the first line of p.
func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.app.printNote("%s", line)
	return len(p), nil
}

package cli

import (
	"fmt"
	"net"
	"strings"
)

// listenAt listens at an address: without --public, where only this machine can connect.
func listenAt(address string, public bool) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usageErrorf("--listen %q: %w\nwanted is HOST:PORT, as in 127.0.0.1:8080", address, err)
	}
	if !public && !addr.IP.IsLoopback() {
		return nil, usageErrorf("--listen %s: other machines could connect there\n--public allows that; 127.0.0.1:%d is this machine only", address, addr.Port)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if isTaken(err) {
		return nil, fmt.Errorf("--listen %s: another program listens there\n--listen %s takes a port that is free", address, net.JoinHostPort(addr.IP.String(), "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// printRefused says that a request was not answered.
func (a *app) printRefused(status int, why string) { a.printNote("refused with %d: %s", status, why) }

// firstLine passes on what net/http complains of, without stacks.
type firstLine struct{ app *app }

func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.app.printNote("%s", line)
	return len(p), nil
}

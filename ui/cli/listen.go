package cli

import (
	"fmt"
	"net"
	"strings"
)

// listen listens at an address: without --public, where only this machine can connect.
func listen(address string, public bool) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usagef("--listen %q: %w\nwanted is HOST:PORT, as in 127.0.0.1:8080", address, err)
	}
	if !public && !addr.IP.IsLoopback() {
		return nil, usagef("--listen %s: other machines could connect there\n--public allows that; 127.0.0.1:%d is this machine only", address, addr.Port)
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

// refused says that a request was not answered.
func (a *app) refused(status int, why string) { a.notef("refused with %d: %s", status, why) }

// firstLine passes on what net/http complains of, without stacks.
type firstLine struct{ app *app }

func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.app.notef("%s", line)
	return len(p), nil
}

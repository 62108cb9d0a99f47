package cli

import (
	"net"
	"strings"
)

// listenAddress is where to listen: without --public, where only this machine
// can connect.
func listenAddress(listen string, public bool) (*net.TCPAddr, error) {
	addr, err := net.ResolveTCPAddr("tcp", listen)
	if err != nil {
		return nil, usagef("--listen %q: %w\nwanted is HOST:PORT, as in 127.0.0.1:8080", listen, err)
	}
	if !public && !addr.IP.IsLoopback() {
		return nil, usagef("--listen %s: other machines could connect there\n--public allows that; 127.0.0.1:%d is this machine only", listen, addr.Port)
	}
	return addr, nil
}

// firstLine passes on what net/http complains of, without stacks.
type firstLine struct{ app *app }

func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.app.say("toolscope: " + line)
	return len(p), nil
}

package cli

import (
	"net"
	"strings"
	"testing"
)

// TestProbe checks that the exit code shows whether a program listens at the address.
func TestProbe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ask := []string{"proxy", "--probe", "--listen", l.Addr().String()}
	if got := command(t, nil, ask...); got.code != 0 || got.stdout+got.stderr != "" {
		t.Error(got)
	}
	l.Close()
	if got := command(t, nil, ask...); got.code != 1 || !strings.Contains(got.stderr, "nothing listens at "+l.Addr().String()) {
		t.Error(got)
	}
}

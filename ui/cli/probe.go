package cli

import (
	"fmt"
	"net"
	"time"
)

// probeTime limits the connection to a proxy, which is on this machine.
const probeTime = time.Second

// probeAddress returns an error if nothing listens at an address. It is for container images without another
// program for health checks.
func probeAddress(address string) error {
	conn, err := net.DialTimeout("tcp", address, probeTime)
	if err != nil {
		return fmt.Errorf("--probe: nothing listens at %s", address)
	}
	return conn.Close()
}

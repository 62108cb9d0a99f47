package cli

import (
	"fmt"
	"net"
	"time"
)

// probeTime is how long a proxy may take to be connected to: it is on this machine.
const probeTime = time.Second

// probeAddress tells whether somebody listens at an address, for those who run the program where there is
// no other that could ask.
func probeAddress(address string) error {
	conn, err := net.DialTimeout("tcp", address, probeTime)
	if err != nil {
		return fmt.Errorf("--probe: nobody listens at %s", address)
	}
	return conn.Close()
}

//go:build !linux

package proxy

import "net/netip"

// hasOpenSocket returns false: this system has no readable table of sockets. A client that ends its side
// counts as gone.
func hasOpenSocket(from, to netip.AddrPort) bool { return false }

//go:build !windows

package capture

import "syscall"

// Error numbers of the network.
const (
	errRefused   = syscall.ECONNREFUSED
	errNoHost    = syscall.EHOSTUNREACH
	errNoNetwork = syscall.ENETUNREACH
	errReset     = syscall.ECONNRESET
	errGone      = syscall.EPIPE // the other end closed before we had written
)

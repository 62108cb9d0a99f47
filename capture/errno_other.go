//go:build !windows

package capture

import "syscall"

// What the network says went wrong.
const (
	errRefused   = syscall.ECONNREFUSED
	errNoHost    = syscall.EHOSTUNREACH
	errNoNetwork = syscall.ENETUNREACH
	errReset     = syscall.ECONNRESET
	errGone      = syscall.EPIPE // the other end closed before we had written
)

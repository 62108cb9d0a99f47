//go:build !windows

package capture

import "syscall"

// Network error numbers.
const (
	errRefused   = syscall.ECONNREFUSED
	errNoHost    = syscall.EHOSTUNREACH
	errNoNetwork = syscall.ENETUNREACH
	errReset     = syscall.ECONNRESET
	errGone      = syscall.EPIPE // the other end closed the connection before we wrote
)

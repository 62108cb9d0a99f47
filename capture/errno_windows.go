package capture

import "golang.org/x/sys/windows"

// Network error numbers. On Windows, they differ from those in package syscall.
const (
	errRefused   = windows.WSAECONNREFUSED
	errNoHost    = windows.WSAEHOSTUNREACH
	errNoNetwork = windows.WSAENETUNREACH
	errReset     = windows.WSAECONNRESET
	errGone      = windows.WSAECONNABORTED // the other end closed the connection before we wrote
)

package capture

import "golang.org/x/sys/windows"

// Error numbers of the network. On Windows they differ from those of package syscall.
const (
	errRefused   = windows.WSAECONNREFUSED
	errNoHost    = windows.WSAEHOSTUNREACH
	errNoNetwork = windows.WSAENETUNREACH
	errReset     = windows.WSAECONNRESET
	errGone      = windows.WSAECONNABORTED // the other end closed before we had written
)

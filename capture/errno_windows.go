package capture

import "golang.org/x/sys/windows"

// What the network says went wrong: here these are not the exchangeNumbers of package syscall.
const (
	errRefused   = windows.WSAECONNREFUSED
	errNoHost    = windows.WSAEHOSTUNREACH
	errNoNetwork = windows.WSAENETUNREACH
	errReset     = windows.WSAECONNRESET
	errGone      = windows.WSAECONNABORTED // the other end closed before we had written
)

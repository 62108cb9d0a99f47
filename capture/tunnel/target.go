package tunnel

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// splitTarget splits the target of a CONNECT request into the host, in lower case and without a final dot, and the
// port.
func splitTarget(target string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(target)
	if err != nil {
		return "", "", fmt.Errorf("the target %q of CONNECT is not HOST:PORT", target)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", "", fmt.Errorf("the target %q of CONNECT has no port between 1 and 65535", target)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); !isName(host) && (err != nil || ip.Zone() != "") {
		return "", "", fmt.Errorf("the target %q of CONNECT has no valid host", target)
	}
	return host, strconv.FormatUint(n, 10), nil
}

// isName reports whether a text can be the name of a host.
func isName(text string) bool {
	return text != "" && len(text) < 254 && !strings.Contains(text, "..") && text[0] != '.' && text[0] != '-' && text[len(text)-1] != '.' &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// CheckName returns an error if TLS to the host must not be decrypted.
func CheckName(name string) error {
	_, notAddress := netip.ParseAddr(name)
	suffix, _ := publicsuffix.PublicSuffix(name)
	switch {
	case notAddress == nil:
		return fmt.Errorf("%q is an address, not a name", name)
	case !isName(name):
		return fmt.Errorf("%q is not a host name in lower case", name)
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return fmt.Errorf("%q is this machine", name)
	case name == suffix:
		return fmt.Errorf("%q is a public suffix: the certificate would be valid for all names below it", name)
	}
	return nil
}

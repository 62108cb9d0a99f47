package capture

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// FailureText describes why a request got no response. Unlike the error's own text it never contains the
// request's URL, which may contain a key.
func FailureText(err error) string {
	if ue := (*url.Error)(nil); errors.As(err, &ue) {
		err = ue.Err
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return nameTrouble(dns)
	}
	if words := tlsTrouble(err); words != "" {
		return words
	}
	switch where := peerSuffix(err); {
	case errors.Is(err, errRefused):
		return "connection refused" + where
	case errors.Is(err, errNoHost), errors.Is(err, errNoNetwork):
		return "no route to the host" + where
	case errors.Is(err, errReset), errors.Is(err, errGone):
		return "the connection was reset before the server answered"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the server answered"
	case isTimeout(err):
		return "no answer in time: " + err.Error()
	}
	if _, what, ok := strings.Cut(err.Error(), "malformed "); ok { // net/http has no type for it
		return "the response is not HTTP: malformed " + what
	}
	return err.Error()
}

func nameTrouble(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return fmt.Sprintf("unknown host name %q", err.Name)
	case err.IsTimeout:
		return fmt.Sprintf("looking up the host name %q timed out", err.Name)
	}
	return fmt.Sprintf("can't look up the host name %q: %s", err.Name, err.Err)
}

// tlsTrouble describes an error of TLS, and returns "" for other errors.
func tlsTrouble(err error) string {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		unknown   x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		unchecked *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "TLS: the server doesn't speak TLS; is its URL http, not https?"
	case errors.As(err, &unknown):
		return "TLS: the certificate is signed by an unknown authority"
	case errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &unchecked):
		return "TLS: the certificate is not valid: " + err.Error()
	case errors.As(err, &alert):
		return "TLS: refused by the server: " + alert.Error()
	}
	return ""
}

// peerSuffix is " by ADDRESS" if the error has the address.
func peerSuffix(err error) string {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Addr != nil {
		return " by " + op.Addr.String()
	}
	return ""
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// EndOf returns how a body from the network ended with err, why in words, and by whom. The error of a
// body that was read to its end is io.EOF. Deadlines and cancelling are toolscope's own.
func EndOf(err error) (end End, why string, by Party) {
	switch {
	case err == io.EOF:
		return EndEOF, "", Provider
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return EndCut, "the time limit was exceeded", Toolscope
	case errors.Is(err, context.Canceled):
		return EndCut, "cancelled", Toolscope
	case errors.Is(err, io.ErrUnexpectedEOF):
		return EndCut, "the connection was closed before the body was complete", Network
	case errors.Is(err, errReset):
		return EndCut, "the connection was reset", Network
	}
	return EndCut, err.Error(), Network
}

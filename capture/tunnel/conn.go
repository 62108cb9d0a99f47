package tunnel

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// bufferedConn is a connection from which a reader has already read some bytes.
type bufferedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads the buffered bytes first.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// CloseWrite closes the sending side.
func (c *bufferedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// forwardBytes copies bytes in both directions until both sides have ended. It adds their number to count.
func forwardBytes(a, b net.Conn, count *atomic.Int64) {
	var both sync.WaitGroup
	var ended atomic.Bool // one direction has ended
	forward := func(to, from net.Conn) {
		_, err := io.Copy(&countingWriter{to, count}, &idleReader{from, &ended})
		half, ok := to.(interface{ CloseWrite() error })
		if err != nil || !ok || half.CloseWrite() != nil { // the other direction must end too
			to.Close()
			from.Close()
		}
		ended.Store(true)
		_ = to.SetReadDeadline(time.Now().Add(halfOpenTime))
	}
	both.Go(func() { forward(a, b) })
	forward(b, a)
	both.Wait()
}

// halfOpenTime is the maximum time without data on a connection after one of its directions has ended.
const halfOpenTime = 5 * time.Minute

// idleReader limits the time without data after the other direction has ended.
type idleReader struct {
	net.Conn
	ended *atomic.Bool
}

// Read reads bytes, and renews the limit.
func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	if err == nil && r.ended.Load() {
		_ = r.Conn.SetReadDeadline(time.Now().Add(halfOpenTime))
	}
	return n, err
}

// countingWriter counts the bytes that it writes.
type countingWriter struct {
	io.Writer
	count *atomic.Int64
}

// Write writes and counts bytes.
func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.count.Add(int64(n))
	return n, err
}

// decryptedConn is a connection whose TLS is decrypted. Its type is not *tls.Conn, so that net/http recognises HTTP/2
// by its first bytes.
type decryptedConn struct {
	*tls.Conn
	tunnel *Tunnel
	host   *hostCount
	used   atomic.Bool // the client has sent bytes of HTTP
	once   sync.Once
	ended  chan struct{}
}

// Read reads decrypted bytes.
func (c *decryptedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.used.Store(true)
	}
	return n, err
}

// Close closes the connection, and counts it if its client hasn't used it.
func (c *decryptedConn) Close() error {
	c.once.Do(func() {
		if !c.used.Load() {
			c.tunnel.countUnused(c.host)
		}
		close(c.ended)
	})
	return c.Conn.Close()
}

// connListener is a listener for connections that have already been accepted.
type connListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

// deliverConn passes a connection to Accept. It returns false if the listener is closed.
func (l *connListener) deliverConn(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.done:
		return false
	}
}

// Accept waits for a connection.
func (l *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close closes the listener, but not its connections.
func (l *connListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns an address on this machine.
func (l *connListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

const (
	certificateLife = 7 * 24 * time.Hour
	openingTime     = certificateLife - 12*time.Hour // after this time, no more connections are decrypted
	clockSkew       = time.Hour                      // the clocks of clients may be slow
)

// authority is a certificate authority that exists only in memory: its key is never written. Its certificate is valid
// only for the names of the decrypted hosts, not for other names and not for IP addresses.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate

	hostKey *ecdsa.PrivateKey // the key of all hosts' certificates
	mu      sync.Mutex
	hosts   map[string]*tls.Certificate
}

// newAuthority returns an authority for the given names. Its certificate is valid from an hour before the given time.
func newAuthority(names []string, now time.Time) (*authority, error) {
	everyIPv4, everyIPv6 := net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "toolscope, for this run only"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(certificateLife),
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		KeyUsage:                    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         names,
		ExcludedIPRanges:            []*net.IPNet{&everyIPv4, &everyIPv6},
	}
	a := &authority{hosts: map[string]*tls.Certificate{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if a.hostKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// encodePEM returns the authority's certificate as PEM.
func (a *authority) encodePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// certificateFor returns the certificate of a host. It creates each certificate only once.
func (a *authority) certificateFor(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.hosts[host]; c != nil {
		return c, nil
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.hostKey.Public(), a.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: a.hostKey}
	a.hosts[host] = c
	return c, nil
}

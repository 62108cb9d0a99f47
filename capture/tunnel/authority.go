package tunnel

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"sync"
	"time"
)

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

package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/capture/tunnel"
	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/providers/host"
	"toolscope/stream/count"
	"toolscope/ui"
)

// tlsFlags are the flags of commands that can decrypt TLS.
type tlsFlags struct {
	tls, tlsAll bool
	tlsHosts    []string
}

func (f *tlsFlags) add(to *pflag.FlagSet) {
	to.BoolVar(&f.tls, "tls", false, "")
	to.BoolVar(&f.tlsAll, "tls-all", false, "")
	to.StringArrayVar(&f.tlsHosts, "tls-host", nil, "")
}

// checkFlags returns an error if the flags can't be used as they are. The parameter others has the flags that can't
// be combined with --tls, and whether they are set.
func (f *tlsFlags) checkFlags(others map[string]bool) error {
	if !f.tls && (f.tlsAll || len(f.tlsHosts) > 0) {
		return usageErrorf("--tls-host, --tls-all: need --tls")
	}
	for _, flag := range slices.Sorted(maps.Keys(others)) {
		if f.tls && others[flag] {
			return usageErrorf("--tls: can't be combined with %s", flag)
		}
	}
	for _, name := range f.tlsHosts {
		if err := tunnel.CheckName(name); err != nil {
			return usageErrorf("--tls-host: %w\nuse one complete name, e.g. api.example.com", err)
		}
	}
	return nil
}

// tlsTunnel decrypts the TLS of one run.
type tlsTunnel struct {
	*tunnel.Tunnel
	filter *tunnel.Filter
	hosts  []string
	secret string
	ways   []ui.ClientSetup // the lines that make a shell's programs use the tunnel; nil for the client of run
}

// newTunnel returns the tunnel for the flags. Its proxy is set later.
func (f *tlsFlags) newTunnel(secret string, next func(capture.Record)) *tlsTunnel {
	t := &tlsTunnel{hosts: append(host.Names(os.Getenv), f.tlsHosts...), secret: cmp.Or(secret, rand.Text())}
	slices.Sort(t.hosts)
	t.hosts = slices.Compact(slices.DeleteFunc(t.hosts, func(name string) bool { return tunnel.CheckName(name) != nil }))
	t.filter = tunnel.NewFilter(tunnel.FilterRules{
		All: f.tlsAll, Hosts: f.tlsHosts,
		IsKnown: func(method string, u *url.URL) bool {
			switch conversation.PurposeOfPath(method, u.Path) {
			case conversation.Count, conversation.Models, conversation.Embeddings:
				return true
			case conversation.Telemetry:
				return false
			}
			return providers.IsModelPath(u.Path)
		},
		IsRequestTo: func(body []byte) bool { return providers.LooksLike(body) == providers.LooksLikeRequest },
	}, next)
	return t
}

// learnSecret makes the redactor replace the tunnel's secret, also in the form in which clients send it.
func (t *tlsTunnel) learnSecret(r *redact.Redactor) {
	r.Learn(t.secret, "token")
	r.Learn(base64.StdEncoding.EncodeToString([]byte("run:"+t.secret)), "token")
}

// serveTunnel serves CONNECT requests on a listener. The channel receives the error when serving ends.
func (r *runningProxy) serveTunnel(ctx context.Context, listener net.Listener) (<-chan error, error) {
	t, err := tunnel.New(tunnel.Options{Hosts: r.tunnel.hosts, Secret: r.tunnel.secret, Proxy: r.proxy, Note: func(text string) {
		r.app.printNote("%s", r.redactor.Text(text))
	}})
	if err != nil {
		return nil, err
	}
	r.tunnel.Tunnel = t
	r.refusals = func() []string { return r.tunnel.sumUse("", false).refused }
	served := make(chan error, 1)
	go func() { served <- t.Serve(ctx, listener) }()
	return served, nil
}

// startTunnel serves CONNECT requests, and prints the lines that make the programs of a shell use the tunnel. The
// function remove removes the certificate.
func (r *runningProxy) startTunnel(ctx context.Context, listener net.Listener, format string) (served <-chan error, remove func(), err error) {
	if served, err = r.serveTunnel(ctx, listener); err != nil {
		return nil, nil, err
	}
	vars, remove, err := tunnelVars(listener.Addr().String(), r.tunnel.secret, r.tunnel.Certificate(), os.Getenv)
	if err != nil {
		return nil, nil, fmt.Errorf("--tls: %w", err)
	}
	out := r.app.stdout
	if format == "jsonl" {
		var o jsonObject
		o.text("type", "proxy")
		o.text("url", r.url)
		out.writeObject(&o)
		out = r.app.stderr
	}
	var lines []string
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		line := "export " + name + "=" + shellWord(value)
		out.printLine("%s", line)
		lines = append(lines, line)
	}
	r.tunnel.ways = []ui.ClientSetup{{Client: "any program", Also: lines}}
	r.app.printNote("%s", r.tunnel.tunnelNote("every program that is started with these variables"))
	return served, remove, nil
}

// certificateFiles lists where systems keep the certificates of authorities as one file (crypto/x509, root_linux.go and
// root_bsd.go).
var certificateFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem", "/usr/local/share/certs/ca-root-nss.crt",
}

// These variables name a file of certificates. Programs that read one of the first two add the file's certificates to
// their own. Programs that read one of the others use only the certificates in the file.
var (
	addingVariables    = []string{"NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE"}
	replacingVariables = []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"}
)

// canReplace reports whether this system keeps the certificates of authorities as a file.
var canReplace = runtime.GOOS != "darwin" && runtime.GOOS != "windows"

// tunnelVars returns the variables that make a program use a tunnel at the given address and trust its certificate. It
// writes the certificate to files. The function remove removes them.
func tunnelVars(address, secret string, certificate []byte, env func(string) string) (vars []string, remove func(), err error) {
	folder, err := makeRunFolder()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			folder.removeFolder()
		}
	}()
	via := "http://run:" + secret + "@" + address
	direct := strings.Trim(cmp.Or(env("NO_PROXY"), env("no_proxy"))+",127.0.0.1,localhost,::1", ",")
	vars = []string{"HTTPS_PROXY=" + via, "https_proxy=" + via, "NO_PROXY=" + direct, "no_proxy=" + direct, "NODE_USE_ENV_PROXY=1"}
	files := map[string]string{} // paths of the written files, by the file that each one extends
	set := func(variable, extended string) error {
		path, ok := files[extended]
		if !ok {
			var text []byte
			if extended != "" {
				if text, err = readCertificates(extended); err != nil {
					return fmt.Errorf("%s=%q: %w", variable, extended, err)
				}
			}
			if path, err = folder.writeFile(fmt.Sprintf("certificates-%d.pem", len(files)+1), append(text, certificate...)); err != nil {
				return err
			}
			files[extended] = path
		}
		vars = append(vars, variable+"="+path)
		return nil
	}
	for _, name := range addingVariables {
		if err := set(name, env(name)); err != nil {
			return nil, nil, err
		}
	}
	if !canReplace {
		return vars, folder.removeFolder, nil
	}
	system := ""
	if at := slices.IndexFunc(certificateFiles, func(path string) bool { _, err := os.Stat(path); return err == nil }); at >= 0 {
		system = certificateFiles[at]
	}
	for _, name := range replacingVariables {
		if own := cmp.Or(env(name), env("SSL_CERT_FILE"), system); own != "" {
			if err := set(name, own); err != nil {
				return nil, nil, err
			}
		}
	}
	return vars, folder.removeFolder, nil
}

// maxCertificates is the maximum size of a file with certificates.
const maxCertificates = 16 << 20

// readCertificates reads the certificates in a file. It skips everything else, because such a file may also contain a
// private key.
func readCertificates(path string) (certificates []byte, err error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxCertificates) {
		err = errors.New("not a file with certificates")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err = capture.WithoutPath(err); err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return certificates, nil
		}
		if block.Type == "CERTIFICATE" || block.Type == "TRUSTED CERTIFICATE" {
			certificates = append(certificates, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
}

// useTunnel sets the variables that send the command's requests through the tunnel.
func (o *clientLaunch) useTunnel(address string, t *tlsTunnel) error {
	vars, remove, err := tunnelVars(address, t.secret, t.Certificate(), o.env)
	if err != nil {
		return fmt.Errorf("run: --tls: %w", err)
	}
	o.removes = append(o.removes, remove)
	o.vars = append(o.vars, vars...)
	if o.point != nil {
		for _, v := range o.point.Tunnel {
			o.setVar(v)
		}
	}
	return nil
}

// tunnelNote says how a client's requests are read.
func (t *tlsTunnel) tunnelNote(client string) string {
	return fmt.Sprintf("%s uses a tunnel: TLS to %s is decrypted with this run's certificate; other TLS is not decrypted", client, count.Of(len(t.hosts), "host"))
}

// refusalTime is the time after which unused connections show that a client doesn't trust the certificate, while the
// client still runs.
const refusalTime = 10 * time.Second

// minUnused is the number of unused connections that show that a client doesn't trust the certificate. A client may
// close one connection without a reason.
const minUnused = 2

// tunnelUse sums up the connections through a tunnel.
type tunnelUse struct {
	opened, other, refused []string
	refusals               []string // complete sentences about hosts at which the client refused the certificate
	closed                 int      // number of hosts that were not decrypted
	bytes                  int64
	largest                []tunnel.HostStats // hosts that were not decrypted, the largest first
	any                    bool
}

// sumUse returns the use of the tunnel so far. The parameter ended is true if the client has ended.
func (t *tlsTunnel) sumUse(client string, ended bool) (u tunnelUse) {
	for _, h := range t.Hosts() {
		u.any = true
		if !h.Decrypted {
			u.closed++
			u.bytes += h.Bytes
			u.largest = append(u.largest, h)
			continue
		}
		n := t.filter.Count(h.Host)
		if n.Passed > 0 {
			u.opened = append(u.opened, fmt.Sprintf("%s (%s)", h.Host, count.Of(n.Passed, "request")))
		}
		if n.Dropped > 0 {
			u.other = append(u.other, fmt.Sprintf("%s to %s, not recorded", count.Of(n.Dropped, "other request"), h.Host))
		}
		if h.Unused >= minUnused && n.Passed+n.Dropped == 0 && (ended || time.Since(h.FirstUnused) > refusalTime) {
			u.refused = append(u.refused, h.Host)
			u.refusals = append(u.refusals, fmt.Sprintf("%s does not trust this run's certificate: %s to %s were closed before a request arrived\n'toolscope help clients' shows setups without --tls", client, count.Of(h.Unused, "connection"), h.Host))
		}
	}
	slices.SortStableFunc(u.largest, func(a, b tunnel.HostStats) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return u
}

// directNote says that the user's NO_PROXY may be the reason why no connection used the tunnel.
func (t *tlsTunnel) directNote() string {
	if own := cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy")); own != "" {
		return "; NO_PROXY makes clients go directly to " + own
	}
	return ""
}

// noteLeftProcesses prints a note about processes that the client started and that are still running. It finds them
// by the secret in their variables, because some, such as daemons, leave the client's process group. If others is
// true, toolscope knows that processes remain in the group.
func (r *runningProxy) noteLeftProcesses(client string, others bool) {
	var names []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // only on Linux
	for _, file := range files {
		if variables, err := os.ReadFile(file); err == nil && bytes.Contains(variables, []byte(r.tunnel.secret)) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
			names = append(names, fmt.Sprintf("%s (process %s)", bytes.TrimSpace(name), filepath.Base(filepath.Dir(file))))
		}
	}
	words := "processes that %s started are still running, but have no network, because the tunnel has ended"
	switch {
	case len(names) > 0:
		r.app.printNote(words+": %s", client, strings.Join(names[:min(maxSuggested, len(names))], ", "))
	case others:
		r.app.printNote(words, client)
	}
}

// maxSuggested is the maximum number of undecrypted hosts that are suggested for --tls-host, and of remaining
// processes that are named.
const maxSuggested = 3

// printTunnelUse prints the traffic through the tunnel after the client has ended. If no request to a model was seen,
// it says why.
func (r *runningProxy) printTunnelUse(client, words string, interrupted bool) {
	a, u := r.app, r.tunnel.sumUse(client, true)
	if len(u.opened) > 0 {
		words += "; decrypted: " + strings.Join(u.opened, ", ")
	}
	if u.closed > 0 {
		words += fmt.Sprintf("; not decrypted: %s, %s", count.Of(u.closed, "host"), sizeText(u.bytes))
	}
	a.printNote("%s", words)
	for _, text := range u.other {
		a.printNote("%s", text)
	}
	switch {
	case interrupted:
	case len(u.refusals) > 0:
		for _, text := range u.refusals {
			a.printError(fmt.Errorf("%s", text))
		}
	case !u.any:
		a.printNote("no connection arrived: %s didn't use the proxy in HTTPS_PROXY. Node 20, Java and the AWS SDK for JavaScript ignore this variable%s", client, r.tunnel.directNote())
	case len(u.opened)+len(u.other) == 0 && u.closed > 0:
		var hosts, flags []string
		for _, h := range u.largest[:min(maxSuggested, len(u.largest))] {
			hosts = append(hosts, fmt.Sprintf("%s (%s)", h.Host, count.Of(h.Connections, "connection")))
			flags = append(flags, "--tls-host "+h.Host)
		}
		a.printNote("%s connected to hosts that are not decrypted: %s. Add %s to decrypt %s", client, strings.Join(hosts, ", "), strings.Join(flags, " "), map[bool]string{true: "it", false: "them"}[len(hosts) == 1])
	}
}

//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture/tunnel"
)

// tlsNetwork stands for all servers of the internet. It returns the variables with which a program reaches it: a
// proxy for CONNECT, and the certificates that the servers' clients trust.
func tlsNetwork(t *testing.T, answer http.HandlerFunc) (env []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
		DNSNames: []string{"api.anthropic.com", "api.openai.com", "other.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewUnstartedServer(answer)
	upstream.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				reader := bufio.NewReader(client)
				if r, err := http.ReadRequest(reader); err != nil || r.Method != http.MethodConnect {
					return
				}
				server, err := net.Dial("tcp", upstream.Listener.Addr().String())
				if err != nil {
					return
				}
				defer server.Close()
				fmt.Fprint(client, "HTTP/1.1 200 OK\r\n\r\n")
				go io.Copy(server, reader)
				io.Copy(client, server)
			}()
		}
	}()
	roots := saved(t, "roots.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	cleared := []string{"NODE_EXTRA_CA_CERTS=", "CODEX_CA_CERTIFICATE=", "REQUESTS_CA_BUNDLE=", "CURL_CA_BUNDLE=", "AWS_CA_BUNDLE=", "SSL_CERT_DIR=", "no_proxy="}
	return append(cleared, "HTTPS_PROXY=http://"+l.Addr().String(), "SSL_CERT_FILE="+roots, "NO_PROXY=", "ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x")
}

// runScript runs a shell script behind a tunnel.
func runScript(t *testing.T, env []string, script string, flags ...string) (stderr string, code int) {
	t.Helper()
	program := builtProgram(t)
	args := append(append([]string{"run", "--headless", "--tls"}, flags...), "--", "sh", "-c", script)
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stderr = &out
	cmd.Env = append(append(os.Environ(), env...), "TOOLSCOPE="+program, "XDG_RUNTIME_DIR="+t.TempDir())
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// TestRunTLS checks that a client's requests over TLS are recorded. It also checks the note about each reason why
// none are recorded.
func TestRunTLS(t *testing.T) {
	builtProgram(t)
	env := tlsNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			answers(events, anthropicAnswer)(w, r)
			return
		}
		fmt.Fprint(w, "{}")
	})
	dir := t.TempDir()
	daemon := "rm -f " + dir + "/started; setsid sh -c 'touch " + dir + "/started; while [ -e " + dir + "/started ]; do sleep 0.05; done' >/dev/null 2>&1 </dev/null & " +
		"while [ ! -e " + dir + "/started ]; do sleep 0.01; done; "
	ask := `"$TOOLSCOPE" connect anthropic/claude-x hi >/dev/null 2>&1; `
	for _, test := range []struct {
		script string
		flags  []string
		code   int
		want   []string
	}{
		{ask + "exit 7", nil, 7, []string{
			"sh uses a tunnel: TLS to ", " is decrypted with this run's certificate; other TLS is not decrypted",
			"1 turn, 1 call", "; decrypted: api.anthropic.com (1 request)",
		}},
		{"SSL_CERT_FILE=/dev/null; export SSL_CERT_FILE; (" + ask + ")& " + ask + "wait; exit 0", nil, 0, []string{
			"toolscope: sh does not trust this run's certificate: 2 connections to api.anthropic.com were closed before a request arrived",
		}},
		{"exit 0", nil, 0, []string{"no connection arrived: sh didn't use the proxy in HTTPS_PROXY"}},
		{daemon + "exit 0", nil, 0, []string{"processes that sh started are still running, but have no network, because the tunnel has ended: sh"}},
		{`"$TOOLSCOPE" connect openai-chat/x hi --base-url https://other.example/v1 >/dev/null 2>&1`, nil, -1, []string{
			"; not decrypted: 1 host, ", "sh connected to hosts that are not decrypted: other.example (1 connection). Add --tls-host other.example to decrypt it",
		}},
		{`"$TOOLSCOPE" connect openai-chat/x hi --base-url https://other.example/v1 >/dev/null 2>&1`, []string{"--tls-host", "other.example"}, -1, []string{"; decrypted: other.example (1 request)"}},
	} {
		record := filepath.Join(t.TempDir(), "a.tsc")
		stderr, code := runScript(t, env, test.script, append(test.flags, "--record", record)...)
		for _, want := range test.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s %q lacks %q:\n%s", test.script, test.flags, want, stderr)
			}
		}
		if test.code >= 0 && code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.script, code, test.code)
		}
		if capture, _ := os.ReadFile(record); bytes.Contains(capture, []byte("Proxy-Authorization")) {
			t.Errorf("%s: the secret's header was recorded", test.script)
		}
	}
}

// TestRunTLSVariables checks the variables of the client: the user's own certificates are kept, and no variable
// changes the address of a provider.
func TestRunTLSVariables(t *testing.T) {
	builtProgram(t)
	env := tlsNetwork(t, func(http.ResponseWriter, *http.Request) {})
	file := filepath.Join(t.TempDir(), "seen")
	block := func(kind string) string { return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte{1}})) }
	own := saved(t, "own.pem", "text\n"+block("CERTIFICATE")+block("PRIVATE KEY"))
	env = append(env, "CODEX_CA_CERTIFICATE="+own, "NO_PROXY=intern.example", "ANTHROPIC_BASE_URL=")
	runScript(t, env, `{ env; echo; grep -c BEGIN "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS"; grep PRIVATE "$CODEX_CA_CERTIFICATE"; echo codex:$(grep -c BEGIN "$CODEX_CA_CERTIFICATE"); ls -l "$SSL_CERT_FILE"; } >`+file, "--no-record")
	seen, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nHTTPS_PROXY=http://run:", "\nhttps_proxy=http://run:", "\nNO_PROXY=intern.example,127.0.0.1,localhost,::1\n", "\nNODE_USE_ENV_PROXY=1\n",
		"\ncodex:2\n", ".pem:2\n", ".pem:1\n", "-rw------- ", "\nANTHROPIC_BASE_URL=\n",
	} {
		if !strings.Contains("\n"+string(seen), want) {
			t.Errorf("%q is missing:\n%s", want, seen)
		}
	}
	for _, no := range []string{"\nALL_PROXY=", "\nHTTP_PROXY=", "\nNODE_TLS_REJECT_UNAUTHORIZED=", "\nOPENAI_BASE_URL=", "PRIVATE"} {
		if strings.Contains(string(seen), no) {
			t.Errorf("%q is set", no)
		}
	}
}

// TestTunnelVariable checks that a client gets the variable that only tunnels need, unless the user has set it.
func TestTunnelVariable(t *testing.T) {
	made, err := tunnel.New(tunnel.Options{Secret: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for own, want := range map[string]bool{"": true, "hub": false} {
		o := newClientLaunch([]string{"cline", "do it"}, func(name string) string { return map[string]string{"CLINE_SESSION_BACKEND_MODE": own}[name] })
		if err := o.useTunnel("127.0.0.1:1", &tlsTunnel{Tunnel: made, secret: "s"}); err != nil {
			t.Fatal(err)
		}
		o.removeFiles()
		if got := slices.Contains(o.vars, "CLINE_SESSION_BACKEND_MODE=local"); got != want {
			t.Errorf("the user's value is %q: %q", own, o.vars)
		}
	}
}

// TestRunTLSKilled checks that no private key is left on the disk when toolscope is killed, and that the next run
// removes the folder of the killed one.
func TestRunTLSKilled(t *testing.T) {
	program, dir := builtProgram(t), t.TempDir()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	cmd := exec.Command(program, "run", "--headless", "--tls", "--no-record", "--", "sh", "-c", "echo ready; read x")
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
			text, err := os.ReadFile(path)
			if err != nil || bytes.Contains(text, []byte("PRIVATE")) || !bytes.Contains(text, []byte("BEGIN CERTIFICATE")) {
				t.Errorf("%s: %v\n%s", path, err, text)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
	again := exec.Command(program, "run", "--headless", "--tls", "--no-record", "--", "true")
	again.Env = cmd.Env
	if text, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestProxyTLS checks that a standing tunnel prints the variables for its clients, and records their requests.
func TestProxyTLS(t *testing.T) {
	program := builtProgram(t)
	env := tlsNetwork(t, answers(events, anthropicAnswer))
	record := filepath.Join(t.TempDir(), "a.tsc")
	cmd := exec.Command(program, "proxy", "--headless", "--tls", "--record", record)
	cmd.Env = append(append(os.Environ(), env...), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader, exports := bufio.NewReader(out), ""
	for !strings.Contains(exports, "AWS_CA_BUNDLE") {
		line, err := reader.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "export ") {
			t.Fatalf("%q, %v", line, err)
		}
		exports += line
	}
	client := exec.Command("sh", "-c", exports+`"$TOOLSCOPE" connect anthropic/claude-x hi`)
	client.Env = append(append(os.Environ(), env...), "TOOLSCOPE="+program)
	if text, err := client.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(reader)
	_ = cmd.Wait() // the code is that of the signal
	if !strings.Contains(string(rest), "get_weather") {
		t.Errorf("%s", rest)
	}
}

// TestTLSUsage checks that wrong uses of the flags for TLS are refused.
func TestTLSUsage(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--tls-host", "a.example.com", "--", "true"}, {"run", "--tls", "--tls-host", "*.example.com", "--", "true"},
		{"run", "--tls", "--tls-host", "co.uk", "--", "true"}, {"run", "--tls", "--to", "https://a.example", "--", "true"},
		{"proxy", "--tls", "--public", "--token", "long-enough"}, {"proxy", "--tls-all"},
	} {
		if got := command(t, nil, args...); got.code != 2 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

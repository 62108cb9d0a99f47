package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestUnencryptedHTTP2 checks that a client that begins with HTTP/2, without TLS and without negotiation, is served
// like any other client: the body is unchanged, the rules apply, and the exchange is recorded.
func TestUnencryptedHTTP2(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Path", r.URL.Path)
		for _, part := range strings.SplitAfter(string(body), " ") {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
	})
	d := stand(t, up, nil)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	defer client.CloseIdleConnections()
	for range 2 { // the second request is on the same connection
		resp, err := client.Post("http://"+d.addr+"/v1/x", "text/plain", strings.NewReader("one two three"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || resp.Proto != "HTTP/2.0" || resp.StatusCode != 200 || string(body) != "one two three" || resp.Header.Get("X-Path") != "/v1/x" {
			t.Errorf("%s %d %q, %v", resp.Proto, resp.StatusCode, body, err)
		}
	}
	req, _ := http.NewRequest("GET", "http://"+d.addr+"/", nil)
	req.Host = "rebound.test"
	resp, err := client.Do(req)
	if err != nil || resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("%v, %v", resp, err)
	}
}

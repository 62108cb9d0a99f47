package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRoutes(t *testing.T) {
	routes, err := newRoutes([]Route{
		{Prefix: "/", Upstream: upstreamAt(t, "https://default.example/")},
		{Prefix: "/openai", Upstream: upstreamAt(t, "https://api.example/v1/")},
		{Prefix: "/openai/azure/", Upstream: upstreamAt(t, "http://azure.example:8080")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ in, want string }{
		{"/openai/chat", "https://api.example/v1/chat"},
		{"/openai", "https://api.example/v1"},
		{"/openai/", "https://api.example/v1/"},
		{"/openairesponses", "https://default.example/openairesponses"},
		{"/openai/azure/x?api-version=1", "http://azure.example:8080/x?api-version=1"},
		{"/openai/azure", "http://azure.example:8080/"},
		{"/openai/../x", "https://api.example/v1/../x"},
		{"/", "https://default.example/"},
		{"//double//slash/", "https://default.example//double//slash/"},
		{"/model/a%3Ab%2Fc:converse?a=%20;b&c=%zz", "https://default.example/model/a%3Ab%2Fc:converse?a=%20;b&c=%zz"},
		{"/a%2Fb/{c}?{d}", "https://default.example/a%2Fb/{c}?{d}"},
		{"/x?", "https://default.example/x?"},
	} {
		u, err := url.ParseRequestURI(test.in)
		if err != nil {
			t.Fatal(err)
		}
		path, query, _ := strings.Cut(test.want[strings.Index(test.want, ".example")+len(".example"):], "?")
		got := findRoute(routes, u, rawPath(&http.Request{RequestURI: test.in, URL: u}), nil)
		if got == nil || got.text != test.want {
			t.Errorf("%s: %v, want %s", test.in, got, test.want)
		} else if sent := got.url.RequestURI(); strings.TrimPrefix(path, ":8080") != strings.TrimSuffix(sent, "?"+query) {
			t.Errorf("%s: sent as %s", test.in, sent)
		}
	}
	// A path that looks like a URL without a scheme must never name the host.
	for _, in := range []string{"//evil.example/{a}", "//evil.example/a%2Fb", "//evil.example:80/\"", "///evil.example/{a}"} {
		u := &url.URL{Path: in}
		got := findRoute(routes, u, in, nil)
		if got == nil || got.url.Host != "default.example" {
			t.Errorf("%s: %v", in, got)
		} else if sent := got.url.RequestURI(); !strings.HasPrefix(sent, "//evil.example") && !strings.HasPrefix(sent, "///") {
			t.Errorf("%s: sent as %s", in, sent)
		}
	}
	if got := findRoute(routes[:1], &url.URL{}, "*", nil); got != nil {
		t.Error("* goes to", got)
	}
	for _, bad := range [][]Route{
		{{Prefix: "openai", Upstream: upstreamAt(t, "https://a.example")}},
		{{Prefix: "/a b?", Upstream: upstreamAt(t, "https://a.example")}},
		{{Prefix: "/a", Upstream: upstreamAt(t, "https://a.example")}, {Prefix: "/a/", Upstream: upstreamAt(t, "https://b.example")}},
		{{Prefix: "/"}},
		{{Prefix: "/", Upstream: upstreamAt(t, "a.example")}},
		{{Prefix: "/", Upstream: upstreamAt(t, "ftp://a.example")}},
		{{Prefix: "/", Upstream: upstreamAt(t, "https://key@a.example")}},
		{{Prefix: "/", Upstream: upstreamAt(t, "https://a.example?key=1")}},
		{{Prefix: "/", Upstream: upstreamAt(t, "https://:443")}},
	} {
		if _, err := newRoutes(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestHostStays checks that the upstream gets the request under the upstream's own name, whatever the path looks
// like.
func TestHostStays(t *testing.T) {
	lines := make(chan string, 1)
	up := upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
		line, _ := r.ReadString('\n')
		host, _ := r.ReadString('\n')
		lines <- line + host
		io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	})
	d := stand(t, up, nil)
	_, r := d.raw("GET //evil.example/{a} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if _, err := io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; !strings.HasPrefix(got, "GET //evil.example/") || !strings.Contains(got, "Host: "+strings.TrimPrefix(up, "http://")) {
		t.Errorf("the upstream was sent %q", got)
	}
}

//go:build !nohub

package fleet

import (
	"net"
	"testing"
)

// authExample is that of the page of help: a host that sends, and who views.
const authExample = `
authorization {
  users = [
    { user: h1, password: h1-secret, permissions: {
        publish: ["toolscope.v1.*.*.h1.>", "$JS.API.DIRECT.GET.TOOLSCOPE.toolscope.v1.b.*.h1.>", "$JS.API.STREAM.INFO.TOOLSCOPE"]
        subscribe: ["_INBOX.>"] } }
    { user: viewer, password: viewer-secret, permissions: {
        publish: ["$JS.API.STREAM.INFO.TOOLSCOPE", "$JS.API.CONSUMER.*.TOOLSCOPE", "$JS.API.CONSUMER.*.TOOLSCOPE.>", "$JS.API.DIRECT.GET.TOOLSCOPE", "$JS.API.STREAM.MSG.GET.TOOLSCOPE"]
        subscribe: ["_INBOX.>", "toolscope.>"] } }
  ]
}
`

// deafServer takes connections and never answers.
func deafServer(t *testing.T) (address string, stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	return l.Addr().String(), func() { l.Close() }
}

package mock

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"toolscope/capture/fault"
)

// ownHeaders are the headers of a connection (RFC 9110, section 7.6.1) and those that net/http
// writes.
var ownHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Date",
}

// copyHeader copies the recorded headers of a response.
func copyHeader(to http.Header, x *Exchange) {
	skip := slices.Clone(ownHeaders)
	for _, named := range x.Header.Values("Connection") {
		for name := range strings.SplitSeq(named, ",") {
			skip = append(skip, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	if !x.isEncoded() {
		skip = append(skip, "Content-Encoding")
	}
	for name, values := range x.Header {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(skip, name) {
			to[name] = append(to[name], values...)
		}
	}
	if to.Get("Content-Type") == "" && len(x.Chunks) > 0 {
		to.Set("Content-Type", fault.ContentType(x.startBytes(), x.isEncoded()))
	}
}

// isEncoded reports whether the bytes still have the content encoding that the header names. The
// program that recorded them may have decoded them: curl --compressed does, and keeps the header.
func (x *Exchange) isEncoded() bool {
	switch coding := strings.ToLower(x.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		return false
	case "gzip", "x-gzip": // RFC 1952, section 2.3.1
		return bytes.HasPrefix(x.startBytes(), []byte("\x1f\x8b"))
	case "zstd": // RFC 8878, section 3.1.1
		return bytes.HasPrefix(x.startBytes(), []byte("\x28\xb5\x2f\xfd"))
	}
	return !fault.IsText(x.startBytes()) // other encodings have no magic number
}

// startSize is how many bytes are enough to recognise a body.
const startSize = 64 << 10

// startBytes returns the first bytes of the body.
func (x *Exchange) startBytes() []byte { return x.firstBytes(startSize) }

package cli

import (
	"bytes"
	"net/http"
	"strings"

	"toolscope/capture"
)

// hidden stands where a secret was.
const hidden = "[redacted]"

// credentials are headers whose values nobody may see; so are those that end as
// endings do.
var (
	credentials = map[string]bool{
		"authorization": true, "proxy-authorization": true, "cookie": true, "set-cookie": true,
		"ocp-apim-subscription-key": true, "openai-organization": true, "openai-project": true,
	}
	endings = []string{"-key", "-token", "-secret", "-signature"}
)

func isCredential(header string) bool {
	header = strings.ToLower(header)
	for _, end := range endings {
		if strings.HasSuffix(header, end) {
			return true
		}
	}
	return credentials[header]
}

// cover takes the secrets of one request out of its records. One that comes in
// pieces is found, too: what may be its beginning waits for the next record.
type cover struct {
	secrets []string
	held    []byte
}

func (c *cover) record(r capture.Record) capture.Record {
	if r.Head != nil {
		head := *r.Head
		head.Header = covered(head.Header)
		r.Head = &head
	}
	if r.Side == capture.Response {
		data := append(c.held, r.Data...)
		c.held = nil
		for _, s := range c.secrets {
			if s != "" {
				data = bytes.ReplaceAll(data, []byte(s), []byte(hidden))
			}
		}
		if r.End == "" {
			n := c.begun(data)
			data, c.held = data[:len(data)-n:len(data)-n], bytes.Clone(data[len(data)-n:])
		}
		r.Data = data
	}
	return r
}

// begun is how many bytes at the end may be the beginning of a secret.
func (c *cover) begun(data []byte) (most int) {
	for _, s := range c.secrets {
		for n := min(len(s)-1, len(data)); n > most; n-- {
			if bytes.HasSuffix(data, []byte(s[:n])) {
				most = n
			}
		}
	}
	return most
}

func covered(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		for i := range values {
			if isCredential(name) {
				values[i] = hidden
			}
		}
	}
	return out
}

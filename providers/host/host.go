// Package host knows where models are served: the addresses of known hosts, the protocol each
// speaks, its keys, and where it departs from its protocol. It makes the requests to them.
//
//	tools, history, prompt ─▶ dialect.Request ─▶ Build(host) ─▶ URL, body
//	captured request ─▶ Resend(host) ─▶ dialect.Request, and what it loses on the way
//
// A host is who answers. Its target is the dialect.Target that its protocol's history goes to. Its
// address is the URL that paths are put behind, which its own clients call the base URL.
//
// Nothing here does I/O: the environment comes in as a function, and others send the requests. Keys
// are looked up in the environment and nowhere else. Google AI Studio is read from captures and
// never asked.
package host

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
)

// A Host is one place that answers requests.
type Host struct {
	Name, Title string
	Target      string // name of the dialect.Target
	Quirks      protocol.HostFeatures

	Address    string // https://api.example.com/v1, as its own clients have it; {region} stands for a region; "" when it has to be given
	Variable   string // of the environment, which names another address; "" for none
	PathSuffix string // what is put behind the address that Variable names

	Version        string   // what its own clients put behind the address, before all else; "" for none
	VersionedPaths []string // first parts of the paths that stand under that: some clients leave Version out

	Keys          []APIKey // the first that the environment has is used
	Keyless       bool     // answers without a key
	Header        []HeaderPair
	Extra         []HeaderPair // headers whose value is in the environment: the name of the variable, where it is set
	SessionHeader string       // header that has the requests of a session answered where their beginning is cached; "" for none

	Model  string   // asked for where none is named; "" when it has to be given
	Models []string // how names of its models begin, as far as that tells
}

// A HeaderPair is a header with its value.
type HeaderPair struct{ Name, Value string }

// A APIKey is a variable of the environment that holds a secret, and the header it goes into.
type APIKey struct {
	Variable string
	Header   string
	Scheme   string // word before it: "Bearer", or ""
}

// HeaderFor is the header with the secret.
func (k APIKey) HeaderFor(secret string) HeaderPair {
	if k.Scheme != "" {
		secret = k.Scheme + " " + secret
	}
	return HeaderPair{k.Header, secret}
}

// Find is the host of that name; the error lists the names there are.
func Find(name string) (*Host, error) {
	if name == "aistudio" {
		//lint:ignore ST1005 it begins with a name
		return nil, fmt.Errorf("Google AI Studio is read from captures, never asked; gemini is Google's public API")
	}
	return protocol.FindNamed("provider", name, All, func(h *Host) string { return h.Name })
}

// For is the host that a dialect is named after, the first of the table that speaks it; nil if it
// has none.
func For(dialectName string) *Host {
	for i := range All {
		if t := All[i].HistoryTarget(); t != nil && t.Protocol == dialectName {
			return &All[i]
		}
	}
	return nil
}

// HistoryTarget is the target of the host's protocol.
func (h *Host) HistoryTarget() *protocol.Target {
	t, err := providers.FindTarget(h.Target)
	if err != nil {
		return nil // cannot be: a test looks for all of them
	}
	return t
}

// Has reports whether a model's name is one of this host's, by how it begins.
func (h *Host) Has(model string) bool {
	for _, prefix := range h.Models {
		if strings.HasPrefix(strings.ToLower(model), prefix) {
			return true
		}
	}
	return false
}

// Build is the request as it is sent to the host at an address.
func (h *Host) Build(r protocol.Request, address string) (url string, body []byte) {
	path, body := h.HistoryTarget().BuildRequest(r, h.Quirks)
	return Join(address, path), body
}

// Headers are those of a request, but for its key.
func (h *Host) Headers(session string, getenv func(string) string) []HeaderPair {
	all := append([]HeaderPair{{"Content-Type", "application/json"}}, h.Header...)
	for _, p := range h.Extra {
		if value := getenv(p.Value); value != "" {
			all = append(all, HeaderPair{p.Name, value})
		}
	}
	if h.SessionHeader != "" && session != "" {
		all = append(all, HeaderPair{h.SessionHeader, session})
	}
	return all
}

// Key is the first of the host's keys that the environment has, as a header. The error names the
// variables; there is none where a key is not needed, and then the header has no name.
func (h *Host) Key(getenv func(string) string) (HeaderPair, error) {
	var looked []string
	for _, k := range h.Keys {
		looked = append(looked, k.Variable)
		secret := strings.TrimSpace(getenv(k.Variable))
		if secret == "" {
			continue
		}
		for _, c := range []byte(secret) {
			if c < ' ' || c > '~' {
				return HeaderPair{}, fmt.Errorf("%s: the value of %s has a character that no header can carry", h.Name, k.Variable)
			}
		}
		return k.HeaderFor(secret), nil
	}
	if h.Keyless {
		return HeaderPair{}, nil
	}
	return HeaderPair{}, fmt.Errorf("%s: no key in the environment\nlooked for %s", h.Name, strings.Join(looked, ", then "))
}

// Package host describes the known hosts of models: their addresses, protocols and keys, and how they
// differ from their protocols. It builds the requests to them.
//
//	tools, history, prompt ─▶ protocol.Request ─▶ Build(host) ─▶ URL, body
//	captured request ─▶ Resend(host) ─▶ protocol.Request, and its losses
//
// A host is a server that answers requests. Its target is the protocol.Target for histories of its
// protocol. Its address is the URL to which paths are appended; its own clients call it the base URL.
//
// The package does no I/O: the environment is passed as a function, and others send the requests. Keys
// are read only from the environment. Google AI Studio is read from captures and never called.
package host

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
)

// A Host is one server that answers requests.
type Host struct {
	Name, Title string
	Target      string // name of the protocol.Target
	Quirks      protocol.HostFeatures

	Address    string // https://api.example.com/v1, as its own clients use it; {region} is a placeholder; "" if the user must set it
	Variable   string // environment variable with another address; "" for none
	PathSuffix string // appended to the address in Variable

	Version        string   // first path element that its own clients append to the address; "" for none
	VersionedPaths []string // first elements of the paths under Version, which some clients omit

	Keys          []APIKey // the first one that the environment contains is used
	Keyless       bool     // answers without a key
	Header        []HeaderPair
	Extra         []HeaderPair // headers that are sent if a variable is set; Value is its name
	SessionHeader string       // header that routes the requests of a session to their cached beginning; "" for none

	Model  string   // the default; "" if the user must name one
	Models []string // prefixes of its models, as far as they identify it
}

// A HeaderPair is a header with its value.
type HeaderPair struct{ Name, Value string }

// An APIKey is an environment variable with a secret, and the header for it.
type APIKey struct {
	Variable string
	Header   string
	Scheme   string // word before the secret: "Bearer", or ""
}

// HeaderFor returns the header with the secret.
func (k APIKey) HeaderFor(secret string) HeaderPair {
	if k.Scheme != "" {
		secret = k.Scheme + " " + secret
	}
	return HeaderPair{k.Header, secret}
}

// Find returns the host with that name. The error lists the known names.
func Find(name string) (*Host, error) {
	if name == "aistudio" {
		return nil, fmt.Errorf("toolscope reads Google AI Studio only from captures and never calls it; gemini is Google's public API")
	}
	return protocol.FindNamed("provider", name, All, func(h *Host) string { return h.Name })
}

// For returns the host that a protocol is named after: the first of the table that speaks it, or nil.
func For(dialectName string) *Host {
	for i := range All {
		if t := All[i].HistoryTarget(); t != nil && t.Protocol == dialectName {
			return &All[i]
		}
	}
	return nil
}

// HistoryTarget returns the target of the host's protocol.
func (h *Host) HistoryTarget() *protocol.Target {
	t, err := providers.FindTarget(h.Target)
	if err != nil {
		return nil // impossible: a test finds all of them
	}
	return t
}

// Has reports whether a model's name begins like the models of this host.
func (h *Host) Has(model string) bool {
	for _, prefix := range h.Models {
		if strings.HasPrefix(strings.ToLower(model), prefix) {
			return true
		}
	}
	return false
}

// Build returns the URL and body of a request to the host at an address.
func (h *Host) Build(r protocol.Request, address string) (url string, body []byte) {
	path, body := h.HistoryTarget().BuildRequest(r, h.Quirks)
	return Join(address, path), body
}

// Headers returns the headers of a request, without its key.
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

// Key returns the first of the host's keys that the environment contains, as a header. The error names
// the variables. If no key is needed, there is no error and the header has no name.
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
				return HeaderPair{}, fmt.Errorf("%s: the value of %s contains a character that a header can't contain", h.Name, k.Variable)
			}
		}
		return k.HeaderFor(secret), nil
	}
	if h.Keyless {
		return HeaderPair{}, nil
	}
	return HeaderPair{}, fmt.Errorf("%s: no key in the environment\nlooked for %s", h.Name, strings.Join(looked, ", then "))
}

package host

import (
	"fmt"
	"net/url"
	"strings"
)

// regionVariables are the variables that name the region for AWS's own clients.
var regionVariables = []string{"AWS_REGION", "AWS_DEFAULT_REGION"}

// ResolveAddress returns the address of the host: the given one, else that of the environment, else that
// of the table.
func (h *Host) ResolveAddress(given string, getenv func(string) string) (address string, err error) {
	switch named := getenv(h.Variable); {
	case given != "":
		return checkAddress("--base-url", given)
	case h.Variable != "" && named != "" && h.Name == "ollama":
		return checkAddress(h.Variable, ollamaAddress(named))
	case h.Variable != "" && named != "":
		address, err = checkAddress(h.Variable, named)
		return address + h.PathSuffix, err
	case h.Address == "":
		return "", fmt.Errorf("%s: each customer has a different address\nset --base-url URL, or %s in the environment", h.Name, h.Variable)
	case !strings.Contains(h.Address, regionMark):
		return h.Address, nil
	}
	for _, name := range regionVariables {
		if region := getenv(name); region != "" {
			if !isRegion(region) {
				return "", fmt.Errorf("%s: %s is not a region: %q", h.Name, name, region)
			}
			return strings.ReplaceAll(h.Address, regionMark, region), nil
		}
	}
	return "", fmt.Errorf("%s: no region in the environment\nlooked for %s; or use --base-url URL", h.Name, strings.Join(regionVariables, ", then "))
}

// vertexRegions are the variables that name the region for Google's clients and Claude Code.
var vertexRegions = []string{"GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"}

// PassThroughAddress returns the address of a host of PassThrough, with the region of the environment, if any.
func (h *Host) PassThroughAddress(getenv func(string) string) string {
	for _, name := range vertexRegions {
		if region := getenv(name); region != "" && region != "global" && isRegion(region) {
			return strings.ReplaceAll(h.Address, regionMark, region)
		}
	}
	return strings.ReplaceAll(h.Address, regionMark+"-", "")
}

func isRegion(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" }

// regionMark is the placeholder for a region in an address.
const regionMark = "{region}"

// checkAddress checks an address, and returns it without a slash at the end.
func checkAddress(name, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("%s: not the URL of a host\nuse a URL like https://api.example.com/v1", name)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s: the URL can't contain ? or #, because paths are appended to it", name)
	}
	if u.User != nil {
		return "", fmt.Errorf("%s: the URL contains a name or password\nput keys in the environment, or use --header", name)
	}
	return strings.TrimRight(address, "/"), nil
}

// ollamaAddress returns the URL that OLLAMA_HOST means: it may be a host, a port, or both (envconfig.Host
// of ollama/ollama). A server that listens on all addresses is called on the loopback address.
func ollamaAddress(value string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(value), "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if !ok {
		scheme, rest, port = "http", scheme, "11434"
	}
	rest, path, _ := strings.Cut(rest, "/")
	u := url.URL{Scheme: scheme, Host: rest}
	name := u.Hostname()
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if p := u.Port(); p != "" {
		port = p
	}
	return strings.TrimRight(scheme+"://"+name+":"+port+"/"+path, "/")
}

// Join appends a path to an address. A version that both contain appears once, e.g. for
// https://api.anthropic.com/v1 and /v1/messages.
func Join(address, path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if u, err := url.Parse(address); err == nil && first != "" && strings.HasSuffix(u.Path, "/"+first) {
		address = strings.TrimSuffix(address, "/"+first)
	}
	return address + path
}

// Loopback reports whether an address is on this machine.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	name := u.Hostname()
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "::1" || strings.HasPrefix(name, "127.")
}

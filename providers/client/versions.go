package client

// A Release is a version of a client.
type Release struct {
	Version string
	Day     string // of its publication, as 2026-09-08
}

// newer lists, for clients that were run, the first later version, which was not run. On 2026-11-27, the
// registry had a later version only of these.
var newer = map[string]Release{
	"claude-code": {"2.1.331", "2026-11-23"},
	"codex":       {"0.171.0", "2026-11-20"},
	"qwen-code":   {"0.23.0", "2026-09-08"},
}

// Newer returns the first version after the one that was run; ok is false if none is known.
func (c *Client) Newer() (r Release, ok bool) {
	r, ok = newer[c.Name]
	return r, ok
}

// nodes lists the versions of Node that clients need, if they need more than Node 20.
var nodes = map[string]string{
	"claude-code": "22", "ai-sdk": "22", "ai-sdk-ui": "22", "mastra": "22.13", "pi": "22.19", "openai-js": "22", "google-genai-js": "22",
}

// Node returns the version of Node that the client needs, "" if it needs at most Node 20.
func (c *Client) Node() string { return nodes[c.Name] }

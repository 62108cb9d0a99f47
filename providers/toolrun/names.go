package toolrun

import (
	"strings"

	"toolscope/providers/mcp"
)

// How surely a name that a model gets means a tool of a server.
const (
	noName     = iota
	endsSo     // it ends with the tool's name
	bareName   // it is the tool's name
	someServer // it names some MCP server, by the client's own name for it
	thisServer // it contains the names of this server and of the tool
)

// nameMatch returns how surely a model's name means a server's tool. Clients put the server's name before
// the tool's, replace characters that providers don't accept, and shorten long names.
func nameMatch(name string, s *mcp.Server, tool string) int {
	full := plainName(name)
	if tool = plainName(tool); tool == "" {
		return noName
	}
	for _, server := range serverNames(s) {
		for _, made := range []string{"mcp_" + server + "_" + tool, server + "_" + tool} {
			if full == made || isShortened(name, made) {
				return thisServer
			}
		}
	}
	before, ends := strings.CutSuffix(full, tool)
	switch {
	case full == tool:
		return bareName
	case ends && strings.HasPrefix(before, "mcp_") && strings.HasSuffix(before, "_"):
		return someServer
	case ends && strings.HasSuffix(before, "_"):
		return endsSo
	}
	return noName
}

// serverNames returns the names that a client may use for a server: its name in the capture, its own
// name, and the parts of its URL.
func serverNames(s *mcp.Server) (all []string) {
	for _, name := range append([]string{s.Name, s.Title}, strings.Split(s.Name, "/")...) {
		if name = plainName(name); name != "" && name != "mcp" {
			all = append(all, name)
		}
	}
	return all
}

// plainName returns a name with each run of characters that are not letters or digits replaced by one
// "_".
func plainName(name string) string {
	var b strings.Builder
	gap := false
	for i := range len(name) {
		c := name[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteByte(c)
			continue
		}
		gap = true
	}
	return b.String()
}

// minShortened is the minimum length of a name that may be shortened: providers accept 64 characters.
const minShortened = 56

// isShortened reports whether name is the longer name plain, shortened: cut in its middle, or cut at its
// end with a hash after it.
func isShortened(name, plain string) bool {
	if len(name) < minShortened || len(plain) < len(name) {
		return false
	}
	if first, last, cut := strings.Cut(name, "..."); cut {
		return strings.HasPrefix(plain, plainName(first)) && strings.HasSuffix(plain, plainName(last))
	}
	short, same := plainName(name), 0
	for same < len(short) && short[same] == plain[same] {
		same++
	}
	hash := strings.TrimLeft(short[same:], "_")
	return same >= minShortened/2 && len(hash) <= 40 && strings.Trim(hash, "0123456789abcdef") == ""
}

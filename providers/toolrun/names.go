package toolrun

import (
	"strings"

	"toolscope/providers/mcp"
)

// How surely a name that a model is given means a tool of a server.
const (
	noName     = iota
	endsSo     // it ends with the tool's name
	bareName   // it is the tool's name
	someServer // it says that it is of a server of MCP, by a name of the client's own
	thisServer // it has the names of both
)

// nameMatch is how surely a model's name is that of a server's tool. Clients put the server's name before
// the tool's, replace characters that providers do not take, and shorten what is too long.
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

// serverNames are what a client may call a server: as the recording names it, as it calls itself, and what
// stands in its URL.
func serverNames(s *mcp.Server) (all []string) {
	for _, name := range append([]string{s.Name, s.Title}, strings.Split(s.Name, "/")...) {
		if name = plainName(name); name != "" && name != "mcp" {
			all = append(all, name)
		}
	}
	return all
}

// plainName is a name with one "_" for whatever is no letter and no digit.
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

// minShortened is how long a name is that may be what is left of a longer one: providers take 64.
const minShortened = 56

// isShortened reports whether a name is a longer one, which stands for itself in plain, cut in its
// middle, or at its end with a hash behind it.
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

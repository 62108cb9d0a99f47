package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/providers/client"
)

// A mcpServer is one of MCP that a client has in its settings.
type mcpServer struct {
	name    string
	command []string // that starts it; empty for one that is reached over HTTP
	url     string
	login   bool   // somebody logs in there: an address of ours would not do
	file    string // of the settings that it stands in, where one was read
}

// listTime is how long a client may take to list its servers.
const listTime = 15 * time.Second

// findServers looks which servers the client has.
func (o *clientLaunch) findServers(ctx context.Context) {
	if o.point == nil {
		return
	}
	how := o.point.Servers()
	if len(how.ListArgs) == 0 {
		o.servers = o.readServers(how)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	args := append(slices.Clone(o.args[:o.at+1]), how.ListArgs...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	if err == nil && how.Method == client.ByFlags {
		o.servers, err = codexServers(text)
	} else if err == nil {
		o.servers, err = opencodeServers(text)
	}
	if err != nil {
		o.noteUnrecorded("MCP servers are not recorded: '%s' does not list them: %s", commandLine(args), err)
	}
}

// noteUnrecorded says what is not recorded.
func (o *clientLaunch) noteUnrecorded(format string, args ...any) {
	o.lacks = append(o.lacks, fmt.Sprintf(format, args...))
}

// codexServers are those that 'codex mcp list --json' lists.
func codexServers(text []byte) (list []mcpServer, err error) {
	var all []struct {
		Name      string
		Enabled   *bool
		Auth      string `json:"auth_status"`
		Transport struct {
			Command string
			Args    []string
			URL     string
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Enabled != nil && !*s.Enabled {
			continue
		}
		one := mcpServer{name: s.Name, url: s.Transport.URL, login: slices.Contains([]string{"oauth", "o_auth", "not_logged_in"}, s.Auth)}
		if s.Transport.Command != "" {
			one.command = append([]string{s.Transport.Command}, s.Transport.Args...)
		}
		list = append(list, one)
	}
	return list, nil
}

// opencodeServers are those in what 'opencode debug config' prints.
func opencodeServers(text []byte) (list []mcpServer, err error) {
	var all struct {
		MCP map[string]struct {
			Command []string
			URL     string
			Enabled *bool
			OAuth   json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all.MCP)) {
		if s := all.MCP[name]; s.Enabled == nil || *s.Enabled {
			list = append(list, mcpServer{name: name, command: s.Command, url: s.URL, login: bytes.HasPrefix(s.OAuth, []byte("{"))})
		}
	}
	return list, nil
}

// ownSettings are what of a client's own file counts here.
type ownSettings struct {
	MCPServers map[string]struct {
		Command, URL, HTTPURL string
		Args                  []string
	}
	Projects map[string]json.RawMessage
}

// readServers are those in the files of the client's user. What cannot be read the client says.
func (o *clientLaunch) readServers(how client.MCPSetup) (list []mcpServer) {
	home, _ := os.UserHomeDir() // without one there is nothing in it
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	take := func(file string, s *ownSettings) {
		for _, name := range slices.Sorted(maps.Keys(s.MCPServers)) {
			m := s.MCPServers[name]
			one := mcpServer{name: name, url: cmp.Or(m.HTTPURL, m.URL), file: file}
			if m.Command != "" {
				one.command = append([]string{m.Command}, m.Args...)
			}
			list = append(list, one)
		}
	}
	for i, below := range append(slices.Clone(how.UserFiles), how.ProjectFiles...) {
		root := here
		if i < len(how.UserFiles) {
			root = cmp.Or(o.env(o.point.Settings.Variable), home)
		}
		file := filepath.Join(root, filepath.FromSlash(below))
		var s, project ownSettings
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &s) != nil {
			continue
		}
		take(file, &s)
		if json.Unmarshal(s.Projects[here], &project) == nil {
			take(file, &project)
		}
	}
	return list
}

// serverRoutes are the upstreams of servers that are reached over HTTP, by prefixes of their own.
func (o *clientLaunch) serverRoutes() (all []route) {
	for i := range o.servers {
		if u := o.proxiedURL(&o.servers[i]); u != nil {
			all = append(all, route{prefix: serverPrefix + o.servers[i].name, upstream: &url.URL{Scheme: u.Scheme, Host: u.Host}})
		}
	}
	return all
}

const serverPrefix = "/mcp/"

// proxiedURL is the address of a server that the client can be sent to the proxy for, else nil.
func (o *clientLaunch) proxiedURL(s *mcpServer) *url.URL {
	way := o.point.Servers().Method
	if s.url == "" || s.login || !plainName(s.name) || way != client.ByFlags && way != client.BySettings {
		return nil
	}
	u, err := url.Parse(s.url)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

// plainName reports whether a name can stand in a path, and in a flag, as it is.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// unwrapCommand is what of a command stands behind us, where its user put us before it: otherwise it would
// be recorded twice. name is what the user calls it there, "" where nothing is said.
func unwrapCommand(command []string) (rest []string, name string, is bool) {
	end := slices.Index(command, "--")
	if len(command) < 2 || programOf(command[0]) != "toolscope" || command[1] != "mcp" || end < 0 || end == len(command)-1 {
		return command, "", false
	}
	flags := command[2:end]
	for i, flag := range flags {
		if value, ok := strings.CutPrefix(flag, "--name="); ok {
			name = value
		} else if flag == "--name" && i+1 < len(flags) {
			name = flags[i+1]
		}
	}
	return command[end+1:], name, true
}

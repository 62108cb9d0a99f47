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

// mcpServer is an MCP server in a client's settings.
type mcpServer struct {
	name    string
	command []string // starts the server; empty for a server over HTTP
	url     string
	login   bool   // the client logs in to the server; the login is only valid for the server's own address
	file    string // the settings file, if one was read
}

// listTime limits how long a client may take to list its servers.
const listTime = 15 * time.Second

// findServers finds the servers of the client.
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
		o.noteUnrecorded("MCP servers are not recorded: can't list them with '%s': %s", commandLine(args), err)
	}
}

// noteUnrecorded notes why something is not recorded.
func (o *clientLaunch) noteUnrecorded(format string, args ...any) {
	o.lacks = append(o.lacks, fmt.Sprintf(format, args...))
}

// codexServers parses the output of 'codex mcp list --json'.
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

// opencodeServers parses the output of 'opencode debug config'.
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

// ownSettings is the part of a client's settings that lists its servers.
type ownSettings struct {
	MCPServers map[string]struct {
		Command, URL, HTTPURL string
		Args                  []string
	}
	Projects map[string]json.RawMessage
}

// readServers reads the servers from the client's settings files. Files that can't be read are skipped: the
// client reports them.
func (o *clientLaunch) readServers(how client.MCPSetup) (list []mcpServer) {
	home, _ := os.UserHomeDir() // "" finds no files
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

// serverRoutes returns the routes of servers that are reached over HTTP, each with a prefix of its own.
func (o *clientLaunch) serverRoutes() (all []route) {
	for i := range o.servers {
		if u := o.proxiedURL(&o.servers[i]); u != nil {
			all = append(all, route{prefix: serverPrefix + o.servers[i].name, upstream: &url.URL{Scheme: u.Scheme, Host: u.Host}})
		}
	}
	return all
}

// serverPrefix is the first part of the prefixes of server routes.
const serverPrefix = "/mcp/"

// proxiedURL returns the URL of a server that can be reached through the proxy, else nil.
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

// plainName reports whether a name needs no escaping in a path and in a flag.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// unwrapCommand returns the command after toolscope mcp, if the user's settings start it that way: otherwise
// it would be recorded twice. name is the user's --name, "" without one.
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

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolscope/providers/client"
)

// wrapServers makes the client start its MCP servers through toolscope mcp, which records each into folder,
// and sends requests to servers over HTTP to the proxy at url. The user's files stay unchanged.
func (o *clientLaunch) wrapServers(folder, url string) {
	o.vars = append(o.vars, runFolder+"="+folder)
	if o.point == nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		o.noteUnrecorded("MCP servers are not recorded: %s", err)
		return
	}
	switch how := o.point.Servers(); how.Method {
	case client.ByPrefix:
		o.wrapLines(self)
	case client.ByFlags:
		o.wrapEach(func(s *mcpServer) { o.addServerFlags(s, self, folder, url) })
	case client.BySettings:
		o.wrapEach(func(s *mcpServer) { o.addServerContent(s, self, folder, url) })
	default:
		o.wrapEach(func(s *mcpServer) {
			o.noteUnrecorded("MCP server %s is not recorded, unless its entry in %s begins with \"command\":\"toolscope\",\"args\":%s", s.name, s.file, jsonText(serverArgs(s, "")))
		})
	}
}

// wrapEach calls one for each server that can be recorded, and notes why the others are not.
func (o *clientLaunch) wrapEach(one func(*mcpServer)) {
	for i := range o.servers {
		s := &o.servers[i]
		byUser := o.point.Servers().Method == client.ByUser
		wrapped := false
		s.command, _, wrapped = unwrapCommand(s.command)
		switch {
		case byUser && wrapped:
			o.watched = append(o.watched, s.name)
		case byUser && len(s.command) == 0:
			o.noteUnrecorded("MCP server %s is not recorded: put a proxy in front of it, with --to %s=URL, and the address of the proxy in %s", s.name, s.name, s.file)
		case s.login:
			o.noteUnrecorded("MCP server %s is not recorded: its login is only valid for its own address", s.name)
		case len(s.command) == 0 && o.proxiedURL(s) == nil, !plainName(s.name) && o.point.Servers().Method == client.ByFlags, strings.ContainsRune(strings.Join(s.command, ""), 0x7f):
			o.noteUnrecorded("MCP server %s is not recorded: toolscope can't pass on its name or address", s.name)
		default:
			one(s)
		}
	}
}

// serverArgs returns the arguments of toolscope for a server; folder is "" if TOOLSCOPE_RUN names the folder.
func serverArgs(s *mcpServer, folder string) []string {
	args := []string{"mcp", "--name", s.name}
	if folder != "" { // some clients don't pass their variables to servers
		args = append(args, "--record", folder)
	}
	return append(append(args, "--"), s.command...)
}

// addServerFlags makes Codex start a server through toolscope mcp. Its flags accept TOML; JSON strings and
// lists are valid TOML.
func (o *clientLaunch) addServerFlags(s *mcpServer, self, folder, url string) {
	var all []string
	set := func(key string, value any) {
		all = append(all, "-c", "mcp_servers."+s.name+"."+key+"="+jsonText(value))
	}
	if u := o.proxiedURL(s); u != nil {
		set("url", url+serverPrefix+s.name+u.RequestURI())
	} else {
		set("command", self)
		set("args", serverArgs(s, folder))
	}
	o.args = slices.Insert(slices.Clone(o.args), o.at+1, all...)
	o.watched = append(o.watched, s.name)
}

// addServerContent makes opencode start a server through toolscope mcp.
func (o *clientLaunch) addServerContent(s *mcpServer, self, folder, url string) {
	entry := map[string]any{"type": "local", "command": append([]string{self}, serverArgs(s, folder)...)}
	if u := o.proxiedURL(s); u != nil {
		entry = map[string]any{"type": "remote", "url": url + serverPrefix + s.name + u.RequestURI()}
	}
	name := o.point.Settings.Variable + "="
	at := slices.IndexFunc(o.vars, func(v string) bool { return strings.HasPrefix(v, name) })
	if at < 0 {
		at = len(o.vars)
		o.vars = append(o.vars, name+"{}")
	}
	text, err := mergeJSON(o.vars[at][len(name):], jsonText(map[string]any{"mcp": map[string]any{s.name: entry}}))
	if err != nil {
		o.noteUnrecorded("MCP server %s is not recorded: %s", s.name, err)
		return
	}
	o.vars[at] = name + text
	o.watched = append(o.watched, s.name)
}

// shellPrefix is the variable with the program that Claude Code starts with a command line of the shell: for
// each server, each shell command and each hook.
const shellPrefix = "CLAUDE_CODE_SHELL_PREFIX"

// wrapLines makes Claude Code start its command lines through toolscope mcp.
func (o *clientLaunch) wrapLines(self string) {
	for i := range o.servers {
		if s := &o.servers[i]; len(s.command) == 0 {
			o.noteUnrecorded("MCP server %s is not recorded: it is reached over HTTP; see 'toolscope help toolruns'", s.name)
		}
	}
	switch {
	case !canPrefix:
		o.noteUnrecorded("MCP servers and shell commands are not recorded: Claude Code would start a script for each, which is impossible on this system")
		return
	case o.env(shellPrefix) != "":
		o.noteUnrecorded("MCP servers and shell commands are not recorded: %s is already %s", shellPrefix, o.env(shellPrefix))
		return
	}
	script, remove, err := createScript("toolscope-line", fmt.Sprintf("#!/bin/sh\nexec %s mcp --line \"$1\"\n", shellWord(self)))
	if err != nil {
		o.noteUnrecorded("MCP servers and shell commands are not recorded: %s", err)
		return
	}
	o.removes = append(o.removes, remove)
	if strings.Contains(script, " -") { // Claude Code would treat the text after the space as flags
		o.noteUnrecorded("MCP servers and shell commands are not recorded: a hyphen follows a space in %s", script)
		return
	}
	o.vars = append(o.vars, shellPrefix+"="+script)
	o.watched = append(o.watched, "all servers that it starts, and its shell commands")
}

// jsonText returns a value as JSON on one line.
func jsonText(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // strings, lists and maps can't fail
	return strings.TrimSpace(b.String())
}

// reportServers reports which servers are recorded, and how, and which are not.
func (o *clientLaunch) reportServers(note func(format string, args ...any)) {
	if len(o.watched) > 0 {
		by := map[client.WrapMethod]string{client.ByPrefix: shellPrefix, client.ByFlags: "-c mcp_servers", client.BySettings: "OPENCODE_CONFIG_CONTENT", client.ByUser: "its own settings"}
		note("MCP servers are recorded: %s, by %s", strings.Join(o.watched, ", "), by[o.point.Servers().Method])
	}
	for _, text := range o.lacks {
		note("%s", text)
	}
}

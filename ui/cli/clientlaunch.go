package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/providers/client"
	"toolscope/providers/host"
	"toolscope/stream/count"
)

// clientLaunch is the command that starts a client, with the variables, flags and settings that send the
// client's requests through a proxy.
type clientLaunch struct {
	args  []string
	point *client.ProxySetup // proxy setup for the client; nil for an unknown client
	at    int                // index of the client in args
	env   func(string) string

	redactor *redact.Redactor // redacts the command lines that are shown

	vars []string // variables as NAME=VALUE
	did  []string // descriptions of the variables and flags that were set
	home string   // home folder with merged settings; "" for none

	settings []string // further settings for this run, in JSON

	servers []mcpServer // MCP servers of the client
	watched []string    // names of the servers that are recorded
	lacks   []string    // reasons why other servers are not recorded
	removes []func()    // functions that remove the run's temporary files
}

// starters are commands that start the program named in their arguments.
var starters = []string{"npx", "bunx", "pnpm", "pnpx", "yarn", "node", "bun", "uvx", "env", "timeout", "nice", "caffeinate"}

// newClientLaunch recognises the client that a command starts.
func newClientLaunch(args []string, env func(string) string) *clientLaunch {
	o := &clientLaunch{args: args, env: env, redactor: newRedactor()}
	for i, arg := range args {
		if o.point = client.ProxySetupOf(programOf(arg)); o.point != nil {
			o.at = i
			return o
		}
		if i == 0 && !slices.Contains(starters, programOf(arg)) || i > 0 && isOtherProgram(arg, args[i-1]) {
			break
		}
	}
	return o
}

// isOtherProgram reports whether an argument of a starter is the program that it starts, and not a flag, the value of
// a flag, or another starter. The arguments after that program are not examined, because they may name a client.
func isOtherProgram(arg, before string) bool {
	isFlag := strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && !slices.Contains([]string{"--", "-y", "--yes", "-i"}, before)
	isOption := strings.HasPrefix(arg, "-") || strings.Contains(arg, "=") || arg[:min(1, len(arg))] < "A" && !strings.ContainsAny(arg, "/@")
	return !isFlag && !isOption && !slices.Contains(starters, programOf(arg)) && !slices.Contains([]string{"exec", "dlx", "run", "x"}, arg)
}

// programOf returns the name of a program or package, without its path, extension and version.
func programOf(arg string) string {
	if strings.HasPrefix(arg, "@") {
		name, version, _ := strings.Cut(arg[1:], "@")
		_ = version
		return "@" + name
	}
	name := strings.ToLower(path.Base(filepath.ToSlash(arg)))
	for _, ext := range []string{".exe", ".cmd", ".ps1", ".js", ".mjs"} {
		name = strings.TrimSuffix(name, ext)
	}
	name, _, _ = strings.Cut(name, "@")
	return name
}

// name returns the name of the client or, if the client is unknown, of the program.
func (o *clientLaunch) name() string {
	if o.point != nil {
		return o.point.Title
	}
	return programOf(o.args[0])
}

// lookupEnv returns a variable from the environment. The proxy uses such variables to find its upstreams. If a
// provider's own variable is not set, lookupEnv returns the client's variable for that provider's address.
func (o *clientLaunch) lookupEnv(name string) string {
	if value := o.env(name); value != "" || o.point == nil {
		return value
	}
	for i := range host.All {
		if h := &host.All[i]; name != "" && h.Variable == name {
			for _, v := range o.point.Vars {
				if strings.HasPrefix(v.Value, "{"+h.Name+"}") && o.env(v.Name) != "" && o.readsVar(v) {
					return o.env(v.Name)
				}
			}
		}
	}
	return ""
}

// pointAt sets the variables, flags and settings that send the command to the proxy at url.
func (o *clientLaunch) pointAt(all []route, url string) error {
	if o.point == nil {
		seen := map[string]bool{}
		for _, p := range proxySetups(all, url) {
			for _, v := range p.Vars {
				if !seen[v.Name] {
					seen[v.Name] = true
					o.setVar(v)
				}
			}
		}
		o.did = []string{count.Of(len(o.vars), "variable") + " for the known clients"}
		return nil
	}
	p, _ := o.point.WithAddresses(proxyAddressFor(all, url))
	for _, v := range p.Vars {
		if o.setVar(v) {
			o.did = append(o.did, v.Name)
		}
	}
	if len(p.Args) > 0 && !o.hasFlag(p.Args[0]) {
		o.args = slices.Insert(slices.Clone(o.args), o.at+1, p.Args...)
		o.did = append(o.did, commandLine(p.Args))
	}
	// Merge the required settings with the user's own settings.
	s := p.Settings
	if len(s.JSON) > 0 && s.Flag != "" {
		return o.passExtension(s)
	}
	if s.Needs != "" && o.env(s.Needs) == "" {
		s.JSON = nil
	}
	if s.JSON = append(slices.Clone(s.JSON), o.settings...); len(s.JSON) == 0 || s.Variable == "" {
		return nil
	}
	value, err := "", error(nil)
	if s.Inline {
		value, err = mergeJSON(append([]string{cmp.Or(o.env(s.Variable), "{}")}, s.JSON...)...)
		if err != nil {
			return fmt.Errorf("run: %s: %w", s.Variable, err)
		}
	} else if value, err = o.newHome(s); err != nil {
		return fmt.Errorf("run: settings for %s: %w", p.Title, err)
	}
	if value != "" {
		o.vars = append(o.vars, s.Variable+"="+value)
		o.did = append(o.did, s.Variable+" ("+s.File+" stays unchanged)")
	}
	return nil
}

// readsVar reports whether the client reads a variable. This can depend on the variables that the user set.
func (o *clientLaunch) readsVar(v client.Var) bool { return v.Needs == nil || v.Needs(o.env) }

// checkSetup returns an error if no variable, flag or setting of this run sends the client's requests to the
// proxy.
func (o *clientLaunch) checkSetup(all []route) error {
	if o.point == nil {
		return nil
	}
	p := *o.point
	p.Remarks = nil
	p.Vars = slices.DeleteFunc(slices.Clone(p.Vars), func(v client.Var) bool { return !o.readsVar(v) })
	if _, ok := p.WithAddresses(proxyAddressFor(all, proxyExample)); ok {
		return nil
	}
	filled, byHand := client.ProxySetup{Remarks: o.point.Remarks}.WithAddresses(proxyAddressFor(all, proxyExample))
	advice := strings.Join(filled.Remarks, " ")
	if byHand {
		advice = "start 'toolscope proxy --listen " + strings.TrimPrefix(proxyExample, "http://") + "' and set this by hand: " + advice
	}
	return usageErrorf("run: %s would not be recorded: no variable or flag sends its requests to the proxy\n%s\n--tls decrypts its requests to models instead; --unrecorded starts it without the proxy; 'toolscope help clients' lists every client", p.Title, advice)
}

// proxyExample is the proxy address that examples in advice use.
const proxyExample = "http://127.0.0.1:8080"

// hasFlag reports whether the user gave the client this long flag. Such a flag must not be added again,
// because some clients fail on a repeated flag. hasFlag ignores short flags, which may have other meanings.
func (o *clientLaunch) hasFlag(flag string) bool {
	return strings.HasPrefix(flag, "--") && slices.ContainsFunc(o.args[o.at+1:], func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == flag
	})
}

// setVar sets a variable, unless the client doesn't read it or the user's own value takes precedence. It reports
// whether it set the variable.
func (o *clientLaunch) setVar(v client.Var) bool {
	if v.Why != "" && o.env(v.Name) != "" || !o.readsVar(v) {
		return false
	}
	o.vars = append(o.vars, v.Name+"="+v.Value)
	return true
}

// passExtension gives the client an extension that contains the settings. The user's own settings do not change.
func (o *clientLaunch) passExtension(s client.Settings) error {
	text, err := mergeJSON(s.JSON...)
	if err != nil {
		return err
	}
	path, remove, err := createScratch("toolscope.ts", fmt.Appendf(nil, s.Extension+"\n", text))
	if err != nil {
		return fmt.Errorf("run: extension for %s: %w", o.point.Title, err)
	}
	o.removes = append(o.removes, remove)
	o.args = slices.Insert(slices.Clone(o.args), o.at+1, s.Flag, path)
	o.did = append(o.did, s.Flag+" ("+s.File+" stays unchanged)")
	return nil
}

// newHome creates a folder that replaces the home folder. The folder contains the user's settings merged with the
// required ones, and links to the files next to them. It returns "" if the user's settings suffice.
func (o *clientLaunch) newHome(s client.Settings) (string, error) {
	home := o.env(s.Variable)
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", err
		}
	}
	name := filepath.FromSlash(strings.TrimPrefix(s.File, "~/"))
	own, err := os.ReadFile(filepath.Join(home, name))
	if errors.Is(err, fs.ErrNotExist) {
		own, err = []byte("{}"), nil
	}
	if err != nil {
		return "", err
	}
	have, err := mergeJSON(string(own))
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.File, err)
	}
	want, err := mergeJSON(append(slices.Clone(s.JSON), have)...)
	if err != nil || want == have {
		return "", err
	}
	o.home, err = createHome(home, name, want)
	return o.home, err
}

// commandError returns the text of an error about a command line. In this text, the program is in its redacted form.
func commandError(err error, args, shown []string) string {
	return strings.ReplaceAll(err.Error(), args[0], shown[0])
}

// redactArgvNote redacts the command line in a record's note. The redactor for records would treat the note
// as text, in which it can't recognise a short password.
func redactArgvNote(r *redact.Redactor, rec *capture.Record) {
	var args []string
	text, is := strings.CutPrefix(rec.Note, capture.Argv)
	if is && json.Unmarshal([]byte(text), &args) == nil {
		list, _ := json.Marshal(r.Argv(args))
		rec.Note = capture.Argv + string(list)
	}
}

// execCmd returns the command to start.
func (o *clientLaunch) execCmd(in, out, errs *os.File) *exec.Cmd {
	cmd := exec.Command(o.args[0], o.args[1:]...)
	cmd.Env = append(os.Environ(), o.vars...)
	if in != nil {
		cmd.Stdin = in
	}
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd
}

// mcpServer is an MCP server in a client's settings.
type mcpServer struct {
	name    string
	command []string // command that starts the server; empty for a server over HTTP
	url     string
	login   bool   // the client logs in to the server; such a login is valid only for the server's own address
	file    string // path of the settings file that lists the server, if one was read

	port net.Listener // toolscope's port for a recorded server over HTTP
}

// listTime is the maximum time that a client may take to list its servers.
const listTime = 30 * time.Second

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
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("the command ran for longer than %s", listTime)
	}
	if err == nil && how.Method == client.ByFlags {
		o.servers, err = codexServers(text)
	} else if err == nil {
		o.servers, err = opencodeServers(text)
	}
	if err != nil {
		shown := commandLine(o.redactor.Argv(args))
		o.noteUnrecorded("MCP servers are not recorded: can't list them with '%s': %s", shown, err)
	}
}

// noteUnrecorded stores the reason why a server or a command is not recorded.
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

// ownSettings is the part of a client's settings that lists its MCP servers.
type ownSettings struct {
	MCPServers map[string]struct {
		Command, URL, HTTPURL string
		Args                  []string
	}
	Projects map[string]json.RawMessage
}

// readServers reads the servers from the client's settings files. It skips files that can't be read, because the
// client reports them.
func (o *clientLaunch) readServers(how client.MCPSetup) (list []mcpServer) {
	home, _ := os.UserHomeDir() // without a home folder, no settings files are found in it
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

// openPorts opens a port for each server over HTTP that can be reached through the proxy. Each server needs its own
// port, because a server may refer to other paths on its host, e.g. for messages and logins.
func (o *clientLaunch) openPorts() error {
	for i := range o.servers {
		s := &o.servers[i]
		if o.proxiedURL(s) == nil {
			continue
		}
		port, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.port = port
		o.removes = append(o.removes, func() { port.Close() })
	}
	return nil
}

// portURL returns the URL of a server's port. The result ok is false if the server has no port.
func (o *clientLaunch) portURL(s *mcpServer) (text string, ok bool) {
	if s.port == nil {
		return "", false
	}
	return "http://" + s.port.Addr().String() + o.proxiedURL(s).RequestURI(), true
}

// proxiedURL returns the URL of a server if the server can be reached through the proxy, else nil.
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

// plainName reports whether a name needs no escaping in paths and flags.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// unwrapCommand removes "toolscope mcp" from a command, so that the server is not recorded twice. The user's settings
// may already start servers that way. The result name is the value of --name, or "" if it is not set.
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

// wrapServers makes the client start its MCP servers through toolscope mcp, which records each server to the folder.
// It also makes the client send its requests for servers over HTTP to toolscope's ports. The user's files do not
// change.
func (o *clientLaunch) wrapServers(folder string) {
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
		o.wrapEach(func(s *mcpServer) {
			entry := map[string]any{"command": self, "args": serverArgs(s, folder)}
			if url, ok := o.portURL(s); ok {
				entry = map[string]any{"url": url}
			}
			o.addServerFlags(s.name, entry)
			o.watched = append(o.watched, s.name)
		})
	case client.BySettings:
		o.wrapEach(func(s *mcpServer) {
			entry := map[string]any{"type": "local", "command": append([]string{self}, serverArgs(s, folder)...)}
			if url, ok := o.portURL(s); ok {
				entry = map[string]any{"type": "remote", "url": url}
			}
			if err := o.addServerContent(s.name, entry); err != nil {
				o.noteUnrecorded("MCP server %s is not recorded: %s", s.name, err)
				return
			}
			o.watched = append(o.watched, s.name)
		})
	default:
		o.wrapEach(func(s *mcpServer) {
			entry := `"command":"toolscope","args":` + jsonText(o.redactor.Argv(serverArgs(s, "")))
			const format = "MCP server %s is not recorded: to record it, make its entry in %s begin with %s"
			o.noteUnrecorded(format, s.name, s.file, entry)
		})
	}
}

// wrapEach calls a function for each server that can be recorded. For each other server, it stores the reason why it
// can't be recorded. It does neither for toolscope's own server and for servers that the user's own settings already
// record.
func (o *clientLaunch) wrapEach(one func(*mcpServer)) {
	for i := range o.servers {
		s := &o.servers[i]
		byUser := o.point.Servers().Method == client.ByUser
		wrapped := false
		s.command, _, wrapped = unwrapCommand(s.command)
		switch {
		case isAskCommand(s.command):
		case byUser && wrapped:
			o.watched = append(o.watched, s.name)
		case byUser && len(s.command) == 0:
			o.noteUnrecorded("MCP server %s is not recorded: put a proxy in front of it with --to %s=URL, and put the proxy's address into %s", s.name, s.name, s.file)
		case s.login:
			o.noteUnrecorded("MCP server %s is not recorded: its login is valid only for its own address", s.name)
		case len(s.command) == 0 && s.port == nil, !plainName(s.name) && o.point.Servers().Method == client.ByFlags, strings.ContainsRune(strings.Join(s.command, ""), 0x7f):
			o.noteUnrecorded("MCP server %s is not recorded: its name or address can't be passed to the client", s.name)
		default:
			one(s)
		}
	}
}

// serverArgs returns toolscope's arguments for a server. The parameter folder is "" if TOOLSCOPE_RUN names
// the folder.
func serverArgs(s *mcpServer, folder string) []string {
	args := []string{"mcp", "--name", s.name}
	if folder != "" { // some clients don't pass their environment to servers
		args = append(args, "--record", folder)
	}
	return append(append(args, "--"), s.command...)
}

// addServerFlags sets fields of a server in Codex's settings. Codex's flags accept TOML. JSON strings and lists
// are valid TOML.
func (o *clientLaunch) addServerFlags(name string, fields map[string]any) {
	var all []string
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(fields))) { // the command comes before its arguments
		all = append(all, "-c", "mcp_servers."+name+"."+key+"="+jsonText(fields[key]))
	}
	o.args = slices.Insert(slices.Clone(o.args), o.at+1, all...)
}

// addServerContent adds a server to opencode's settings.
func (o *clientLaunch) addServerContent(server string, entry map[string]any) error {
	name := o.point.Settings.Variable + "="
	at := slices.IndexFunc(o.vars, func(v string) bool { return strings.HasPrefix(v, name) })
	if at < 0 {
		at = len(o.vars)
		o.vars = append(o.vars, name+"{}")
	}
	text, err := mergeJSON(o.vars[at][len(name):], jsonText(map[string]any{"mcp": map[string]any{server: entry}}))
	if err == nil {
		o.vars[at] = name + text
	}
	return err
}

// shellPrefix is the environment variable with Claude Code's shell prefix: a program that Claude Code runs for each
// server, shell command and hook, with the command line as its argument.
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
		o.noteUnrecorded("MCP servers and shell commands are not recorded: Claude Code would need to start a script for each, which is impossible on this system")
		return
	case o.env(shellPrefix) != "":
		shown := strings.Join(o.redactor.Argv(strings.Fields(o.env(shellPrefix))), " ")
		o.noteUnrecorded("MCP servers and shell commands are not recorded: %s is already set to %s", shellPrefix, shown)
		return
	}
	script, remove, err := createScript("toolscope-line", fmt.Sprintf("#!/bin/sh\nexec %s mcp --line \"$1\"\n", shellWord(self)))
	if err != nil {
		o.noteUnrecorded("MCP servers and shell commands are not recorded: %s", err)
		return
	}
	o.removes = append(o.removes, remove)
	if strings.Contains(script, " -") { // Claude Code would treat the text after the space as flags
		o.noteUnrecorded("MCP servers and shell commands are not recorded: the path %s has a hyphen after a space, and Claude Code would read the text after the space as flags", script)
		return
	}
	o.vars = append(o.vars, shellPrefix+"="+script)
	o.watched = append(o.watched, "all of the client's servers and shell commands")
}

// jsonText returns a value as JSON on one line.
func jsonText(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // encoding strings, lists and maps never fails
	return strings.TrimSpace(b.String())
}

// reportServers reports which servers are recorded and how, and which servers are not recorded.
func (o *clientLaunch) reportServers(note func(format string, args ...any)) {
	if len(o.watched) > 0 {
		by := map[client.WrapMethod]string{client.ByPrefix: shellPrefix, client.ByFlags: "-c mcp_servers", client.BySettings: "OPENCODE_CONFIG_CONTENT", client.ByUser: "the client's own settings"}
		note("recorded through %s: %s", by[o.point.Servers().Method], strings.Join(o.watched, ", "))
	}
	for _, text := range o.lacks {
		note("%s", text)
	}
}

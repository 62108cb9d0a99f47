package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolscope/providers/client"
	"toolscope/providers/host"
)

// clientLaunch is a command, with the variables, flags and settings that send its requests through a proxy.
type clientLaunch struct {
	args  []string
	point *client.ProxySetup // of the client, nil for an unknown one
	at    int                // index of the client in args
	env   func(string) string

	vars []string // NAME=VALUE
	did  []string // the variables and flags that were set, in words
	home string   // a home folder with settings; "" for none

	servers []mcpServer // MCP servers of the client
	watched []string    // servers that are recorded
	lacks   []string    // reasons why other servers are not recorded
	removes []func()    // functions that remove the files of the run
}

// starters are commands that start the program in their arguments.
var starters = []string{"npx", "bunx", "pnpm", "pnpx", "yarn", "node", "bun", "uvx", "env", "timeout", "nice", "caffeinate"}

// newClientLaunch recognises the client that a command starts.
func newClientLaunch(args []string, env func(string) string) *clientLaunch {
	o := &clientLaunch{args: args, env: env}
	for i, arg := range args {
		if o.point = client.ProxySetupOf(programOf(arg)); o.point != nil {
			o.at = i
			return o
		}
		if i == 0 && !slices.Contains(starters, programOf(arg)) {
			break
		}
	}
	return o
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

// name returns the name of the client, or of the program.
func (o *clientLaunch) name() string {
	if o.point != nil {
		return o.point.Title
	}
	return programOf(o.args[0])
}

// lookupEnv is the environment in which the proxy looks up its upstreams. A client's variable with a
// provider's address replaces the provider's own variable.
func (o *clientLaunch) lookupEnv(name string) string {
	if value := o.env(name); value != "" || o.point == nil {
		return value
	}
	for i := range host.All {
		if h := &host.All[i]; name != "" && h.Variable == name {
			for _, v := range o.point.Vars {
				if v.Value == "{"+h.Name+"}" && o.env(v.Name) != "" {
					return o.env(v.Name)
				}
			}
		}
	}
	return ""
}

// pointAt sets the variables and flags that send the command to the proxy at url.
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
		o.did = []string{fmt.Sprintf("the variables of all known clients (%d)", len(o.vars))}
		return nil
	}
	p, ok := o.point.WithAddresses(proxyAddressFor(all, url))
	if !ok {
		return fmt.Errorf("run: %s can't be pointed at a proxy by its command line\n%s", p.Title, strings.Join(append(p.Remarks, "toolscope help clients"), "; "))
	}
	for _, v := range p.Vars {
		if o.setVar(v) {
			o.did = append(o.did, v.Name)
		}
	}
	if len(p.Args) > 0 && !o.hasFlag(p.Args[0]) {
		o.args = slices.Insert(slices.Clone(o.args), o.at+1, p.Args...)
		o.did = append(o.did, commandLine(p.Args))
	}
	return o.mergeSettings(p)
}

// hasFlag reports whether the user gave the client this long flag: some clients fail on a repeated flag. A
// short flag may have another meaning.
func (o *clientLaunch) hasFlag(flag string) bool {
	return strings.HasPrefix(flag, "--") && slices.ContainsFunc(o.args[o.at+1:], func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == flag
	})
}

// setVar sets a variable, unless the user set it and their value takes precedence.
func (o *clientLaunch) setVar(v client.Var) bool {
	if v.Why != "" && o.env(v.Name) != "" {
		return false
	}
	o.vars = append(o.vars, v.Name+"="+v.Value)
	return true
}

// mergeSettings gives the client its settings, merged with the user's own.
func (o *clientLaunch) mergeSettings(p client.ProxySetup) error {
	s := p.Settings
	if len(s.JSON) == 0 || s.Variable == "" || s.Needs != "" && o.env(s.Needs) == "" {
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

// newHome creates a folder that replaces the home folder. It contains the user's settings, merged over the
// required ones, and links to everything else. It returns "" if the user's settings suffice.
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

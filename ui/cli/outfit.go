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

// An clientLaunch is a command, and what it is given so that its requests go through a proxy.
type clientLaunch struct {
	args  []string
	point *client.ProxySetup // of the client that it is, nil if it is none that is known
	at    int                // which of args that is
	env   func(string) string

	vars []string // NAME=VALUE
	did  []string // what was done, in words
	home string   // one of ours, with settings in it; "" without

	servers []mcpServer // of MCP, that it has
	watched []string    // what of them is recorded
	lacks   []string    // why others are not, in words
	removes []func()    // what is there for the run alone
}

// starters are commands that start the program that stands behind them.
var starters = []string{"npx", "bunx", "pnpm", "pnpx", "yarn", "node", "bun", "uvx", "env", "timeout", "nice", "caffeinate"}

// newClientLaunch looks which client a command starts.
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

// programOf is the name of a program, or of a package, without its path, extension and version.
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

// name is what the command is called.
func (o *clientLaunch) name() string {
	if o.point != nil {
		return o.point.Title
	}
	return programOf(o.args[0])
}

// lookupEnv is the environment as the proxy's upstreams are looked up in it: a variable of the client
// that says where a provider is stands in for the provider's own.
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

// pointAt gives the command what sends it to the proxy at url.
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
		o.did = []string{fmt.Sprintf("the variables of all clients, %d of them", len(o.vars))}
		return nil
	}
	p, ok := o.point.WithAddresses(proxyAddressFor(all, url))
	if !ok {
		return fmt.Errorf("run: %s cannot be sent to a proxy by its command line\n%s", p.Title, strings.Join(append(p.Remarks, "toolscope help clients"), "; "))
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

// hasFlag reports whether the user gave the client a long flag already: some clients fail when one
// comes twice. A short one may be given for something else.
func (o *clientLaunch) hasFlag(flag string) bool {
	return strings.HasPrefix(flag, "--") && slices.ContainsFunc(o.args[o.at+1:], func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == flag
	})
}

// setVar sets a variable, unless it is one that the user's own counts for.
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
			return fmt.Errorf("run: %s holds %w", s.Variable, err)
		}
	} else if value, err = o.newHome(s); err != nil {
		return fmt.Errorf("run: settings for %s: %w", p.Title, err)
	}
	if value != "" {
		o.vars = append(o.vars, s.Variable+"="+value)
		o.did = append(o.did, s.Variable+", which leaves "+s.File+" as it is")
	}
	return nil
}

// newHome makes a folder that stands for the home: the settings in it are the user's own and those
// that are wanted, of which the user's count; all else is the user's. It is "" where these do
// already.
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
		return "", fmt.Errorf("%s holds %w", s.File, err)
	}
	want, err := mergeJSON(append(slices.Clone(s.JSON), have)...)
	if err != nil || want == have {
		return "", err
	}
	o.home, err = createHome(home, name, want)
	return o.home, err
}

// execCmd is what is to be started.
func (o *clientLaunch) execCmd(in, out, errs *os.File) *exec.Cmd {
	cmd := exec.Command(o.args[0], o.args[1:]...)
	cmd.Env = append(os.Environ(), o.vars...)
	if in != nil {
		cmd.Stdin = in
	}
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd
}

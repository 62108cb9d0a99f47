package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers/torture"
)

// sceneClient is a client that is prepared for one scene: its command, its variables and its files.
type sceneClient struct {
	*clientLaunch
	home    string // home and settings of the client
	folder  string // working folder
	tool    string // address of the tools at the proxy
	direct  string // address of the tools for the MCP server, which has its own capture
	record  string // folder for the capture of the MCP server
	options *tortureOptions
	vars    map[string]string
	files   map[string]string // contents by path relative to home
}

// tortureClients are the functions that give a client the tools. Each function sets the variables, files and flags
// for one scene.
var tortureClients = map[string]func(*sceneClient){
	"claude-code": func(c *sceneClient) {
		c.files["mcp.json"] = jsonText(map[string]any{"mcpServers": map[string]any{"torture": c.serverEntry("stdio")}})
		c.vars["ENABLE_TOOL_SEARCH"], c.vars["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "false", "1"
		c.addArgs("--mcp-config", filepath.Join(c.home, "mcp.json"), "--strict-mcp-config",
			"--allowedTools", "mcp__torture__note,mcp__torture__tick", "--tools", "")
	},
	"codex": func(c *sceneClient) {
		argv := c.serverArgv()
		provider := jsonText(strings.TrimSuffix(c.tool, toolPath) + "/openai")
		c.addArgs("-c", "mcp_servers.torture.command="+jsonText(argv[0]), "-c", "mcp_servers.torture.args="+jsonText(argv[1:]),
			"-c", "mcp_servers.torture.startup_timeout_sec=60", "-c", "mcp_servers.torture.required=true", "-c", `model_provider="torture"`,
			"-c", `model_providers.torture={name="torture",base_url=`+provider+`,env_key="OPENAI_API_KEY",wire_api="responses"}`)
		if !slices.Contains(c.args, "-m") && !slices.Contains(c.args, "--model") {
			c.addArgs("-m", "gpt-5")
		}
		if at := slices.Index(c.args, "exec"); at > c.at && !slices.Contains(c.args, "--skip-git-repo-check") {
			c.args = slices.Insert(c.args, at+1, "--skip-git-repo-check", "-s", "read-only")
		}
	},
	"opencode": func(c *sceneClient) {
		c.vars["OPENCODE_CONFIG_CONTENT"] = jsonText(map[string]any{
			"model":      opencodeModels[cmp.Or(c.options.provider, "anthropic")],
			"autoupdate": false, "share": "disabled",
			"mcp":        map[string]any{"torture": map[string]any{"type": "local", "command": c.serverArgv()}},
			"permission": map[string]string{"*": "allow"},
		})
	},
	"gemini-cli": func(c *sceneClient) {
		server := c.serverEntry("")
		server["trust"] = true
		c.vars["GEMINI_CLI_HOME"], c.vars["GEMINI_CLI_TRUST_WORKSPACE"] = c.home, "true"
		c.files[".gemini/settings.json"] = jsonText(map[string]any{
			"mcpServers": map[string]any{"torture": server},
			"security":   map[string]any{"auth": map[string]string{"selectedType": "gemini-api-key"}},
		})
	},
	"qwen-code": func(c *sceneClient) {
		server := c.serverEntry("")
		server["trust"] = true
		c.files[".qwen/settings.json"] = jsonText(map[string]any{
			"mcpServers": map[string]any{"torture": server},
			"tools":      map[string]any{"toolSearch": map[string]bool{"enabled": false}},
		})
	},
	"pi": func(c *sceneClient) {
		c.files["torture.ts"] = strings.ReplaceAll(piExtension, "%s", jsonText(c.tool))
		c.addArgs("--extension", filepath.Join(c.home, "torture.ts"), "--no-builtin-tools")
		if !slices.Contains(c.args, "--provider") {
			c.addArgs("--provider", cmp.Or(c.options.provider, "anthropic"))
		}
	},
}

// opencodeModels are opencode models by provider. opencode chooses the protocol by the model.
var opencodeModels = map[string]string{
	"anthropic": "anthropic/claude-sonnet-4-5", "openai": "openai/gpt-5", "gemini": "google/gemini-2.5-pro",
}

// piExtension defines the tools for pi, which doesn't support MCP.
const piExtension = `const at = %s;
const object = (properties, required) => ({ type: "object", properties, required });
export default function (pi) {
	const tool = (name, parameters) => pi.registerTool({
		name, label: name, description: name, parameters,
		async execute(_id, args) {
			const r = await fetch(at + "/" + name, { method: "POST", body: JSON.stringify(args) });
			return { content: [{ type: "text", text: await r.text() }], details: {} };
		},
	});
	tool("note", object({ text: { type: "string" }, n: { type: "integer" } }, ["text"]));
	tool("tick", object({}, []));
}
`

// sceneKeys are the variables with made-up API keys.
var sceneKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OLLAMA_API_KEY"}

// passedVars are the user's environment variables that are passed to the client.
var passedVars = []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "SHELL", "USER", "LOGNAME", "SYSTEMROOT", "PATHEXT", "COMSPEC", "OPENAI_MODEL"}

// closedPort is an address at which nothing listens. Requests to other hosts end there.
const closedPort = "http://127.0.0.1:9"

// newSceneClient prepares a client for a scene. All its files are in the folder. The two addresses are the proxy's
// and the provider's.
func newSceneClient(o *tortureOptions, folder, url, direct, record string) (*sceneClient, error) {
	c := &sceneClient{
		home: filepath.Join(folder, "home"), folder: filepath.Join(folder, "work"), tool: url + toolPath, direct: direct + toolPath,
		record: record, options: o, vars: map[string]string{}, files: map[string]string{},
	}
	for _, name := range passedVars {
		if value := os.Getenv(name); value != "" {
			c.vars[name] = value
		}
	}
	for _, name := range sceneKeys {
		c.vars[name] = "x"
	}
	for name, value := range map[string]string{
		"HOME": c.home, "USERPROFILE": c.home, "TMPDIR": folder, "TMP": folder, "TEMP": folder,
		"XDG_CONFIG_HOME": filepath.Join(c.home, ".config"), "XDG_DATA_HOME": filepath.Join(c.home, ".local", "share"),
		"XDG_STATE_HOME": filepath.Join(c.home, ".local", "state"), "XDG_CACHE_HOME": filepath.Join(c.home, ".cache"),
		"HTTP_PROXY": closedPort, "HTTPS_PROXY": closedPort, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
		toolURL: c.tool, "NO_COLOR": "1",
	} {
		c.vars[name] = value
	}
	args := slices.Clone(o.client)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{prompt}", torturePrompt)
	}
	c.clientLaunch = newClientLaunch(args, func(name string) string { return c.vars[name] })
	if c.point != nil {
		if inject := tortureClients[c.point.Name]; inject != nil {
			inject(c)
		}
	}
	err := makeSceneFolders(c) // first, because pointAt reads the settings of the client
	if err == nil && (c.point == nil || c.point.Name != "codex") {
		err = c.pointAt(o.routes, url)
	}
	if err != nil {
		c.removeFiles()
		return nil, err
	}
	for _, v := range c.clientLaunch.vars {
		name, value, _ := strings.Cut(v, "=")
		c.vars[name] = value
	}
	return c, nil
}

// torturePrompt is the prompt that replaces {prompt}. The provider ignores it.
const torturePrompt = "Note alpha with the tool note."

// addArgs adds flags after the client's name.
func (c *sceneClient) addArgs(args ...string) {
	c.args = slices.Insert(slices.Clone(c.args), c.at+1, args...)
}

// serverArgv returns the command line of the MCP server with the tools.
func (c *sceneClient) serverArgv() []string {
	self := c.options.self
	return []string{self, "mcp", "--name", "torture", "--record", c.record, "--", self, "mcp-tool", "--url", c.direct}
}

// serverEntry returns the entry of the MCP server in a client's settings.
func (c *sceneClient) serverEntry(kind string) map[string]any {
	argv := c.serverArgv()
	entry := map[string]any{"command": argv[0], "args": argv[1:]}
	if kind != "" {
		entry["type"] = kind
	}
	return entry
}

// sceneCmd returns the command that starts the client.
func (c *sceneClient) sceneCmd(output *os.File) *exec.Cmd {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.folder, output, output
	for name, value := range c.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	slices.Sort(cmd.Env)
	return cmd
}

// versionTime is the maximum time in which a client must print its version.
const versionTime = time.Minute

var versionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+(\.\d+)?([-+][0-9A-Za-z.]+)?`) })

// clientVersion returns the version that a known client prints, or "".
func (c *sceneClient) clientVersion(ctx context.Context) string {
	if c.point == nil || runtime.GOOS == "windows" {
		return ""
	}
	cmd := exec.Command(c.args[0], append(slices.Clone(c.args[1:c.at+1]), "--version")...)
	with := c.sceneCmd(nil)
	var out, other strings.Builder // pi prints its version to stderr
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdout, cmd.Stderr = with.Dir, with.Env, time.Second, &out, &other
	done, err := startOnThread(cmd)
	if err != nil {
		return ""
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(versionTime):
	}
	endGroup(cmd, done)
	if !cmd.ProcessState.Success() {
		return ""
	}
	return cmp.Or(versionWord().FindString(out.String()), versionWord().FindString(other.String()))
}

// sceneRun is one run of a scene.
type sceneRun struct {
	*tortureOptions
	scene  *torture.Scene
	server *sceneServer
	live   *liveInput
	limit  time.Duration // maximum time without any byte or event
}

// runScene runs a client once in a scene, and returns the facts.
func (o *tortureOptions) runScene(ctx context.Context, scene *torture.Scene, limit time.Duration) (facts torture.Facts, err error) {
	r := &sceneRun{tortureOptions: o, scene: scene, limit: limit}
	folder, remove, err := makeScratchFolder()
	if err != nil {
		return facts, err
	}
	defer remove()
	path := o.capturePath(scene)
	replaceSceneFiles(path)
	began := time.Now()
	r.live = newLiveInput(newRedactor(), began)
	if r.live.rec, err = o.app.startCapture(path, began, "toolscope torture"); err != nil {
		return facts, err
	}
	leave, err := record.MakeCompanionDir(path)
	if err != nil {
		return facts, err
	}
	defer leave()
	r.server = &sceneServer{scene: scene, seed: o.seed, pace: o.pace, began: began, active: began}
	stop, at, direct, err := r.startProvider(ctx)
	if err != nil {
		return facts, err
	}
	c, err := newSceneClient(o, folder, at, direct, record.CompanionDir(path))
	if err == nil {
		facts, err = r.runClient(ctx, c)
		c.removeFiles()
	}
	return facts, errors.Join(err, stop())
}

// startProvider starts the provider, and a proxy that records in front of it. The result at is the address of the
// proxy, and direct is the address of the provider. The function stop stops both.
func (r *sceneRun) startProvider(ctx context.Context) (stop func() error, at, direct string, err error) {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", "", err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		upstream.Close()
		return nil, "", "", err
	}
	provider := &http.Server{Handler: r.server, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = provider.Serve(upstream) }()
	to := url.URL{Scheme: "http", Host: upstream.Addr().String()}
	routes := make([]route, len(r.routes))
	for i, known := range r.routes {
		u := to
		routes[i] = route{known.prefix, known.host, &u, true}
	}
	tool := to
	tool.Path = toolPath
	routed := append(proxyRoutes(routes), proxy.Route{Prefix: toolPath, Upstream: &tool})
	recording, err := proxy.New(proxy.Options{Routes: routed, Record: r.live.addRecord, Began: r.live.began})
	if err != nil {
		return nil, "", "", errors.Join(err, upstream.Close(), front.Close())
	}
	r.live.proxy = recording
	r.live.start(callDirect)
	go func() {
		for range r.live.shown.All { // there is no screen
		}
	}()
	go func() { _ = recording.Serve(ctx, front) }()
	return func() error {
		ending, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = recording.Close(ending)
		front.Close()
		_ = provider.Close()
		err := r.live.drainRecords(ending)
		return errors.Join(err, r.live.rec.Close(ending))
	}, "http://" + front.Addr().String(), to.String(), nil
}

// runClient runs the client until it ends, or until it has done nothing for too long.
func (r *sceneRun) runClient(ctx context.Context, c *sceneClient) (facts torture.Facts, err error) {
	output, err := createOutput(r.live)
	if err != nil {
		return facts, err
	}
	defer output.Close()
	if r.inside != nil {
		return r.runInside(ctx, c)
	}
	cmd := c.sceneCmd(output)
	began := time.Now()
	done, err := startOnThread(cmd)
	if err != nil {
		return facts, fmt.Errorf("%s: %w", programOf(c.args[0]), withoutExecError(err))
	}
	ended := r.waitForClient(ctx, done)
	took := time.Since(began)
	endGroup(cmd, done)
	facts = r.server.takeFacts()
	facts.Ended, facts.Took = ended, took
	if !ended {
		facts.Exit = cmd.ProcessState.ExitCode()
		facts.Signal = signalOf(cmd.ProcessState)
	}
	return facts, ctx.Err()
}

// startOnThread starts a program in its own process group. The channel is closed when the program has ended.
func startOnThread(cmd *exec.Cmd) (<-chan struct{}, error) {
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the program ends when the thread that started it ends
		defer runtime.UnlockOSThread()
		err := startGroup(cmd)
		failed <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	return done, <-failed
}

// runInside runs a client in this process.
func (r *sceneRun) runInside(ctx context.Context, c *sceneClient) (facts torture.Facts, err error) {
	began, done, end, exit := time.Now(), make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		exit = r.inside(c.vars, end)
	}()
	ended := r.waitForClient(ctx, done)
	took := time.Since(began)
	close(end)
	<-done
	facts = r.server.takeFacts()
	facts.Ended, facts.Took, facts.Exit = ended, took, exit
	return facts, ctx.Err()
}

// withoutExecError returns the reason in an error from package exec.
func withoutExecError(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// waitForClient waits until the client has ended. It reports whether the client must be killed instead.
func (r *sceneRun) waitForClient(ctx context.Context, done <-chan struct{}) (mustEnd bool) {
	r.server.noteChange(func() {}) // the idle time begins now
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return false
		case <-ctx.Done():
			return true
		case <-tick.C:
			if r.server.idleTime() > r.limit {
				return true
			}
		}
	}
}

// capturePath returns the path of a scene's capture.
func (o *tortureOptions) capturePath(scene *torture.Scene) string {
	return filepath.Join(o.out, scene.Name+record.Extension)
}

// withAbsolutePaths returns a command in which the relative paths of existing files are absolute, because the client
// runs in another folder.
func withAbsolutePaths(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if i == 0 && filepath.Base(arg) == arg {
			continue // a name that is looked up in PATH
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			if path, err := filepath.Abs(arg); err == nil {
				args[i] = path
			}
		}
	}
	return args
}

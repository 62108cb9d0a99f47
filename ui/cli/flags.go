package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
	"toolscope/themes"
	"toolscope/ui"
)

// flagText describes a flag in help, the manual page and completions.
type flagText struct {
	commands string // names of commands, separated by spaces; "" for every command with the flag
	name     string
	value    string // METAVAR of the value; "" for a switch
	usage    string
}

// flagTexts describes every flag. The first row that matches a command and a flag applies.
var flagTexts = []flagText{
	// Flags for inputs and how to read them.
	{"", "follow", "", "keep reading as files grow, across log rotation, and pick up new files in directories"},
	{"export", "as", "FORM", "output form: jsonl, html, har, otlp, capture, svg, md or sse"},
	{"", "from", "FORMAT", "input format: auto, body, or a name from 'toolscope help formats'"},
	{"", "protocol", "NAME", "protocol of every response: auto, or a name from 'toolscope help protocols'"},
	{"connect", "request", "FILE", "send this request body unchanged; PROVIDER is then optional"},
	{"replay", "request", "FILE", "use the history and tools of this request body, if no request was captured"},
	{"", "request", "FILE", "check calls against the tools in this request body, if no request was captured"},
	{"", "prices", "FILE", "JSON price list that overrides the built-in one (see 'toolscope help prices')"},
	{"open", "speed", "N", "play captures with their recorded timing, at 0.25 to 16 times the speed"},
	{"demo", "speed", "N", "playback speed, 0.25 to 16"},
	{"serve", "speed", "N", "playback speed: N times the recorded speed, or max for no delays"},
	{"", "filter", "FILTER", "only matching turns, e.g. 'state:bad tool:run_shell' (see 'toolscope help filter')"},
	{"diff", "turn", "N", "only turn N of each file"},
	{"", "while", "COND", "the condition: finding:CODE, another filter, or a command with {} for the file"},
	{"shrink", "output", "FILE", "new file to write, whose extension selects the form; - means standard output"},
	{"", "slip", "", "allow findings and states that the original doesn't have"},
	{"", "bare", "", "also remove types, ids, indexes and roles"},
	{"", "max-time", "TIME", "maximum time of the search (default: 20s, or 10m for a command)"},
	{"", "scene", "NAME", "only scenes with this name, or with names that match a pattern such as 'cut-*'; repeatable"},
	{"torture", "not", "NAME", "leave out scenes with this name or pattern; repeatable"},
	{"torture", "list", "", "list the scenes with their rules, and run nothing"},
	{"torture", "compare", "", "compare two files written with --format jsonl, and run nothing"},
	{"torture", "strict", "", "also exit with 1 if a result is unknown"},
	{"torture", "verbose", "", "on a terminal, also show scenes in which the client was right"},
	{"torture", "seed", "N", "seed for the ids in the responses"},
	{"torture", "repeat", "N", "run each scene N times; if the results differ, the result is unknown"},
	{"torture", "jobs", "N", "run N scenes at the same time"},
	{"torture", "limit", "TIME", "end a client that does nothing for this long (default: 10 times as long as the control took, at least 20s)"},
	{"torture", "out", "DIR", "folder for the captures and the client's output (default: a new folder inside toolscope's own folder)"},
	{"torture", "format", "FORMAT", "output format: text, jsonl, junit or md"},
	{"torture", "provider", "NAME", "provider for a client that supports several: anthropic, openai or gemini"},
	{"mcp-tool", "url", "URL", "address to which the server sends calls"},
	{"", "max-questions", "N", "maximum number of files to check"},
	{"cut", "turn", "N", "turn N (default: the first with a call)"},
	{"", "turn", "N", "only turn N"},
	{"cut", "call", "N", "call N of the turn (default: the first)"},
	{"", "call", "N", "only call N of its turn"},

	// Flags for the screen.
	{"", "theme", "NAME", "auto, a name from 'toolscope help themes', or a theme file"},
	{"", "color", "WHEN", "when to use colours: auto (on a terminal), always or never"},
	{"", "no-color", "", "don't use colours (same as NO_COLOR=1)"},
	{"", "ascii", "", "use ASCII characters only"},
	{"print check diff replay stats fix suite/run suite/list", "plain", "", "on a terminal, don't use colours or symbols, and don't wrap lines"},
	{"", "plain", "", "print a sentence per event instead of drawing a screen, for screen readers and logs"},
	{"", "reduced-motion", "", "no animation, and at most two redraws a second; the demo waits for a key"},
	{"", "large", "", "presentation mode: one call at a time, few words and wide spacing"},
	{"", "log", "FILE", "write toolscope's own log to FILE, without secrets; auto uses a default location"},
	{"", "memory", "SIZE", "memory limit for finished turns, e.g. 500MB; beyond it, toolscope keeps only the list rows of the oldest turns"},
	{"run", "screen", "", "open the screen here and write the client's output to a file"},
	{"run", "headless", "", "don't open a screen, not even in tmux"},
	{"proxy", "headless", "", "print calls instead of opening a screen"},

	// Flags for the output.
	{"print", "format", "FORMAT", "output format: text, or jsonl with one JSON object per call and turn"},
	{"suite/run", "format", "FORMAT", "output format: text, jsonl, junit or md"},
	{"suite/list", "format", "FORMAT", "output format: text, jsonl or md"},
	{"check", "format", "FORMAT", "output format: text, jsonl, junit or sarif"},
	{"stats", "format", "FORMAT", "output format: text, jsonl or prometheus"},
	{"diff fix", "format", "FORMAT", "output format: text, or jsonl with one JSON object per line"},
	{"replay", "format", "FORMAT", "output format: text, or jsonl with one JSON object per call, target and policy"},
	{"", "format", "FORMAT", "print calls instead of opening a screen: text or jsonl"},
	{"", "summary", "", "print only totals: turns, calls by state, and cost"},
	{"", "count", "", "print the number of lines and an estimated number of responses, without decoding the files"},
	{"", "jq", "EXPR", "apply jq EXPR to each call's arguments or, with --format jsonl, to each line"},
	{"export", "output", "FILE", "new file to write (default: standard output)"},
	{"", "output", "FILE", "new file to write; - means standard output"},
	{"", "force", "", "overwrite the output file"},
	{"", "redact", "", "replace keys and other secrets"},

	// Flags for recording.
	{"mcp", "record", "DIR", "record into a new file in DIR"},
	{"acp", "record", "DIR", "record into a new file in DIR"},
	{"connect", "record", "FILE", "record into a new capture FILE, or into a new file if FILE is a directory"},
	{"", "record", "FILE", "record into a new capture FILE, or into a new file if FILE is a directory (default: toolscope's own folder)"},
	{"", "no-record", "", "don't record"},
	{"", "keep-secrets", "", "don't redact keys and other secrets"},
	{"ask", "all", "", "search the captures from all folders"},
	{"ask", "dir", "DIR", "search the captures that were started in DIR or below it (default: the current folder)"},
	{"run", "ask", "", "add toolscope's own MCP server to the client for this run, so that the agent can ask about its calls"},
	{"", "prune-days", "N", "delete captures in toolscope's own folder after N days; 0 keeps all"},
	{"", "prune-size", "SIZE", "delete the oldest captures when toolscope's own folder exceeds SIZE"},
	{"", "verbose", "", "report which captures were deleted"},

	// Flags for proxy, run, connect, mcp and serve.
	{"", "listen", "ADDR", "address to listen on; port 0 picks a free port"},
	{"", "metrics", "ADDR", "serve Prometheus metrics at http://ADDR/metrics, on this machine only, e.g. 127.0.0.1:9464"},
	{"fix", "write", "NEW", "new file for the corrected copy"},
	{"fix", "to", "NAME", "check against the rules of this target, a name from 'toolscope help targets' (default: depends on FILE)"},
	{"replay", "to", "NAME", "target: all, or a name from 'toolscope help targets'"},
	{"", "to", "[NAME=]URL", "upstream for all requests, or for those under /NAME; repeatable"},
	{"", "print-env", "", "print the shell lines that point clients at the proxy"},
	{"", "probe", "", "don't start a proxy; exit with 0 if a proxy already listens at the --listen address"},
	{"serve", "public", "", "accept connections from other machines, which can then read the captures"},
	{"hub", "public", "", "accept connections from other machines; requires --auth, --tls-cert and --tls-key"},
	{"", "public", "", "accept connections from other machines; requires --token"},
	{"", "token", "TOKEN", "require TOKEN, or the token in @FILE, on every request"},
	{"proxy", "origin", "ORIGIN", "accept browser requests from pages at ORIGIN; repeatable"},
	{"", "break", "FILTER", "hold responses with a call that matches FILTER, e.g. tool:run_shell, until you resume them on the screen"},
	{"", "break-timeout", "TIME", "resume a held response after this time"},
	{"run proxy", "fault", "FAULT", "inject FAULT into the responses that clients get, e.g. cut@3; repeatable"},
	{"", "fault", "FAULT", "inject FAULT into the responses, e.g. cut@3; repeatable"},
	{"", "tls", "", "decrypt TLS to the hosts of models, for programs whose base URL can't be set (see 'toolscope help run')"},
	{"", "tls-host", "NAME", "also decrypt TLS to the host NAME, and record all requests to it; repeatable"},
	{"", "tls-all", "", "record all requests to decrypted hosts, not only those to models"},
	{"", "unrecorded", "", "start the client even if it can't use the proxy"},
	{"", "no-mcp", "", "don't record MCP requests or the times of shell commands"},
	{"", "name", "NAME", "name of the server or agent (default: the command's name)"},
	{"", "line", "LINE", "shell command line that Claude Code runs through its shell prefix"},
	{"connect", "model", "NAME", "model for each PROVIDER that is given without /MODEL"},
	{"", "tools", "FILE", "declare the tools in FILE"},
	{"", "system", "TEXT", "system prompt, or @FILE to read it from FILE"},
	{"", "max-tokens", "N", "maximum output tokens (default: the provider's default; if the provider requires a limit, one that fits the model)"},
	{"", "base-url", "URL", "base URL of another host that uses PROVIDER's protocol"},
	{"", "header", "NAME=VALUE", "add a request header; repeatable"},
	{"", "session", "NAME", "conversation name; enables prompt caching, even where cache writes cost extra"},
	{"", "long-cache", "", "with --session: ask the provider to keep the prompt cache longer"},
	{"", "timeout", "TIME", "maximum wait for the first byte of the response"},

	// Flags for check, replay, cut, demo and config.
	{"stats", "by", "KEYS", "group by these keys, separated by commas: model, server, provider, client, day or tool"},
	{"stats", "since", "WHEN", "only turns that began at this time or later: an age such as 7d, a time, or a day in UTC"},
	{"stats", "until", "WHEN", "only turns that began before this time"},
	{"stats", "vs", "FILE", "older file or folder to compare with, or a period of the same files, e.g. 14d..7d; repeatable"},
	{"stats", "drift", "", "find the day in the last 30 days since which something has been better or worse"},
	{"stats", "alarms-per-year", "N", "with --drift: expected number of false alarms in a year, if stats runs once a day (default: 1)"},
	{"stats", "fail-on", "LIST", "conditions that make stats exit with 1, separated by commas, e.g. 'worse,bad>1%'"},
	{"stats", "strict", "", "with --fail-on: also exit with 1 if there is too little data to decide a condition"},
	{"", "fail-on", "LIST", "lowest severity that makes the check fail (info, warn or error), or finding codes, separated by commas"},
	{"", "expect-tool", "NAME", "fail unless tool NAME is called; repeatable"},
	{"", "forbid-tool", "NAME", "fail if tool NAME is called; repeatable"},
	{"", "max-cost", "USD", "fail if the total cost exceeds this many US dollars or is unknown"},
	{"suite/run", "baseline", "FILE", "ignore wrong cases in FILE, the jsonl output of an earlier run, if their outcomes are the same"},
	{"suite/run", "self", "", "test toolscope's own readers"},
	{"suite/run suite/list", "only", "CASES", "only cases with this protocol, tag or ID; in an ID, * stands for any text without /; repeatable"},
	{"suite/run suite/list", "not", "CASES", "leave out cases with this protocol, tag or ID; repeatable"},
	{"", "baseline", "FILE", "ignore findings in FILE, the jsonl or sarif output of an earlier check"},
	{"", "policy", "NAME", "client policy for broken arguments: all, behaviours, clients, or a name from 'toolscope help policies'"},
	{"", "whole", "", "preview whole turns: text, reasoning and all calls in one message"},
	{"", "conversation", "", "preview the history in the turn's request, followed by the turn"},
	{"", "one-by-one", "", "put each call in its own message, followed by its result; implies --whole"},
	{"", "fail-on-loss", "SEVERITY", "exit with 1 if a preview would be refused, or has a loss of this SEVERITY or worse: info, low, medium, high or critical"},
	{"", "at-delta", "N", "end after delta N of a call's arguments"},
	{"", "at-ms", "T", "end T milliseconds after the turn began"},
	{"", "list", "", "list the scenarios"},
	{"", "save", "DIR", "write the scenarios into DIR as captures"},
	{"", "show-origin", "", "show where each value comes from"},

	// Flags for hubs and collectors.
	{"", "publish", "URL", "publish the traffic, without secrets, to the hub at URL, e.g. nats://hub:4222"},
	{"", "host", "NAME", "with --publish: name of this machine (default: its host name)"},
	{"", "agent", "NAME", "with --publish: label for this source"},
	{"", "spool", "DIR", "with --publish: directory for unsent data, with one subdirectory per hub"},
	{"", "spool-limit", "SIZE", "with --publish: maximum spool size per run"},
	{"", "linger", "TIME", "with --publish: collect data for this long before sending it; a longer time puts less load on the hub"},
	{"", "no-index", "", "with --publish: don't index calls on the hub; searches must then read every capture"},
	{"", "creds", "FILE", "NATS credentials file for the hub"},
	{"", "nkey", "FILE", "NATS NKey seed file for the hub"},
	{"", "hub-token", "@FILE", "token for the hub, read from FILE"},
	{"", "hub-ca", "FILE", "CA certificate of the hub"},
	{"", "hub-model", "NAME", "hub only: read only exchanges with a call from model NAME"},
	{"", "hub-state", "STATE", "hub only: read only exchanges with a call in STATE, e.g. malformed"},
	{"", "store", "DIR", "storage directory (default: toolscope's own folder)"},
	{"", "max-age", "TIME", "delete messages that are older than this"},
	{"", "max-bytes", "SIZE", "delete the oldest messages when the stored data exceeds SIZE"},
	{"", "sync", "WHEN", "fsync policy: 1s (every second), or always (before each acknowledgement)"},
	{"", "auth", "FILE", "NATS authorization block: who may publish and who may view"},
	{"", "tls-cert", "FILE", "TLS certificate"},
	{"", "tls-key", "FILE", "private key of the TLS certificate"},
	{"", "new-key", "FILE", "write a new key for --nkey to FILE, print its public half for --auth, and exit"},
	{"", "otlp", "URL", "send turns and calls as spans to the collector at URL, e.g. http://collector:4318"},
	{"", "otlp-content", "", "with --otlp: include text from models and tools, without secrets"},
	{"", "otlp-key", "@FILE", "with --otlp: key for argument hashes, read from FILE (default: a random key per run)"},

	{"toolscope", "version", "", "print the version"},
	{"version", "licenses", "", "print the licences of the software that toolscope contains"},
	{"", "help", "", "show this help"},
}

// commandKey returns the key of a command in tables. The key is the command's name. For a command of suite, it begins
// with "suite/", because other commands have the same names.
func commandKey(cmd *cobra.Command) string {
	if cmd.Parent() != nil && cmd.Parent().Name() == "suite" {
		return "suite/" + cmd.Name()
	}
	return cmd.Name()
}

// valueMark is the flag annotation with the METAVAR of the flag's value.
const valueMark = "toolscope_value"

// describeFlags sets the descriptions of all flags of a command and its subcommands. It also makes flags of type
// SIZE check their values.
func describeFlags(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	name := commandKey(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		i := slices.IndexFunc(flagTexts, func(t flagText) bool {
			return t.name == f.Name && (t.commands == "" || slices.Contains(strings.Fields(t.commands), name) || name == "toolscope" && t.commands == "open")
		})
		if i < 0 {
			return // a test checks that every flag has a description
		}
		f.Usage = flagTexts[i].usage
		if flagTexts[i].value == "SIZE" {
			addFlagCheck(cmd.Flags(), f.Name, func(text string) error {
				_, err := sizeOf("--"+f.Name, text)
				return err
			})
		}
		_ = cmd.Flags().SetAnnotation(f.Name, valueMark, []string{flagTexts[i].value})
	})
	for _, sub := range cmd.Commands() {
		describeFlags(sub)
	}
}

// flagValue returns the METAVAR of a flag, or "" for a switch.
func flagValue(f *pflag.Flag) string {
	if v := f.Annotations[valueMark]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// flagDefault describes a flag's default value. It returns "" if the default is empty, or if the flag's description
// contains it.
func flagDefault(f *pflag.Flag) string {
	switch {
	case slices.Contains([]string{"", "0", "false", "[]", "0s"}, f.DefValue), strings.Contains(f.Usage, "(default: "):
		return ""
	case f.Value.Type() == "string":
		return ` (default "` + f.DefValue + `")`
	}
	return " (default " + f.DefValue + ")"
}

// renamedFlags are flags whose old names still work. Help and completions show only the new names.
var renamedFlags = []struct{ commands, old, new string }{
	{"toolscope open print diff check replay", "as", "from"},
	{"toolscope open print diff check replay cut export", "dialect", "protocol"},
	{"toolscope open run proxy show", "keep", "memory"},
	{"connect", "keep", "long-cache"},
	{"hub", "keep", "max-age"},
	{"hub", "keep-bytes", "max-bytes"},
	{"toolscope open print check", "model", "hub-model"},
	{"toolscope open print check", "status", "hub-state"},
	{"run proxy show", "kept-days", "prune-days"},
	{"run proxy show", "kept-size", "prune-size"},
	{"run proxy show", "break-time", "break-timeout"},
	{"show", "origin", "show-origin"},
	{"toolscope open print proxy check export show", "tls-ca", "hub-ca"},
}

// acceptOldFlags makes a command and its subcommands accept the old names of flags.
func (se *settingSources) acceptOldFlags(cmd *cobra.Command) {
	names := map[string]string{}
	for _, r := range renamedFlags {
		if slices.Contains(strings.Fields(r.commands), cmd.Name()) {
			names[r.old] = r.new
		}
	}
	if len(names) > 0 {
		cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if now, old := names[name]; old {
				se.noteOldName(cmd, "--"+name, "--"+now)
				return pflag.NormalizedName(now)
			}
			return pflag.NormalizedName(name)
		})
	}
	for _, sub := range cmd.Commands() {
		se.acceptOldFlags(sub)
	}
}

// noteOldName adds a note about an old name of a flag or a topic.
func (se *settingSources) noteOldName(cmd *cobra.Command, old, now string) {
	if n := (oldName{cmd, old + " is now called " + now}); !slices.Contains(se.oldNames, n) {
		se.oldNames = append(se.oldNames, n)
	}
}

// printOldNames prints the notes about old names that are for a command. To find the command, cobra looks up the flags
// of the command line in the commands above it, too, in which the same name may be old. printOldNames prints only to a
// terminal, so that the output of scripts does not change.
func (se *settingSources) printOldNames(cmd *cobra.Command) {
	for _, n := range se.oldNames {
		if se.app.stderrIsTerminal && (n.command == nil || n.command == cmd) {
			se.app.printNote("%s", n.note)
		}
	}
	se.oldNames = nil
}

// openOptions returns the options for opening an input in the format that --from names.
func (r *readFlags) openOptions(follow bool, stdin io.Reader) capture.Options {
	o := capture.Options{Follow: follow, Stdin: stdin, Formats: formats.All, GuessPayload: looksLike, IsLive: record.IsOpen}
	switch r.as {
	case "", "auto":
	case "body":
		o.Formats, o.Forced = nil, true
	default:
		f, _ := formats.Find(r.as) // inspectorSetup checks the name
		o.Formats, o.Forced = []capture.Format{f}, true
	}
	return o
}

// readFlags are the flags for reading inputs.
type readFlags struct {
	places   bool // the command needs places in log files
	protocol string
	as       string // name of the input format for all inputs
	request  string // name of a file with a request body
}

func (r *readFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.protocol, "protocol", "auto", "")
	f.StringVar(&r.as, "from", "auto", "")
	f.StringVar(&r.request, "request", "", "")
}

// inspectorSetup returns a function that applies the flags to an inspector.
func (r *readFlags) inspectorSetup() (func(*providers.Inspector), error) {
	var forced *protocol.Protocol
	if r.protocol != "" && r.protocol != "auto" {
		d, err := providers.FindProtocol(r.protocol)
		if err != nil {
			return nil, usageErrorf("--protocol: %w, and auto%s", err, suggestCompletion(r.protocol, protocolCompletions()))
		}
		forced = d
	}
	if _, ok := formats.Find(r.as); !ok && !slices.Contains([]string{"", "auto", "body"}, r.as) {
		return nil, usageErrorf("--from %q: unknown format%s\nuse auto, body, or a name from 'toolscope help formats'", r.as, suggestCompletion(r.as, formatCompletions()))
	}
	body, err := r.requestBody()
	if err != nil {
		return nil, err
	}
	return func(in *providers.Inspector) {
		in.ForceProtocol(forced)
		in.Request = body
	}, nil
}

// requestBody returns the content of the file that --request names, or nil without the flag.
func (r *readFlags) requestBody() ([]byte, error) {
	if r.request == "" {
		return nil, nil
	}
	body, err := os.ReadFile(r.request)
	if err != nil {
		return nil, fmt.Errorf("--request: %w", err)
	}
	s := json.Scan(body)
	isObject := s.Kind() == '{'
	s.Value()
	switch err := s.End(); {
	case err != nil:
		return nil, fmt.Errorf("--request %s: not JSON: %w\nuse the body of a request, e.g. {\"model\": …, \"tools\": […]}", r.request, err)
	case !isObject || !providers.DeclaresTools(body):
		return nil, fmt.Errorf("--request %s: the body declares no tools in a known protocol\nuse the body of a request, e.g. {\"model\": …, \"tools\": […]}", r.request)
	}
	return body, nil
}

// lookFlags are the flags for the appearance of the screen.
type lookFlags struct {
	theme   string
	noColor bool
	ascii   bool
	plain   bool
	calm    bool
	log     string
	large   bool
	keep    string
}

func (l *lookFlags) add(f *pflag.FlagSet) {
	f.StringVar(&l.theme, "theme", "auto", "")
	f.BoolVar(&l.noColor, "no-color", false, "")
	f.BoolVar(&l.ascii, "ascii", false, "")
	f.BoolVar(&l.plain, "plain", false, "")
	f.BoolVar(&l.calm, "reduced-motion", false, "")
	f.StringVar(&l.log, "log", "", "")
	f.BoolVar(&l.large, "large", false, "")
	addFlagCheck(f, "theme", func(name string) error {
		_, err := lookTheme(name, true, func(string) {})
		return err
	})
	asPaths(f, "theme", "log")
}

// addKeep adds --memory, for commands whose screen can show very many turns.
func (l *lookFlags) addKeep(f *pflag.FlagSet) {
	f.StringVar(&l.keep, "memory", "1GB", "")
}

// checkNumbers returns an error if one of the flags is set to a value below 1.
func checkNumbers(cmd *cobra.Command, flags ...string) error {
	for _, flag := range flags {
		if n, _ := cmd.Flags().GetInt(flag); n < 1 && cmd.Flags().Changed(flag) {
			return usageErrorf("--%s %d: numbers start at 1", flag, n)
		}
	}
	return nil
}

// sizeOf parses a size, such as 500MB, 1.5 GB, 64k or 20GiB, into bytes.
func sizeOf(flag, text string) (bytes int64, err error) {
	number := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B")
	base := 1000.0
	if before, is := strings.CutSuffix(number, "I"); is {
		number, base = before, 1024
	}
	unit := 1.0
	if n := len(number); n > 0 {
		if i := strings.IndexByte("KMGT", number[n-1]); i >= 0 {
			unit, number = math.Pow(base, float64(i+1)), number[:n-1]
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	wrong := ""
	switch {
	case err != nil || base == 1024 && unit == 1:
		wrong = "not a size"
	case !(n*unit >= minMemory):
		wrong = "too small"
	case !(n*unit < 1<<50):
		wrong = "too large"
	}
	if wrong != "" {
		return 0, usageErrorf("%s %q: %s\nuse at least %dMB; the units are kB, MB, GB, TB, KiB, MiB, GiB and TiB, e.g. 500MB or 20GiB", flag, text, wrong, minMemory/1_000_000)
	}
	return int64(n * unit), nil
}

// minMemory is the minimum size that a flag accepts. --memory must leave room for the selected turn and the
// turns shortly before it.
const minMemory = 1_000_000

// isThemeSet reports whether the user chose a theme.
func (l *lookFlags) isThemeSet() bool { return l.theme != "auto" && l.theme != "" }

// applyTo sets the options for the appearance of the screen. The function note receives problems in the theme
// file. The result is the keys that the user typed while applyTo queried the terminal.
func (l *lookFlags) applyTo(o *ui.Options, note func(string)) (typed []tea.KeyMsg) {
	kept := readSavedState()
	if _, err := lookTheme(kept.theme, true, func(string) {}); !l.isThemeSet() && err == nil && kept.theme != "" {
		l.theme = kept.theme
	}
	o.Layout, o.Calm = kept.layout, l.calm
	o.Depth, o.Asked = l.colourDepth(), l.isThemeSet()
	if !o.Asked || o.Depth <= termenv.ANSI256 { // otherwise the background is not needed
		o.Terminal, typed = terminalGround(answerTime)
	}
	dark := o.Terminal.Dark || !o.Terminal.Known
	var err error
	if o.Theme, err = lookTheme(l.theme, dark, note); err != nil { // the file has changed since it was checked
		o.Theme = themes.Default(dark)
	}
	o.Themes = ownThemes(dark)
	o.Keep, _ = sizeOf("--memory", l.keep)
	o.ASCII, o.Large = l.ascii || asciiLocale(), l.large
	return typed
}

// colourDepth returns the number of colours that the terminal supports according to the flags and the
// environment. See no-color.org and bixense.com/clicolors.
func (l *lookFlags) colourDepth() termenv.Profile {
	name := os.Getenv("TERM")
	forced := os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0"
	switch colour := os.Getenv("COLORTERM"); {
	case l.noColor, os.Getenv("NO_COLOR") != "":
		return termenv.Ascii
	case !forced && (os.Getenv("CLICOLOR") == "0" || name == "dumb"):
		return termenv.Ascii
	case colour == "truecolor" || colour == "24bit" || strings.Contains(name, "direct"):
		return termenv.TrueColor
	case strings.Contains(name, "256color"):
		return termenv.ANSI256
	}
	return termenv.ANSI
}

// asciiLocale reports whether the locale requires ASCII. Without a locale it returns false, because today's
// terminals draw UTF-8.
func asciiLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return false
}

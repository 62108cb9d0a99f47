// Package cli implements the command line. It is the composition root, the only package that imports all
// others. It reads flags, connects sources to the inspector and the screen, and sets the exit code. Other
// packages judge the calls.
//
// Exit codes:
//
//   - 0: success
//   - 1: the command failed, nothing was recognised, a source is damaged, or a preview has a loss that
//     --fail-on-loss names
//   - 2: wrong usage
//   - 3: a capture has gaps, a redactor reached a limit, or spans did not reach a collector
//   - 128+n: signal n ended the program
//
// run returns its client's exit code. check and diff use grep's codes: 0 if there are no findings or
// differences, 1 if there are some, 2 for an error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/providers"
	"toolscope/stream/marks"
	"toolscope/ui"
)

// app is one run of the program.
type app struct {
	inputs
	settingSources
	printing
	liveSession
	messageOutput

	stdin            *os.File
	stdout           lineWriter
	drawing          atomic.Bool // the screen is open
	output           stdStream   // standard output without sanitising, for the screen and for files
	ending           *shutdown   // shutdown that a signal starts
	narrow           func()      // restricts both standard streams to ASCII
	flags            lookFlags
	colour           string // --color
	replaying        replayFlags
	speed            float64
	pricesFile       string
	code             int  // exit code so far
	failed           bool // an error was reported with failWith
	signalled        bool // a signal ended the run
	stderrIsTerminal bool
}

// inputs has the settings and state of the sources that a command reads: files, pipes and hubs.
type inputs struct {
	app           *app
	reading       readFlags
	hub           hubFlags
	calls         callFlags
	views         []*fleet.View // views of the hubs that the command reads
	reportedViews int           // number of views whose missing data has been reported
	follow        bool
	filter        string            // text of --filter
	turnFilter    *turnFilter       // the parsed filter; nil selects all turns
	counting      bool              // --count
	found         capture.FoundFile // the file that is being read
	joins         bool              // named captures of the same run are read as one source
	isRun         bool              // the current source consists of captures of one run
	unrecognised  []string          // files without a recognised format

	// together reads the files in a directory or matching a pattern at the same time; nil to read them one after the
	// other.
	together func([]capture.FoundFile, func(*providers.Inspector)) error
	// isKnown is called for each source. If it returns true, the source is not read. It may be nil.
	isKnown func([]capture.FoundFile) bool
}

// settingSources has the settings from the command line, the environment and the configuration file.
type settingSources struct {
	app           *app
	keys          ui.UserKeys
	providerFlags map[string]*connectFlags // flags from the command line, by host name
	origin        map[string]valueOrigin   // origins of settings from the environment or the file, by key
	oldNames      []oldName                // old names of flags and topics that the command line contains
}

// An oldName is a note about an old name. Its command has the flag; it is nil for a topic.
type oldName struct {
	command *cobra.Command
	note    string
}

// printing prints turns to standard output.
type printing struct {
	app     *app
	format  string
	summary bool   // --summary
	jq      string // expression of --jq; "" without the flag
}

// liveSession records, publishes and traces live traffic.
type liveSession struct {
	app     *app
	sends   publishFlags  // publish flags for a source that is followed
	sending *hubPublisher // nil without --publish
	tracing *traceSender  // nil without --otlp
	network *liveInput    // input from the network; nil without such input
}

// linkParts sets the app field in the app's parts, and returns the app.
func (a *app) linkParts() *app {
	a.inputs.app, a.settingSources.app, a.printing.app, a.liveSession.app = a, a, a, a
	return a
}

// Run runs the command line in args and returns the exit code.
func Run(args []string, stdin, stdout, stderr *os.File) int {
	marks.Use(providers.Marks())
	ending := newShutdown()
	out, errs := newStdWriter(stdout, "standard output", ending), newStdWriter(stderr, "standard error", ending)
	ascii := asciiLocale()
	words, said := &asciiTo{to: out, on: ascii}, &asciiTo{to: errs, on: ascii}
	a := (&app{stdin: stdin, stdout: lineWriter{to: words}, messageOutput: messageOutput{stderr: lineWriter{to: said}}, output: out, ending: ending, stderrIsTerminal: isTerminal(stderr)}).linkParts()
	a.narrow = func() { words.on, said.on = true, true }
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(words)
	root.SetErr(said)
	code := a.finishRun(root.ExecuteContext(context.Background()))
	// Some commands, e.g. help, ignore failed writes.
	if failed := out.firstError(); failed != nil && code == 0 {
		return a.finishRun(failed)
	}
	return code
}

// finishRun prints err, unless it is nil, and returns the exit code.
func (a *app) finishRun(err error) int {
	if err != nil {
		a.failWith(a.withOrigin(err))
	}
	return a.code
}

// failWith prints err and raises the exit code to the code for err: 2 for wrong usage, else 1.
func (a *app) failWith(err error) {
	a.failed = true
	a.printError(err)
	a.code = max(a.code, 1)
	var usage *usageError
	if errors.As(err, &usage) {
		a.code = max(a.code, 2)
	}
}

// usageError is an error in the command line or the configuration.
type usageError struct{ error }

func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "toolscope [FILE…]",
		Short:         "Inspect LLM tool calls while they stream",
		Long:          rootHelp,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := suggestCommand(cmd, args); err != nil {
				return err
			}
			return a.runOpen(cmd.Context(), args)
		},
		PersistentPreRunE: a.applyConfig,
	}
	root.SetVersionTemplate("toolscope {{.Version}}\n")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.printHelp(cmd) })
	root.SetFlagErrorFunc(wrongFlag)
	a.openFlags(root)
	open := &cobra.Command{
		Use: "open FILE…", Short: "Open captures, logs and saved responses",
		Example: "toolscope open agent.sse\ntoolscope -f proxy.log\ntoolscope open page.har 'cassettes/*.yaml'\ncurl -N … | toolscope open -",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runOpen(cmd.Context(), args) },
	}
	a.openFlags(open)
	root.AddCommand(open, a.runCommand(), a.connectCommand(), a.proxyCommand(), a.mcpCommand(), a.acpCommand(), a.printCommand(), a.replayCommand(), a.diffCommand(), a.checkCommand(), a.exportCommand(), a.cutCommand(), a.shrinkCommand(), a.tortureCommand(), a.suiteCommand(), a.mcpToolCommand(), a.serveCommand(), a.hubCommand(), a.demoCommand(), a.explainCommand(), a.askCommand(), a.statsCommand(), a.fixCommand(), a.configCommand(), a.completionCommand(), a.manCommand(), a.versionCommand())
	root.AddCommand(a.helpTopics()...)
	show, _, _ := root.Find([]string{"config", "show"}) // config show also needs the shared flags, because they change the settings that it shows
	for _, s := range allSettings(root) {
		if s.table == "" {
			show.Flags().AddFlag(s.flag)
		}
	}
	// The root command accepts any word as a FILE, so the help command must reject unknown words itself.
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help for a command or topic",
		Example:           "toolscope help print\ntoolscope help filter\ntoolscope help config show",
		Long:              "'help COMMAND' prints the same text as 'COMMAND --help'. 'toolscope --help' lists the\ncommands and the topics.",
		ValidArgsFunction: a.cobraCompleter(fixedCompletions(func() []completion { return pageCompletions(root) })),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, _, err := root.Find(args)
			if len(args) > 0 && (err != nil || page == root) {
				names := mapSlice(pageCompletions(root), func(o completion) string { return o.word })
				return usageErrorf("help: unknown command or topic %q%s\n'toolscope help' lists them", args[0], suggestName(args[0], names))
			}
			if page.IsAdditionalHelpTopicCommand() && slices.Contains([]string{"dialects", "executed", "fleet", "hosts"}, args[0]) {
				a.noteOldName(nil, "help "+args[0], "help "+page.Name())
				a.printOldNames(cmd)
			}
			return page.Help()
		},
	})
	root.InitDefaultHelpCmd()
	describeFlags(root)
	checkFlagGroups(root)
	a.acceptOldFlags(root)
	a.addCompletions(root)
	return root
}

func (a *app) openFlags(cmd *cobra.Command) {
	a.followFlag(cmd)
	cmd.Flags().Float64Var(&a.speed, "speed", 0, "")
	a.reading.add(cmd.Flags())
	a.pricesFlag(cmd)
	a.publishFlags(cmd, &a.sends, "log")
	a.flags.add(cmd.Flags())
	a.flags.addKeep(cmd.Flags())
	a.callFlags(cmd)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// isTerminal reports whether f is a terminal.
func isTerminal(f stdStream) bool { return term.IsTerminal(f.Fd()) }

// These constants control the growth of the heap between two collections. The heap grows by at least minSlack. Most
// of its content is bytes and numbers, which are cheap to collect. A large heap, with very many turns, grows by a
// fraction of its size, because the collector would otherwise use most of the processor time. Above bigHeap, the heap
// grows by half of the excess. A heap of that size results from fast input, and is pruned whenever it has grown.
const (
	minSlack    = 16 << 20
	liveMetric  = "/gc/heap/live:bytes"
	gcOwnChoice = "GOGC"
	ofHeap      = 8
	bigHeap     = 128 << 20
	proxySlack  = 64 << 20
	proxyProcs  = 8
)

// proxying is true if the program runs a proxy.
var proxying atomic.Bool

// preferNetwork keeps a proxy fast while it redacts and decodes a large body. Go runs as many goroutines at once as
// there are cores. If all of them compute, a request may wait for up to 10 ms each time it is ready to continue. With
// more threads, the operating system chooses between them, and it prefers a thread that has just woken up. The heap
// may also grow more, because the collector delays goroutines that allocate.
func preferNetwork() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < proxyProcs {
		runtime.GOMAXPROCS(proxyProcs)
	}
	proxying.Store(true)
}

// SteadyMemory limits the growth of the heap to the percentage from percentFor after each collection, unless GOGC is
// set.
func SteadyMemory() {
	if os.Getenv(gcOwnChoice) != "" {
		return
	}
	debug.SetGCPercent(percentFor(0, false))
	afterEachGC(func() {
		live := []metrics.Sample{{Name: liveMetric}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(percentFor(live[0].Value.Uint64(), proxying.Load()))
		}
	})
}

// percentFor returns the percentage by which a heap with the given number of live bytes may grow. With a
// proxy, the heap may grow to twice its size, but by at most proxySlack.
func percentFor(live uint64, proxying bool) int {
	slack := max(minSlack, live/ofHeap)
	if proxying {
		slack = max(slack, min(live, proxySlack))
	}
	if live > bigHeap {
		slack = max(slack, (live-bigHeap)/2)
	}
	return int(slack * 100 / max(live, 4<<20))
}

// afterEachGC calls f after each collection. It uses the finaliser of an unreachable object.
func afterEachGC(f func()) {
	type witness struct{ _ [16]byte }
	runtime.SetFinalizer(new(witness), func(*witness) {
		f()
		afterEachGC(f)
	})
}

// listenAt listens at an address. If public is false, the address must be a loopback address.
func listenAt(address string, public bool) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usageErrorf("--listen %q: %w\nuse HOST:PORT, e.g. 127.0.0.1:8080", address, err)
	}
	if !public && !addr.IP.IsLoopback() {
		return nil, usageErrorf("--listen %s: other machines could connect\nallow that with --public, or use 127.0.0.1:%d for this machine only", address, addr.Port)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if isTaken(err) {
		return nil, fmt.Errorf("--listen %s: another program uses this port\nuse --listen %s for a free port", address, net.JoinHostPort(addr.IP.String(), "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// firstLine is a writer that prints the first line of each message from net/http, without stack traces.
type firstLine struct{ app *app }

// Write prints the first line of p.
func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.app.printNote("%s", line)
	return len(p), nil
}

// Package cli implements the command line. It is the composition root, the only package that imports all
// others: it reads flags, connects sources to the inspector and the screen, and sets the exit code. Other
// packages judge the calls.
//
// Exit codes:
//
//   - 0: success
//   - 1: the command failed, nothing was recognised, a source is damaged, or a preview has a loss that
//     --fail-on-loss names
//   - 2: wrong usage
//   - 3: a capture has gaps, a redactor reached a limit, or a collector lacks spans
//   - 128+n: signal n ended the program
//
// run ends with the exit code of its client. check and diff use grep's codes: 0 for no findings or
// differences, 1 for some, 2 for an error.
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
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/ui"
	"toolscope/ui/display"
)

// app is one run of the program. It is built of parts, each of which uses only the parts before it. The receiver
// of a command says which of them the command needs.
type app struct {
	appPrinting
	sends         publishFlags  // for a followed source
	sending       *hubPublisher // nil without --publish
	replaying     replayFlags
	speed         float64
	providerFlags map[string]*connectFlags // flags of the command line, by name of the host
	network       *liveInput               // input from the network; nil without one
}

// appConsole has the standard streams, the notes and errors of the program, and its exit code.
type appConsole struct {
	stdin            *os.File
	stdout, stderr   lineWriter
	later            atomic.Pointer[deferredOutput] // gets notes and errors instead of stderr, unless nil
	drawing          atomic.Bool                    // the screen is open
	output           stdStream                      // standard output, not sanitised, for the screen and files
	ending           *shutdown                      // started by a signal
	journal          ui.Journal                     // notes and errors of the program
	narrow           func()                         // limits both standard streams to ASCII
	code             int                            // exit code so far
	oldNames         []string                       // notes about old names of flags and topics that were used
	stderrIsTerminal bool
}

// appSettings has the settings that do not depend on an input.
type appSettings struct {
	appConsole
	origin     map[string]valueOrigin // of settings from the environment or the file, by key
	keys       ui.UserKeys
	flags      lookFlags
	pricesFile string
}

// appInputs opens files and hubs, and reads them one after the other.
type appInputs struct {
	appSettings
	reading       readFlags
	hub           hubFlags
	calls         callFlags
	follow        bool
	views         []*fleet.View     // the hubs that are read
	reportedViews int               // number of views whose missing data was reported
	found         capture.FoundFile // the current file
	joins         bool              // named captures of one run are read as one source
	isRun         bool              // the current source is the captures of one run
	unrecognised  []string          // files in which nothing was recognised
}

// appPrinting prints turns and calls.
type appPrinting struct {
	appInputs
	filter     string      // text of --filter
	turnFilter *turnFilter // filter, parsed; nil selects all turns
	format     string
	counting   bool         // --count
	summary    bool         // --summary
	jq         string       // expression of --jq, "" without the flag
	tracing    *traceSender // nil without --otlp
}

// Run runs the command line args and returns the exit code.
func Run(args []string, stdin, stdout, stderr *os.File) int {
	ending := newShutdown()
	out, errs := newStdWriter(stdout, "standard output", ending), newStdWriter(stderr, "standard error", ending)
	ascii := asciiLocale()
	words, said := &asciiTo{to: out, on: ascii}, &asciiTo{to: errs, on: ascii}
	a := new(app)
	a.stdin, a.stdout, a.stderr, a.output, a.ending = stdin, lineWriter{words}, lineWriter{said}, out, ending
	a.stderrIsTerminal = isTerminal(stderr)
	a.narrow = func() { words.on, said.on = true, true }
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(words)
	root.SetErr(said)
	code := a.finishRun(root.ExecuteContext(context.Background()))
	// Some commands ignore failed writes, e.g. help.
	if failed := out.firstError(); failed != nil && code == 0 {
		return a.finishRun(failed)
	}
	return code
}

// finishRun prints err, if there is one, and returns the exit code.
func (a *appSettings) finishRun(err error) int {
	if err != nil {
		a.failWith(a.withOrigin(err))
	}
	return a.code
}

// failWith prints err and raises the exit code to the code for err: 2 for wrong usage, else 1.
func (a *appConsole) failWith(err error) {
	a.printError(err)
	a.code = max(a.code, 1)
	var usage *usageError
	if errors.As(err, &usage) {
		a.code = max(a.code, 2)
	}
}

// printError writes an error as at most three lines.
func (a *appConsole) printError(err error) {
	a.journal.Note(time.Now(), err.Error())
	for _, line := range strings.SplitN("toolscope: "+err.Error(), "\n", 3) {
		a.notesWriter().writeLine(display.Clean(line))
	}
}

// printNote writes a note of the program itself, on one line.
func (a *appConsole) printNote(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.journal.Note(time.Now(), text)
	a.notesWriter().writeLine(display.Clean("toolscope: " + text))
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
	root.AddCommand(open, a.runCommand(), a.connectCommand(), a.proxyCommand(), a.mcpCommand(), a.printCommand(), a.replayCommand(), a.diffCommand(), a.checkCommand(), a.exportCommand(), a.cutCommand(), a.serveCommand(), a.hubCommand(), a.demoCommand(), a.explainCommand(), a.configCommand(), a.completionCommand(), a.manCommand(), a.versionCommand())
	root.AddCommand(a.helpTopics()...)
	show, _, _ := root.Find([]string{"config", "show"}) // gets the shared settings, to show how a flag changes them
	for _, s := range allSettings(root) {
		if s.table == "" {
			show.Flags().AddFlag(s.flag)
		}
	}
	a.helpCommand(root)
	describeFlags(root)
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

// Between two collections the heap grows by minSlack: most of its content is bytes and numbers, which cost
// the collector little. A large heap, with very many turns, grows by a fraction of its size, or the collector
// would do most of the work. The fraction is a half above bigHeap: a heap of this size comes from fast input,
// and it is pruned whenever it has grown.
const (
	minSlack    = 16 << 20
	liveMetric  = "/gc/heap/live:bytes"
	gcOwnChoice = "GOGC"
	ofHeap      = 8
	bigHeap     = 128 << 20
)

// SteadyMemory keeps the heap from growing to twice the live memory, unless GOGC is set.
func SteadyMemory() {
	if os.Getenv(gcOwnChoice) != "" {
		return
	}
	debug.SetGCPercent(percentFor(0))
	afterEachGC(func() {
		live := []metrics.Sample{{Name: liveMetric}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
		}
	})
}

// percentFor returns by how many percent a heap with live bytes may grow.
func percentFor(live uint64) int {
	slack := max(minSlack, live/ofHeap)
	if live > bigHeap {
		slack = max(slack, (live-bigHeap)/2)
	}
	return int(slack * 100 / max(live, 4<<20))
}

// afterEachGC calls f after each collection, when an unreachable object is finalised.
func afterEachGC(f func()) {
	type witness struct{ _ [16]byte }
	runtime.SetFinalizer(new(witness), func(*witness) {
		f()
		afterEachGC(f)
	})
}

// listenAt listens at an address. Without public, the address must be one of this machine only.
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

// printRefused prints that a request was refused.
func (a *appConsole) printRefused(status int, why string) {
	a.printNote("refused with %d: %s", status, why)
}

// firstLine prints the first line of each message of net/http, without stacks.
type firstLine struct{ console *appConsole }

// Write prints the first line of p.
func (f firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	f.console.printNote("%s", line)
	return len(p), nil
}

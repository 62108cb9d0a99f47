// Package cli is the command line and the composition root: the only room that sees every other. It
// reads flags, joins sources to the inspector and the screen, and turns outcomes into exit codes.
// It decides nothing about calls.
//
// Exit codes: 0 fine, 1 the work failed, nothing was recognised, a source is damaged or there is a
// loss it was to fail on, 2 wrong usage, 3 a recording has gaps, a redactor came to a limit or a
// collector was not told of all, 128+n on signal n; run ends with the code of its client. Those of
// check and diff are grep's: 0 nothing was found, 1 something was, 2 there was trouble.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// app is one run of the program.
type app struct {
	stdin            *os.File
	stdout, stderr   lineWriter
	later            atomic.Pointer[deferredOutput] // what takes the place of stderr for what is noted; nil for nothing
	drawing          atomic.Bool                    // the screen is drawn just now
	output           stdStream                      // standard output itself, for what draws the screen and pages of help
	ending           *shutdown                      // when a signal has come
	keys             ui.UserKeys
	journal          ui.Journal // what was noted and what failed
	narrow           func()     // has words be written in ASCII
	flags            lookFlags
	reading          readFlags
	hub              hubFlags
	calls            callFlags
	views            []*fleet.View // the hubs that are watched
	reportedViews    int           // those of them of which it was told what is missing
	sends            publishFlags  // of what is followed
	sending          *hubPublisher // nil when nothing is sent
	tracing          *traceSender  // of what is read; nil when no collector is told
	replaying        replayFlags
	follow           bool
	filter           string      // which turns are told of
	turnFilter       *turnFilter // the same, understood; nil for all
	speed            float64
	format           string
	counting         bool   // files are only counted
	summary          bool   // only what it comes to is printed
	jq               string // what is asked of what is printed, "" for all of it
	pricesFile       string
	providerFlags    map[string]*connectFlags // what the command line said of hosts, by name
	network          *liveInput               // the way of what comes from the network; nil where nothing does
	found            capture.FoundFile        // the file that is read, of several
	joins            bool                     // recordings of one run that are named are read as one
	isRun            bool                     // that is what is read just now
	unrecognised     []string                 // files that were found and are not recognised
	origin           map[string]valueOrigin   // of settings that the command line does not set, by key
	code             int                      // exit code of a run that did not fail
	oldNames         []string                 // notes about old names of flags and topics that were used
	stderrIsTerminal bool
}

// Run runs the command line args and returns the exit code.
func Run(args []string, stdin, stdout, stderr *os.File) int {
	ending := newShutdown()
	out, errs := newStdWriter(stdout, "standard output", ending), newStdWriter(stderr, "standard error", ending)
	ascii := asciiLocale()
	words, said := &asciiTo{to: out, on: ascii}, &asciiTo{to: errs, on: ascii}
	a := &app{stdin: stdin, stdout: lineWriter{words}, stderr: lineWriter{said}, output: out, ending: ending, stderrIsTerminal: isTerminal(stderr)}
	a.narrow = func() { words.on, said.on = true, true }
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(words)
	root.SetErr(said)
	code := a.finishRun(root.ExecuteContext(context.Background()))
	// Not everybody who writes looks at what becomes of it: pages of help do not.
	if failed := out.firstError(); failed != nil && code == 0 {
		return a.finishRun(failed)
	}
	return code
}

// finishRun says what went wrong and returns the exit code.
func (a *app) finishRun(err error) int {
	if err != nil {
		a.failWith(a.withOrigin(err))
	}
	return a.code
}

// failWith says what went wrong and has the run end with the exit code of that.
func (a *app) failWith(err error) {
	a.printError(err)
	a.code = max(a.code, 1)
	var usage *usageError
	if errors.As(err, &usage) {
		a.code = max(a.code, 2)
	}
}

// printError writes an error as at most three lines.
func (a *app) printError(err error) {
	a.journal.Note(time.Now(), err.Error())
	for _, line := range strings.SplitN("toolscope: "+err.Error(), "\n", 3) {
		a.notesWriter().writeLine(display.Clean(line))
	}
}

// printNote writes a note of the program itself, on one line.
func (a *app) printNote(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.journal.Note(time.Now(), text)
	a.notesWriter().writeLine(display.Clean("toolscope: " + text))
}

// usageError is a command line that cannot be understood.
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
	shareFlags(root)
	a.helpCommand(root)
	describeFlags(root)
	a.acceptOldFlags(root)
	a.addCompletions(root)
	return root
}

func (a *app) openFlags(cmd *cobra.Command) {
	a.followFlag(cmd)
	cmd.Flags().Float64Var(&a.speed, "speed", 0, "")
	markSettings(cmd.Flags(), "open", "speed")
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

// isTerminal reports whether f is one.
func isTerminal(f stdStream) bool { return term.IsTerminal(f.Fd()) }

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/capture/stdio"
)

const mcpHelp = `Stands between an agent and an MCP server that it starts, and records what they
say: what the tool really got, and when. Put it before the server's command in
the agent's settings:

  toolscope mcp -- npx -y @modelcontextprotocol/server-everything
  toolscope mcp --name files --record DIR -- my-server --root .

Bytes pass exactly as they are, both ways; nothing of toolscope's own is written
to standard output. Signals are passed on. What is recorded never holds up what
passes: what the disk cannot take is missing, and the recording says where.
Standard error passes too, and is recorded, and so is the command line; secrets
are left out of all of them. The environment is not recorded.

Each server writes a file of its own, into DIR, or the folder that the variable
TOOLSCOPE_RUN names, or toolscope's own folder of recordings.

A server that is reached over HTTP needs no wrapper: toolscope proxy --to
NAME=URL stands before it. Other wrappers may stand behind this one.

Exit code: the server's; a signal that ended it ends the wrapper. 127 when there
is no such command.`

// runFolder is the variable that says where what belongs to one run is recorded.
const runFolder = "TOOLSCOPE_RUN"

type mcpFlags struct {
	name, record string
	line         string // of a shell, in place of the command
	isLine       bool
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use: "mcp [flags] -- COMMAND [ARG…]", Short: "Stand before an MCP server, and record what it is asked", Long: mcpHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.isLine = cmd.Flags().Changed("line")
			return a.runMCP(args, &f)
		},
		// No configuration is read: one that is wrong must not keep a server from running.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
	}
	to := cmd.Flags()
	to.SetInterspersed(false)
	to.StringVar(&f.name, "name", "", "what the server is called, in place of the command's name")
	to.StringVar(&f.record, "record", "", "record into a new file in this `DIR`")
	to.StringVar(&f.line, "line", "", "what Claude Code has its shell prefix start")
	_ = to.MarkHidden("line")
	return cmd
}

// runMCP runs a server and ends as it does.
func (a *app) runMCP(args []string, f *mcpFlags) error {
	if f.isLine {
		return a.runLine(f)
	}
	if len(args) == 0 {
		return usageErrorf("mcp: no COMMAND\ntoolscope mcp -- npx -y @modelcontextprotocol/server-everything, for one")
	}
	return a.runServer(args, f)
}

// runServer runs a server.
func (a *app) runServer(args []string, f *mcpFlags) error {
	name := cmp.Or(f.name, serverOf(args))
	return a.runRecorded(f, "mcp", name, func(o stdio.Options, l *liveInput) (stdio.Ending, error) {
		o.CommandLine = l.redactor.Argv(args)
		return stdio.Run(args, o)
	})
}

// runRecorded runs something that is recorded into a file of its own, and ends as it does. What is run
// comes first: without a recording it runs too.
func (a *app) runRecorded(f *mcpFlags, kind, name string, run func(stdio.Options, *liveInput) (stdio.Ending, error)) error {
	l := newLiveInput(newRedactor(), time.Now())
	a.network = l
	l.rec = a.recordBeside(f.record, "-"+kind+"-"+fileWord(name), l.began)
	l.start(func(pass func()) { pass() })
	go func() {
		for range l.shown.All { // nobody looks
		}
	}()
	in, out, errs := a.stdStreams()
	ending, err := run(stdio.Options{Name: name, Began: l.began, Stdin: in, Stdout: out, Stderr: errs, Record: l.addRecord}, l)
	a.endServer(l)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		a.printError(fmt.Errorf("mcp: %w", err))
		a.code = exitNoCommand
	case err != nil:
		a.printError(fmt.Errorf("mcp: %w", err))
		a.code = exitNoCommand - 1 // as shells end with where a command cannot be run
	default:
		a.code = ending.ExitLike()
	}
	return nil
}

// stdStreams are the standard streams themselves.
func (a *app) stdStreams() (in, out, errs *os.File) {
	in, out, errs = a.stdin, os.Stdout, os.Stderr
	if o, ok := a.output.(*stdWriter); ok {
		out = o.File
	}
	if o, ok := a.stderr.to.(*stdWriter); ok {
		errs = o.File
	}
	return in, out, errs
}

// recordBeside begins the recording of what is run. That it cannot be made is said, and is no reason
// not to go on.
func (a *app) recordBeside(dir, of string, began time.Time) *captureWriter {
	var name string
	var err error
	for _, place := range []func() (string, error){
		func() (string, error) { return dir, nil },
		func() (string, error) { return os.Getenv(runFolder), nil },
		captureFolder,
	} {
		if dir, err = place(); dir != "" || err != nil {
			break
		}
	}
	if err == nil {
		var r *record.Recorder
		if r, name, _, err = createIn(dir, began, of, capture.ByServer); err == nil {
			return &captureWriter{r, name, filepath.Join(dir, name)}
		}
	}
	a.printNote("mcp: nothing is recorded: %s", err)
	return nil
}

// endTime is how long a server's end may wait for the disk: whoever ends a server kills what does
// not end soon.
const endTime = time.Second

// endServer lets pass what has come and closes the recording. What it lacks the recording says.
func (a *app) endServer(l *liveInput) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err := l.drainRecords(ctx)
	if l.rec != nil {
		err = errors.Join(err, l.rec.Close(ctx))
	}
	if err != nil {
		a.printNote("mcp: %s", err)
	}
	l.reportLimit(a)
}

// serverOf is the name of the server that a command starts.
func serverOf(args []string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == len(args)-1 || !slices.Contains(starters, programOf(arg))) {
			return path.Base(programOf(arg))
		}
	}
	return programOf(args[0])
}

// fileWord is a name as a part of the name of a file.
func fileWord(name string) string {
	word := []rune(name)
	for i, c := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", c) {
			word[i] = '-'
		}
	}
	return string(word[:min(len(word), 40)])
}

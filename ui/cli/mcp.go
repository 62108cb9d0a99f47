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

	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/capture/redact"
)

const mcpHelp = `The wrapper starts an MCP server and records its traffic: each message that the server
receives or sends, with its time. Put the wrapper in front of the server's command in the
agent's settings.

The wrapper forwards signals, and all bytes unchanged in both directions. It writes
nothing of its own to standard output. Recording never delays the traffic: if the disk
is full or slow, the capture has marked gaps. The wrapper also records standard error
and the command line, but not the environment. It replaces the secrets in everything
that it records.

The wrapper writes one file per server. The file is in DIR, in the folder that the
variable TOOLSCOPE_RUN names, or in toolscope's own folder for captures.

An MCP server that uses HTTP needs no wrapper: put 'toolscope proxy --to NAME=URL' in
front of it. You can combine the wrapper with other wrappers.`

// runFolder is the environment variable that names the folder for one run's captures.
const runFolder = "TOOLSCOPE_RUN"

const acpHelp = `The wrapper starts an agent that speaks the Agent Client Protocol, for an editor such as Zed.
It records the messages between editor and agent: the calls that the agent shows, the user's
answers to requests for permission, and the results. Put the wrapper in front of the agent's
command in the editor's settings.

The wrapper forwards signals, and all bytes unchanged in both directions. It writes
nothing of its own to standard output. Recording never delays the traffic. The wrapper also
records standard error and the command line, but not the environment. It replaces the secrets
in everything that it records.

The messages show what the agent reports. To see the model's calls as well, record the agent's
requests to the model. toolscope matches calls that have the same id in both captures.

The wrapper writes one file per agent. The file is in DIR, in the folder that the variable
TOOLSCOPE_RUN names, or in toolscope's own folder for captures.`

// wrapper runs a program and records its standard streams. It has the flags of mcp and acp.
type wrapper struct {
	*app
	command      string // mcp or acp
	name, record string
	line         string // a shell command line, used instead of a command
	isLine       bool
}

func (a *app) mcpCommand() *cobra.Command {
	w := &wrapper{app: a, command: "mcp"}
	cmd := w.completeCommand(&cobra.Command{
		Use: "mcp [flags] -- COMMAND [ARG…]", Short: "Wrap an MCP server and record its traffic", Long: mcpHelp,
		Example: "toolscope mcp -- npx -y @modelcontextprotocol/server-everything\ntoolscope mcp --name files --record DIR -- my-server --root .",
	})
	cmd.Flags().StringVar(&w.line, "line", "", "")
	_ = cmd.Flags().MarkHidden("line")
	return cmd
}

func (a *app) acpCommand() *cobra.Command {
	return (&wrapper{app: a, command: "acp"}).completeCommand(&cobra.Command{
		Use: "acp [flags] -- AGENT [ARG…]", Short: "Wrap an editor's agent and record its messages", Long: acpHelp,
		Example: "toolscope acp -- opencode acp\ntoolscope acp --record DIR -- npx -y @zed-industries/claude-code-acp",
	})
}

// completeCommand adds the flags to a command, and makes it run the wrapper.
func (w *wrapper) completeCommand(cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w.isLine = cmd.Flags().Changed("line")
		if w.isLine {
			return w.runLine()
		}
		if len(args) == 0 {
			if w.command == "acp" {
				return usageErrorf("acp: needs an AGENT\ne.g. toolscope acp -- opencode acp")
			}
			return usageErrorf("mcp: needs a COMMAND\ne.g. toolscope mcp -- npx -y @modelcontextprotocol/server-everything")
		}
		return w.runServer(args)
	}
	// This function reads no configuration, because an invalid configuration must not prevent a server
	// from running.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	to := cmd.Flags()
	to.SetInterspersed(false)
	to.StringVar(&w.name, "name", "", "")
	to.StringVar(&w.record, "record", "", "")
	return cmd
}

// runServer runs a server and records its traffic.
func (w *wrapper) runServer(args []string) error {
	r := newRedactor()
	shown := r.Argv(args)
	name := cmp.Or(w.name, serverOf(args, shown))
	return w.runRecorded(w.command, name, r, func(o proxy.StdioOptions) (proxy.Ending, error) {
		o.CommandLine = shown
		ending, err := proxy.RunStdio(args, o)
		if err != nil {
			err = &startError{err, commandError(err, args, shown)}
		}
		return ending, err
	})
}

// startError is the error for a command that can't be started. Its text is for the user.
type startError struct {
	error
	text string
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.error }

// runRecorded runs a process and records it to a separate file. toolscope then exits with the process's exit code.
// The process runs even if it can't be recorded.
func (w *wrapper) runRecorded(kind, name string, r *redact.Redactor, run func(proxy.StdioOptions) (proxy.Ending, error)) error {
	l := newLiveInput(r, time.Now())
	w.network = l
	l.rec = w.recordBeside("-"+kind+"-"+fileWord(name), l.began)
	l.start(callDirect)
	go func() {
		for range l.shown.All { // discard the records, because there is no screen
		}
	}()
	in, out, errs := w.stdStreams()
	o := proxy.StdioOptions{URL: kind + ":" + name, Began: l.began, Stdin: in, Stdout: out, Stderr: errs, Record: l.addRecord}
	ending, err := run(o)
	w.endServer(l)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		w.printError(fmt.Errorf("%s: %w", w.command, err))
		w.code = exitNoCommand
	case err != nil:
		w.printError(fmt.Errorf("%s: %w", w.command, err))
		w.code = exitNoCommand - 1 // shells return this code if a command can't be run
	default:
		w.code = ending.ExitLike()
	}
	return nil
}

// stdStreams returns the files of the standard streams.
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

// recordBeside starts the capture of a run in the directory of --record, or else in the folder that runFolder
// names, or else in toolscope's own folder. If it can't create the capture, it reports the error and returns nil.
func (w *wrapper) recordBeside(of string, began time.Time) *captureWriter {
	var dir, name string
	var err error
	for _, place := range []func() (string, error){
		func() (string, error) { return w.record, nil },
		func() (string, error) { return os.Getenv(runFolder), nil },
		captureFolder,
	} {
		if dir, err = place(); dir != "" || err != nil {
			break
		}
	}
	if err == nil {
		var r *record.Recorder
		if r, name, _, err = createIn(dir, began, of, "toolscope "+w.command); err == nil {
			return &captureWriter{r, name, filepath.Join(dir, name)}
		}
	}
	w.printNote("%s: not recording: %s", w.command, err)
	return nil
}

// endTime is the maximum time for which toolscope waits for the disk when a server ends. Agents kill servers
// that take too long to end.
const endTime = time.Second

// endServer passes on the records that have arrived and closes the capture. The capture itself marks its gaps.
func (w *wrapper) endServer(l *liveInput) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err := l.drainRecords(ctx)
	if l.rec != nil {
		err = errors.Join(err, l.rec.Close(ctx))
	}
	if err != nil {
		w.printNote("%s: %s", w.command, err)
	}
	l.reportLimit(w.app)
}

// serverOf returns the name of the server that a command starts. The parameter shown is the redacted command line.
// The name becomes part of a file name, so it must not be a secret or a variable assignment.
func serverOf(args, shown []string) string {
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") || i > 0 && strings.Contains(arg, "=") || shown[i] != arg {
			continue
		}
		if i == len(args)-1 || !slices.Contains(starters, programOf(arg)) {
			return path.Base(programOf(arg))
		}
	}
	return programOf(shown[0])
}

// fileWord makes a name safe to use in a file name.
func fileWord(name string) string {
	word := []rune(name)
	for i, c := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", c) {
			word[i] = '-'
		}
	}
	return string(word[:min(len(word), 40)])
}

// runLine runs a command line that Claude Code passes to its shell prefix. toolscope then exits with the exit code of
// the command line.
func (w *wrapper) runLine() error {
	l := parseStartedCommand(w.line, os.Getenv("CLAUDE_CODE_CHILD_SESSION") != "")
	if l.args != nil {
		rest, name, _ := unwrapCommand(l.args)
		if w.name = name; isAskCommand(rest) {
			return replaceSelf(rest)
		}
		return w.runServer(rest)
	}
	args := []string{shellOf(w.line, os.Getenv), "-c", w.line}
	if !l.isCommand {
		return replaceSelf(args)
	}
	return w.runRecorded("shell", "Bash", newRedactor(), func(o proxy.StdioOptions) (proxy.Ending, error) {
		return proxy.WatchStdio(args, l.command, o)
	})
}

// startedCommand is a command line that Claude Code passes to its shell prefix. It starts a server, a shell command
// for the model, or another program, such as a hook.
type startedCommand struct {
	args      []string // command and arguments of a server; nil otherwise
	isCommand bool     // the model started the command
	command   string
}

// parseStartedCommand parses a command line. The parameter child says whether Claude Code marked the process
// as a child of its session. Claude Code marks every process except servers. If the kind of the line is
// unclear, the result is neither a server nor a shell command.
func parseStartedCommand(text string, child bool) startedCommand {
	const before, after = " && eval ", " && pwd -P >| "
	if from, to := strings.Index(text, before), strings.LastIndex(text, after); from >= 0 && from < to {
		if words, _ := wordsOfShell(text[from+len(before):to], 1); len(words) == 1 {
			return startedCommand{isCommand: true, command: words[0]}
		}
	}
	if words, whole := wordsOfShell(text, 0); !child && whole && len(words) > 0 && !strings.Contains(words[0], "=") {
		return startedCommand{args: words}
	}
	return startedCommand{}
}

// wordsOfShell splits a line into words. The parameter most is the maximum number of words; 0 means no limit. The
// result whole is false if the line has shell syntax other than plain words.
func wordsOfShell(text string, most int) (words []string, whole bool) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
		}
		begun = false
	}
	for i := 0; i < len(text); i++ {
		if most > 0 && len(words) == most {
			return words, true
		}
		switch c := text[i]; {
		case c == ' ':
			end()
		case c == '\'':
			close := strings.IndexByte(text[i+1:], '\'')
			if close < 0 {
				return words, false
			}
			word.WriteString(text[i+1 : i+1+close])
			i, begun = i+1+close, true
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0 {
					i++
				} else if strings.IndexByte("$`!", text[i]) >= 0 {
					return words, false
				}
				word.WriteByte(text[i])
			}
			if begun = true; i == len(text) {
				return words, false
			}
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
			word.WriteByte(text[i])
			begun = true
		case strings.IndexByte("\\$`|&;<>()*?[]{}~#!\n\t", c) >= 0:
			return words, false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words, true
}

// shellOf returns the shell with which Claude Code runs a line. This is the shell whose state Claude Code saved, or
// else the user's shell if it is bash or zsh, or else an installed bash or zsh, or else sh.
func shellOf(text string, env func(string) string) string {
	candidates := []string{env("CLAUDE_CODE_SHELL"), env("SHELL"), "/bin/bash", "/usr/bin/bash", "/bin/zsh"}
	for _, name := range []string{"bash", "zsh"} {
		if strings.Contains(text, "/snapshot-"+name+"-") {
			of := func(path string) bool { return filepath.Base(path) != name }
			candidates = slices.DeleteFunc(candidates, of)
		}
	}
	for _, path := range candidates {
		if base := filepath.Base(path); base != "bash" && base != "zsh" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "sh"
}

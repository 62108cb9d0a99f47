package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui"
)

// showScreen shows the screen until the user leaves it. If the terminal can't show a screen, it prints sentences. The
// function feed, which may be nil, fills the inbox in another goroutine.
func (a *app) showScreen(o ui.Options, feed func()) error {
	if a.isPlain() {
		return a.printLive(o, feed)
	}
	sig := catchSignals(a.ending) // before the terminal is set to raw mode to read its background colour
	typed := a.flags.applyTo(&o, func(text string) { a.printNote("%s", text) })
	lipgloss.SetColorProfile(o.Depth)
	lipgloss.SetHasDarkBackground(o.Theme.Dark)
	o.Places = sendPlaces(a.providerFlags)
	o.Copy = (&clipboard{terminal: a.output, getenv: os.Getenv, find: exec.LookPath, run: runTool}).copy
	o.Save, o.Edit, o.Pipe = saveHere, newEditor, pipeTo
	o.Remember = saveTheme
	o.Keys, o.Journal = a.keys, &a.journal
	o.Cut = cutView
	o.Stats = func(v *providers.View, cells int) string { return statsOfView(v, o.Prices, cells) }
	o.Forms = screenForms(o.Source, o.Prices)
	if canStop {
		o.Suspend = suspend
	}
	return a.runScreen(o, feed, sig, typed)
}

// runScreen runs the screen with the given options.
func (a *app) runScreen(o ui.Options, feed func(), sig *signals, typed []tea.KeyMsg) error {
	if a.network == nil { // the input from the network then only serves requests from the screen
		a.network = newLiveInput(newRedactor(), time.Now())
	}
	ctx, leave := context.WithCancel(context.Background())
	post := sender{ctx: ctx, client: webClient(), providerFlags: a.providerFlags, live: a.network}
	defer post.flights.Wait()
	defer leave()
	defer post.live.unwanted.Store(true)
	o.Send, o.Answers = post.sendRequest, post.live.answers
	var p *tea.Program
	guarded := func(work func()) {
		defer sendCrash(p)
		work()
	}
	among, _ := o.Inbox.(*screenInbox)
	o.Demo = func(own bool) ui.Inbox {
		if own {
			among = fileInbox()
		}
		go guarded(func() { bringTour(among, own) })
		return among
	}
	terminal := &cellDiffWriter{stdStream: a.output}
	o.Written = terminal.written.Load
	m := ui.New(o)
	// This function handles signals and panics itself. Bubble Tea restores the terminal only on some signals, and
	// prints stack traces.
	// At 120 frames per second, the first frame and the response to a key appear up to 8 ms earlier. Traffic causes no
	// more frames, because the screen limits these itself.
	p = tea.NewProgram(m, tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(), tea.WithFPS(120),
		tea.WithOutput(terminal), tea.WithFilter(sig.filterMessage))
	post.program = p
	post.live.start(guarded)
	if feed != nil {
		go guarded(feed)
	}
	go sig.handleSignals(p)
	go func() {
		for _, k := range typed {
			p.Send(k)
		}
	}()
	a.drawing.Store(true)
	crash, err := runProgram(p)
	a.drawing.Store(false)
	if crash == nil && m.Crashed() == nil {
		saveLayout(o.Layout, m.Layout())
	}
	if crash == nil {
		crash = m.Crashed()
	}
	switch s := sig.endSignal(); {
	case crash != nil:
		crash.RecentKeys = m.RecentKeys()
		return reportCrash(crash)
	case s != nil:
		a.endedBy(s)
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		a.endedBy(syscall.SIGINT)
		return nil
	case err != nil:
		return fmt.Errorf("the screen failed: %w", err)
	}
	return m.Err()
}

// runProgram runs the program. After a panic, it restores the terminal.
func runProgram(p *tea.Program) (crash *ui.Crash, err error) {
	defer func() {
		if crash = ui.CrashOf(recover()); crash != nil {
			_ = p.ReleaseTerminal()
		}
	}()
	_, err = p.Run()
	return nil, err
}

// sendCrash ends the program if its goroutine panics. It must be deferred.
func sendCrash(p *tea.Program) {
	if c := ui.CrashOf(recover()); c != nil {
		p.Send(*c)
	}
}

// openScreenBeside shows a growing capture next to the client, in a tmux pane. Without tmux, it prints a
// command for another terminal.
func (a *app) openScreenBeside(path string) {
	paths := []string{path}
	if dir := record.CompanionDir(path); capture.IsPlace(dir) { // follow the captures that will be added to this folder
		paths = append(paths, dir)
	}
	self, err := os.Executable()
	if err == nil && os.Getenv("TMUX") != "" {
		line := commandLine(append([]string{self, "open", "-f"}, paths...))
		if err = exec.Command("tmux", "split-window", "-d", line).Run(); err == nil {
			return
		}
	}
	a.printNote("to watch the traffic, run this in another terminal: toolscope -f %s", commandLine(paths))
}

const (
	maxFileQueue = 4 << 20  // maximum number of bytes of a file that wait for the screen
	maxLiveQueue = 64 << 20 // maximum number of bytes of traffic that wait for the redactor, or for the screen
)

// screenInbox is a queue of capture records. The screen takes them as records of package stream.
type screenInbox struct {
	*capture.Queue[capture.Record]
	batch []stream.Record
}

// fileInbox returns an inbox for a file. When it is full, the reader waits for the screen.
func fileInbox() *screenInbox {
	return newScreenInbox(capture.QueueRules[capture.Record]{Limit: maxFileQueue, Cost: record.RecordCost})
}

// liveInbox returns an inbox for traffic. Traffic never waits for space in the inbox.
func liveInbox() *screenInbox { return newScreenInbox(record.QueueRules(maxLiveQueue, notShown)) }

// notShown describes bytes that are missing because the inbox was full.
const notShown = "are not shown: the screen was too slow"

// newScreenInbox returns an inbox with the given rules for its queue.
func newScreenInbox(rules capture.QueueRules[capture.Record]) *screenInbox {
	return &screenInbox{Queue: capture.NewQueue(rules)}
}

// Take removes records with about the given number of bytes in total, and returns them. The records are valid
// until the next call.
func (in *screenInbox) Take(bytes int) ([]stream.Record, bool) {
	recs, more := in.Queue.Take(bytes)
	clear(in.batch)
	in.batch = in.batch[:0]
	for _, r := range recs {
		in.batch = append(in.batch, coreRecord(r))
	}
	return in.batch, more
}

// fillFrom puts the records of a source into the inbox until the inbox is closed.
func (in *screenInbox) fillFrom(src capture.Source) { copySource(src, in.Put, in.Close) }

// capturePath returns the function that returns the path of the capture, or nil if the input is not recorded.
func (l *liveInput) capturePath() func() string {
	if l.rec == nil {
		return nil
	}
	return l.rec.presentPath
}

// statusNotes returns notes about the state of the input for the status line.
func (l *liveInput) statusNotes() (words []ui.StatusNote) {
	alarm := func(text string) { words = append(words, ui.StatusNote{Text: text, Alarm: true}) }
	if l.redactor.KeepsSecrets() {
		alarm("SECRETS KEPT")
	}
	if limit := l.redactor.Limit(); limit != "" {
		alarm("SECRETS MAY PASS: " + limit)
	}
	if l.faults != "" {
		alarm("BENT " + l.faults)
	}
	if l.proxy != nil {
		if holds := l.proxy.Holds(); len(holds) > 0 {
			alarm(fmt.Sprintf("HELD %d for %s: b", len(holds), time.Since(holds[0].Since).Truncate(time.Second)))
		}
	}
	var stats proxy.Stats
	if l.proxy != nil {
		stats = l.proxy.Stats()
	}
	if stats.Refused > 0 {
		words = append(words, ui.StatusNote{Text: fmt.Sprintf("%d refused", stats.Refused)})
	}
	missed, unseen := l.arrived.State(), l.shown.State()
	if l.rec != nil {
		state := l.rec.State()
		if state.Trouble != "" {
			alarm("NOT RECORDED: " + state.Trouble)
		}
		if state.Damage != "" {
			alarm("CAPTURE LOST: " + state.Damage)
		}
		missed.Lost += state.Lost
	}
	if missed.Lost > 0 || missed.Gaps+missed.Dropped > 0 {
		alarm("GAP " + sizeText(missed.Lost))
	}
	if unseen.Lost > 0 {
		alarm("NOT SHOWN " + sizeText(unseen.Lost))
	}
	if l.sent != nil {
		words = append(words, l.sent.statusNotes()...)
	}
	words = append(words, l.traced.statusNotes()...)
	if l.refusals != nil {
		for _, host := range l.refusals() {
			alarm("CERTIFICATE NOT TRUSTED for " + host)
		}
	}
	if state := l.client.Load(); state != nil {
		words = append(words, ui.StatusNote{Text: *state})
	}
	if l.rec != nil {
		words = append(words, ui.StatusNote{Text: "rec " + filepath.Base(l.rec.presentPath()) + " " + sizeText(l.rec.State().Bytes)})
	}
	return words
}

// lookTime is the interval between checks of the state while nothing arrives.
const lookTime = time.Second / 4

// wakeScreen wakes the screen when the state changes without a new record. It returns when ctx ends.
func (l *liveInput) wakeScreen(ctx context.Context) { ringOnChange(ctx, l.statusNotes, l.shown.Wake) }

// ringOnChange calls bell when the notes change, until ctx ends.
func ringOnChange(ctx context.Context, wordsOf func() []ui.StatusNote, bell func()) {
	var last []ui.StatusNote
	everyTick(ctx, lookTime, func(time.Time) {
		if words := wordsOf(); !slices.Equal(words, last) {
			last = words
			bell()
		}
	})
}

// everyTick calls f at the given interval until ctx ends.
func everyTick(ctx context.Context, interval time.Duration, f func(now time.Time)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			f(now)
		}
	}
}

// startWatch calls f every lookTime, until stop is called.
func startWatch(f func(now time.Time)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { everyTick(ctx, lookTime, f) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// sizeText formats a size with a suitable unit.
func sizeText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

// newEditor returns a command that opens text in the user's editor. The text is in a new file that only its owner can
// read. The file is removed when the editor ends, so the user must save any changes elsewhere.
func newEditor(name string, data []byte) (tea.ExecCommand, func(), error) {
	editing, err := editorOf("")
	if err != nil {
		return nil, nil, err
	}
	file, remove, err := createScratch(name, append(data[:len(data):len(data)], '\n'))
	if err != nil {
		return nil, nil, err
	}
	editing.Args[len(editing.Args)-1] = file
	return editor{editing}, remove, nil
}

// editorOf returns the command that opens a file in the user's editor.
func editorOf(file string) (*exec.Cmd, error) {
	words := strings.Fields(cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi"))
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("%s: no such program: set $VISUAL or $EDITOR", words[0])
	}
	return exec.Command(path, append(words[1:], file)...), nil
}

// openEditor opens a file in the user's editor and waits until the editor ends.
func openEditor(file string, in io.Reader) error {
	editing, err := editorOf(file)
	if err != nil {
		return err
	}
	editing.Stdin, editing.Stdout, editing.Stderr = in, os.Stdout, os.Stderr
	if err := editing.Run(); err != nil {
		return fmt.Errorf("%s: %w", editing.Args[0], err)
	}
	return nil
}

// editor is a command that uses the terminal.
type editor struct{ *exec.Cmd }

func (e editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e editor) SetStdout(w io.Writer) { e.Stdout = fileBehind(w) }
func (e editor) SetStderr(w io.Writer) { e.Stderr = w }

// fileBehind returns the file to which w writes, because an editor needs the terminal itself, not a pipe to
// toolscope.
func fileBehind(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *cellDiffWriter:
		return fileBehind(w.stdStream)
	case *stdWriter:
		return w.File
	}
	return w
}

// These constants limit a command to which text is piped.
const (
	pipeTime      = 30 * time.Second
	maxPipeOutput = 1 << 20
)

// pipeTo pipes text to a shell command. It returns the command's output and errors.
func pipeTo(command string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pipeTime)
	defer cancel()
	run := newShellCommand(ctx, cmp.Or(os.Getenv("SHELL"), "/bin/sh"), command)
	run.Stdin = bytes.NewReader(data)
	out := &limitedBuffer{maxBytes: maxPipeOutput}
	run.Stdout, run.Stderr = out, out
	err := run.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("stopped after the time limit of %v", pipeTime)
	case out.dropped > 0:
		err = fmt.Errorf("some of its output is not shown: %s", count.Of(out.dropped, "byte"))
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.kept, err
}

// newShellCommand returns a command that runs a line in a shell, or on Windows in the command prompt.
func newShellCommand(ctx context.Context, shell, line string) *exec.Cmd {
	flag := "-c"
	if runtime.GOOS == "windows" {
		shell, flag = cmp.Or(os.Getenv("COMSPEC"), "cmd.exe"), "/C"
	}
	cmd := exec.CommandContext(ctx, shell, flag, line)
	cmd.WaitDelay = time.Second // a child process of the command may keep its pipes open
	return cmd
}

// limitedBuffer keeps the first maxBytes bytes and counts the others.
type limitedBuffer struct {
	kept     []byte
	maxBytes int
	dropped  int
}

// Write keeps the bytes that fit and counts the others. It never fails.
func (u *limitedBuffer) Write(p []byte) (int, error) {
	keep := min(len(p), u.maxBytes-len(u.kept))
	u.dropped += len(p) - keep
	u.kept = append(u.kept, p[:keep]...)
	return len(p), nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"toolscope/ui"
)

// showScreen shows the screen until the user leaves it. feed fills the inbox, in a goroutine; it may be nil.
func (a *app) showScreen(o ui.Options, feed func()) error {
	if a.isPlain() {
		return a.printLive(o, feed)
	}
	sig := catchSignals(a.ending) // before the terminal is set to raw mode to read its report
	typed := a.flags.applyTo(&o, func(text string) { a.printNote("%s", text) })
	lipgloss.SetColorProfile(o.Depth)
	lipgloss.SetHasDarkBackground(o.Theme.Dark)
	o.Places = sendPlaces(a.providerFlags)
	o.Copy, o.Save, o.Edit, o.Pipe = newClipboard(a.output).copy, saveHere, newEditor, pipeTo
	o.Remember = saveTheme
	o.Keys, o.Journal = a.keys, &a.journal
	o.Cut = cutView
	o.Forms = screenForms(o.Source, o.Prices)
	if canStop {
		o.Suspend = suspend
	}
	return a.runScreen(o, feed, sig, typed)
}

// runScreen runs the screen with these options.
func (a *app) runScreen(o ui.Options, feed func(), sig *signals, typed []tea.KeyMsg) error {
	if a.network == nil { // then the network is only for requests that are sent from the screen
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
	// Signals and panics are handled here: Bubble Tea restores the terminal on some signals only,
	// and prints stacks.
	p = tea.NewProgram(m, tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
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

// sendCrash, deferred, ends the program on a panic of its goroutine.
func sendCrash(p *tea.Program) {
	if c := ui.CrashOf(recover()); c != nil {
		p.Send(*c)
	}
}

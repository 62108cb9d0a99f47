package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"toolscope/capture"
	"toolscope/ui"
)

// show runs the screen on a source until the user leaves.
func (a *app) show(o ui.Options, src capture.Source) error {
	sig := catchSignals() // before the terminal is made raw to ask it
	typed, err := a.flags.apply(&o)
	if err != nil {
		return err
	}
	lipgloss.SetColorProfile(o.Depth)
	lipgloss.SetHasDarkBackground(o.Theme.Dark)
	o.Places = sendPlaces(a.said)
	o.Copy, o.Save = newClipboard(a.stdout).copy, saveNew
	if canStop {
		o.Suspend = suspend
	}
	return a.play(o, src, sig, typed)
}

// play runs the screen with everything set.
func (a *app) play(o ui.Options, src capture.Source, sig *signals, typed []tea.KeyMsg) error {
	var p *tea.Program
	o.Demo = func(to *ui.Inbox) ui.Playback { return startDemo(to, to != o.Inbox, p) }
	ctx, leave := context.WithCancel(context.Background())
	post := sender{ctx: ctx, client: client(), said: a.said, live: a.network}
	if post.live == nil {
		post.live = &live{redactor: newRedactor(), began: time.Now()}
	}
	defer post.flights.Wait()
	defer leave()
	o.Send = post.send
	m := ui.New(o)
	// Signals and panics are handled here: Bubble Tea restores the terminal on
	// some signals only, and prints stacks.
	p = tea.NewProgram(m, tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
		tea.WithOutput(a.stdout), tea.WithFilter(sig.filter))
	post.program = p
	go pump(src, o.Inbox, p)
	go sig.watch(p)
	go func() {
		for _, k := range typed {
			p.Send(k)
		}
	}()
	crash, err := run(p)
	if crash == nil {
		crash = m.Crashed()
	}
	switch s := sig.received(); {
	case crash != nil:
		return reportCrash(crash)
	case s != nil:
		a.code = 128 + int(s.(syscall.Signal))
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		a.code = 130
		return nil
	case err != nil:
		return fmt.Errorf("the screen failed: %w", err)
	}
	return m.Err()
}

// run runs the program; a panic in it ends with the terminal restored.
func run(p *tea.Program) (crash *ui.Crash, err error) {
	defer func() {
		if crash = ui.Recovered(recover()); crash != nil {
			_ = p.ReleaseTerminal()
		}
	}()
	_, err = p.Run()
	return nil, err
}

// pump moves records from a source to the program.
func pump(src capture.Source, to *ui.Inbox, p *tea.Program) {
	defer sendCrash(p)
	for r, err := range src {
		if err != nil {
			to.End(err)
			return
		}
		if !to.Put(record(r)) {
			return
		}
	}
	to.End(nil)
}

// sendCrash, deferred, has the program end on a panic of its goroutine.
func sendCrash(p *tea.Program) {
	if c := ui.Recovered(recover()); c != nil {
		p.Send(*c)
	}
}

// reportCrash keeps the stack out of the terminal and in a file.
func reportCrash(c *ui.Crash) error {
	f, err := os.CreateTemp("", "toolscope-crash-*.txt")
	if err != nil {
		return c
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n\n%s", c.What, c.Stack)
	return fmt.Errorf("%w\nthe stack is in %s: please report it", c, f.Name())
}

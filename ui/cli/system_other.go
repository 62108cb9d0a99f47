//go:build !unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// On this system, programs can't be stopped and continued.
const (
	canStop    = false
	stopSignal = syscall.Signal(-1) // not a valid signal
)

// crashSignals is empty, because programs can't send such signals on this system.
var crashSignals []os.Signal

// isTaken reports whether listening failed because the port is in use. The error is WSAEADDRINUSE.
func isTaken(err error) bool { return errors.Is(err, syscall.Errno(10048)) }

// replaceSelf always fails, because a program can't replace itself on this system.
func replaceSelf(args []string) error { return fmt.Errorf("%s: %w", args[0], errors.ErrUnsupported) }

// canPrefix reports whether a script can be started like a program.
const canPrefix = false

func suspend()      {}
func stopSelf()     {}
func continueSelf() {}

// endWithReader does nothing, because on this system a pipe doesn't report that its reader has gone.
func (a *app) endWithReader() (stop func()) { return func() {} }

// isRunning reports whether a process exists. On Windows, FindProcess returns an error if it doesn't.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}

// clientProcess is a running client. The console sends keys such as ^C to both the client and toolscope. toolscope
// ignores them and waits until the client ends.
type clientProcess struct {
	cmd     *exec.Cmd
	ignored chan os.Signal
}

// startClient starts a client. Its second parameter has no effect on this system.
func startClient(cmd *exec.Cmd, _ bool) (*clientProcess, error) {
	c := &clientProcess{cmd, make(chan os.Signal, 1)}
	signal.Notify(c.ignored, os.Interrupt)
	return c, cmd.Start()
}

// wait waits for the client to end and returns its exit code.
func (c *clientProcess) wait() int {
	defer signal.Stop(c.ignored)
	err := c.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		return 1
	}
	return 0
}

// leftProcesses always returns false, because this system has no process groups.
func (c *clientProcess) leftProcesses() bool { return false }

// end ends the client if it is still running.
func (c *clientProcess) end() { _ = c.cmd.Process.Kill() }

// startGroup starts a program.
func startGroup(cmd *exec.Cmd) error { return cmd.Start() }

// endGroup ends a program that startGroup started.
func endGroup(cmd *exec.Cmd, done <-chan struct{}) {
	_ = cmd.Process.Kill()
	<-done
}

// signalOf always returns "", because this system has no signals.
func signalOf(*os.ProcessState) string { return "" }

//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// clientProcess is a client that runs. It gets what the console sends, such as ^C, and so do we; we wait for
// it to end.
type clientProcess struct {
	cmd     *exec.Cmd
	ignored chan os.Signal
}

// startClient starts a client. inFront gives it the terminal, if we own one.
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

// leftProcesses reports nothing: processes have no groups here.
func (c *clientProcess) leftProcesses() bool { return false }

// end ends the client if it is still running.
func (c *clientProcess) end() { _ = c.cmd.Process.Kill() }

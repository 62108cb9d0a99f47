//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// A clientProcess is a client that runs. What the console sends, as ^C does, it gets as we do; we wait for
// it to end.
type clientProcess struct {
	cmd     *exec.Cmd
	ignored chan os.Signal
}

// startClient starts it; in front it owns the terminal, if we do.
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

// end ends the client, if it still runs.
func (c *clientProcess) end() { _ = c.cmd.Process.Kill() }

package cli

import (
	"os"
	"os/exec"
)

// beside shows a recording that grows beside the client: in a pane of tmux, else by the line that
// does so in another terminal.
func (a *app) beside(path string) {
	self, err := os.Executable()
	if err == nil && os.Getenv("TMUX") != "" {
		line := commandLine([]string{self, "open", "-f", path})
		if err = exec.Command("tmux", "split-window", "-d", line).Run(); err == nil {
			return
		}
	}
	a.notef("to see it, in another terminal: toolscope -f %s", shellWord(path))
}

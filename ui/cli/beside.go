package cli

import (
	"os"
	"os/exec"

	"toolscope/capture"
	"toolscope/capture/record"
)

// openScreenBeside shows a recording that grows beside the client: in a pane of tmux, else by the line that
// does so in another terminal.
func (a *app) openScreenBeside(path string) {
	paths := []string{path}
	if dir := record.CompanionDir(path); capture.IsPlace(dir) { // what comes into it is followed too
		paths = append(paths, dir)
	}
	self, err := os.Executable()
	if err == nil && os.Getenv("TMUX") != "" {
		line := commandLine(append([]string{self, "open", "-f"}, paths...))
		if err = exec.Command("tmux", "split-window", "-d", line).Run(); err == nil {
			return
		}
	}
	a.printNote("to see it, in another terminal: toolscope -f %s", commandLine(paths))
}

package cli

import (
	"os"
	"os/exec"

	"toolscope/capture"
	"toolscope/capture/record"
)

// openScreenBeside shows a growing capture next to the client: in a pane of tmux. Without tmux it prints the
// command for another terminal.
func (a *app) openScreenBeside(path string) {
	paths := []string{path}
	if dir := record.CompanionDir(path); capture.IsPlace(dir) { // follow the captures that are added to it
		paths = append(paths, dir)
	}
	self, err := os.Executable()
	if err == nil && os.Getenv("TMUX") != "" {
		line := commandLine(append([]string{self, "open", "-f"}, paths...))
		if err = exec.Command("tmux", "split-window", "-d", line).Run(); err == nil {
			return
		}
	}
	a.printNote("to watch it, run in another terminal: toolscope -f %s", commandLine(paths))
}

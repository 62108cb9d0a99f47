package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolscope/providers/client"
)

// askSetupLines returns, for each client, the command line or the setting that adds a server with this command.
func askSetupLines(command []string) (lines []string) {
	for _, p := range client.ProxySetups {
		how := p.Servers()
		if text := cmp.Or(how.Adds, p.Settings.File+": "+how.Setting); how.Adds+how.Setting != "" {
			lines = append(lines, fmt.Sprintf("  %-12s %s%s", p.Title, fillCommand(text, command), textIf(how.Adding != client.Ran, "  (not tested)")))
		}
	}
	return append(lines, fmt.Sprintf("  %-12s %s", "others", fillCommand(client.OtherServers, command)))
}

// fillCommand inserts a server's command into text, in place of {command}, {program}, {args} and {list}.
func fillCommand(text string, command []string) string {
	return strings.NewReplacer("{command}", commandLine(command), "{program}", jsonText(command[0]),
		"{args}", jsonText(command[1:]), "{list}", jsonText(command)).Replace(text)
}

// addAskServer gives the client toolscope's own server for this run. The server answers questions about the capture at
// path, and about earlier captures of the current folder. The result is the flag or the variable that adds the
// server, or "" if there is none for the client.
func (o *clientLaunch) addAskServer(path string) (by string, err error) {
	if o.point == nil {
		return "", nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	command := []string{self, "ask", "--dir", dir, path}
	switch how := o.point.Servers(); {
	case how.Method == client.ByFlags:
		o.addServerFlags(askServer, map[string]any{"command": self, "args": command[1:]})
		return "-c mcp_servers." + askServer, nil
	case how.Setting != "" && o.point.Settings.Variable != "":
		o.settings = append(o.settings, fillCommand(how.Setting, command))
		return o.point.Settings.Variable, nil
	case how.FileFlag != "":
		file, remove, err := createScratch("mcp.json", []byte(fillCommand(client.OtherServers, command)+"\n"))
		if err != nil {
			return "", err
		}
		o.removes = append(o.removes, remove)
		o.args = slices.Insert(slices.Clone(o.args), o.at+1, how.FileFlag+file)
		return strings.TrimRight(how.FileFlag, "=@"), nil
	}
	return "", nil
}

// askServer is the name of toolscope's own server in a client's settings.
const askServer = "toolscope"

// isAskCommand reports whether a command starts toolscope's own server. Such a server is not recorded, because its
// answers quote traffic that was already recorded.
func isAskCommand(command []string) bool {
	self, _ := os.Executable() // if the path is unknown, only the program's name counts
	return len(command) > 1 && command[1] == "ask" && (command[0] == self || programOf(command[0]) == askServer)
}

// addAskServer gives the client toolscope's own server. It returns a note about how it did so, or why it could not.
func (r *runningProxy) addAskServer(fit *clientLaunch) string {
	if r.rec == nil {
		return "--ask: nothing is recorded, so the agent can't ask about this run"
	}
	by, err := fit.addAskServer(r.rec.path)
	switch {
	case err != nil:
		return fmt.Sprintf("--ask: %s can't ask about this run: %s", fit.name(), err)
	case by == "":
		return fmt.Sprintf("--ask: no flag or variable adds a server to %s; 'toolscope help ask' shows the settings", fit.name())
	}
	return fmt.Sprintf("%s can ask toolscope about this run, through %s", fit.name(), by)
}

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"toolscope/ui"
)

// abroad are the README's commands that this machine alone can't run, because they need a provider, an agent, a
// terminal or an installation. The test only parses their flags.
var abroad = []string{"run", "proxy", "connect", "mcp", "hub", "open"}

// TestReadmeRuns checks that every command in the README has the described result. The commands run in the README's
// order.
func TestReadmeRuns(t *testing.T) {
	commands, ran := readmeCommands(t), 0
	t.Chdir(t.TempDir())
	for _, args := range commands {
		if slices.Contains(abroad, args[0]) {
			if cmd := readFlagsOf(t, args); cmd != args[0] {
				t.Errorf("toolscope %q is %s", args, cmd)
			}
			continue
		}
		want := map[string]int{"check": 1, "diff": 1}[args[0]]
		if out := command(t, nil, args...); out.code != want || out.stdout == "" && !slices.Contains(args, "-o") {
			t.Errorf("toolscope %q: exit code %d, stdout %q, stderr %q", args, out.code, out.stdout, out.stderr)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("only %d commands", ran)
	}
}

// readFlagsOf parses the flags of a command line and returns the name of the command.
func readFlagsOf(t *testing.T, args []string) (command string) {
	t.Helper()
	cmd, rest, err := new(app).linkParts().rootCommand().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		t.Errorf("toolscope %q: %v", args, err)
		return ""
	}
	return cmd.Name()
}

// TestPagesParse checks that the program accepts the command lines that its help pages show after a $.
func TestPagesParse(t *testing.T) {
	found := 0
	for _, topic := range ui.DocTopics() {
		text, _ := ui.DocPage(topic)
		text = regexp.MustCompile(`\\\n +`).ReplaceAllString(text, "") // join a continued line
		for _, m := range regexp.MustCompile(`(?m)^\$ toolscope (.*)$`).FindAllStringSubmatch(text, -1) {
			line, _, _ := strings.Cut(m[1], "   ")
			readFlagsOf(t, words(line))
			found++
		}
	}
	if found < 10 {
		t.Errorf("there are %d", found)
	}
}

// readmeCommands returns the arguments of each command in the README's blocks.
func readmeCommands(t *testing.T) (all [][]string) {
	for _, block := range regexp.MustCompile("(?s)\n```\n(.*?)```").FindAllStringSubmatch(written(t, "../../README.md"), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "   ")
			if args, ok := strings.CutPrefix(line, "toolscope "); ok {
				all = append(all, words(args))
			}
		}
	}
	return all
}

// words splits a command line, which may have one kind of quotes.
func words(line string) (all []string) {
	for i, part := range strings.Split(strings.ReplaceAll(line, "'", `"`), `"`) {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

// TestDocs checks that the files and help pages that the README and the documents mention exist. Each document must
// be a help page, and must be linked from the README.
func TestDocs(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	page := regexp.MustCompile("`(?:toolscope )?help ([a-z]+)`")
	root := new(app).linkParts().rootCommand()
	texts := map[string]string{"README.md": written(t, "../../README.md"), "CONTRIBUTING.md": written(t, "../../CONTRIBUTING.md")}
	for _, topic := range ui.DocTopics() {
		text, _ := ui.DocPage(topic)
		texts["ui/docs/"+topic+".md"] = text
		if found, _, err := root.Find([]string{topic}); err != nil || found == root {
			t.Errorf("ui/docs/%s.md is no page of help", topic)
		}
		if !strings.Contains(texts["README.md"], "(ui/docs/"+topic+".md)") {
			t.Errorf("ui/docs/%s.md is not in the README", topic)
		}
		if !strings.HasPrefix(text, "# "+topic+"\n") {
			t.Errorf("ui/docs/%s.md begins otherwise", topic)
		}
	}
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), m[1])); err != nil && !strings.Contains(m[1], "://") {
				t.Errorf("%s: %s is not there", name, m[1])
			}
		}
		for _, m := range page.FindAllStringSubmatch(text, -1) {
			if found, _, err := root.Find(m[1:]); err != nil || found == root {
				t.Errorf("%s: there is no page of help %s", name, m[1])
			}
		}
	}
}

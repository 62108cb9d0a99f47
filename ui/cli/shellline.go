package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolscope/capture/stdio"
)

// runLine runs a command line that Claude Code starts by its prefix, and ends with its exit code.
func (a *app) runLine(f *mcpFlags) error {
	l := parseStartedCommand(f.line, os.Getenv("CLAUDE_CODE_CHILD_SESSION") != "")
	if l.args != nil {
		rest, name, _ := unwrapCommand(l.args)
		f.name = name
		return a.runServer(rest, f)
	}
	args := []string{shellOf(f.line, os.Getenv), "-c", f.line}
	if !l.isCommand {
		return replaceSelf(args)
	}
	return a.runRecorded(f, "shell", "Bash", func(o stdio.Options, _ *liveInput) (stdio.Ending, error) {
		return stdio.Watch(args, l.command, o)
	})
}

// startedCommand is a command line that Claude Code starts by its prefix: a server, a shell command of the
// model, or something else, such as a hook.
type startedCommand struct {
	args      []string // command and arguments of a server
	isCommand bool     // the model started it
	command   string
}

// parseStartedCommand parses a command line. child means that Claude Code marked the process as one of its
// session, as it does for everything but servers. In doubt the result is neither a server nor a shell
// command.
func parseStartedCommand(text string, child bool) startedCommand {
	const before, after = " && eval ", " && pwd -P >| "
	if from, to := strings.Index(text, before), strings.LastIndex(text, after); from >= 0 && from < to {
		if words, _ := wordsOfShell(text[from+len(before):to], 1); len(words) == 1 {
			return startedCommand{isCommand: true, command: words[0]}
		}
	}
	if words, whole := wordsOfShell(text, 0); !child && whole && len(words) > 0 && !strings.Contains(words[0], "=") {
		return startedCommand{args: words}
	}
	return startedCommand{}
}

// wordsOfShell splits a line into at most most words, or all words for 0. whole is false if the line has more
// syntax for a shell than plain words.
func wordsOfShell(text string, most int) (words []string, whole bool) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
		}
		begun = false
	}
	for i := 0; i < len(text); i++ {
		if most > 0 && len(words) == most {
			return words, true
		}
		switch c := text[i]; {
		case c == ' ':
			end()
		case c == '\'':
			close := strings.IndexByte(text[i+1:], '\'')
			if close < 0 {
				return words, false
			}
			word.WriteString(text[i+1 : i+1+close])
			i, begun = i+1+close, true
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0 {
					i++
				} else if strings.IndexByte("$`!", text[i]) >= 0 {
					return words, false
				}
				word.WriteByte(text[i])
			}
			if begun = true; i == len(text) {
				return words, false
			}
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
			word.WriteByte(text[i])
			begun = true
		case strings.IndexByte("\\$`|&;<>()*?[]{}~#!\n\t", c) >= 0:
			return words, false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words, true
}

// shellOf returns the shell that Claude Code reads a line with: the one whose state it saved, else the
// user's.
func shellOf(text string, env func(string) string) string {
	candidates := []string{env("CLAUDE_CODE_SHELL"), env("SHELL"), "/bin/bash", "/usr/bin/bash", "/bin/zsh"}
	for _, name := range []string{"bash", "zsh"} {
		if strings.Contains(text, "/snapshot-"+name+"-") {
			of := func(path string) bool { return filepath.Base(path) != name }
			candidates = slices.DeleteFunc(candidates, of)
		}
	}
	for _, path := range candidates {
		if base := filepath.Base(path); base != "bash" && base != "zsh" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "sh"
}

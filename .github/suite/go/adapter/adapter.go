// Package adapter is the part that all adapters share: it reads questions and writes answers.
package adapter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// A Question asks which calls are in one stream.
type Question struct {
	ID, Protocol, Base string
	Tools              []Tool
}

// A Tool is a tool offered to the model.
type Tool struct {
	Name       string
	Parameters map[string]any
}

// A Call is a call as the library returns it.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// An Answer contains the calls and the finish reason that the library read from the stream.
type Answer struct {
	Calls  []Call
	Finish string
}

// Version returns the version of a module in this program.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}

// Run answers all questions.
func Run(name, about string, protocols []string, ask func(Question) (Answer, error)) {
	writeLine(map[string]any{"adapter": 1, "name": name, "about": about, "protocols": protocols, "takes": "url"})
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q Question
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		a, err := askSafely(q, ask)
		answer := map[string]any{"id": q.ID}
		if err != nil {
			answer["error"] = err.Error()
		} else {
			answer["calls"], answer["finish"] = append([]Call{}, a.Calls...), a.Finish
		}
		writeLine(answer)
	}
}

// askSafely turns a panic of the library into an error.
func askSafely(q Question, ask func(Question) (Answer, error)) (a Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return ask(q)
}

// writeLine writes a value as one line of JSON. encoding/json escapes U+2028, which some readers take for the end of
// a line.
func writeLine(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

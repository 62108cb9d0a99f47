package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// scenes are the most frequent views. Each is a film at one size for each layout.
var scenes = []film{
	{name: "scene-follow", records: twoAtOnce, shots: []shot{{8, ""}, {13, ""}, {16, ""}, {18, ""}, {18, "k"}}},
	{name: "scene-failures", records: failures, shots: []shot{{-1, ""}, {-1, "g!"}, {-1, "!2"}, {-1, "1g"}}},
	{name: "scene-agents", records: session, shots: []shot{{22, ""}, {-1, "G"}, {-1, "g"}}},
	{name: "scene-many", records: manyAnswers, shots: []shot{{200, ""}, {200, "kkkk"}, {212, ""}, {-1, ""}, {-1, "g"}, {-1, "jj-"}, {-1, "G"}}},
}

// TestScenes draws the scenes at five sizes, and without Unicode and colour.
func TestScenes(t *testing.T) {
	for _, f := range scenes {
		for _, size := range [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}, {250, 60}} {
			name := fmt.Sprintf("%s-%dx%d", f.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				checkFile(t, filepath.Join("testdata", "films", name+".txt"), f.play(newScreen(t, size[0], size[1])))
			})
		}
		t.Run(f.name+"-ascii", func(t *testing.T) {
			checkFile(t, filepath.Join("testdata", "films", f.name+"-ascii.txt"), f.play(newScreen(t, 60, 18, ascii, colourless)))
		})
	}
}

// twoAtOnce returns a turn that has ended, and a turn with two calls, the second of which is still growing.
func twoAtOnce(testing.TB) []stream.Record {
	one := new(anthropic).open("msg_1").call("toolu_1", "read_file", `{"path": "cmd/`, `main.go"}`).seal().stop("tool_use")
	two := &anthropic{exchange: 1}
	two.open("msg_2").text("I will write it.").call("toolu_2", "list_files", "{}").seal()
	two.call("toolu_3", "write_file", `{"path": "cmd/greet/main.go", "content": "package main\n\nimport (\n\t\"fmt\"\n)\n\n`,
		`// greet says hello to everyone who is named on the `, `command line.\nfunc greet(names []string`)
	for i := range two.records {
		two.records[i].At += 1500 * time.Millisecond
	}
	return append(one.records, two.records...)
}

// failures returns a session in which calls and a turn fail in different ways, between others that succeed.
func failures(testing.TB) (records []stream.Record) {
	for i, turn := range []func(a *anthropic){
		func(a *anthropic) { a.call("toolu_1", "list_tickets", `{"project": "web"}`).seal().stop("tool_use") },
		func(a *anthropic) {
			a.call("toolu_2", "run_shell", `{"command": "grep -rn 'FIXME' .", "timeout": 30s}`).seal()
			a.call("toolu_3", "read_file", `{"path": "main.go"}`).seal().stop("tool_use")
		},
		func(a *anthropic) { a.text("All of it is done.").stop("end_turn") },
		func(a *anthropic) {
			a.call("toolu_4", "write_file", `{"path": "a.go", "content": "pack`).stop("max_tokens")
		},
		func(a *anthropic) {
			a.call("toolu_5", "notify", `["ops"]`).seal().call("toolu_6", "deploy", `{"to": "prod`)
			a.records[len(a.records)-1].End, a.records[len(a.records)-1].Why = true, "the connection was reset"
			a.records[len(a.records)-1].By = "network"
		},
	} {
		a := &anthropic{exchange: i + 1}
		turn(a.open(fmt.Sprint("msg_", i+1)))
		for n := range a.records {
			a.records[n].At += time.Duration(i) * 70 * time.Second
		}
		records = append(records, a.records...)
	}
	return records
}

// manyAnswers returns fifty turns. Every seventh fails.
func manyAnswers(testing.TB) (records []stream.Record) {
	for i := range 50 {
		a := &anthropic{exchange: i + 1}
		args := `{"path": "` + strings.Repeat("x", i%9) + `.go"}`
		if i%7 == 3 {
			args = `{"path": x}`
		}
		a.open(fmt.Sprint("msg_", i+1)).call(fmt.Sprint("toolu_", i+1), "read_file", args).seal().stop("tool_use")
		for n := range a.records {
			a.records[n].At += time.Duration(i) * 2 * time.Second
		}
		records = append(records, a.records...)
	}
	return records
}

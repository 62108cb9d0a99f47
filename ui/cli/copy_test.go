//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/ui"
)

// reproOfTurn returns the repro of a turn of the demo, as a command writes it.
func reproOfTurn(t *testing.T, turn int32) string {
	return command(t, nil, "export", "demo/history.tsc", "--as", "sse", "--turn", fmt.Sprint(turn+1)).stdout
}

// TestCopyForms checks the forms in which the screen copies data. The JSON line must equal print's, and the repro must
// equal export's. The curl command must have the request's bytes and no secret, and the report must name the call.
func TestCopyForms(t *testing.T) {
	data, err := demos.ReadFile("demo/history.tsc")
	if err != nil {
		t.Fatal(err)
	}
	src, err := capture.Open(t.Context(), "-", capture.Options{Stdin: bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	var in providers.Inspector
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		in.Write(coreRecord(r))
	}
	in.Close()
	printed := command(t, data, "print", "--format", "jsonl", "-").stdout
	v, calls := in.View(), 0
	for _, turn := range v.Session().Turns {
		for _, c := range turn.Calls {
			calls++
			for _, f := range screenForms("stdin", price.Embedded()) {
				got, err := f.Make(v, c.Ref())
				switch {
				case err != nil:
					t.Errorf("%s of %s: %v", f.What, c.Name, err)
				case f.Key == "k" && !strings.Contains(printed, strings.Split(string(got), `,"result":`)[0]): // without the result, which arrived after the line was printed
					t.Errorf("print writes nothing like %s\n%s", got, printed)
				case f.Key == "c" && (!bytes.HasPrefix(got, []byte("curl -N 'http")) || bytes.Contains(got, []byte("[redacted:"))):
					t.Errorf("the request as a command: %s", got)
				case f.Key == "n" && string(got) != reproOfTurn(t, turn.Number):
					t.Errorf("the repro of turn %d is not what export --as sse writes:\n%s", turn.Number+1, got)
				case f.Key == "b" && !bytes.Contains(got, []byte("## Call ")):
					t.Errorf("the report: %s", got)
				}
			}
		}
	}
	if calls == 0 {
		t.Error("the demo has no calls")
	}
}

// TestReportNamesItsFile checks that with several files open, the report on a call names the call's own file, and the
// number of the turn in that file, but not another file.
func TestReportNamesItsFile(t *testing.T) {
	var in providers.Inspector
	files := []string{"malformed", "parallel", "history"}
	for i, name := range files {
		data, err := demos.ReadFile("demo/" + name + ".tsc")
		if err != nil {
			t.Fatal(err)
		}
		src, err := capture.Open(t.Context(), "-", capture.Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			of := coreRecord(r)
			of.Exchange += 100 * i
			if of.Head != nil {
				head := *of.Head
				head.File = name + ".tsc"
				of.Head = &head
			}
			in.Write(of)
		}
	}
	in.Close()
	v, seen := in.View(), map[string]int{}
	for _, turn := range v.Session().Turns {
		own := v.Exchange(turn.Exchange).Head.File
		seen[own]++
		for _, f := range screenForms("malformed.tsc", price.Embedded()) {
			if f.Key != "b" {
				continue
			}
			got, err := f.Make(v, turn.Ref())
			place := strings.ToLower(fmt.Sprintf("turn %d of %s\n", seen[own], own))
			if err != nil || !strings.Contains(strings.ToLower(string(got)), place) {
				t.Errorf("%v: no %q in\n%s", err, place, got)
			}
			for _, other := range files {
				if other+".tsc" != own && bytes.Contains(got, []byte(other+".tsc")) {
					t.Errorf("the report on a turn of %s names %s.tsc", own, other)
				}
			}
		}
	}
	if seen["malformed.tsc"] == 0 || seen["parallel.tsc"] == 0 || seen["history.tsc"] < 2 {
		t.Errorf("the files have %v turns", seen)
	}
}

// TestPipeTo checks that a command receives the bytes. If the command fails, or if some of its output is not shown,
// this must be reported.
func TestPipeTo(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	for _, c := range []struct{ command, prints, err string }{
		{"tr a b", "bbb", ""},
		{"echo wrong >&2; exit 3", "wrong\n", "exit status 3"},
		{"cat; head -c 1048577 /dev/zero", "aaa" + strings.Repeat("\x00", maxPipeOutput-3), "some of its output is not shown: 4 bytes"},
		{"sleep 60 & echo on", "on\n", ""},
	} {
		got, err := pipeTo(c.command, []byte("aaa"))
		if said := ""; err != nil {
			said = err.Error()
			if said != c.err {
				t.Errorf("%s: %v", c.command, err)
			}
		} else if c.err != said {
			t.Errorf("%s: no error", c.command)
		}
		if string(got) != c.prints {
			t.Errorf("%s printed %.40q, %d bytes", c.command, got, len(got))
		}
	}
}

// TestEdit checks that the editor gets the text in a file that only its owner can read. The file must be removed
// afterwards.
func TestEdit(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "cat -n")
	program, remove, err := newEditor("arguments.json", []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	program.SetStdout(&out)
	args := program.(editor).Args
	path := args[len(args)-1]
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := program.Run(); err != nil || !strings.Contains(out.String(), `{"a":1}`) {
		t.Errorf("the editor has %q, %v", out.String(), err)
	}
	remove()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	t.Setenv("EDITOR", "no-such-editor-here")
	if _, _, err := newEditor("x", nil); err == nil || !strings.Contains(err.Error(), "$EDITOR") {
		t.Error(err)
	}
}

// TestThemeIsKept checks that a saved theme is used if no theme is given. The name of a theme that no longer exists
// must be ignored.
func TestThemeIsKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, c := range []struct{ saved, asked, want string }{
		{"dracula", "auto", "dracula"}, {"dracula", "github", "github"}, {"no-such-theme", "github", "github"},
	} {
		if _, err := saveTheme(c.saved); err != nil {
			t.Fatal(err)
		}
		l, o := &lookFlags{theme: c.asked}, ui.Options{}
		if l.applyTo(&o, func(string) {}); o.Theme.Name != c.want {
			t.Errorf("saved %s, asked for %s: %s", c.saved, c.asked, o.Theme.Name)
		}
	}
}

// TestEditorHasTheTerminal checks that an editor whose output is the screen's writer gets the terminal itself.
func TestEditorHasTheTerminal(t *testing.T) {
	run := new(exec.Cmd)
	editor{run}.SetStdout(&cellDiffWriter{stdStream: newStdWriter(os.Stdout, "standard output", newShutdown())})
	if run.Stdout != os.Stdout {
		t.Errorf("it writes to a %T", run.Stdout)
	}
}

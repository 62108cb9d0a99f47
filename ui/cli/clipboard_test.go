package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeClipboard returns a clipboard with these tools and variables. It records the tools that run.
func fakeClipboard(terminal *bytes.Buffer, ran *string, tools, env string, failure error) *clipboard {
	has := func(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
	return &clipboard{
		terminal: terminal,
		getenv: func(name string) string {
			if has(env, name) {
				return "set"
			}
			return ""
		},
		find: func(tool string) (string, error) {
			if has(tools, tool) {
				return "/bin/" + tool, nil
			}
			return "", exec.ErrNotFound
		},
		run: func(_ context.Context, path string, args []string, text []byte) error {
			*ran = fmt.Sprintf("%s %v %d", path, args, len(text))
			return failure
		},
	}
}

func TestClipboard(t *testing.T) {
	failure := errors.New("no display")
	const big = maxOSC52 + 1
	for _, c := range []struct {
		tools, env string
		size       int
		failure    error
		ran, ways  string
		written    bool
		err        string
	}{
		{"", "", 5, nil, "", "the terminal (OSC 52)", true, ""},
		{"", "", maxOSC52, nil, "", "the terminal (OSC 52)", true, ""},
		{"", "", big, nil, "", "", false, "OSC 52 copies at most 75 kB: save the text to a file, or install wl-copy, xclip or xsel"},
		{"wl-copy xclip", "WAYLAND_DISPLAY DISPLAY", 5, nil, "/bin/wl-copy [] 5", "wl-copy and the terminal (OSC 52)", true, ""},
		{"wl-copy xclip", "DISPLAY", 5, nil, "/bin/xclip [-selection clipboard] 5", "xclip and the terminal (OSC 52)", true, ""},
		{"xsel", "DISPLAY", 5, nil, "/bin/xsel [--clipboard --input] 5", "xsel and the terminal (OSC 52)", true, ""},
		{"xsel", "", 5, nil, "", "the terminal (OSC 52)", true, ""},
		{"pbcopy", "", big, nil, fmt.Sprintf("/bin/pbcopy [] %d", big), "pbcopy only: OSC 52 copies at most 75 kB", false, ""},
		{"clip.exe", "", 5, nil, "/bin/clip.exe [] 12", "clip.exe and the terminal (OSC 52)", true, ""},
		{"tmux", "TMUX", 5, nil, "/bin/tmux [load-buffer -w -] 5", "tmux and the terminal (OSC 52)", true, ""},
		{"xclip", "DISPLAY", 5, failure, "/bin/xclip [-selection clipboard] 5", "the terminal (OSC 52)", true, ""},
		{"xclip", "DISPLAY", big, failure, fmt.Sprintf("/bin/xclip [-selection clipboard] %d", big), "", false, "xclip: no display"},
	} {
		var terminal bytes.Buffer
		ran, text := "", strings.Repeat("x", c.size)
		ways, err := fakeClipboard(&terminal, &ran, c.tools, c.env, c.failure).copy([]byte(text))
		if ways != c.ways || ran != c.ran || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%q with %q, %d bytes: %q, %v; ran %q", c.tools, c.env, c.size, ways, err, ran)
		}
		want := ""
		if c.written {
			want = "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
		}
		if terminal.String() != want {
			t.Errorf("%d bytes: wrote %d", c.size, terminal.Len())
		}
	}
}

// TestClipboardInScreen checks that the sequence is wrapped for GNU screen.
func TestClipboardInScreen(t *testing.T) {
	var terminal bytes.Buffer
	ran := ""
	if _, err := fakeClipboard(&terminal, &ran, "", "STY", nil).copy([]byte("text")); err != nil || !strings.HasPrefix(terminal.String(), "\x1bP\x1b]52;c;") {
		t.Errorf("%v: %q", err, terminal.String())
	}
}

// TestRunTool checks that a tool receives the text on its standard input. A tool that fails or takes too long must
// cause an error.
func TestRunTool(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	if err := runTool(t.Context(), "/bin/sh", []string{"-c", "cat > " + file}, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if runTool(t.Context(), "/bin/sh", []string{"-c", "exit 3"}, nil) == nil {
		t.Error("a failure is none")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if runTool(done, "/bin/sh", []string{"-c", "sleep 60"}, nil) == nil {
		t.Error("it is waited for")
	}
}

// TestSaveNew checks that saved files are new, that only their owner can read them, and that no file is overwritten.
func TestSaveNew(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("elsewhere", "replay-1.json"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"replay-1-2.json", "replay-1-3.json", "replay-1-4.json"} {
		data := []byte(fmt.Sprint("[", i, "] and more"))
		path, err := saveNew("replay-1.json", data[:3])
		if err != nil || path != want {
			t.Fatalf("%s, %v; want %s", path, err, want)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != fmt.Sprint("[", i, "]\n") || string(data[3:]) != " and more" {
			t.Errorf("%q, %v", got, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	if _, err := os.Stat("elsewhere"); err == nil {
		t.Error("a link was followed")
	}
	if _, err := saveNew(filepath.Join("no", "folder.json"), nil); err == nil {
		t.Error("saved nowhere")
	}
}

// TestUTF16 checks the encoding for Windows, with its byte order mark.
func TestUTF16(t *testing.T) {
	if got := string(toUTF16([]byte("aé😀"))); got != "\xff\xfea\x00\xe9\x00\x3d\xd8\x00\xde" {
		t.Errorf("% x", got)
	}
}

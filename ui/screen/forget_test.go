package screen

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestForgettingDoesNotCompile checks that only sanitised text can reach a frame. Each marked line of the test
// package must fail to compile, for the reason in its comment. All other lines must compile.
func TestForgettingDoesNotCompile(t *testing.T) {
	said, err := exec.Command("go", "build", "-gcflags=-e", "./testdata/forgets").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	errs := map[int]string{}
	for _, m := range regexp.MustCompile(`forgets/forgets\.go:(\d+):\d+: (.*)`).FindAllStringSubmatch(string(said), -1) {
		line, _ := strconv.Atoi(m[1])
		errs[line] += m[2]
	}
	source, err := os.ReadFile(filepath.Join("testdata", "forgets", "forgets.go"))
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(source), "\n") {
		got := errs[n+1]
		_, want, marked := strings.Cut(line, "// want: ")
		if marked != (got != "") || !strings.Contains(got, want) {
			t.Errorf("line %d: %q\ngot %q, want %q", n+1, line, got, want)
		}
	}
	if len(errs) < 20 {
		t.Errorf("only %d lines fail:\n%s", len(errs), said)
	}
}

package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	errs := map[string]string{}
	for _, m := range regexp.MustCompile(`forgets/(\w+\.go:\d+):\d+: (.*)`).FindAllStringSubmatch(string(said), -1) {
		errs[m[1]] += m[2]
	}
	for _, name := range []string{"text.go", "pane.go"} {
		source, err := os.ReadFile(filepath.Join("testdata", "forgets", name))
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			got := errs[fmt.Sprintf("%s:%d", name, n+1)]
			_, want, marked := strings.Cut(line, "// want: ")
			if marked != (got != "") || !strings.Contains(got, want) {
				t.Errorf("%s:%d: %q\ngot %q, want %q", name, n+1, line, got, want)
			}
		}
	}
	if len(errs) < 20 {
		t.Errorf("only %d lines fail:\n%s", len(errs), said)
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRelease compares the inputs of a release with the tree. The named files must exist, the tools must have
// the same version wherever they are named, and each stamped variable must exist.
func TestRelease(t *testing.T) {
	config, script, workflow := content(t, ".goreleaser.yaml"), content(t, ".ci/release"), content(t, ".github/workflows/release.yml")
	for _, file := range []string{"LICENSE", "THIRD_PARTY_NOTICES", "README.md", "CHANGELOG.md", ".ci/release", ".github/Dockerfile"} {
		if _, err := os.Stat(file); err != nil || !strings.Contains(config, file) {
			t.Errorf("%s is not in the configuration, or not there: %v", file, err)
		}
	}
	for _, page := range regexp.MustCompile(`\.pages/toolscope\.(\w+)`).FindAllStringSubmatch(config, -1) {
		if !strings.Contains(script, "toolscope."+page[1]) && !regexp.MustCompile(`for shell in [^;]*\b`+page[1]+`\b`).MatchString(script) {
			t.Errorf("nothing writes .pages/toolscope.%s", page[1])
		}
	}
	tool := regexp.MustCompile(`goreleaser/v2@v[0-9.]+`)
	if a, b := tool.FindString(script), tool.FindString(workflow); a == "" || a != b {
		t.Errorf("goreleaser is %q here and %q there", a, b)
	}
	stamp := regexp.MustCompile(`-X (\S+)=`).FindStringSubmatch(config)
	if stamp == nil {
		t.Fatal("no version is stamped")
	}
	if image := content(t, ".github/Dockerfile"); !strings.Contains(image, `-X `+stamp[1]+`=$VERSION"`) || !regexp.MustCompile(`(?m)^ARG .*\bVERSION\b`).MatchString(image) {
		t.Error("an image that builds the program is not told its version")
	}
	program := t.TempDir() + "/toolscope"
	if out, err := exec.Command("go", "build", "-ldflags", "-X "+stamp[1]+"=1.2.3", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program, "version").Output(); err != nil || !strings.HasPrefix(string(out), "toolscope 1.2.3 (") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestPins checks that workflows use actions by commit, and that images are built from digests, because a tag can be moved.
func TestPins(t *testing.T) {
	action := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	base := regexp.MustCompile(`^(--platform=\S+ )?(scratch|\$PROGRAM|\S+@sha256:[0-9a-f]{64})( AS \w+)?$`)
	workflows, _ := filepath.Glob(".github/workflows/*.yml")
	found := map[string]int{}
	for _, file := range append(workflows, ".github/Dockerfile") {
		for line := range strings.SplitSeq(content(t, file), "\n") {
			for start, pin := range map[string]*regexp.Regexp{"- uses: ": action, "FROM ": base} {
				if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), start); ok {
					if found[start]++; !pin.MatchString(rest) {
						t.Errorf("%s: not fixed: %s", file, rest)
					}
				}
			}
		}
	}
	if found["- uses: "] < 10 || found["FROM "] < 4 {
		t.Errorf("only %v were found", found)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

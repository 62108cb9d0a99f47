//go:build unix

package noprobe

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// report is the environment variable that makes the test binary report the value of CI before and after Restore. It
// reports the value in its own process and in a program that it starts.
const report = "TOOLSCOPE_TEST_REPORT"

func TestMain(m *testing.M) {
	if os.Getenv(report) == "" {
		os.Exit(m.Run())
	}
	tell("before")
	Restore()
	tell("after")
	child := exec.Command("sh", "-c", `echo "child ${CI-not set}"`)
	child.Stdout = os.Stdout
	if err := child.Run(); err != nil {
		fmt.Println(err)
	}
}

func tell(when string) {
	value, ok := os.LookupEnv("CI")
	if !ok {
		value = "not set"
	}
	fmt.Println(when, value)
}

// TestRestore checks that CI is set during package initialisation, and has its old value afterwards.
func TestRestore(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, "not set"},
		{[]string{"CI="}, ""},
		{[]string{"CI=true"}, "true"},
		{[]string{"CI=0"}, "0"},
	} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), report + "=1"}, c.env...)
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("before 1\nafter %s\nchild %s\n", c.want, c.want)
		if err != nil || string(out) != want {
			t.Errorf("%q: %v\n%swant\n%s", c.env, err, out, want)
		}
	}
}

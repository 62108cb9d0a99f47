package client

import (
	"regexp"
	"testing"
)

func TestNames(t *testing.T) {
	fits := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	names, titles := map[string]bool{}, map[string]bool{}
	for _, c := range All {
		if !fits.MatchString(c.Name) || names[c.Name] || titles[c.Title] || c.Title == "" {
			t.Errorf("%q, %q: not a name, or not its own", c.Name, c.Title)
		}
		names[c.Name], titles[c.Title] = true, true
		if MustFind(c.Name).Title != c.Title {
			t.Errorf("%s is not found by its name", c.Name)
		}
	}
	if _, err := Find("nobody"); err == nil {
		t.Error("a client of no name is found")
	}
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// severals are what is written in the plural behind a number, because that is never 1: it is a limit, or
// it is only said of several. The gaps are of records, and their words belong to the format of captures.
var severals = []string{
	"%d bytes are too long for an entry: more than %d are not held",
	"%d files are called %s already",
	"%d members differ",
	"%d objects in one call: parallel calls were merged",
	"%d objects",
	"%d tokens read from and written to the cache are more than the prompt, %d",
	"%s %d, at byte %d, is %d bytes long: more than %d are not read",
	"%s becomes %s: an id has %d letters and digits here",
	"%s has %d sellers: nothing says who answered",
	", with %s (%d of %d bytes%s)",
	"--base-url: one address, and %d providers",
	"--token: no token\nwanted are at least %d letters, digits, or any of - . _ ~",
	"\n(%d of %d bytes)\n",
	"a message of %d bytes with %d bytes of headers is not possible",
	"a table of %d columns",
	"all behind the first %d files",
	"at most %d levels of nesting",
	"at most %d objects in one another",
	"before byte %d a block has %d of its %d bytes",
	"flow %d, at byte %d, is %d bytes long: more than %d are not read",
	"gap: %d bytes of %s/%s %s",
	"gap: %d bytes of the capture %s",
	"gap: %d bytes of exchange %d %s",
	"gap: %d bytes of exchange %d were not recorded: %s",
	"gap: %d bytes of the body in %s were not recorded: they cannot be searched for secrets (%v)",
	"gap: %d bytes",
	"gap: a WebSocket message of %d bytes was not recorded: it is too long",
	"input was told as %d tokens and is %d now: the last count is what is billed",
	"interaction %d, at byte %d, is longer than %d bytes and not read",
	"line %d has %d bytes: lines of more than %d are not looked at",
	"lines are cut at %d bytes, by who wrote the log: what stood behind is not there",
	"more than %d texts at once may be cut in the middle of a secret",
	"nests %d deep, which takes %d messages in one another: %d are read, as many as %d objects take",
	"none of the %d alternatives fits",
	"of %d objects written one after another the first was sent",
	"panes stand beside each other from %d columns on",
	"the body is %d bytes longer than is read (%d): the rest is left out, and its history is not looked at",
	"the capture has gaps: %d bytes were not recorded",
	"the checksum of a message of %d bytes is %08x, it says %08x",
	"the headers of a message of %d bytes do not fill their space",
	"the id is cut from %d to %d bytes",
	"the log has %d of the %d characters of the arguments of %s",
	"the part has %d fields: clients that know a call by its 11 never see it",
	"the request changes %s, which was sent before: %d of the %d tokens that were cached then were read",
	"there are %d bookmarks: that is all",
	"… (%d of %d bytes)",
}

// numbered is a number and, it seems, a thing in the plural.
var numbered = regexp.MustCompile(`%d (?:more |other |of the )?([a-z]+s)\b`)

// verbs follow a number that is a name, as in "turn 3 calls no tool".
var verbs = []string{"is", "was", "has", "does", "as", "begins", "calls", "ends", "times", "follows", "goes", "ms"}

// TestPlurals: nobody reads "1 bytes". How many there are of something is said by stream/count.
func TestPlurals(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, m := range numbered.FindAllStringSubmatchIndex(text, -1) {
				if slices.Contains(verbs, text[m[2]:m[3]]) {
					continue
				}
				known := slices.IndexFunc(severals, func(s string) bool { return s == text })
				if known < 0 {
					t.Errorf("%s: %q: with one of them that is no English; stream/count has the words", file, text)
					continue
				}
				used[text] = true
			}
			return true
		})
	})
	for _, s := range severals {
		if !used[s] {
			t.Errorf("nobody says %q any more", s)
		}
	}
}

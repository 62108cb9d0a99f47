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
	"the entry has %d bytes: more than %d are not read",
	"%d files named %s exist already",
	"%d members differ",
	"%d objects in one call: parallel calls were merged",
	"%d objects",
	"%s %d, at byte %d, is %d bytes long: more than %d are not read",
	"%s has %d sellers, and the one that answered is unknown",
	", with %s (%d of %d bytes%s)",
	"--base-url: one address for %d providers\nuse one PROVIDER",
	"--token: too short, or with other characters\nuse at least %d letters, digits or -._~",
	"\n(%d of %d bytes)\n",
	"a message can't have %d bytes with %d bytes of headers",
	"a table of %d columns",
	"all after the first %d files",
	"before byte %d a block has %d of its %d bytes",
	"flow %d, at byte %d, is %d bytes long: more than %d are not read",
	"gap: %d bytes of %s/%s %s",
	"gap: %d bytes of the capture %s",
	"gap: %d bytes of exchange %d %s",
	"gap: %d bytes of exchange %d were not recorded: %s",
	"gap: %d bytes of the body in %s were not recorded: they can't be searched for secrets (%v)",
	"gap: %d bytes",
	"gap: a WebSocket message of %d bytes was not recorded: it is too long",
	"interaction %d, at byte %d, is longer than %d bytes and not read",
	"line %d has %d bytes: lines of more than %d are not read",
	"lines are cut at %d bytes by the program that wrote the log: the rest of them is missing",
	"the body is %d bytes longer than the limit (%d): the rest is left out, and its history is not read",
	"the capture has gaps: %d bytes were not recorded",
	"the checksum of a message of %d bytes is %08x, but the message says %08x",
	"the headers of a message of %d bytes don't fill their space",
	"the id is cut from %d to %d bytes",
	"the log has %d of the %d characters of the arguments of %s",
	"the part has %d fields: clients that expect 11 never see the call",
	"the input was reported as %d tokens and is %d now: the last count is billed",
	"the body has %d codings: toolscope decodes at most %d",
	"%d tokens read from and written to the cache are more than the prompt's %d",
	"more than %d levels of nesting",
	"%s becomes %s: the target's ids have %d letters and digits",
	"nests %d levels deep, in %d nested messages; the target reads %d, as many as %d objects need",
	"no more than %d bookmarks",
	"side-by-side panes need %d columns",
	"… (%d of %d bytes)",
}

// numbered is a number and, it seems, a thing in the plural.
var numbered = regexp.MustCompile(`%d (?:more |other |of the )?([a-z]+s)\b`)

// verbs follow a number that is a name, as in "turn 3 calls no tool".
var verbs = []string{"is", "was", "has", "does", "as", "begins", "calls", "ends", "times", "follows", "goes", "ms", "starts"}

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

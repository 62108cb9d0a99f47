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

// severals are texts with a plural after a number that is never 1: the number is a limit, or the text is used
// only for several items. The texts that begin with "gap:" are part of the capture format.
var severals = []string{
	"%d files named %s already exist",
	"%d fields differ",
	"%d objects in one call: parallel calls were merged",
	"%s %d, at byte %d, is %d bytes long: values longer than %d bytes are not read",
	"%d sellers offer %s, and it is unknown which of them answered",
	", with %s (%d of %d bytes%s)",
	"--base-url: sets the address of one provider, got %d providers\nuse one PROVIDER",
	"--token: too short, or has an unsupported character\nuse at least %d letters, digits or -._~",
	"\n(%d of %d bytes)\n",
	"a message can't have %d bytes with %d bytes of headers",
	"a table of %d columns",
	"the block before byte %d has only %d of its %d bytes",
	"flow %d, at byte %d, is %d bytes long: flows longer than %d bytes are not read",
	"gap: %d bytes of %s/%s %s",
	"gap: %d bytes of the capture %s",
	"gap: %d bytes of exchange %d %s",
	"gap: %d bytes of exchange %d were not recorded: %s",
	"gap: %d bytes of the body in %s were not recorded: they can't be searched for secrets (%v)",
	"gap: %d bytes",
	"gap: a WebSocket message of %d bytes was not recorded: it is too long",
	"interaction %d, at byte %d, is longer than %d bytes and is not read",
	"line %d has %d bytes: lines longer than %d bytes are not read",
	"line %d consists of more than %d lines without line breaks between them: the rest is not read",
	"the program that wrote the log cut lines at %d bytes: the rest of each line is missing",
	"the body is %d bytes longer than the limit (%d): the rest is left out, and its history is not read",
	"the capture has gaps: %d bytes were not recorded",
	"the checksum of a message of %d bytes is %08x, but the message states %08x",
	"the headers of a message of %d bytes don't match their declared length",
	"the id is shortened from %d to %d bytes",
	"the log has %d of the %d characters in the arguments of %s",
	"the part has %d fields: clients that expect 11 never see the call",
	"toolscope keeps at most %d findings per exchange, and only counts the others: %s",
	"the body has %d codings: toolscope decodes at most %d",
	"the %d tokens read from and written to the cache exceed the prompt's %d",
	"more than %d levels of nesting",
	"%s becomes %s: the target's ids consist of %d letters and digits",
	"an id doesn't consist of exactly %d letters and digits",
	"the name must have 1 to %d characters from [%s]",
	"the arguments are nested %d levels deep, which needs %d nested protobuf messages; the target accepts %d messages, which is enough for %d nested objects",
	"at most %d bookmarks",
	"side-by-side panes need %d columns",
	"… (%d of %d bytes)",
	" (the first %d of %d bytes)",
	"more than %d requests wait for a response: toolscope doesn't look for responses to older requests",
	"a message from the %s is longer than %d bytes: toolscope didn't read it",
	"the server has more than %d tools: toolscope doesn't keep the others",
}

// numbered matches a number followed by a word that looks like a plural.
var numbered = regexp.MustCompile(`%d (?:more |other |of the )?([a-z]+s)\b`)

// verbs are words ending in s that can follow a number, as in "turn 3 calls no tool".
var verbs = []string{"is", "was", "has", "does", "as", "begins", "calls", "means", "sends", "ends", "times", "follows", "goes", "ms", "starts"}

// TestPlurals checks that no text reads "1 bytes". Texts with counts must use stream/count.
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
					t.Errorf("%s: %q is wrong for 1: use stream/count", file, text)
					continue
				}
				used[text] = true
			}
			return true
		})
	})
	for _, s := range severals {
		if !used[s] {
			t.Errorf("no text is %q any more: remove it from severals", s)
		}
	}
}

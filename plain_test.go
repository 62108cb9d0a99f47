package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPlain checks prose for plain English: the Markdown files in the root, the pages in ui/docs, the
// program's texts, and comments. It knows only patterns: a sentence that passes may still be bad.
//
// .ci/plain.tsv has the number of hits for each pattern in each group. A count may only fall. A group that is
// not listed has no hits. After a cleanup, run the test with -plain-update and commit the smaller table. To
// see the hits, run it with -plain-show PATTERN.
var (
	plainUpdate = flag.Bool("plain-update", false, "write plain.tsv, where counts have fallen")
	plainShow   = flag.String("plain-show", "", "show the hits of this pattern")
)

const plainTable = ".ci/plain.tsv"

// A plainPattern finds one bad habit. Each match is a hit, unless keep returns false.
type plainPattern struct {
	name string
	say  string // what to write instead
	find *regexp.Regexp
	keep func(sentence string, m []int) bool
	docs bool // texts only, not comments
}

// notBefore returns a check that none of these words follows the match.
func notBefore(words ...string) func(string, []int) bool {
	return func(s string, m []int) bool {
		next := strings.ToLower(strings.TrimLeft(s[m[1]:], " "))
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(next, w) })
	}
}

// notAsked reports whether a sentence is not a question.
func notAsked(s string, _ []int) bool { return !strings.HasSuffix(strings.TrimSpace(s), "?") }

func pattern(name, say, expr string, keep func(string, []int) bool) plainPattern {
	return plainPattern{name: name, say: say, find: regexp.MustCompile(expr), keep: keep}
}

var plainPatterns = []plainPattern{
	pattern("what-clause", "name the thing: \"recordings\", not \"what was recorded\"",
		`(?i)\bwhat (?:is|are|was|were|came|comes|has|had|goes|went|stands|stood|follows|followed|arrives|arrived|passes|passed|waits|begins|ends|remains|belongs|changed|else|nobody|of)\b`,
		func(s string, m []int) bool { return notAsked(s, m) && notBefore("wrong", "missing", "new in")(s, m) }),
	pattern("is-told", "\"reported\", \"shown\", \"listed\"; say who reports it",
		`(?i)\b(?:is|are|was|were|be|been) (?:told|said)\b`, nil),
	pattern("stands", "\"is\", \"appears\", \"comes\"",
		`(?i)\bstand(?:s|ing)? (?:in|on|beside|before|behind|there|under|between|at|next|above|below|where|one|so|by|still|among|around|alone)\b`, nil),
	pattern("nobody", "use the passive, or say who",
		`(?i)\b(?:nobody|somebody|whoever)\b`, nil),
	pattern("is-no", "\"isn't\", \"not\": \"is not JSON\"",
		`(?i)\b(?:is|are|was|were|be) no\b`, func(s string, m []int) bool {
			return notBefore("longer", "more", "less", "different")(s, m) && !strings.HasSuffix(strings.ToLower(strings.TrimSpace(s[:m[0]])), "there")
		}),
	pattern("beside", "\"next to\", \"as well\", \"with\"",
		`(?i)\bbesides?\b`, nil),
	pattern("behind", "\"after\" of order; \"behind\" only of proxies",
		`(?i)\bbehind\b`, func(s string, m []int) bool {
			return !regexp.MustCompile(`(?i)^\s*(?:a|the|its own|any|this)?\s*(?:recording |load |reverse )?(?:proxy|proxies|toolscope|gateway|balancer|NAT|firewall)`).MatchString(s[m[1]:])
		}),
	pattern("headless-who", "whoever it is has a name: the client, the user, you",
		`(?i)(?:^who \w+s\b|\b(?:for|of|to|by|from|than) who \w+)`, notAsked),
	pattern("fronted-of", "begin with the subject: \"A cut call is only `unseen`\"",
		`^(?:Of|From|Behind|Beside|Under) (?:a|an|the|all|what|this|one|two|each|such|those|that|big|several|very|it)\b[^.]*,`, nil),
	pattern("have-x-do", "\"makes\", \"lets\", or the verb alone",
		`(?i)\b(?:ha(?:s|ve|d)|having) (?:\w+ ){1,3}(?:be|run|read|show|stay|send|start|begin|make|wait|go|get|look|draw|fail|end|come|stop|count|complete|tell|follow|sort|keep|take|write|print|watch)\b`,
		func(s string, m []int) bool {
			return !slices.ContainsFunc(strings.Fields(strings.ToLower(s[m[0]:m[1]])), func(w string) bool {
				return slices.Contains([]string{"to", "been", "not", "no", "already", "ever", "never", "all", "come,", "and", "or", "had", "begun", "ended", "since", "passed"}, w)
			})
		}),
	pattern("idiom", "say it literally",
		`(?i)\b(?:by itself|goes by|go by|to and fro|let(?:s)? (?:\w+ )?go|gone on with|goes? on with|what it comes to|all the same|turned? round)\b`, nil),
	pattern("inverted", "subject first: \"The right pane shows …\"",
		`^(?:Right|Left|Above|Below|Beside|Behind|Beneath)(?: \w+){0,3} (?:is|are|stand|stands)\b|\b(?:it|that) (?:is|was) said (?:what|which|who|how|where)\b`, nil),
	{name: "glossary", say: "the glossary has one word for this",
		find: regexp.MustCompile(`(?i)\b(?:finish words?|held against|hold against|holds? .{0,20} against the tools|mend(?:s|ed|ing)?|the wire (?:told|has|had|gives)|side requests?|pieces? of (?:the )?arguments|whole arguments|asked the same|brought back|code that runs)\b`)},
}

// prose is text that people read: a part of a page, a text in the program, or a comment. group is where its
// hits are counted.
type prose struct{ group, at, text string }

func TestPlain(t *testing.T) {
	counts := map[string]int{} // "group\tpattern"
	for _, p := range allProse(t) {
		comment := strings.HasPrefix(p.group, "comments ")
		for _, sentence := range sentences(p.text) {
			for _, pat := range plainPatterns {
				if pat.docs && comment {
					continue
				}
				for _, m := range pat.find.FindAllStringIndex(sentence, -1) {
					if pat.keep != nil && !pat.keep(sentence, m) || allowed(sentence) {
						continue
					}
					counts[p.group+"\t"+pat.name]++
					if *plainShow == pat.name {
						t.Logf("%s: %q: %s", p.at, sentence, pat.say)
					}
				}
			}
		}
	}
	for k, n := range nameCounts(t) {
		counts[k] += n
	}
	known, listed := readPlain(t)
	if *plainUpdate {
		if listed {
			for k, n := range counts {
				if n > known[k] {
					t.Errorf("%s: %d, and %d before: a count may only fall", strings.ReplaceAll(k, "\t", ", "), n, known[k])
				}
			}
		}
		if !t.Failed() {
			writePlain(t, counts)
		}
		return
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[k]; n > known[k] {
			group, name, _ := strings.Cut(k, "\t")
			t.Errorf("%s: %d hits of %s, %d are known: %s\nsee them with go test -run TestPlain -plain-show %s .", group, n, name, known[k], advice(name), name)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if counts[k] < known[k] {
			t.Logf("%s: %d, %d before: -plain-update writes the smaller number", strings.ReplaceAll(k, "\t", ", "), counts[k], known[k])
		}
	}
}

func advice(name string) string {
	for _, p := range plainPatterns {
		if p.name == name {
			return p.say
		}
	}
	if name == "limit-name" {
		return "name a limit maxX"
	}
	return "name a function with a verb and an object; goWords lists the exceptions"
}

// plainAllowed are sentences that are correct although a pattern finds them. Each entry is a part of the
// sentence.
var plainAllowed = []string{
	"What is open here?",
	"is no longer",
	"What is the weather in Oslo?",
	"what is in this folder?",
}

func allowed(sentence string) bool {
	return slices.ContainsFunc(plainAllowed, func(a string) bool { return strings.Contains(sentence, a) })
}

// allProse returns all prose that is checked.
func allProse(t *testing.T) (all []prose) {
	pages, _ := filepath.Glob("ui/docs/*.md")
	for _, page := range append([]string{"README.md", "GUIDE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}, pages...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		group := page
		if strings.HasPrefix(page, "ui/docs/") {
			group = "ui/docs"
		}
		for _, block := range markdownBlocks(string(text)) {
			all = append(all, prose{group, page, block})
		}
	}
	eachGo(t, func(file string, parsed *ast.File, fset *token.FileSet) {
		dir := cmp.Or(path.Dir(filepath.ToSlash(file)), ".")
		for _, text := range programTexts(parsed) {
			all = append(all, prose{"texts " + dir, fmt.Sprintf("%s:%d", file, fset.Position(text.pos).Line), text.text})
		}
		for _, g := range parsed.Comments {
			all = append(all, prose{"comments " + dir, fmt.Sprintf("%s:%d", file, fset.Position(g.Pos()).Line), commentProse(g)})
		}
	})
	return all
}

func eachGo(t *testing.T, do func(file string, parsed *ast.File, fset *token.FileSet)) {
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err == nil {
			do(p, parsed, fset)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	fence      = regexp.MustCompile("(?ms)^```.*?^```\\s*$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks      = regexp.MustCompile(`(?m)^\s*(?:[-*#>|]+|\d+\.)\s*|\*\*`)
)

// markdownBlocks returns the paragraphs, list items and table rows of a page, without code.
func markdownBlocks(text string) (blocks []string) {
	text = fence.ReplaceAllString(text, "")
	text = link.ReplaceAllString(inlineCode.ReplaceAllString(text, "CODE"), "$1")
	for _, para := range regexp.MustCompile(`\n\s*\n|\n(?:\s*[-*] |\s*\d+\. |\|)`).Split(text, -1) {
		if s := strings.Join(strings.Fields(marks.ReplaceAllString(para, " ")), " "); s != "" {
			blocks = append(blocks, s)
		}
	}
	return blocks
}

type literal struct {
	text string
	pos  token.Pos
}

// The first literal argument of textFuncs is shown to people. The last literal argument of flagFuncs describes a
// flag.
var (
	textFuncs  = regexp.MustCompile(`^(?:Lit|Format|Key|printLine|printNote|usageErrorf|Errorf|New|Find|FindAt|Once|Finding|reportFinding|reportOnce|Messagef|AppendMessage|SetMessage|loss|addLoss|helpTopic|writeWrapped|writeWrappedWords|addNote|reportf)$`)
	textNames  = regexp.MustCompile(`(?:Help|HelpEnd|Texts|Page|Exits|[aA]ctions|hints)$`)
	flagFuncs  = regexp.MustCompile(`^(?:String|StringArray|Bool|Int|Float64|Duration|Var)(?:Var)?P?$`)
	textFields = []string{"Short", "Long", "Example", "Meaning", "Advice", "Hint", "Description", "Title", "Remark", "Remarks", "Why", "Seen", "Does"}
)

// programTexts returns the string literals that people see: arguments of text constructors, fields of
// findings and commands, descriptions of flags, and variables that match textNames.
func programTexts(f *ast.File) (texts []literal) {
	add := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && strings.Count(s, " ") >= 2 {
					texts = append(texts, literal{s, l.Pos()})
				}
			}
			_, call := n.(*ast.CallExpr)
			return !call
		})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch fn := x.Fun.(type) {
			case *ast.Ident:
				name = fn.Name
			case *ast.SelectorExpr:
				name = fn.Sel.Name
			}
			switch {
			case len(x.Args) == 0:
			case textFuncs.MatchString(name):
				for _, a := range x.Args {
					add(a)
				}
			case flagFuncs.MatchString(name) && len(x.Args) >= 3:
				add(x.Args[len(x.Args)-1])
			}
		case *ast.KeyValueExpr:
			if id, ok := x.Key.(*ast.Ident); ok && slices.Contains(textFields, id.Name) {
				add(x.Value)
			}
		case *ast.ValueSpec:
			for i, id := range x.Names {
				if textNames.MatchString(id.Name) && i < len(x.Values) {
					add(x.Values[i])
				}
			}
		}
		return true
	})
	// A literal may be found twice, through its call and through its field.
	slices.SortFunc(texts, func(a, b literal) int { return int(a.pos - b.pos) })
	return slices.CompactFunc(texts, func(a, b literal) bool { return a.pos == b.pos })
}

// commentProse returns the text of a comment without its code: indented lines and directives are left out.
func commentProse(g *ast.CommentGroup) string {
	var b strings.Builder
	for _, l := range strings.Split(g.Text(), "\n") {
		if !strings.HasPrefix(l, "\t") && !strings.HasPrefix(l, "  ") {
			b.WriteString(l + "\n")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

var stops = regexp.MustCompile(`[.!?]["')]?\s+`)

// sentences splits prose at the ends of sentences.
func sentences(text string) (all []string) {
	text = strings.ReplaceAll(text, "\n", " ")
	at := 0
	for _, m := range stops.FindAllStringIndex(text, -1) {
		all = append(all, strings.TrimSpace(text[at:m[1]]))
		at = m[1]
	}
	return append(all, strings.TrimSpace(text[at:]))
}

var (
	oneWord   = regexp.MustCompile(`^[a-z]+$`)
	limitName = regexp.MustCompile(`^most[A-Z]|[a-z]Limit$`)
)

// goWords are one-word names that are clear enough.
var goWords = strings.Fields(`main run new open close read write next parse reset flush append add remove get set has
	is index match scan emit decode encode draw keys find sort load save copy len cap size name text lines start end
	error string hash push pop stop`)

// nameCounts returns the number of functions named with one lower-case word, and of limits that are not named
// max….
func nameCounts(t *testing.T) map[string]int {
	counts := map[string]int{}
	eachGo(t, func(file string, parsed *ast.File, fset *token.FileSet) {
		group := "names " + path.Dir(filepath.ToSlash(file))
		count := func(name string, id *ast.Ident) {
			counts[group+"\t"+name]++
			if *plainShow == name {
				t.Logf("%s: %s: %s", fset.Position(id.Pos()), id.Name, advice(name))
			}
		}
		for _, d := range parsed.Decls {
			switch x := d.(type) {
			case *ast.FuncDecl:
				if n := x.Name.Name; oneWord.MatchString(n) && !slices.Contains(goWords, n) {
					count("one-word-func", x.Name)
				}
			case *ast.GenDecl:
				if x.Tok != token.CONST && x.Tok != token.VAR {
					continue
				}
				for _, s := range x.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						if limitName.MatchString(id.Name) {
							count("limit-name", id)
						}
					}
				}
			}
		}
	})
	return counts
}

// readPlain reads the table: group, pattern, count. A line that begins with # is a comment.
func readPlain(t *testing.T) (known map[string]int, ok bool) {
	known = map[string]int{}
	f, err := os.Open(plainTable)
	if os.IsNotExist(err) {
		return known, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if line := sc.Text(); line != "" && line[0] != '#' {
			c := strings.Split(line, "\t")
			if len(c) != 3 {
				t.Fatalf("%s:%d: want group, pattern and count, with tabs between", plainTable, n)
			}
			count, err := strconv.Atoi(c[2])
			if err != nil {
				t.Fatalf("%s:%d: %v", plainTable, n, err)
			}
			known[c[0]+"\t"+c[1]] = count
		}
	}
	return known, true
}

func writePlain(t *testing.T, counts map[string]int) {
	var b strings.Builder
	b.WriteString("# Hits of each pattern of plain_test.go, by group. A count may only fall.\n")
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if counts[k] > 0 {
			fmt.Fprintf(&b, "%s\t%d\n", k, counts[k])
		}
	}
	if err := os.WriteFile(plainTable, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tag is an element of an HTML page.
type tag struct {
	name, id, class string
	attrs           map[string]string
	text            string // text of the element and of all elements inside it
}

// tagsOf parses a page. The page must be well-formed: every element is closed at the right place.
func tagsOf(t *testing.T, text string) (all []*tag) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(alone.ReplaceAllString(text, "$0</$1>")))
	var open []*tag
	for {
		token, err := d.Token()
		switch token := token.(type) {
		case xml.StartElement:
			e := &tag{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			e.id, e.class = e.attrs["id"], e.attrs["class"]
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(token)
			}
		case nil:
			if !errors.Is(err, io.EOF) {
				t.Fatalf("the page is not well-formed: %v", err)
			}
			return all
		}
	}
}

// alone matches the elements without an end tag.
var alone = regexp.MustCompile(`<(meta|br)\b[^>]*>`)

// checkPage checks that a page loads nothing, runs no code, and has valid links.
func checkPage(t *testing.T, text string) []*tag {
	t.Helper()
	all := tagsOf(t, text)
	ids := map[string]bool{}
	known := strings.Fields("html head meta title style body a header h1 h2 h3 p nav dl div dt dd ol ul li span main section details summary pre mark article table caption thead tbody tr th td strong code br svg rect footer")
	for _, e := range all {
		if e.id != "" && ids[e.id] {
			t.Errorf("two elements are %s", e.id)
		}
		ids[e.id] = true
		if !slices.Contains(known, e.name) {
			t.Errorf("an element %s", e.name)
		}
		for a := range e.attrs {
			if a == "style" || a == "src" || strings.HasPrefix(a, "on") {
				t.Errorf("%s has %s", e.name, a)
			}
		}
	}
	for _, e := range all {
		switch {
		case e.attrs["href"] != "" && (e.attrs["href"][0] != '#' || !ids[e.attrs["href"][1:]]):
			t.Errorf("a link to %s", e.attrs["href"])
		case e.attrs["aria-labelledby"] != "" && !ids[e.attrs["aria-labelledby"]]:
			t.Errorf("nothing is %s", e.attrs["aria-labelledby"])
		}
	}
	style := only(t, all, "style").text
	sum := sha256.Sum256([]byte(style))
	policy := all[slices.IndexFunc(all, func(e *tag) bool { return e.attrs["http-equiv"] != "" })].attrs["content"]
	if !strings.Contains(policy, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy is %s", policy)
	}
	return all
}

func only(t *testing.T, all []*tag, name string) *tag {
	t.Helper()
	i := slices.IndexFunc(all, func(e *tag) bool { return e.name == name })
	if i < 0 {
		t.Fatalf("no %s", name)
	}
	return all[i]
}

// TestExportHTML checks that the page for each of the demo's captures has the same facts as print.
func TestExportHTML(t *testing.T) {
	files, err := filepath.Glob("demo/*.tsc")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		out := command(t, nil, "export", file, "--as", "html")
		if out.code != 0 {
			t.Fatalf("%s: %+v", file, out)
		}
		all := checkPage(t, out.stdout)
		calls, turns := command(t, nil, "print", "--format", "jsonl", file).decode(t)
		sections, articles := elements(all, "section"), elements(all, "article")
		if len(sections) != len(turns) || len(articles) != len(calls) {
			t.Fatalf("%s: %d sections and %d articles, want %d and %d", file, len(sections), len(articles), len(turns), len(calls))
		}
		for i, c := range calls {
			id := fmt.Sprintf("t%dc%d", c.Turn, c.Call)
			at := slices.IndexFunc(articles, func(e *tag) bool { return e.id == id })
			if at < 0 {
				t.Fatalf("%s: no article is %s", file, id)
			}
			says := articles[at].text
			for _, want := range []string{c.Name, c.Status, c.ID} {
				if !strings.Contains(says, want) {
					t.Errorf("%s: the article of call %d does not say %s", file, i+1, want)
				}
			}
			if args := squeezed(c.Raw); c.Status == "complete" && !strings.Contains(squeezed(says), args) {
				t.Errorf("%s: call %d: %s\nis not in\n%s", file, i+1, args, squeezed(says))
			}
		}
	}
}

func elements(all []*tag, name string) (found []*tag) {
	for _, e := range all {
		if e.name == name {
			found = append(found, e)
		}
	}
	return found
}

// squeezed returns text without blanks.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// TestHTMLOutline checks the order of the elements for a malformed call.
func TestHTMLOutline(t *testing.T) {
	var got []string
	for _, e := range checkPage(t, command(t, nil, "export", "demo/malformed.tsc", "--as", "html").stdout) {
		switch e.name {
		case "h1", "h2", "summary", "caption", "mark":
			got = append(got, e.name+" "+strings.Join(strings.Fields(e.text), " "))
		case "h3", "dt", "main", "nav", "article":
			got = append(got, strings.TrimSpace(e.name+" "+e.class))
		}
	}
	want := []string{
		"h1 malformed.tsc", "nav", "dt", "dt", "dt", "dt", "dt", "main", "h2 Turn 1 claude-sonnet-4-5 ● response complete · 1 call malformed",
		"dt", "dt", "dt", "dt", "dt", "h3 muted", "summary Text, 23 B", "article", "h3", "dt", "dt", "dt", "dt", "dt", "dt", "dt",
		`mark s, "env": {"LANG": "C"}}`, "summary Sent back: preview of a later request",
		"caption What each behaviour sends to each target", "caption What each client sends back to anthropic",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHTMLHostile checks that text from outside is always written as text, in every place.
func TestHTMLHostile(t *testing.T) {
	const evil = `</pre></style></title>"'><script>alert(1)</script><img src=x onerror=y>&lt;` + "\x1b]0;x\a\u202e"
	args := `{"` + `k</span><b>` + `":"<script>` + `","n":1}<i>`
	body := fmt.Sprintf(`data: {"id":"1","object":"chat.completion.chunk","model":%s,"choices":[{"index":0,"delta":{"content":%s,"tool_calls":[{"index":0,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}}]}`+"\n\n"+
		`data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":%s}]}`+"\n\ndata: [DONE]\n\n",
		quoted(evil), quoted(evil), quoted(evil), quoted(evil), quoted(args), quoted(evil))
	file := saved(t, "<b>&.sse", body)
	out := command(t, nil, "export", file, "--as", "html")
	if out.code != 0 || strings.ContainsAny(out.stdout, "\x1b\a\u202e") {
		t.Fatalf("%+v", out)
	}
	all := checkPage(t, out.stdout)
	if got := only(t, all, "h1").text; got != "<b>&.sse" {
		t.Errorf("the title is %q", got)
	}
	if got := only(t, all, "pre").text; !strings.HasPrefix(got, `</pre></style></title>"'><script>alert(1)</script><img src=x onerror=y>&lt;`) {
		t.Errorf("the text is %q", got)
	}
	if got := only(t, all, "article").text; !strings.Contains(got, `"k</span><b>": "<script>"`) || !strings.Contains(got, "<i>") {
		t.Errorf("the call is %q", got)
	}
}

// TestHTMLChooses checks the page of one turn, the page of one call, and a page without keys.
func TestHTMLChooses(t *testing.T) {
	file := twoTurns(t)
	one := command(t, nil, "export", file, "--as", "html", "--turn", "2")
	if all := checkPage(t, one.stdout); len(elements(all, "section")) != 1 || only(t, all, "section").id != "t2" || !strings.Contains(one.stdout, "shows only part of the capture") {
		t.Errorf("turn 2: %+v", one)
	}
	if all := checkPage(t, command(t, nil, "export", file, "--as", "html", "--call", "1", "--turn", "1").stdout); len(elements(all, "article")) != 1 {
		t.Error("call 1 is not alone")
	}
	if out := command(t, nil, "export", file, "--as", "html", "--call", "7"); out.code != 2 || out.stdout != "" {
		t.Errorf("call 7: %+v", out)
	}
	if out := command(t, nil, "export", file, "--as", "html", "--redact"); out.code != 0 || strings.Contains(out.stdout, canary) || !strings.Contains(out.stdout, "toolscope removed the keys") {
		t.Errorf("redacted: %+v", out)
	}
}

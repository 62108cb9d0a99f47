package providers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestFindings checks that every diagnosis declared anywhere is in Findings, and has all required texts.
func TestFindings(t *testing.T) {
	joined := map[string]bool{}
	for _, d := range Findings() {
		if joined[d.Code] {
			t.Errorf("%s is there twice", d.Code)
		}
		joined[d.Code] = true
		if d.Code == "" || strings.ToUpper(d.Code) != d.Code || d.By.String() == "" || slices.Contains(d.OtherSeverities, d.Severity) || d.Base() != d {
			t.Errorf("%+v", d)
		}
		for _, text := range []string{d.Meaning, d.Advice} {
			if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] && !strings.HasPrefix(text, "toolscope ") {
				t.Errorf("%s: not a sentence: %q", d.Code, text)
			}
		}
	}
	for code, file := range declaredIn(t, "..") {
		if !joined[code] {
			t.Errorf("%s, of %s, is not among Findings()", code, file)
		}
		delete(joined, code)
	}
	for code := range joined {
		t.Errorf("%s is not declared as a literal anywhere", code)
	}
}

// declaredIn returns the codes of all literals of stream.Diagnosis under root, with the file of each.
func declaredIn(t *testing.T, root string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if code, ok := codeOf(n); ok {
				if found[code] != "" {
					t.Errorf("%s is declared in %s and in %s", code, found[code], file)
				}
				found[code] = file
			}
			return true
		})
		return nil
	})
	if err != nil || len(found) < 100 {
		t.Fatalf("%d found: %v", len(found), err)
	}
	return found
}

// codeOf returns the code in a literal of a Diagnosis.
func codeOf(n ast.Node) (code string, ok bool) {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return "", false
	}
	switch of := lit.Type.(type) {
	case *ast.Ident:
		ok = of.Name == "Diagnosis"
	case *ast.SelectorExpr:
		ok = of.Sel.Name == "Diagnosis"
	default:
		ok = false
	}
	for _, e := range lit.Elts {
		field, isField := e.(*ast.KeyValueExpr)
		if !ok || !isField {
			continue
		}
		if name, _ := field.Key.(*ast.Ident); name != nil && name.Name == "Code" {
			if value, isText := field.Value.(*ast.BasicLit); isText {
				code, _ = strconv.Unquote(value.Value)
			}
		}
	}
	return code, ok
}

// checkFindings checks that a session's findings are declared, and have an allowed severity and a cause.
func checkFindings(t *testing.T, s *stream.Session) {
	t.Helper()
	all := slices.Clone(s.Findings)
	for _, turn := range s.Turns {
		all = append(all, turn.Findings...)
		for _, c := range turn.Calls {
			all = append(all, c.Findings...)
		}
	}
	known := Findings()
	for _, f := range all {
		if !slices.Contains(known, f.Diagnosis) || f.Severity != f.Diagnosis.Severity && !slices.Contains(f.OtherSeverities, f.Severity) || f.By == 0 {
			t.Errorf("%s, %s, by %q: declared %+v", f.Code, f.Severity, f.By, f.Diagnosis)
		}
	}
}

// TestApprovalMessages checks that a finding about an approval contains the reason, if there is one.
func TestApprovalMessages(t *testing.T) {
	for response, want := range map[string]string{
		`"approved":true`: "the call was approved", `"approved":true,"reason":"cheap"`: "the call was approved: cheap",
		`"approved":false`: "the call was not approved", `"approved":false,"reason":"too dear"`: "the call was not approved: too dear",
	} {
		in := inspect(data(`{"type":"start","messageId":"m"}`), data(`{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{}}`),
			data(`{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`), data(`{"type":"tool-approval-response","approvalId":"a",`+response+`}`))
		found := in.Session().Turns[0].Calls[0].Findings
		if got := found[len(found)-1].Message; got != want {
			t.Errorf("%s: %s", response, got)
		}
	}
}

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// change replaces a part of a file with other text.
type change struct {
	file         string
	source       []byte
	from, to     int
	text         string
	line, column int
}

func (c change) apply() []byte {
	return append(append(append([]byte(nil), c.source[:c.from]...), c.text...), c.source[c.to:]...)
}

func (c change) String() string {
	short := func(s string) string {
		if s = strings.Join(strings.Fields(s), " "); len(s) > 70 {
			s = s[:70] + "…"
		}
		return s
	}
	text := short(c.text)
	if text == "" {
		text = "(nothing)"
	}
	return fmt.Sprintf("%s:%d:%d: %s → %s", filepath.Base(c.file), c.line, c.column, short(string(c.source[c.from:c.to])), text)
}

// finder collects the possible changes of a file.
type finder struct {
	set    *token.FileSet
	file   string
	source []byte
	found  []change
}

// changesOf returns all possible changes of a file.
func changesOf(file string) ([]change, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := &finder{set: token.NewFileSet(), file: file, source: source}
	parsed, err := parser.ParseFile(f.set, file, source, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil { // only functions are changed, because tables are data
			ast.Inspect(fn.Body, f.look)
		}
	}
	return f.found, nil
}

func (f *finder) add(n ast.Node, text string) {
	at, end := f.set.Position(n.Pos()), f.set.Position(n.End())
	f.found = append(f.found, change{f.file, f.source, at.Offset, end.Offset, text, at.Line, at.Column})
}

func (f *finder) textOf(n ast.Node) string {
	return string(f.source[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// swapped maps an operator to the operator that replaces it.
var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
}

func (f *finder) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		left, right := f.textOf(n.X), f.textOf(n.Y)
		if n.Op == token.LAND || n.Op == token.LOR {
			f.add(n, left)
			f.add(n, right)
		} else if op := swapped[n.Op]; op != "" {
			f.add(n, left+" "+op+" "+right)
		}
	case *ast.IfStmt:
		f.add(n.Cond, "!("+f.textOf(n.Cond)+")")
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n, f.textOf(n.X))
		}
	case *ast.BasicLit:
		if i, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			f.add(n, strconv.Itoa(i+1))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add(n, "false")
		case "false":
			f.add(n, "true")
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		f.add(n, "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.add(n, "")
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			f.add(n, "")
		}
	}
	return true
}

package arch

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// named returns the text of an error that a call makes, if it begins with the name of the package at path: a user of a
// program has no use for it, and the kinds of filters, whose names users write, are no such packages.
func named(path string, n ast.Node) (text string, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall {
		return "", false
	}
	f, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector {
		return "", false
	}
	of, isName := f.X.(*ast.Ident)
	if !isName {
		return "", false
	}
	i, makes := map[string]int{"errors.New": 0, "fmt.Errorf": 0, "sentinel.Errorf": 1}[of.Name+"."+f.Sel.Name]
	if !makes || len(call.Args) <= i {
		return "", false
	}
	literal, isLiteral := call.Args[i].(*ast.BasicLit)
	if !isLiteral {
		return "", false
	}
	text, _ = strconv.Unquote(literal.Value)
	begin, _, hasBegin := strings.Cut(text, ": ")
	if path == "." {
		path = "umbel"
	}
	return text, hasBegin && (path == begin || strings.HasSuffix(path, "/"+begin))
}

// An error's text is for people, in a program as in a library. It begins with its subject, such as a file or a kind of
// filter, and not with the package that made it. So programs print errors as they are, however often they are wrapped.
func TestErrorsNameNoPackage(t *testing.T) {
	packs, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packs {
		if i, ok := layerOf(p.path); ok && (layers[i].name == "kinds" || layers[i].name == "research") {
			continue
		}
		for _, f := range p.files {
			if f.test() {
				continue
			}
			for _, n := range f.named {
				t.Errorf("%s: begin with the subject of the error", n)
			}
		}
	}
}

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// verbs are the directories of the verbs of all programs.
var verbs = []string{"cli/filters", "cli/nodes", "cli/publications", "webcache/verbs", "nix/verbs", "multicast/verbs"}

// What a verb does is a function of a context, streams and options, so that a test calls it without a process. Only constructors
// have the command, and only the frame of verbs has the streams of the process.
func TestVerbsRunWithoutProcess(t *testing.T) {
	for _, dir := range verbs {
		names, err := filepath.Glob(filepath.Join("../../cmd/internal", dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%d files of verbs in %s: %v", len(names), dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if fault := verbFault(n); fault != "" {
					t.Errorf("%v: %s", set.Position(n.Pos()), fault)
				}
				return true
			})
		}
	}
}

// verbFault returns why a node may not be in a verb, "" if it may.
func verbFault(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		of, _ := n.X.(*ast.Ident)
		switch name := n.Sel.Name; {
		case of != nil && of.Name == "os" && (name == "Stdin" || name == "Stdout" || name == "Stderr" || name == "Exit"):
			return "os." + name + ": use the streams of the verb"
		case name == "OutOrStdout" || name == "ErrOrStderr" || name == "InOrStdin":
			return name + ": use the streams of the verb"
		}
	case *ast.StructType:
		for _, f := range n.Fields.List {
			if star, ok := f.Type.(*ast.StarExpr); ok && isCommand(star.X) {
				return "a struct has a command: only constructors have it"
			}
		}
	}
	return ""
}

func isCommand(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Command"
}

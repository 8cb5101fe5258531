package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// home is the path of the repository's root module.
const home = "github.com/umbel-filters/umbel"

// pack is a package as its source files show it, for all build tags.
type pack struct {
	path   string // below the root, "." for the root
	module string // where its go.mod lies, likewise
	files  []file
}

type file struct {
	name       string
	imports    []string // those of this repository below the root, the others whole
	goroutines []string // places where one is started
	named      []string // places and texts of errors that begin with the name of the package
}

func (f file) test() bool { return strings.HasSuffix(f.name, "_test.go") }

// describes reports whether the file has the methods LogValue of filters, which return a slog.Value and log nothing.
func (f file) describes() bool {
	return strings.HasSuffix(f.name, "/front_gen.go") || f.name == "filter/internal/kinds/front.go"
}

// example reports whether the file has the examples of its package's documentation.
func (f file) example() bool {
	return f.test() && strings.HasPrefix(filepath.Base(f.name), "example")
}

// read returns the packages of all modules below dir. Like the go command it passes
// over directories whose names begin with a point or an underscore, and testdata.
func read(dir string) ([]pack, error) {
	packs := make(map[string]*pack)
	var order []string
	modules := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if n := d.Name(); path != dir && (n[0] == '.' || n[0] == '_' || n == "testdata") {
				return fs.SkipDir
			}
			modules[rel] = modules[parent(rel)]
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				modules[rel] = rel
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		f, err := parse(path, rel)
		if err != nil {
			return err
		}
		in := parent(rel)
		if packs[in] == nil {
			packs[in] = &pack{path: in, module: modules[in]}
			order = append(order, in)
		}
		packs[in].files = append(packs[in].files, f)
		return nil
	})
	all := make([]pack, len(order))
	for i, path := range order {
		all[i] = *packs[path]
	}
	return all, err
}

// parent returns the directory of a path below the root.
func parent(rel string) string {
	return filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))
}

func parse(path, name string) (file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	f := file{name: name}
	for _, i := range tree.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, below(p))
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if starts(n) {
			f.goroutines = append(f.goroutines, name+":"+strconv.Itoa(set.Position(n.Pos()).Line))
		}
		if text, ok := named(parent(name), n); ok {
			f.named = append(f.named, name+":"+strconv.Itoa(set.Position(n.Pos()).Line)+": "+text)
		}
		return true
	})
	return f, nil
}

// below returns an import path of this repository as one below its root, and any
// other as it is.
func below(path string) string {
	if path == home {
		return "."
	}
	return strings.TrimPrefix(path, home+"/")
}

// starts reports whether n starts a goroutine: a go statement, or a call of a method
// Go, as sync.WaitGroup and its like have.
func starts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Go"
	}
	return false
}

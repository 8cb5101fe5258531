// Gen writes the methods that every kind has in the same words, in one file per kind:
// constructors, keys, containers and descriptions. It reads the list of kinds from filter.All.
// A type of filter is one with a method core, which returns what its generated methods need;
// its other methods state its capabilities. A function or method that is written by hand is
// not generated. A type that embeds Filter, under the name filter, has most methods from it. Gen also writes the list of kinds in
// the documentation of package umbel.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// generated is the name of the file in each kind's directory.
const generated = "front_gen.go"

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", ".", "directory of package filter")
	flag.Parse()
	files, err := files(*dir)
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// files returns the content of each file that Gen writes, by its path. dir is the directory
// of package filter.
func files(dir string) (map[string][]byte, error) {
	kinds, err := list(filepath.Join(dir, "filter.go"))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	var lines []string
	for _, kind := range kinds {
		p, err := read(filepath.Join(dir, kind.folder))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.folder, err)
		}
		source, err := generate(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.folder, err)
		}
		files[filepath.Join(dir, kind.folder, generated)] = source
		line, err := p.line(kind.variable)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.folder, err)
		}
		lines = append(lines, line)
	}
	root := filepath.Join(dir, "../umbel.go")
	files[root], err = relist(root, lines)
	return files, err
}

// relist returns a Go file with other list items in its comments.
func relist(name string, items []string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	written := false
	for line := range strings.Lines(string(b)) {
		switch {
		case !strings.HasPrefix(line, "//   - "):
			out.WriteString(line)
		case !written:
			out.WriteString(strings.Join(items, ""))
			written = true
		}
	}
	if !written {
		return nil, fmt.Errorf("%s: no list", name)
	}
	return []byte(out.String()), nil
}

// element is an element of All: the folder of its package below package filter, and the name of the variable, Kind or,
// for the second kind of a package, for example CountingKind.
type element struct{ folder, variable string }

// list returns the elements of All, in order.
func list(name string) ([]element, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return nil, err
	}
	folders := make(map[string]string) // by the name of the package
	for _, i := range f.Imports {
		if _, folder, ok := strings.Cut(strings.Trim(i.Path.Value, `"`), "/filter/"); ok {
			folders[path.Base(folder)] = folder
		}
	}
	var kinds []element
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && s.Names[0].Name == "All" && len(s.Values) == 1 {
			for _, e := range s.Values[0].(*ast.CompositeLit).Elts {
				s := e.(*ast.SelectorExpr)
				kinds = append(kinds, element{folders[s.X.(*ast.Ident).Name], s.Sel.Name})
			}
		}
		return true
	})
	if len(kinds) == 0 {
		return nil, fmt.Errorf("%s: no list All", name)
	}
	return kinds, nil
}

// generate returns the generated file of a kind.
func generate(p *pack) ([]byte, error) {
	var out bytes.Buffer
	if err := texts.ExecuteTemplate(&out, "file", p); err != nil {
		return nil, err
	}
	for _, name := range p.filters {
		t := filterType{pack: p, Type: name}
		if name != "Filter" {
			t.Suffix = name
		}
		for _, text := range order {
			var part bytes.Buffer
			if err := texts.ExecuteTemplate(&part, text, t); err != nil {
				return nil, err
			}
			keep(&out, part.String(), t)
		}
	}
	source, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, out.Bytes())
	}
	return source, nil
}

// keep writes those declarations of a text that are not written by hand. Declarations are
// separated by empty lines.
func keep(out *bytes.Buffer, text string, t filterType) {
	for decl := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		_, line, ok := strings.Cut("\n"+decl, "\nfunc ")
		if !ok {
			continue
		}
		method := strings.HasPrefix(line, "(")
		if method {
			_, line, _ = strings.Cut(line, ") ")
		}
		name, _, _ := strings.Cut(line, "(")
		if method && (t.Can(name) || t.Inherits(name)) || !method && t.funcs[name] {
			continue
		}
		fmt.Fprintf(out, "%s\n\n", strings.TrimSpace(decl))
	}
}

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

// pack is what the generator knows about the package of a kind.
type pack struct {
	Package string
	funcs   map[string]bool              // functions written by hand
	fields  map[string]map[string]bool   // by type, "*" before the name of an embedded type
	methods map[string]map[string]string // by type and name, the types of the parameters
	plan    string                       // parameters of Plan
	doc     string                       // the kind's line of documentation
}

// read parses the hand-written files of a package.
func read(dir string) (*pack, error) {
	p := &pack{
		Package: filepath.Base(dir), funcs: make(map[string]bool),
		fields: make(map[string]map[string]bool), methods: make(map[string]map[string]string),
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == generated {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			p.add(d)
		}
		ast.Inspect(f, p.findDoc)
	}
	if p.doc == "" {
		return nil, fmt.Errorf("no composite literal with Name: Name and Doc")
	}
	return p, nil
}

// findDoc sets p.doc to the field Doc of the literal whose field Name is Name.
func (p *pack) findDoc(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	named, doc := false, ""
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := kv.Key.(*ast.Ident)
		switch value := kv.Value.(type) {
		case *ast.Ident:
			named = named || key != nil && key.Name == "Name" && value.Name == "Name"
		case *ast.BasicLit:
			if key != nil && key.Name == "Doc" && value.Kind == token.STRING {
				doc, _ = strconv.Unquote(value.Value)
			}
		}
	}
	if named && doc != "" {
		p.doc = doc
	}
	return true
}

func (p *pack) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv != nil:
			t := typeName(d.Recv.List[0].Type)
			if p.methods[t] == nil {
				p.methods[t] = make(map[string]string)
			}
			p.methods[t][d.Name.Name] = parameters(d.Type)
		default:
			p.funcs[d.Name.Name] = true
			if d.Name.Name == "Plan" {
				p.plan = parameters(d.Type)
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok {
				if st, ok := s.Type.(*ast.StructType); ok {
					p.fields[s.Name.Name] = fields(st)
				}
			}
		}
	}
}

func fields(st *ast.StructType) map[string]bool {
	names := make(map[string]bool)
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			names[n.Name] = true
		}
		if len(f.Names) == 0 {
			names["*"+typeName(f.Type)] = true
		}
	}
	return names
}

func parameters(f *ast.FuncType) string {
	var types []string
	for _, p := range f.Params.List {
		for range max(1, len(p.Names)) {
			types = append(types, typeName(p.Type))
		}
	}
	return strings.Join(types, ", ")
}

// typeName returns a type as it is written, without a star.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	}
	return fmt.Sprintf("%T", e)
}

// OneArray returns the field of Filter that holds its array of package arrays, and "" if it
// holds none or several.
func (p *pack) OneArray() string {
	for _, field := range []string{"bits", "counters"} {
		if p.fields["Filter"][field] && !p.fields["Filter"]["shape"] && !p.fields["Filter"]["hasher"] {
			return field
		}
	}
	return ""
}

// filterType is a type of filter: Filter, or Counting if a kind has both. Suffix is the
// end of the names of its constructors.
type filterType struct {
	*pack
	Type, Suffix string
}

// byHand reports whether the method is written by hand for this type.
func (t filterType) byHand(method string) bool {
	_, ok := t.methods[t.Type][method]
	return ok
}

// Can reports whether the type has the method, its own or that of an embedded Filter.
func (t filterType) Can(method string) bool {
	if t.byHand(method) {
		return true
	}
	if t.fields[t.Type]["*Filter"] {
		_, ok := t.methods["Filter"][method]
		return ok
	}
	return false
}

// FromGoal reports whether a goal determines a shape without further arguments.
func (t filterType) FromGoal() bool {
	return t.plan == "umbel.Goal" && t.funcs["NewShape"] && t.Suffix == ""
}

// HasBatch reports whether batches of keys are queried by HasAll. A filter of members, which are
// interfaces, would move the digests of a batch to the heap.
func (t filterType) HasBatch() bool { return t.Can("HasAll") && !t.fields[t.Type]["members"] }

// Hasher is the expression of the filter's hasher, and "" if no field is known to hold it.
func (t filterType) Hasher() string {
	fields := t.fields["Filter"]
	switch {
	case fields["hasher"]:
		return "f.hasher"
	case fields["shape"]:
		return "f.shape.Hasher"
	case fields["array"]:
		return "f.array.Shape.Hasher"
	case t.OneArray() != "":
		return "f." + t.OneArray() + ".Hasher()"
	}
	return ""
}

// Planned is the expression of the field that holds what the filter was planned for.
func (t filterType) Planned() string {
	switch {
	case t.fields[t.Type]["filter"]:
		return "f.filter.planned"
	case t.fields[t.Type]["array"]:
		return "f.array.Planned"
	case t.OneArray() != "":
		return "*f." + t.OneArray() + ".Planned()"
	}
	return "f.planned"
}

// Zero is the expression that is true for a zero filter.
func (t filterType) Zero() string {
	if t.Can("isZero") {
		return "f.isZero()"
	}
	return "f.Shape().Check() != nil"
}

// ByKey reports whether the kind handles keys itself, so that batches of keys go through
// its methods for single keys.
func (t filterType) ByKey() bool { return t.byHand("AddString") }

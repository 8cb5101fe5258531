package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pack is what the generator knows about the package of a kind.
type pack struct {
	Package string
	funcs   map[string]bool            // functions written by hand
	methods map[string]map[string]bool // written by hand, by type and name
	filters []string                   // types with a method core, Filter first
	embeds  map[string]bool            // types that embed Filter, under the name filter
	plan    string                     // parameters of Plan
	docs    map[string]string          // the line of documentation of each kind, by the constant of its name
	consts  map[string]string          // values of constants that are text
}

// read parses the hand-written files of a package.
func read(dir string) (*pack, error) {
	p := &pack{Package: filepath.Base(dir), funcs: make(map[string]bool), methods: make(map[string]map[string]bool),
		embeds: make(map[string]bool), docs: make(map[string]string), consts: make(map[string]string)}
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
		ast.Inspect(f, p.findConst)
		ast.Inspect(f, p.findEmbeds)
	}
	slices.SortFunc(p.filters, func(a, b string) int { return strings.Compare(b, a) }) // Filter before Counting
	return p, nil
}

// line returns the line of a kind in the list of kinds.
func (p *pack) line(variable string) (string, error) {
	constant := nameConstant(strings.TrimSuffix(variable, "Kind"))
	name, doc := p.consts[constant], p.docs[constant]
	if name == "" || doc == "" {
		return "", fmt.Errorf("no constant %s, or no composite literal with Name: %[1]s and Doc", constant)
	}
	return fmt.Sprintf("//   - %s: %s\n", name, doc), nil
}

// nameConstant returns the constant of the name of a kind: Name for Kind, and countingName for CountingKind.
func nameConstant(prefix string) string {
	if prefix == "" {
		return "Name"
	}
	return strings.ToLower(prefix) + "Name"
}

// findConst adds a constant that is a text.
func (p *pack) findConst(n ast.Node) bool {
	if s, ok := n.(*ast.ValueSpec); ok && len(s.Names) == len(s.Values) {
		for i, name := range s.Names {
			if value, ok := s.Values[i].(*ast.BasicLit); ok && value.Kind == token.STRING {
				p.consts[name.Name], _ = strconv.Unquote(value.Value)
			}
		}
	}
	return true
}

// findDoc adds the field Doc of a literal whose field Name is a constant.
func (p *pack) findDoc(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	name, doc := "", ""
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := kv.Key.(*ast.Ident)
		switch value := kv.Value.(type) {
		case *ast.Ident:
			if key != nil && key.Name == "Name" {
				name = value.Name
			}
		case *ast.BasicLit:
			if key != nil && key.Name == "Doc" && value.Kind == token.STRING {
				doc, _ = strconv.Unquote(value.Value)
			}
		}
	}
	if name != "" && doc != "" {
		p.docs[name] = doc
	}
	return true
}

// findEmbeds adds a type that embeds filter.
func (p *pack) findEmbeds(n ast.Node) bool {
	if t, ok := n.(*ast.TypeSpec); ok {
		if s, ok := t.Type.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
			return len(f.Names) == 0 && typeName(f.Type) == "filter"
		}) {
			p.embeds[t.Name.Name] = true
		}
	}
	return true
}

func (p *pack) add(d ast.Decl) {
	f, ok := d.(*ast.FuncDecl)
	switch {
	case !ok:
	case f.Recv != nil:
		t := typeName(f.Recv.List[0].Type)
		if p.methods[t] == nil {
			p.methods[t] = make(map[string]bool)
		}
		p.methods[t][f.Name.Name] = true
		if r := f.Type.Results; f.Name.Name == "core" && r != nil && typeName(r.List[0].Type) == "kinds.Core" {
			p.filters = append(p.filters, t)
		}
	default:
		p.funcs[f.Name.Name] = true
		if f.Name.Name == "Plan" {
			p.plan = parameters(f.Type)
		}
	}
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

// filterType is a type of filter: Filter, or another one of the kind, for example Counting.
// Suffix is the end of the names of its constructors.
type filterType struct {
	*pack
	Type, Suffix string
}

// own are the methods that a type which embeds Filter does not have from it: those that name the type, and those that
// call such a method or one that only this type has.
var own = strings.Fields("Clone CountString Format LogValue ReadFrom RemoveString UnmarshalBinary UnmarshalText description")

// Inherits reports whether the type has a generated method from the Filter that it embeds.
func (t filterType) Inherits(method string) bool {
	return t.embeds[t.Type] && !slices.Contains(own, method)
}

// NameConstant returns the constant of the name of the type's kind. A type without a kind of its own has that of Filter.
func (t filterType) NameConstant() string {
	if own := nameConstant(t.Suffix); t.consts[own] != "" {
		return own
	}
	return nameConstant("")
}

// Can reports whether the method is written by hand for this type.
func (t filterType) Can(method string) bool { return t.methods[t.Type][method] }

// FromGoal reports whether a goal determines a shape without further arguments.
func (t filterType) FromGoal() bool {
	return t.plan == "umbel.Goal" && t.funcs["NewShape"] && t.Suffix == ""
}

// Package eventlogtest finds what packages log, so that tests can check that each message has an event and is
// documented.
package eventlogtest

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Call is a call that logs a message.
type Call struct {
	Place, Message string
	Level          string // Debug, Info, Warn or Error
}

// Key is the use of a key: in a message, in With, or in a function of slog such as slog.String.
type Key struct{ Place, Key, Form string }

// Vocabulary is what packages log.
type Vocabulary struct {
	Calls []Call
	Keys  []Key
	// Foreign are loggers that bypass events: those of package log, which slog.NewLogLogger returns too, and
	// which an http.Server without ErrorLog uses.
	Foreign []string
}

// Read type-checks the package of the test and those that it imports, as far as ours selects them, and finds what they log.
func Read(t *testing.T, ours func(path string) bool) (v Vocabulary) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{.Export}}\t{{join .GoFiles \" \"}}", ".")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, packages := map[string]string{}, [][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 4 {
			continue
		}
		exports[f[0]] = f[2]
		if ours(f[0]) {
			packages = append(packages, f)
		}
	}
	set := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, p := range packages {
		var files []*ast.File
		logs := false
		for name := range strings.FieldsSeq(p[3]) {
			file, err := parser.ParseFile(set, filepath.Join(p[1], name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				logs = logs || strings.Contains(i.Path.Value, "log")
			}
			files = append(files, file)
		}
		if !logs {
			continue
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := config.Check(p[0], set, files, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					v.read(set.Position(n.Pos()).String(), n, info)
				case *ast.CompositeLit:
					v.readServer(set.Position(n.Pos()).String(), n, info)
				}
				return true
			})
		}
	}
	return v
}

// read reads a call if it is one of a logger.
func (v *Vocabulary) read(place string, call *ast.CallExpr, info *types.Info) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	f, ok := info.Uses[selector.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return
	}
	text := func(e ast.Expr) string {
		if value := info.Types[e].Value; value != nil && value.Kind() == constant.String {
			return constant.StringVal(value)
		}
		return ""
	}
	pairs := func(list []ast.Expr) {
		if call.Ellipsis.IsValid() {
			list = list[:len(list)-1] // their calls of slog's functions are found
		}
		for i := 0; i+1 < len(list); i += 2 {
			v.Keys = append(v.Keys, Key{place, text(list[i]), form(info.TypeOf(list[i+1]))})
		}
	}
	method, on := f.Name(), f.Signature().Recv()
	switch onLogger := on != nil && types.TypeString(on.Type(), nil) == "*log/slog.Logger"; {
	case f.Pkg().Path() == "log" && filepath.Base(strings.Split(place, ":")[0]) != "httplog.go", f.Pkg().Path() == "log/slog" && method == "NewLogLogger":
		v.Foreign = append(v.Foreign, place)
	case f.Pkg().Path() != "log/slog":
	case onLogger && strings.Contains("Debug Info Warn Error", method):
		v.Calls = append(v.Calls, Call{place, text(call.Args[0]), method})
		pairs(call.Args[1:])
	case onLogger && method == "LogAttrs":
		v.Calls = append(v.Calls, Call{place, text(call.Args[2]), "Error"})
	case onLogger && method == "With":
		pairs(call.Args)
	case on == nil && len(call.Args) == 2 && method != "NewJSONHandler" && method != "NewTextHandler":
		pairs(call.Args)
	}
}

// readServer reads the literal of an http.Server.
func (v *Vocabulary) readServer(place string, literal *ast.CompositeLit, info *types.Info) {
	if types.TypeString(info.TypeOf(literal), nil) != "net/http.Server" {
		return
	}
	for _, field := range literal.Elts {
		if pair, ok := field.(*ast.KeyValueExpr); ok && pair.Key.(*ast.Ident).Name == "ErrorLog" {
			return
		}
	}
	v.Foreign = append(v.Foreign, place)
}

// form returns how a value is written: text, number, duration, time, "true or false", list, or object for
// other values, which are written with the fields of their Go type.
func form(t types.Type) string {
	switch types.TypeString(t, nil) {
	case "time.Duration":
		return "duration"
	case "time.Time":
		return "time"
	case "error":
		return "text"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "text"
		case u.Info()&types.IsNumeric != 0:
			return "number"
		case u.Info()&types.IsBoolean != 0:
			return "true or false"
		}
	case *types.Slice:
		if form(u.Elem()) == "text" {
			return "list"
		}
	}
	for _, method := range []string{"Error", "MarshalText"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, method); m != nil {
			return "text"
		}
	}
	return "object"
}

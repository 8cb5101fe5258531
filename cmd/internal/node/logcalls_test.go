package node

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

// logCall is a call that logs a message.
type logCall struct {
	place, message string
	level          string // Debug, Info, Warn or Error
}

// logKey is the use of a key: in a message, in With, or in a function of slog such as slog.String.
type logKey struct{ place, key, form string }

// vocabulary is what the packages of the server log.
type vocabulary struct {
	calls []logCall
	keys  []logKey
	// foreign are loggers that bypass events: those of package log, which slog.NewLogLogger returns too, and
	// which an http.Server without ErrorLog uses.
	foreign []string
}

// readVocabulary type-checks the packages of the server, those that this one imports, and finds what they log.
func readVocabulary(t *testing.T) (v vocabulary) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{.Export}}\t{{join .GoFiles \" \"}}", ".")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, ours := map[string]string{}, [][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 4 {
			continue
		}
		exports[f[0]] = f[2]
		if strings.Contains(f[0], "/umbel/cmd/internal/") || strings.HasSuffix(f[0], "/umbel/share") || strings.HasSuffix(f[0], "/umbel/internal/lasting") {
			ours = append(ours, f)
		}
	}
	set := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, p := range ours {
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
	if len(v.calls) < 30 || len(v.keys) < 60 {
		t.Fatalf("%d messages and %d keys were found, want 30 and 60 or more", len(v.calls), len(v.keys))
	}
	return v
}

// read reads a call if it is one of a logger.
func (v *vocabulary) read(place string, call *ast.CallExpr, info *types.Info) {
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
			v.keys = append(v.keys, logKey{place, text(list[i]), form(info.TypeOf(list[i+1]))})
		}
	}
	method, on := f.Name(), f.Signature().Recv()
	switch onLogger := on != nil && types.TypeString(on.Type(), nil) == "*log/slog.Logger"; {
	case f.Pkg().Path() == "log" && filepath.Base(strings.Split(place, ":")[0]) != "httplog.go", f.Pkg().Path() == "log/slog" && method == "NewLogLogger":
		v.foreign = append(v.foreign, place)
	case f.Pkg().Path() != "log/slog":
	case onLogger && strings.Contains("Debug Info Warn Error", method):
		v.calls = append(v.calls, logCall{place, text(call.Args[0]), method})
		pairs(call.Args[1:])
	case onLogger && method == "LogAttrs":
		v.calls = append(v.calls, logCall{place, text(call.Args[2]), "Error"})
	case onLogger && method == "With":
		pairs(call.Args)
	case on == nil && len(call.Args) == 2 && method != "NewJSONHandler" && method != "NewTextHandler":
		pairs(call.Args)
	}
}

// readServer reads the literal of an http.Server.
func (v *vocabulary) readServer(place string, literal *ast.CompositeLit, info *types.Info) {
	if types.TypeString(info.TypeOf(literal), nil) != "net/http.Server" {
		return
	}
	for _, field := range literal.Elts {
		if pair, ok := field.(*ast.KeyValueExpr); ok && pair.Key.(*ast.Ident).Name == "ErrorLog" {
			return
		}
	}
	v.foreign = append(v.foreign, place)
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

package node

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// loggedMessages returns the messages of level info and above in the packages of the server, with
// their places.
func loggedMessages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.Contains(" Info Warn Error ", " "+method.Sel.Name+" ") {
				return true
			}
			receiver := ""
			switch x := method.X.(type) {
			case *ast.Ident:
				receiver = x.Name
			case *ast.SelectorExpr:
				receiver = x.Sel.Name
			}
			text, ok := call.Args[0].(*ast.BasicLit)
			if !ok || !strings.EqualFold(receiver, "log") {
				return true
			}
			message, err := strconv.Unquote(text.Value)
			if err == nil {
				found[message] = set.Position(call.Pos()).String()
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 30 {
		t.Fatalf("%d messages were found, want 30 or more", len(found))
	}
	return found
}

// Every message of level info and above has an event, and every event is documented.
func TestEvents(t *testing.T) {
	messages := loggedMessages(t)
	for message, place := range messages {
		if events[message] == "" {
			t.Errorf("%s: the message %q has no event: add it to events.go and docs/node-logs.md", place, message)
		}
	}
	page, err := os.ReadFile("../../../docs/node-logs.md")
	if err != nil {
		t.Fatal(err)
	}
	for message, event := range events {
		if _, logged := messages[message]; !logged && message != "audit" {
			t.Errorf("the message %q is not logged", message)
		}
		if !strings.Contains(string(page), "| `"+event+"` |") {
			t.Errorf("docs/node-logs.md has no row for %s", event)
		}
	}
}

func TestEventAttribute(t *testing.T) {
	var b strings.Builder
	log := slog.New(eventHandler{slog.NewJSONHandler(&b, nil)})
	log.With("part", "store").Info("snapshot taken")
	log.Info("something else")
	lines := strings.Split(b.String(), "\n")
	if !strings.Contains(lines[0], `"event":"snapshot"`) || !strings.Contains(lines[0], `"part":"store"`) || strings.Contains(lines[1], "event") {
		t.Errorf("logged: %q", lines)
	}
}

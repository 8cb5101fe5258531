package node

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// logCalls returns the calls that log a message in the packages of the server, with their places.
func logCalls(t *testing.T) map[string]*ast.CallExpr {
	t.Helper()
	found := map[string]*ast.CallExpr{}
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
			if call, ok := n.(*ast.CallExpr); ok && isLogCall(call) {
				found[set.Position(call.Pos()).String()] = call
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

func isLogCall(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method.Sel.Name) {
		return false
	}
	receiver := ""
	switch x := method.X.(type) {
	case *ast.Ident:
		receiver = x.Name
	case *ast.SelectorExpr:
		receiver = x.Sel.Name
	}
	return strings.EqualFold(receiver, "log") && len(call.Args) > 0 && literal(call.Args[0]) != ""
}

// literal returns the value of a string literal, "" for other expressions.
func literal(e ast.Expr) string {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(b.Value) // the parser has checked it
	return s
}

// loggedMessages returns the messages of level info and above, with their places.
func loggedMessages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for place, call := range logCalls(t) {
		if call.Fun.(*ast.SelectorExpr).Sel.Name != "Debug" {
			found[literal(call.Args[0])] = place
		}
	}
	return found
}

// Every key of a message is in the documentation, so that one thing has one key.
func TestKeysOfMessages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/node-logs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Keys")
	used := map[string]string{}
	for place, call := range logCalls(t) {
		for i := 1; i < len(call.Args); i += 2 {
			used[literal(call.Args[i])] = place
		}
	}
	for key, place := range used {
		if !strings.Contains(table, "`"+key+"`") {
			t.Errorf("%s: the key %q is not in docs/node-logs.md", place, key)
		}
	}
	others := strings.Fields("event part user action target outcome omitted") // of other functions
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(first, -1) {
			if strings.HasPrefix(row, "| `") && used[m[1]] == "" && !slices.Contains(others, m[1]) {
				t.Errorf("docs/node-logs.md has the key %q, which is not logged", m[1])
			}
		}
	}
}

// A duration is text in every format.
func TestDurationsInTheLog(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, form := range []string{"json", "text"} {
		NewLogger(file, form, slog.LevelInfo).Info("shutdown complete", "took", 1500*time.Millisecond)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(b), `"took":"1.5s"`) || !strings.Contains(string(b), "took=1.5s ") {
		t.Errorf("logged: %s, %v", b, err)
	}
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

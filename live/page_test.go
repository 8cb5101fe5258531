package live_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of docs/live.md runs as the page states, and its other code is that of the examples, which run, or of the test of
// the command's module, which compiles.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/live.md")
	must(t, err)
	var examples string
	for _, name := range []string{"example_test.go", "../cmd/umbel/live_test.go"} {
		b, err := os.ReadFile(name)
		must(t, err)
		examples += string(b)
	}
	programs, parts := 0, strings.Split(string(page), "```go\n")[1:]
	for _, part := range parts {
		code, _, ok := strings.Cut(part, "```\n")
		switch {
		case !ok:
			t.Fatal("a block of code has no end")
		case strings.HasPrefix(code, "package main\n"):
			programs++
			runCrawler(t, code)
		case !strings.Contains(examples, code):
			t.Errorf("no example contains\n%s", code)
		}
	}
	if programs != 1 || len(parts) < 4 {
		t.Errorf("%d programs and %d parts of the page", programs, len(parts))
	}
}

// runCrawler runs the crawler twice.
func runCrawler(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "crawler.exe")
	must(t, os.WriteFile(source, []byte(program), 0o666))
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"fetch /a\nfetch /b\n", ""} {
		cmd := exec.Command(binary)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("/a\n/b\n/a\n")
		if out, err := cmd.CombinedOutput(); string(out) != want || err != nil {
			t.Errorf("the crawler printed %q, want %q (%v)", out, want, err)
		}
	}
}

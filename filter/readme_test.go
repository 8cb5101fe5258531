package filter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of README.md runs and prints what its comment says.
func TestReadmeProgram(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```go\npackage main\n")
	program, _, ok := strings.Cut(program, "```\n")
	program = "package main\n" + program
	if !ok {
		t.Fatal("README.md has no program")
	}
	_, want, _ := strings.Cut(program, "// Output: ")
	want, _, _ = strings.Cut(want, "\n")

	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "users.exe")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want+"\n" || want == "" {
		t.Errorf("the program printed %q, want %q (%v)", out, want, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "users.umb")); err != nil || info.Size() == 0 {
		t.Errorf("the program wrote no filter: %v", err)
	}
}

package share_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/race"
)

// The Go samples of docs/share.md are whole files that compile. If a block of text follows a program,
// it is the output of the program.
func TestSamples(t *testing.T) {
	race.Skip(t, "compiles programs")
	page, err := os.ReadFile("../docs/share.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```")
	samples, outputs := 0, 0
	for i := 1; i < len(blocks); i += 2 {
		sample, ok := strings.CutPrefix(blocks[i], "go\n")
		if !ok {
			continue
		}
		samples++
		if formatted, err := format.Source([]byte(sample)); err != nil || string(formatted) != sample {
			t.Errorf("sample %d: gofmt would change it: %v", samples, err)
		}
		program, err := build(t, sample)
		if err != nil {
			t.Errorf("sample %d: %v", samples, err)
			continue
		}
		if i+2 >= len(blocks) || strings.TrimSpace(blocks[i+1]) != "" || !strings.HasPrefix(blocks[i+2], "\n") {
			continue
		}
		outputs++
		got, err := exec.Command(program).CombinedOutput()
		if want := blocks[i+2][1:]; err != nil || string(got) != want {
			t.Errorf("sample %d: %v, it prints\n%swant\n%s", samples, err, got, want)
		}
	}
	if samples < 6 || outputs != 1 {
		t.Errorf("%d samples, %d outputs", samples, outputs)
	}
	if _, err := build(t, "package main\n\nfunc main() { share.Publish() }\n"); err == nil {
		t.Error("a sample with an error is accepted")
	}
}

// Names of package share that the page mentions exist.
func TestSampleNames(t *testing.T) {
	page, err := os.ReadFile("../docs/share.md")
	if err != nil {
		t.Fatal(err)
	}
	var uses []string
	for _, m := range regexp.MustCompile("`share\\.([A-Z][A-Za-z]*)`").FindAllStringSubmatch(string(page), -1) {
		uses = append(uses, "share."+m[1])
	}
	for _, m := range regexp.MustCompile("`((?:Publisher|Subscriber|View|Head)[A-Za-z]*)\\.([A-Z][A-Za-z]*)`").FindAllStringSubmatch(string(page), -1) {
		uses = append(uses, "new(share."+m[1]+")."+m[2])
	}
	if len(uses) < 10 {
		t.Errorf("the page has the names %v", uses)
	}
	sample := "package sample\n\nimport \"github.com/umbel-filters/umbel/share\"\n\nvar _ = []any{" + strings.Join(uses, ", ") + "}\n"
	if _, err := build(t, sample); err != nil {
		t.Error(err)
	}
}

// build compiles a file as if it were a package of this module, and returns the path of the program.
func build(t *testing.T, sample string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	file, overlay, program := filepath.Join(dir, "sample.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sample.exe")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "internal", "sample", "sample.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{file: []byte(sample), overlay: b} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./internal/sample").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

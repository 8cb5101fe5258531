package arch

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A program with filters of one kind links no package crypto: a hash or an ID that needs it is linked by who uses it.
func TestKindsLinkNoCrypto(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", "./filter/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		_, kind, _ := strings.Cut(deps[0], "/filter/")
		if kind == "" || strings.Contains(kind, "internal") || kind == "filtertest" || kind == "message" { // message measures deltas, which have IDs
			continue
		}
		kinds++
		for _, d := range deps {
			if first, _, _ := strings.Cut(d, "/"); first == "crypto" {
				t.Errorf("package filter/%s depends on %s", kind, d)
			}
		}
	}
	if kinds < 10 {
		t.Errorf("%d kinds, want at least 10: is this the repository?", kinds)
	}
}

// A program that adds to a bloom filter, queries, writes and reads it is at most 0.82 MB larger than one that uses package fmt only,
// without tables for debuggers, whose size depends more on the compiler. With Go 1.26 it is 806,912 bytes: sizes are whole pages, and
// readers of all forms of containers, old and short, are part of it. The bound leaves three pages.
func TestSizeOfProgramWithBloom(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("links two programs, and the bound is that of one system")
	}
	const most = 820_000
	plain := programSize(t, `package main

import "fmt"

func main() { fmt.Println("alice") }
`)
	bloom := programSize(t, `package main

import (
	"fmt"

	"github.com/umbel-filters/umbel/filter/bloom"
)

func main() {
	f, err := bloom.New(1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("alice")
	b, err := f.MarshalBinary()
	var g bloom.Filter
	if err == nil {
		err = g.UnmarshalBinary(b)
	}
	fmt.Println(g.HasString("alice"), err)
}
`)
	t.Logf("%d bytes more than %d", bloom-plain, plain)
	if bloom-plain > most {
		t.Errorf("%d bytes more than a program that uses fmt, want at most %d", bloom-plain, most)
	}
}

// programSize returns the size of a program that is built in the module of the library, without the other modules of a checkout.
func programSize(t *testing.T, source string) int64 {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	main, overlay, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "internal", "lightprogram", "main.go"): main}})
	if err == nil {
		err = os.WriteFile(main, []byte(source), 0o666)
	}
	if err == nil {
		err = os.WriteFile(overlay, files, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-overlay", overlay, "-o", out, "./internal/lightprogram")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

package benthos_test

import (
	"flag"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write package bento")

// Package bento is this package with the imports of Bento. The flag -update writes it.
func TestBento(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	imports := strings.NewReplacer("github.com/redpanda-data/benthos/v4/", "github.com/warpstreamlabs/bento/",
		"umbel/connect/benthos", "umbel/connect/bento", "package benthos", "package bento")
	for _, name := range files {
		if name == "bento_test.go" || name == "doc.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source([]byte("// Code generated from package benthos; DO NOT EDIT.\n\n" + imports.Replace(string(text))))
		if err != nil {
			t.Fatal(err)
		}
		want := string(formatted)
		path := filepath.Join("..", "bento", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not made from %s (%v): go generate ./benthos", path, name, err)
		}
	}
}

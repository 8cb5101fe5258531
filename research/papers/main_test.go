package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// A run without existing files makes all pieces, and the document contains all of them.
func TestAllPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for two minutes")
	}
	t.Setenv("UMBEL_TOPOLOGIES", "") // generated networks
	out := filepath.Join(t.TempDir(), "papers")
	if err := run(t.Context(), []string{"--trials", "2", "--out", out}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out + ".md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(b)
	if strings.Contains(document, "Not made yet") {
		t.Error("a piece is missing in the document")
	}
	names := make(map[string]bool)
	for _, p := range piece.Select(papers, regexp.MustCompile("")) {
		if names[p.Name] {
			t.Errorf("two pieces have the name %s", p.Name)
		}
		names[p.Name] = true
		for _, want := range []string{"### " + p.Title + "\n", "(papers/" + p.Name + ".csv)"} {
			if !strings.Contains(document, want) {
				t.Errorf("%s: no %q in the document", p.Name, want)
			}
		}
	}
	for _, link := range regexp.MustCompile(`\((papers/[^)]*)\)`).FindAllStringSubmatch(document, -1) {
		info, err := os.Stat(filepath.Join(filepath.Dir(out), filepath.FromSlash(link[1])))
		if err != nil || info.Size() == 0 || info.Size() > 200<<10 {
			t.Errorf("%s: %v, want a file of at most 200 KiB", link[1], err)
		}
	}
	// A second run with existing states changes nothing.
	if err := run(t.Context(), []string{"--trials", "2", "--out", out, "--workers", "1", "--only", "figure-1|table-[37]|delta"}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(out + ".md"); err != nil || string(again) != document {
		t.Errorf("the second run changed the document (%v)", err)
	}
}

// docs/papers.md is what Report writes from the committed files.
func TestDocumentIsCurrent(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	want, err := os.ReadFile(filepath.Join(docs, "papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "papers"), os.DirFS(filepath.Join(docs, "papers"))); err != nil {
		t.Fatal(err)
	}
	if err := piece.Report(papers, filepath.Join(dir, "papers")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "papers.md")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/papers.md is not current (%v); run go run ./research/papers --report", err)
	}
}

// An interrupted run returns context.Canceled and leaves no files except states.
func TestInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "papers")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"--only", "004/table-3", "--trials", "1000", "--out", out}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	err := filepath.WalkDir(filepath.Dir(out), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) != ".work" {
			t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string // the refused value
	}{
		{"unknown piece", []string{"--only", "zzz"}, "zzz"},
		{"invalid expression", []string{"--only", "("}, "("},
		{"trials", []string{"--trials", "1"}, "1"},
		{"workers", []string{"--workers", "0"}, "0"},
		{"argument", []string{"all"}, "all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := run(t.Context(), c.args); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

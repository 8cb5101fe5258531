// Command gen writes the vectors of spec/vectors: go generate ./spec/...
// Its output depends on the code only. A test compares the files with it.
package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

//go:generate go run . ../..

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the folder to write to, got %d", len(args))
	}
	files, err := all()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := clean(args[0], folder); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(args[0], f.Path), f.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// clean makes a folder, and deletes the files in it that are generated, now or before.
func clean(root, folder string) error {
	if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return err
	}
	for _, f := range files {
		if isFrozen(path.Join(folder, f.Name())) {
			continue
		}
		if err := os.Remove(filepath.Join(root, folder, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// frozen are patterns of vectors that are no longer generated, since the code that made them has moved to
// the research module, which reads them: the kind incremental, unions with a member of it, and LIPSIN's
// codewords.
var frozen = []string{"kinds/incremental-*.txt", "kinds/union-mixed.txt", "kinds/union-part-counters.txt",
	"kinds/union-part-no-plane.txt", "inpacket/lipsin.txt"}

func isFrozen(file string) bool {
	return slices.ContainsFunc(frozen, func(pattern string) bool {
		ok, err := path.Match(pattern, file)
		return ok && err == nil
	})
}

// folders are the folders of the vectors in spec/vectors.
var folders = []string{"container", "codings", "deltas", "trees", "kinds", "positions", "hashing", "split", "inpacket"}

// all returns all vectors.
func all() ([]file, error) {
	files := slices.Concat(hashing(), split(), containers(), codings(), deltas(), trees())
	k, err := kinds()
	if err != nil {
		return nil, err
	}
	p, err := positions()
	if err != nil {
		return nil, err
	}
	packets, err := inpackets()
	if err != nil {
		return nil, err
	}
	files = slices.Concat(files, k, p, packets)
	return slices.DeleteFunc(files, func(f file) bool { return isFrozen(f.Path) }), nil
}

type (
	file  = vector.File
	field = vector.Field
)

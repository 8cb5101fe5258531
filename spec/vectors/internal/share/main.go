// Command share writes the vectors of spec/vectors/share: go generate ./spec/....
// Its output depends on the code only. A test compares the files with it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

//go:generate go run . ../../share

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the directory to write to, got %d", len(args))
	}
	files, err := all()
	if err != nil {
		return err
	}
	if err := clean(args[0]); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(args[0], f.Path), f.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// frozen are vectors that are no longer generated: publications whose snapshots are packed in version 1 of containers.
var frozen = []string{"bad-publication-id.txt", "publication-10.txt", "publication-80.txt", "publication-class.txt", "publication-refined.txt"}

// clean makes a folder, and deletes the files in it that are generated, now or before.
func clean(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if slices.Contains(frozen, f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// all returns all vectors.
func all() ([]file, error) {
	indexes, err := indexes()
	if err != nil {
		return nil, err
	}
	publications, err := publications()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]file{objects(), order()}, heads(), badHeads(), indexes, badIndexes(), publications), nil
}

type (
	file  = vector.File
	field = vector.Field
)

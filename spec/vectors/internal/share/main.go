// Command share writes the vectors of spec/vectors/share: go generate ./spec/....
// Its output depends on the code only. A test compares the files with it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// Files that are no longer generated are deleted.
	if err := os.RemoveAll(args[0]); err != nil {
		return err
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(args[0], f.Path), f.Bytes(), 0o644); err != nil {
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

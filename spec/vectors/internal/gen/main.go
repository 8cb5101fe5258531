// Command gen writes the vectors of spec/vectors: go generate ./spec/...
// Its output depends on the code only. A test compares the files with it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		// Files that are no longer generated are deleted.
		if err := os.RemoveAll(filepath.Join(args[0], folder)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(args[0], folder), 0o755); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(args[0], f.path), f.bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// folders are the folders of the vectors in spec/vectors.
var folders = []string{"container", "codings", "deltas", "trees", "kinds", "positions", "hashing", "inpacket"}

// all returns all vectors.
func all() ([]file, error) {
	files := slices.Concat(hashing(), containers(), codings(), deltas(), trees())
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
	return slices.Concat(files, k, p, packets), nil
}

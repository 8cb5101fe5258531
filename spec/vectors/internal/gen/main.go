// Command gen writes the vectors of spec/vectors: go generate ./spec/...
// What it writes depends on nothing but the code; its test compares.
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
		// What was generated before and isn't any more must go.
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

// folders are those of the vectors, below spec/vectors.
var folders = []string{"container", "codings", "deltas", "kinds", "positions", "hashing", "inpacket"}

// all returns all vectors.
func all() ([]file, error) {
	files := slices.Concat(hashing(), containers(), codings(), deltas())
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

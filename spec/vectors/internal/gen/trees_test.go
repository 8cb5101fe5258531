package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// rowsOf returns the rows of a vector.
func rowsOf(t *testing.T, folder, name string) (rows [][]string) {
	t.Helper()
	for _, f := range inFolder(t, folder) {
		if f.Path == folder+"/"+name {
			for line := range strings.Lines(f.Body) {
				rows = append(rows, strings.Fields(line))
			}
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no rows in %s/%s", folder, name)
	}
	return rows
}

func hashOf(t *testing.T, digits string) merkle.Hash {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != sha256.Size {
		t.Fatalf("%q isn't a hash: %v", digits, err)
	}
	return merkle.Hash(b)
}

// TestTreeRoots: the ID of a state with one array follows from its root.
func TestTreeRoots(t *testing.T) {
	for _, row := range rowsOf(t, "trees", "roots.txt") {
		n, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		factor, err := strconv.ParseUint(row[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		root := hashOf(t, row[2])
		s := stateOf(cells.Array{Width: 1, Len: uint64(n) * 64, Words: treeWords(n, factor)})
		want := sha256.Sum256([]byte(magic + head + one + bits(uint64(n)*64) + string(root[:]) + alone))
		if got := hashtree.Identify(s); got != want {
			t.Errorf("%d words, factor %x: ID %v, want %x", n, factor, got, want)
		}
		if got := hashtree.New(s, 2).ID(); got != want {
			t.Errorf("%d words, factor %x: tree of %v, want %x", n, factor, got, want)
		}
	}
}

// TestTreePaths: each block is verified by its path.
func TestTreePaths(t *testing.T) {
	for _, row := range rowsOf(t, "trees", "paths.txt") {
		var blocks, block uint64
		if _, err := fmt.Sscan(row[1], &blocks); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(row[2], &block); err != nil {
			t.Fatal(err)
		}
		var path []merkle.Hash
		for _, digits := range row[4:] {
			path = append(path, hashOf(t, digits))
		}
		if !merkle.Verify(hashOf(t, row[0]), hashOf(t, row[3]), block, blocks, path) {
			t.Errorf("block %d of %d isn't verified", block, blocks)
		}
		if words := treeWords(int(blocks)*blockWords-leafWords-1, treeFactor)[block*blockWords:]; treeOf(words[:min(blockWords, len(words))]).Root() != hashOf(t, row[3]) {
			t.Errorf("block %d of %d has another root", block, blocks)
		}
	}
}

// TestIDExample: the example in container.md has the root and the ID of its filter.
func TestIDExample(t *testing.T) {
	box := exampleBytes(t, "container.md")
	s, err := wire.Parse(box, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	text := page(t, "container.md")
	root := treeOf(s.Arrays[0].Words).Root()
	for _, want := range []string{hex.EncodeToString(root[:]), hashtree.Identify(s).String()} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if s.Kind != "bloom" || s.Hasher.Alg != umbel.MD5 {
		t.Errorf("the example is a filter of kind %s with %v", s.Kind, s.Hasher)
	}
}

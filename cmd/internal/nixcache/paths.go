// Package nixcache publishes which store paths a Nix binary cache has: it reads the paths from a list or from the
// directory of the cache, makes filters of them, and publishes what changes.
package nixcache

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/filter/nixbloom"
)

const (
	narinfoSuffix = ".narinfo"
	// maxLine is the length of the longest line of a list. The name of a store path has at most 211 characters.
	maxLine = 4096
	// readNames is the number of names of a directory that are read at a time.
	readNames = 4096
)

// Paths is a set of store paths: their hashes in ascending order, each once.
type Paths []nixbloom.Hash

// newPaths returns the set of hashes, whose memory it takes over.
func newPaths(hashes []nixbloom.Hash) Paths {
	slices.SortFunc(hashes, compare)
	return slices.Compact(hashes)
}

func compare(a, b nixbloom.Hash) int { return bytes.Compare(a[:], b[:]) }

// ReadList reads store paths, one per line, as nix path-info --all prints them. Names of narinfo files and
// hashes alone are accepted as well, and empty lines are ignored. The error names the first line that is none of
// these, or is that of r. It takes 20 bytes of memory per line.
func ReadList(r io.Reader) (Paths, error) {
	var hashes []nixbloom.Hash
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		h, err := nixbloom.ParsePath(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %.80q is not a store path; want lines like those of nix path-info --all", n, line)
		}
		hashes = append(hashes, h)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a line is longer than %d bytes; want lines like those of nix path-info --all", maxLine)
	}
	return newPaths(hashes), lines.Err()
}

// ReadDir reads the directory of a binary cache: the paths whose files HASH.narinfo are in it. Other files are
// ignored.
func ReadDir(name string) (Paths, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var hashes []nixbloom.Hash
	for {
		names, err := d.Readdirnames(readNames)
		for _, name := range names {
			text, ok := strings.CutSuffix(name, narinfoSuffix)
			if !ok {
				continue
			}
			if h, err := nixbloom.ParseHash(text); err == nil {
				hashes = append(hashes, h)
			}
		}
		if err == io.EOF {
			return newPaths(hashes), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Difference returns the paths of p that are not in q.
func (p Paths) Difference(q Paths) Paths {
	var only Paths
	for _, h := range p {
		for len(q) > 0 && compare(q[0], h) < 0 {
			q = q[1:]
		}
		if len(q) == 0 || q[0] != h {
			only = append(only, h)
		}
	}
	return only
}

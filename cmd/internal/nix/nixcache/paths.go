// Package nixcache publishes which store paths a Nix binary cache has: it reads the paths from a list or from the
// directory of the cache, makes filters of them, and publishes what changes.
package nixcache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
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

// newPaths returns the set of hashes. Hashes are random, so it distributes them by their first 16 bits before it sorts
// them: that takes a fifth of the time of sorting a million.
func newPaths(hashes []nixbloom.Hash) Paths {
	first := func(h nixbloom.Hash) uint16 { return binary.BigEndian.Uint16(h[:]) }
	var ends [1 << 16]int // of each part, after all its hashes are in it
	for _, h := range hashes {
		ends[first(h)]++
	}
	begin := 0
	for i, n := range ends {
		ends[i], begin = begin, begin+n
	}
	sorted := make([]nixbloom.Hash, len(hashes))
	for _, h := range hashes {
		at := &ends[first(h)]
		sorted[*at] = h
		*at++
	}
	begin = 0
	for _, end := range ends {
		slices.SortFunc(sorted[begin:end], compare)
		begin = end
	}
	return slices.Compact(sorted)
}

func compare(a, b nixbloom.Hash) int { return bytes.Compare(a[:], b[:]) }

// ReadList reads store paths, one per line, as nix path-info --all prints them. Names of narinfo files and
// hashes alone are accepted as well, and empty lines are ignored. The error names the first line that is none of
// these, or is that of r or a *keys.BinaryError. It takes 40 bytes of memory per line.
func ReadList(r io.Reader) (Paths, error) {
	hashes, err := readList(r, nil)
	return newPaths(hashes), err
}

// readList appends the hashes of a list.
func readList(r io.Reader, hashes []nixbloom.Hash) ([]nixbloom.Hash, error) {
	in := keys.NewReader(r, keys.Lines)
	in.MaxKey = maxLine
	for n, buf := 1, []byte(nil); ; {
		chunk, err := in.Next(buf)
		if err == io.EOF {
			return hashes, nil
		}
		if err != nil {
			return nil, err
		}
		buf = chunk
		for rest := chunk; len(rest) > 0; n++ {
			var line []byte
			if line, rest = keys.Lines.Cut(rest); len(line) == 0 {
				continue
			}
			h, err := nixbloom.ParsePath(string(line))
			if err != nil {
				return nil, fmt.Errorf("line %d: %.80q is not a store path; want lines like those of nix path-info --all", n, line)
			}
			hashes = append(hashes, h)
		}
	}
}

// readDir appends the hashes of the directory of a binary cache: those whose files HASH.narinfo are in it. Other
// files are ignored.
func readDir(name string, hashes []nixbloom.Hash) ([]nixbloom.Hash, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
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
			return hashes, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// maxInserted is the most paths that inserted merges into a set. A longer list is sorted as a whole.
const maxInserted = 1 << 14

// inserted returns the set of hashes, which were read after those of p in the order last. It takes less time than newPaths,
// and reports false, unless hashes are last and few others in between.
func (p Paths) inserted(last, hashes []nixbloom.Hash) (Paths, bool) {
	var others []nixbloom.Hash
	for _, h := range hashes {
		switch {
		case len(last) > 0 && last[0] == h:
			last = last[1:]
		case len(others) == maxInserted:
			return nil, false
		default:
			others = append(others, h)
		}
	}
	if len(last) > 0 {
		return nil, false
	}
	if len(others) == 0 {
		return p, true
	}
	all := make(Paths, 0, len(p)+len(others))
	for _, h := range newPaths(others).Difference(p) {
		n, _ := slices.BinarySearchFunc(p, h, compare)
		all, p = append(append(all, p[:n]...), h), p[n:]
	}
	return append(all, p...), true
}

// Difference returns the paths of p that are not in q.
func (p Paths) Difference(q Paths) Paths {
	var only Paths
	for _, h := range p {
		for len(q) > 0 && q[0] != h && compare(q[0], h) < 0 {
			q = q[1:]
		}
		if len(q) > 0 && q[0] == h {
			q = q[1:]
		} else {
			only = append(only, h)
		}
	}
	return only
}

// NixBloom returns the filter of the file that Nix would make of the paths, at a rate between 0 and 1. The
// filter of no paths is for one. The error wraps umbel.ErrGoal.
func (p Paths) NixBloom(rate float64) (*nixbloom.Filter, error) {
	s, err := nixbloom.NixShape(max(uint64(len(p)), 1), rate)
	if err != nil {
		return nil, err
	}
	f, err := nixbloom.NewShape(s)
	if err != nil {
		return nil, err
	}
	for _, h := range p {
		f.Add(h.Digest())
	}
	return f, nil
}

// key returns the key of a path in the filters of publications.
func key(h nixbloom.Hash) string { return h.String() }

// Marker is a key of every filter that this package publishes. A filter without it has other keys, for example
// whole store paths: every hash would be absent from it.
const Marker = "hashes of store paths"

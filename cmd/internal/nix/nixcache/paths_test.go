package nixcache_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
)

func TestReadList(t *testing.T) {
	text := "/nix/store/" + hash(1).String() + "-hello-2.12\r\n\n" + hash(0).String() + ".narinfo\n" + hash(1).String()
	got, err := nixcache.ReadList(strings.NewReader(text))
	if err != nil || !slices.Equal(got, hashes(0, 2)) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"hello\n", hash(0).String() + "\n/nix/store\n", strings.Repeat("x", 10_000), "\x00\n"} {
		if p, err := nixcache.ReadList(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40q: %d paths, want an error", bad, len(p))
		}
	}
}

func TestReadDirectory(t *testing.T) {
	d := t.TempDir()
	touch(t, d, 0, 5000)
	for _, other := range []string{"nix-cache-info", "x.narinfo", hash(0).String() + ".narinfo.tmp", hash(0).String()} {
		if err := os.WriteFile(filepath.Join(d, other), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := nixcache.NewSource(d)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(); err != nil || !slices.Equal(got, hashes(0, 5000)) {
		t.Errorf("%d paths, %v", len(got), err)
	}
	if _, err := nixcache.NewSource(filepath.Join(d, "none")); err == nil {
		t.Error("a directory that does not exist is a source")
	}
}

// TestReadAgain: a source that is read again has the paths of its list, in any order.
func TestReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	write := func(numbers []int) {
		var list strings.Builder
		for _, i := range numbers {
			list.WriteString(hash(i).String() + "\n")
		}
		if err := os.WriteFile(name, []byte(list.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(nil)
	s, err := nixcache.NewSource(name)
	if err != nil {
		t.Fatal(err)
	}
	many := rand.New(rand.NewPCG(1, 2)).Perm(20_000)
	for _, numbers := range [][]int{
		{3, 1, 2}, {3, 1, 2}, {0, 3, 7, 1, 2, 9}, {0, 3, 7, 1, 2, 9, 9, 3}, {0, 7, 1, 2, 9, 9, 3}, {3, 1}, {}, {5}, {4, 5, 4, 6},
		many, append([]int{30_000, 17}, many...), many[1:], many[:100],
	} {
		write(numbers)
		list := make([]string, len(numbers))
		for i, n := range numbers {
			list[i] = hash(n).String()
		}
		want, err := nixcache.ReadList(strings.NewReader(strings.Join(list, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d paths of %d lines, want %d, %v", len(got), len(numbers), len(want), err)
		}
	}
}

func TestDifference(t *testing.T) {
	for _, c := range [][4]int{{0, 10, 5, 15}, {0, 10, 0, 10}, {0, 0, 0, 10}, {0, 10, 0, 0}, {3, 4, 0, 10}} {
		p, q := hashes(c[0], c[1]), hashes(c[2], c[3])
		var want nixcache.Paths
		for _, h := range p {
			if !slices.Contains(q, h) {
				want = append(want, h)
			}
		}
		if got := p.Difference(q); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}

// TestChanged: a source is unchanged only if its time of modification was long ago when it was read.
func TestChanged(t *testing.T) {
	d := t.TempDir()
	touch(t, d, 0, 1)
	s, err := nixcache.NewSource(d)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(want bool, what string) {
		t.Helper()
		if got, err := s.Changed(); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	read := func(age time.Duration) {
		t.Helper()
		at := time.Now().Add(-age)
		if err := os.Chtimes(d, at, at); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
	}
	changed(true, "before the first read")
	read(time.Millisecond)
	changed(true, "modified just before the read")
	read(time.Hour)
	changed(false, "modified long before the read")
	touch(t, d, 1, 2)
	changed(true, "a new file")
	if err := os.RemoveAll(d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changed(); err == nil {
		t.Error("the directory is gone, without an error")
	}
}

func TestBloomPath(t *testing.T) {
	for info, want := range map[string]string{
		"StoreDir: /nix/store\nBloomFilter: /bloom-filter\n": "bloom-filter",
		"BloomFilter: a/b":          "a/b",
		"StoreDir: /nix/store":      "",
		"XBloomFilter: /x":          "",
		"BloomFilter: /../x":        "!",
		"BloomFilter: http://evil/": "!",
		"BloomFilter: //evil/x":     "!",
		"BloomFilter: /x?y":         "!",
	} {
		got, err := nixcache.BloomPath([]byte(info))
		if (want == "!") != (err != nil) || err == nil && got != want {
			t.Errorf("%q: %q, %v, want %q", info, got, err, want)
		}
	}
}

package nixcache_test

import (
	"bytes"
	"io/fs"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
)

func FuzzReadList(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := nixcache.ReadList(bytes.NewReader(b))
		if err != nil {
			return
		}
		for i, h := range p {
			if !bytes.Contains(b, []byte(h.String())) {
				t.Fatalf("%s is not in the list", h)
			}
			if i > 0 && bytes.Compare(p[i-1][:], h[:]) >= 0 {
				t.Fatal("the paths do not ascend")
			}
		}
		if len(p.Difference(p)) != 0 || !slices.Equal(p.Difference(nil), p) {
			t.Fatal("wrong differences")
		}
	})
}

func FuzzBloomPath(f *testing.F) {
	f.Fuzz(func(t *testing.T, info []byte) {
		if path, err := nixcache.BloomPath(info); err == nil && path != "" && !fs.ValidPath(path) {
			t.Fatalf("%q leads out of the cache", path)
		}
	})
}

package squid

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/await"
)

// stored returns the keys of what a Squid has written to its disk, with their URIs, by its store log. Its own digest is there
// and not in digests.
func (c *cache) stored(t *testing.T) map[umbel.Digest]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "store.log"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[umbel.Digest]string{}
	for line := range strings.Lines(string(b)) {
		// time action dir file key status date lastmod expires type length/size method URI
		w := strings.Fields(line)
		if len(w) != 13 || w[1] != "SWAPOUT" || strings.HasSuffix(w[12], "/store_digest") {
			continue
		}
		key, err := umbel.ParseDigest(w[4])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		keys[key] = w[12]
	}
	return keys
}

// TestKeys: all keys of a Squid are those that package squid makes of URLs and variants, and its digest is, bit for bit,
// the filter to which they are added.
func TestKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	site := origin(t)
	types := filepath.Join(sharedDir(t, "types"), "mime.conf") // without types there are no icons, which are in digests and not in the store log
	if err := os.WriteFile(types, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	a := start(t, "squid-keys", "mime_table "+types)
	want := map[umbel.Digest]bool{}
	add := func(url, mark string) {
		want[squid.Hasher.HashBytes(squid.AppendKey(nil, squid.MethodGet, url, mark))] = true
	}
	objects := numbered(site+"/o/", held)
	a.fetch(t, nil, objects...)
	for _, url := range objects {
		add(url, "")
	}
	variant := site + "/v/0"
	add(variant, "")
	for _, value := range []string{"en-GB", "de-CH, fr;q=0.5", "x\xe9y", "!$()*+,-._09AZaz", "\"#%&'/:;<=>?@[\\]^`{|}~"} {
		a.fetch(t, http.Header{"Accept-Language": {value}}, variant)
		add(variant, squid.VaryMark(squid.Field{Name: "Accept-Language", Value: value}))
	}
	a.fetch(t, nil, variant)
	add(variant, squid.VaryMark(squid.Field{Name: "Accept-Language", Absent: true}))

	var digest *squid.Filter
	await.True(t, "the digest has all objects", func() bool {
		digest = digestOf(t.Context(), t, "http://"+a.addr+"/squid-internal-periodic/store_digest")
		if digest == nil {
			return false
		}
		for key := range want {
			if !digest.Has(key) {
				return false
			}
		}
		return true
	})
	stored := a.stored(t)
	for key, uri := range stored {
		if !want[key] {
			t.Errorf("%s: Squid has the key %s, which does not follow", uri, key)
		}
	}
	built, err := squid.NewShape(digest.Shape())
	if err != nil {
		t.Fatal(err)
	}
	for key := range stored {
		built.Add(key)
	}
	if len(stored) != len(want) || !built.State().Equal(digest.State()) {
		t.Errorf("%d keys are stored, want %d; the digest is that of them: %v", len(stored), len(want), built.State().Equal(digest.State()))
	}
	t.Logf("%s: %d keys, a digest of %d cells", version(t), len(stored), digest.Shape().M)
}

package blob_test

import (
	"testing"

	"github.com/umbel-filters/umbel/share"
	shareblob "github.com/umbel-filters/umbel/share/blob"
	"github.com/umbel-filters/umbel/share/sharetest"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
)

// drivers open an empty bucket each.
var drivers = []struct {
	name string
	open func(t testing.TB) *blob.Bucket
}{
	{"memory", openMemory},
	{"file", openFile},
	{"s3", func(t testing.TB) *blob.Bucket { return newServer(t).bucket(t) }},
	{"prefix", func(t testing.TB) *blob.Bucket {
		b := blob.PrefixedBucket(newServer(t).bucket(t), "publications/set/")
		t.Cleanup(func() { b.Close() })
		return b
	}},
}

func openMemory(t testing.TB) *blob.Bucket {
	b := memblob.OpenBucket(nil)
	t.Cleanup(func() { b.Close() })
	return b
}

func openFile(t testing.TB) *blob.Bucket {
	t.Helper()
	b, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// create returns the store in a bucket.
func create(t testing.TB, b *blob.Bucket) *shareblob.Store {
	t.Helper()
	s, err := shareblob.Create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			sharetest.Store(t, func(t *testing.T) share.Store { return create(t, d.open(t)) })
		})
	}
}

func TestSource(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			sharetest.Source(t, func(t *testing.T) (share.Store, share.Source) {
				b := d.open(t)
				return create(t, b), shareblob.Open(b)
			})
		})
	}
}

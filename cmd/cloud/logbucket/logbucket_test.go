package logbucket_test

import (
	"net/url"
	"testing"

	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/cloud/s3test"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"
)

// drivers open an empty bucket each.
var drivers = []struct {
	name string
	open func(t *testing.T) (*blob.Bucket, error)
}{
	{"memory", func(*testing.T) (*blob.Bucket, error) { return memblob.OpenBucket(nil), nil }},
	{"file", func(t *testing.T) (*blob.Bucket, error) {
		return fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	}},
}

func TestMedium(t *testing.T) {
	t.Run("s3", func(t *testing.T) {
		mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
			u, err := url.Parse(s3test.Start(t, 0, 0))
			if err != nil {
				t.Fatal(err)
			}
			m, err := logbucket.Open(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			return m
		})
	})
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
				b, err := d.open(t)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { b.Close() })
				return logbucket.New(b)
			})
		})
	}
}

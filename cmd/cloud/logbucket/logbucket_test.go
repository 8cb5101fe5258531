package logbucket_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"
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
	{"s3", func(t *testing.T) (*blob.Bucket, error) {
		backend := s3mem.New()
		if err := backend.CreateBucket("bucket"); err != nil {
			return nil, err
		}
		server := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(server.Close)
		client := s3.New(s3.Options{
			BaseEndpoint: aws.String(server.URL), UsePathStyle: true, Region: "test",
			Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		})
		b, err := s3blob.OpenBucket(t.Context(), client, "bucket", nil)
		if err != nil {
			return nil, err
		}
		return blob.PrefixedBucket(b, "groups/one/"), nil
	}},
}

func TestMedium(t *testing.T) {
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

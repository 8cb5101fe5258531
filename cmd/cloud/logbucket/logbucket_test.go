package logbucket_test

import (
	"net/url"
	"testing"

	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/cloud/s3test"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"
)

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
	t.Run("memory", func(t *testing.T) {
		mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
			b := memblob.OpenBucket(nil)
			t.Cleanup(func() { b.Close() })
			return logbucket.New(b)
		})
	})
}

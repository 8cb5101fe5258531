package blob_test

import (
	"testing"

	"github.com/umbel-filters/umbel/share"
	shareblob "github.com/umbel-filters/umbel/share/blob"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// BenchmarkPublishToUsable measures the time from the call of Publish until a subscriber answers.
func BenchmarkPublishToUsable(b *testing.B) {
	for _, d := range drivers {
		b.Run(d.name, func(b *testing.B) {
			sharetest.PublishToUsable(b, func(b *testing.B) (share.Store, share.Source) {
				bucket := d.open(b)
				return create(b, bucket), shareblob.Open(bucket)
			})
		})
	}
}

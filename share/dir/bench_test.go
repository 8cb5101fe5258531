package dir_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

// BenchmarkCommit writes small objects to a directory that has others.
func BenchmarkCommit(b *testing.B) {
	for _, others := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			if testing.Short() && others > 0 {
				b.Skip("writes 100,000 files")
			}
			s := create(b, b.TempDir())
			for i := range others {
				writeFile(b, s, i)
			}
			for i := others; b.Loop(); i++ {
				if _, err := put(s, binary.AppendUvarint(nil, uint64(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// writeFile writes an object without making it durable.
func writeFile(b *testing.B, s *dir.Store, i int) {
	data := binary.AppendUvarint(nil, uint64(i))
	if err := os.WriteFile(filepath.Join(s.Path(), "objects", share.RefOf(data).Hash.String()), data, 0o666); err != nil {
		b.Fatal(err)
	}
}

package redisbloom

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Any header, and any chunk for the filter that it makes, is taken or refused, and memory is
// taken up to the limit.
func FuzzLoadChunk(f *testing.F) {
	own, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.1, Capacity: 4})
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(6) {
		own.Add(umbel.Digest{H1: i * 0x9e3779b97f4a7c15, H2: i})
	}
	_, header, err := own.ScanDump(0)
	if err != nil {
		f.Fatal(err)
	}
	row, err := cuckoo.Default.Make(redisbloom.RedisHasher)
	if err != nil {
		f.Fatal(err)
	}
	row.Add(umbel.Digest{H1: 1})
	f.Add(header, int64(9), []byte("12345678"))
	_, cuckooHeader := row.ScanDump(0)
	f.Add(cuckooHeader, int64(5), []byte("1234"))
	f.Fuzz(func(t *testing.T, header []byte, iter int64, data []byte) {
		const most = 1 << 20
		var s umbel.State
		if own, err := redisbloom.FromHeader(header, most); err == nil {
			s = own.State()
		} else if own, err := cuckoo.FromHeader(header, most); err == nil {
			s = own.State()
		}
		layers := layerBytes(s)
		var total uint64
		for _, n := range layers {
			total += n
		}
		if total > most {
			t.Fatalf("%d bytes of layers, want at most %d", total, most)
		}
		at, problem := locate(layers, iter, data)
		if problem == "" && (at.offset+uint64(len(data)) > layers[at.layer] || at.from+uint64(len(data)) > total || at.total != total) {
			t.Fatalf("%d bytes with iter %d belong to %+v of %v", len(data), iter, at, layers)
		}
	})
}

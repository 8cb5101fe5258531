package murmur3_test

import (
	"testing"

	"github.com/umbel-filters/umbel/internal/murmur3"
)

// TestSum128 has values of the author's program (smhasher) and of Guava's tests. Package research/interop/stored compares
// the hash with those of two libraries, for keys of all lengths.
func TestSum128(t *testing.T) {
	for key, want := range map[string][2]uint64{
		"":      {0, 0},
		"hello": {0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19},
		"The quick brown fox jumps over the lazy dog": {0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347},
	} {
		if h1, h2 := murmur3.Sum128([]byte(key)); h1 != want[0] || h2 != want[1] {
			t.Errorf("%q: %x %x, want %x", key, h1, h2, want)
		}
	}
}

// TestSpark32: without odd bytes the hash is MurmurHash3_x86_32, whose values are known; an odd byte counts as a word with its sign.
func TestSpark32(t *testing.T) {
	for _, c := range []struct {
		key  string
		seed uint32
		want uint32
	}{
		{"", 0, 0}, {"", 1, 0x514e28b7}, {"test", 0, 0xba6bd213}, {"aaaa", 0x9747b28c, 0x5a97808a},
	} {
		if got := murmur3.Spark32([]byte(c.key), c.seed); got != c.want {
			t.Errorf("%q with seed %x: %x, want %x", c.key, c.seed, got, c.want)
		}
	}
	if a, b := murmur3.Spark32([]byte("\xff"), 0), murmur3.Spark32([]byte("\xff\xff\xff\xff"), 0); a^b == 0 {
		t.Error("the length is no part of the hash")
	}
}

func BenchmarkSum128(b *testing.B) {
	key := make([]byte, 32)
	for b.Loop() {
		murmur3.Sum128(key)
	}
}

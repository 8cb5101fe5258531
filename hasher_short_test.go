package umbel

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
)

// Short and long keys have the digests of the hash libraries, singly and in batches.
func TestShortHashes(t *testing.T) {
	rng := rand.NewPCG(1, 2)
	for range 1000 {
		var keys [][]byte
		var texts []string
		for n := range 40 {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(rng.Uint64())
			}
			keys, texts = append(keys, key), append(texts, string(key))
		}
		number := rng.Uint64()
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], number)
		for alg, want := range map[Alg]func([]byte) Digest{
			XXH3: func(key []byte) Digest {
				u := xxh3.Hash128(key)
				return Digest{u.Lo, u.Hi}
			},
			XXH64: func(key []byte) Digest { return DigestFromHash64(xxhash.Sum64(key)) },
		} {
			h := Hasher{Alg: alg}
			slices, strings, numbers := make([]Digest, len(keys)), make([]Digest, len(keys)), make([]Digest, 1)
			for i := range keys {
				slices[i], strings[i] = hashKey(h, keys[i]), hashKey(h, texts[i])
			}
			numbers[0] = hashKey(h, number)
			for i, key := range keys {
				if got := [3]Digest{h.HashBytes(key), slices[i], strings[i]}; got != [3]Digest{want(key), want(key), want(key)} {
					t.Fatalf("%v of %x is %v, want %v", alg, key, got, want(key))
				}
			}
			if got := [2]Digest{h.HashUint64(number), numbers[0]}; got != [2]Digest{want(bytes[:]), want(bytes[:])} {
				t.Fatalf("%v of %#x is %v, want %v", alg, number, got, want(bytes[:]))
			}
		}
	}
}

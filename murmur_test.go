package umbel

import (
	"encoding/binary"
	"testing"
)

// The verification value of SMHasher (Appleby): keys of 0 to 255 bytes 00, 01, …,
// each with seed 256 less its length, are hashed; the hashes in a row are hashed
// with seed 0; its low 32 bits are published for every hash.
func TestMurmur64AVerificationValue(t *testing.T) {
	var key, hashes []byte
	for i := range 256 {
		hashes = binary.LittleEndian.AppendUint64(hashes, murmur64A(key, uint64(256-i)))
		key = append(key, byte(i))
	}
	if got := uint32(murmur64A(hashes, 0)); got != 0x1f0d3804 {
		t.Errorf("verification value is %#x, want 0x1f0d3804", got)
	}
}

// The second half of the pair is seeded with the first.
func TestMurmur64APair(t *testing.T) {
	for _, key := range []string{"", "alice", "a key longer than two words"} {
		a := murmur64A([]byte(key), 0xc6a4a7935bd1e995)
		want := Digest{a, murmur64A([]byte(key), a)}
		if got := (Hasher{Alg: Murmur64A}).HashString(key); got != want {
			t.Errorf("%q: %v, want %v", key, got, want)
		}
	}
}

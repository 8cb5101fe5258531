package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	bab "github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/greatroar/blobloom"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
)

// keys returns keys of 0 to 70 bytes, each another one.
func keys(seed uint64, n int) [][]byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	ks := make([][]byte, n)
	for i := range ks {
		k := fmt.Appendf(nil, "%x-%d-", seed, i)
		for range rng.IntN(70) {
			k = append(k, byte(rng.Uint32()))
		}
		ks[i] = k[min(len(k)-1, i%4):]
	}
	return ks
}

// Filters of bits-and-blooms of all sizes give the same answers, also for keys that were not added, take more keys, and
// are written back byte for byte.
func TestBitsAndBlooms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		m, k := uint(1+rng.IntN(5000)), uint(1+rng.IntN(12))
		theirs := bab.New(m, k)
		for _, key := range keys(uint64(round), int(m/k)+1) {
			theirs.Add(key)
		}
		file, err := theirs.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{file, text} {
			ours, err := imported.ParseBitsAndBlooms(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range append(keys(uint64(round), 50), keys(uint64(round)+1000, 200)...) {
				if got, want := ours.HasBytes(key), theirs.Test(key); got != want {
					t.Fatalf("m=%d k=%d key %x: %v, bits-and-blooms has %v", m, k, key, got, want)
				}
			}
			if back, _ := ours.AppendBinary(nil); !bytes.Equal(back, file) {
				t.Fatalf("m=%d k=%d: written back as another file", m, k)
			}
			for _, key := range keys(uint64(round)+2000, 10) {
				ours.AddString(string(key))
				if !ours.HasString(string(key)) {
					t.Fatal("a key is not found after it was added")
				}
			}
			back, _ := ours.AppendBinary(nil)
			var again bab.BloomFilter
			if err := again.UnmarshalBinary(back); err != nil {
				t.Fatal(err)
			}
			for _, key := range keys(uint64(round)+2000, 10) {
				if !again.Test(key) {
					t.Fatal("bits-and-blooms does not find a key that was added here")
				}
			}
		}
	}
}

// So do filters of blobloom, with keys hashed by xxhash and with hashes of the program's own.
func TestBlobloom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 100 {
		theirs := blobloom.New(uint64(1+rng.IntN(100_000)), 2+rng.IntN(14))
		added := keys(uint64(round), 1+rng.IntN(2000))
		for _, key := range added {
			theirs.Add(xxhash.Sum64(key))
		}
		var file bytes.Buffer
		if _, err := blobloom.Dump(&file, theirs, "xxhash"); err != nil {
			t.Fatal(err)
		}
		ours, comment, err := imported.ParseBlobloom(file.Bytes(), umbel.Hasher{Alg: umbel.XXH64})
		if err != nil || comment != "xxhash" {
			t.Fatal(comment, err)
		}
		caller, _, err := imported.ParseBlobloom(file.Bytes(), umbel.Hasher{Alg: umbel.Caller})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(added[:min(50, len(added))], keys(uint64(round)+1000, 300)...) {
			h := xxhash.Sum64(key)
			if a, b, want := ours.HasBytes(key), caller.Has(umbel.DigestFromHash64(h)), theirs.Has(h); a != want || b != want {
				t.Fatalf("key %x: %v and %v, blobloom has %v", key, a, b, want)
			}
		}
		if back, err := ours.AppendFile(nil, comment); err != nil || !bytes.Equal(back, file.Bytes()) {
			t.Fatalf("written back as another file, %v", err)
		}
		more := keys(uint64(round)+2000, 100)
		for _, key := range more {
			ours.AddBytes(key)
			theirs.Add(xxhash.Sum64(key))
		}
		back, err := ours.AppendFile(nil, "")
		if err != nil {
			t.Fatal(err)
		}
		l, err := blobloom.NewLoader(bytes.NewReader(back))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := l.Load(nil); err != nil || !again.Equals(theirs) {
			t.Fatalf("blobloom reads another filter, %v", err)
		}
	}
}

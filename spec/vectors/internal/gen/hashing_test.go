package main

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
)

// TestPublishedHashes: our digests contain the hashes that the algorithms' authors publish.
func TestPublishedHashes(t *testing.T) {
	for _, a := range algorithms {
		for _, k := range a.published {
			d := digestOf(umbel.Hasher{Alg: a.alg, Seed: k.seed}, k.key)
			var got string
			switch a.alg {
			case umbel.XXH3: // printed as a number
				got = fmt.Sprintf("%016x%016x", d.H2, d.H1)
			case umbel.SipHash: // printed as bytes
				got = fmt.Sprintf("%x", binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, d.H1), d.H2))
			case umbel.XXH64:
				got = fmt.Sprintf("%016x", d.H1)
			case umbel.MD5:
				got = d.String()
			}
			if got != k.published {
				t.Errorf("%v of %x: %s, published %s", a.alg, k.key, got, k.published)
			}
		}
	}
}

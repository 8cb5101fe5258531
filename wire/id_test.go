package wire_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// merkleRoot is the tree of RFC 9162, section 2.1.1, over leaves of 1 KiB.
func merkleRoot(b []byte) [32]byte {
	n := (len(b) + 1023) / 1024
	switch n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, b...))
	}
	k := 1
	for 2*k < n {
		k *= 2
	}
	l, r := merkleRoot(b[:k*1024]), merkleRoot(b[k*1024:])
	return sha256.Sum256(append(append([]byte{1}, l[:]...), r[:]...))
}

// identify computes the ID as spec/container.md describes it: it cuts the blocks out of the
// canonical container and puts roots in their place.
func identify(s umbel.State) wire.ID {
	box := fixture.Must(wire.Packer{Raw: true}.Append(nil, s))
	box = box[:len(box)-4]
	var arrays func(s umbel.State)
	at := 0
	out := new(bytes.Buffer)
	arrays = func(s umbel.State) {
		bare := s
		bare.Arrays, bare.Parts = nil, nil
		n := int(wire.Size(bare)) - 8 - 4 - 2 // without magic, checksum and number of parts
		out.Write(box[at : at+n])
		at += n
		for _, a := range s.Arrays {
			out.Write(box[at : at+9])
			at += 9 + int(block.Count(a)) + 8*len(a.Words)
			root := merkleRoot(block.AppendWords(nil, a.Words))
			out.Write(root[:])
		}
		out.Write(box[at : at+2])
		at += 2
		for _, p := range s.Parts {
			arrays(p)
		}
	}
	out.Write(box[:8])
	at = 8
	arrays(s)
	if at != len(box) {
		panic("the container has other fields")
	}
	return sha256.Sum256(out.Bytes())
}

// The ID is that of spec/container.md.
func TestIdentify(t *testing.T) {
	s := wiretest.Sample(t)
	if a, b := hashtree.Identify(s), hashtree.Identify(s.Clone()); a != b {
		t.Errorf("a clone has another ID: %v, %v", a, b)
	}
	if got, want := hashtree.Identify(s), identify(s); got != want {
		t.Errorf("ID %v, want %v", got, want)
	}
	for _, n := range []uint64{0, 1, 128, 129, 256, 257, 63 * 128, 64 * 128, 65 * 128, 65*128 + 1, 3*8192 + 700} {
		for what, word := range map[string]func(int) uint64{"noise": wiretest.Noise, "zeros": wiretest.Zeros, "ones": wiretest.Ones} {
			s.Arrays[0] = wiretest.Array(t, n, 64, word)
			want := identify(s)
			if got := hashtree.Identify(s); got != want {
				t.Errorf("%d words of %s: ID %v, want %v", n, what, got, want)
			}
			for workers := range 4 {
				if got := hashtree.New(s, workers).ID(); got != want {
					t.Errorf("%d words of %s, %d workers: tree of %v, want %v", n, what, workers, got, want)
				}
			}
		}
	}
	t.Run("one bit", func(t *testing.T) {
		other := s.Clone()
		other.Parts[1].Parts[0].Arrays[0].Words[0] ^= 1
		if hashtree.Identify(other) == hashtree.Identify(s) {
			t.Error("states that differ have one ID")
		}
	})
	t.Run("no state", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("a state without a kind has an ID")
			}
		}()
		hashtree.Identify(umbel.State{})
	})
}

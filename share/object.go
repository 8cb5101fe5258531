package share

import (
	"crypto/sha256"
	"encoding/base32"
	"math/bits"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ChunkBytes is the length of the parts of an object that can be verified and fetched alone.
const ChunkBytes = 64 << 10

// Hash names an object by its content: the first 16 bytes of the Merkle tree hash of its chunks
// (RFC 9162, section 2.1.1, with SHA-256; the last chunk may be shorter).
//
// 128 bits suffice: the publisher makes the objects, so another object with the same hash would be
// a second preimage. The state that the objects lead to is verified with 256 bits.
type Hash [16]byte

// encoding makes names of 26 lower-case letters and digits, which every carrier accepts.
var encoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// String returns the name of the object: 26 lower-case letters and digits.
func (h Hash) String() string { return encoding.EncodeToString(h[:]) }

// ParseHash returns the hash whose String is s. The error wraps ErrCorrupt.
func ParseHash(s string) (Hash, error) {
	var h Hash
	b, err := encoding.DecodeString(s)
	if err != nil || len(b) != len(h) || Hash(b).String() != s {
		return h, sentinel.Errorf(ErrCorrupt, "%.40q is not the name of an object, want 26 of 0-9, a-v", s)
	}
	return Hash(b), nil
}

// ChunksName returns the name of the list of an object's chunks: the hashes of the chunks, 32 bytes
// each. It exists for objects of more than one chunk. No reference to it is needed, because the
// object's own hash verifies it.
func (h Hash) ChunksName() string { return h.String() + chunksSuffix }

const chunksSuffix = "-chunks"

// Ref refers to an object.
type Ref struct {
	Hash  Hash
	Bytes uint64
}

// names returns the names of an object and of its list of chunks.
func (r Ref) names() []string {
	if r.Bytes > ChunkBytes {
		return []string{r.Hash.String(), r.Hash.ChunksName()}
	}
	return []string{r.Hash.String()}
}

// chunk is the hash of a chunk, a leaf of the tree.
type chunk [sha256.Size]byte

// hasher computes the hashes of the chunks that are written to it.
type hasher struct {
	chunks []chunk
	n      uint64
	buf    []byte // a prefix of one zero, and the bytes of an incomplete chunk
}

func (h *hasher) Write(b []byte) (int, error) {
	n := len(b)
	h.n += uint64(n)
	for len(b) > 0 {
		if len(h.buf) == 0 {
			if len(b) >= ChunkBytes {
				h.chunks = append(h.chunks, chunkOf(b[:ChunkBytes]))
				b = b[ChunkBytes:]
				continue
			}
			h.buf = append(h.buf, 0)
		}
		k := min(len(b), 1+ChunkBytes-len(h.buf))
		h.buf = append(h.buf, b[:k]...)
		b = b[k:]
		if len(h.buf) == 1+ChunkBytes {
			h.flush()
		}
	}
	return n, nil
}

// chunkOf returns the hash of a chunk: that of a zero and its bytes.
func chunkOf(b []byte) (c chunk) {
	d := sha256.New()
	d.Write([]byte{0})
	d.Write(b)
	d.Sum(c[:0])
	return c
}

func (h *hasher) flush() {
	if len(h.buf) > 1 {
		h.chunks = append(h.chunks, sha256.Sum256(h.buf))
	}
	h.buf = h.buf[:0]
}

// ref returns the reference to the object that was written.
func (h *hasher) ref() Ref {
	h.flush()
	return Ref{rootOf(h.chunks), h.n}
}

// RefOf returns the reference to an object.
func RefOf(data []byte) Ref {
	var h hasher
	h.Write(data)
	return h.ref()
}

// rootOf returns the hash of an object with the given chunks.
func rootOf(chunks []chunk) Hash {
	root := treeHash(chunks)
	return Hash(root[:16])
}

// treeHash returns the Merkle tree hash over leaves.
func treeHash(leaves []chunk) chunk {
	switch n := len(leaves); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	default:
		k := 1 << (bits.Len(uint(n-1)) - 1)
		left, right := treeHash(leaves[:k]), treeHash(leaves[k:])
		var b [1 + 2*sha256.Size]byte
		b[0] = 1
		copy(b[1:], left[:])
		copy(b[1+sha256.Size:], right[:])
		return sha256.Sum256(b[:])
	}
}

// CheckObject returns an error wrapping ErrCorrupt unless name is that of an object or of a list of
// chunks. A carrier checks the names that it receives, so that none leaves its directory.
func CheckObject(name string) error {
	_, err := ParseHash(strings.TrimSuffix(name, chunksSuffix))
	return err
}

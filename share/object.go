package share

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"math/bits"
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
		return h, fmt.Errorf("share: %.40q is not the name of an object, want 26 of 0-9, a-v: %w", s, ErrCorrupt)
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

const (
	// fetchTries is the number of requests in a row that may fail before the fetch fails.
	fetchTries = 3
	// minProgress is the number of bytes with which an interrupted request does not count as failed. It
	// bounds the requests that a source can cause.
	minProgress = 1 << 10
)

// fetchMore returns the bytes of an object, of which data has arrived already, without verifying them. It
// continues after interruptions. On error it returns what has arrived.
func fetchMore(ctx context.Context, source Source, r Ref, data []byte) (_ []byte, err error) {
	for failed := 0; failed < fetchTries; {
		have := len(data)
		if data, err = fetchRest(ctx, source, r, data); err == nil {
			return data, nil
		}
		if ctx.Err() != nil || errors.Is(err, ErrNotFound) {
			break
		}
		if failed++; len(data)-have >= minProgress {
			failed = 0
		}
	}
	return data, err
}

// fetch returns an object. It continues after interruptions, and replaces chunks that arrived damaged.
// The error wraps ErrCorrupt if the source keeps sending something else, and ErrNotFound if it does not
// have the object.
func fetch(ctx context.Context, source Source, r Ref) ([]byte, error) {
	return verify(ctx, source, r, nil)
}

// verify is fetch if data has arrived already.
func verify(ctx context.Context, source Source, r Ref, data []byte) ([]byte, error) {
	err := error(nil)
	for range fetchTries {
		if data, err = fetchMore(ctx, source, r, data); err != nil {
			break
		}
		if RefOf(data) == r {
			return data, nil
		}
		if r.Bytes > ChunkBytes {
			if err = repair(ctx, source, r, data); err == nil {
				return data, nil
			}
			continue
		}
		data, err = nil, errContent
	}
	return nil, fmt.Errorf("share: object %s: %w", r.Hash, err)
}

// Memory for an object begins with firstBytes and grows by growth, so a size that is not true takes
// little. The system provides memory when it is used.
const (
	firstBytes = 1 << 20
	growth     = 64
)

// fetchRest appends the bytes of an object that data lacks. Memory grows with what arrives.
func fetchRest(ctx context.Context, source Source, r Ref, data []byte) ([]byte, error) {
	have := uint64(len(data))
	if have == r.Bytes {
		return data, nil
	}
	body, err := source.Object(ctx, r.Hash.String(), int64(have))
	if err != nil {
		return data, err
	}
	defer body.Close()
	rest := io.LimitReader(body, int64(r.Bytes-have))
	for uint64(len(data)) < r.Bytes {
		if len(data) == cap(data) {
			data = grow(data, r)
		}
		n, err := rest.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF && uint64(len(data)) < r.Bytes {
			return data, errShort(uint64(len(data)), r.Bytes)
		}
		if err != nil && err != io.EOF {
			return data, err
		}
	}
	return data, nil
}

// grow returns data with more room for an object.
func grow(data []byte, r Ref) []byte {
	grown := make([]byte, len(data), min(max(growth*uint64(len(data)), firstBytes), r.Bytes))
	copy(grown, data)
	return grown
}

// errShort returns the error of an object that ends too early, although the source read it to its end.
func errShort(n, want uint64) error {
	return fmt.Errorf("it ends after %d of %d bytes: %w", n, want, ErrCorrupt)
}

// short returns err, or ErrCorrupt if it is the end of a list or a chunk that is not complete.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("it ends too early: %w", ErrCorrupt)
	}
	return err
}

// errContent says that what a source returned is not the object of that name.
var errContent = fmt.Errorf("its content does not match its name: it was damaged in the store or on the way: %w", ErrCorrupt)

// repair replaces the damaged chunks of an object. The list of chunks shows which they are.
func repair(ctx context.Context, source Source, r Ref, data []byte) error {
	var got hasher
	got.Write(data)
	got.flush()
	want := make([]chunk, len(got.chunks))
	if err := readList(ctx, source, r.Hash, want); err != nil {
		return err
	}
	for i, w := range want {
		if got.chunks[i] == w {
			continue
		}
		off := i * ChunkBytes
		if err := refetch(ctx, source, r.Hash, int64(off), data[off:min(off+ChunkBytes, len(data))], w); err != nil {
			return fmt.Errorf("bytes from %d: %w", off, err)
		}
	}
	return nil
}

// readList reads and verifies the list of an object's chunks.
func readList(ctx context.Context, source Source, h Hash, list []chunk) error {
	body, err := source.Object(ctx, h.ChunksName(), 0)
	if err != nil {
		return fmt.Errorf("the list of its chunks: %w", err)
	}
	defer body.Close()
	for i := range list {
		if _, err := io.ReadFull(body, list[i][:]); err != nil {
			return fmt.Errorf("the list of its chunks: %w", short(err))
		}
	}
	if rootOf(list) != h {
		return fmt.Errorf("the list of its chunks is damaged too: %w", ErrCorrupt)
	}
	return nil
}

// refetch fills dst with a chunk.
func refetch(ctx context.Context, source Source, h Hash, off int64, dst []byte, want chunk) (err error) {
	for range fetchTries {
		if err = readAt(ctx, source, h, off, dst); err != nil {
			continue
		}
		var got hasher
		got.Write(dst)
		if got.flush(); got.chunks[0] == want {
			return nil
		}
		err = errContent
	}
	return err
}

func readAt(ctx context.Context, source Source, h Hash, off int64, dst []byte) error {
	body, err := source.Object(ctx, h.String(), off)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.ReadFull(body, dst)
	return short(err)
}

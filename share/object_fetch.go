package share

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	// fetchTries is the number of requests in a row that may fail before the fetch fails.
	fetchTries = 3
	// minProgress is the number of bytes with which an interrupted request does not count as failed. It
	// bounds the requests that a source can cause.
	minProgress = 1 << 10
)

// fetchMore returns the bytes of an object without verifying them. data are those that arrived already. It
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
	return nil, fmt.Errorf("object %s: %w", r.Hash, err)
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
	return sentinel.Errorf(ErrCorrupt, "it ends after %d of %d bytes", n, want)
}

// short returns err, or ErrCorrupt if it is the end of a list or a chunk that is not complete.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return sentinel.Errorf(ErrCorrupt, "it ends too early")
	}
	return err
}

// errContent says that what a source returned is not the object of that name.
var errContent = sentinel.Errorf(ErrCorrupt, "its content does not match its name: it was damaged in the store or on the way")

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
		return sentinel.Errorf(ErrCorrupt, "the list of its chunks is damaged too")
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

package share

import (
	"context"
	"io"
	"iter"
)

// Source is where a subscriber reads a publication. Nothing that it returns is trusted. Methods are
// safe for concurrent use.
type Source interface {
	// Record returns a small record that may change, such as the head. The error wraps
	// ErrNotFound if there is none. A source may refuse a record of more than MaxRecord bytes.
	Record(ctx context.Context, name string) ([]byte, error)
	// Object returns the bytes of an object from the offset on. Names are those of Hash.String
	// and Hash.ChunksName. The error wraps ErrNotFound if there is no such object.
	//
	// If the result is an io.Seeker too, it is one of the whole object. If it has a method
	// Size() int64, that returns the bytes of the whole object, or -1. Package web can then serve
	// ranges.
	Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
}

// Watcher is a Source that can wait for a change. WatchRecord returns the record when it differs
// from last, and as it is after a time that the source chooses.
type Watcher interface {
	WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error)
}

// Store is where a publisher writes a publication, and where a subscriber keeps what it has
// fetched.
type Store interface {
	Source
	// PutRecord replaces a record, as a whole or not at all. All objects that were committed
	// before are durable when it returns.
	PutRecord(ctx context.Context, name string, data []byte) error
	// NewObject begins an object.
	NewObject(ctx context.Context) (Upload, error)
	// Objects yields the names of all objects, in any order.
	Objects(ctx context.Context) iter.Seq2[string, error]
	// Remove removes an object. It is no error if there is none.
	Remove(ctx context.Context, name string) error
}

// Upload receives the bytes of an object.
type Upload interface {
	io.Writer
	// Commit makes the object readable under its name.
	Commit(ctx context.Context, name string) error
	// Close removes what was written, unless Commit succeeded.
	Close() error
}

// put writes an object, and the list of its chunks if it has several. write writes its bytes.
func put(ctx context.Context, store Store, write func(io.Writer) error) (Ref, error) {
	u, err := store.NewObject(ctx)
	if err != nil {
		return Ref{}, err
	}
	defer u.Close()
	var h hasher
	if err := write(io.MultiWriter(u, &h)); err != nil {
		return Ref{}, err
	}
	r := h.ref()
	if err := u.Commit(ctx, r.Hash.String()); err != nil {
		return Ref{}, err
	}
	if len(h.chunks) < 2 {
		return r, nil
	}
	list, err := store.NewObject(ctx)
	if err != nil {
		return Ref{}, err
	}
	defer list.Close()
	for _, c := range h.chunks {
		if _, err := list.Write(c[:]); err != nil {
			return Ref{}, err
		}
	}
	return r, list.Commit(ctx, r.Hash.ChunksName())
}

// putBytes writes an object.
func putBytes(ctx context.Context, store Store, data []byte) (Ref, error) {
	return put(ctx, store, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

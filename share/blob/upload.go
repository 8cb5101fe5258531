package blob

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel/share"
	"gocloud.dev/blob"
)

const (
	// bufferBytes is the size up to which an object is kept in memory until its name is known.
	bufferBytes = 8 << 20
	// closeTime bounds the deletion of an incomplete object.
	closeTime = 30 * time.Second
)

// objectOptions is how objects are written. They replace those with the same name, which may be
// damaged.
var objectOptions = blob.WriterOptions{
	ContentType: "application/octet-stream", CacheControl: "public, max-age=31536000, immutable, no-transform",
}

// NewObject begins an object. If it becomes large, ctx must not end before Commit returns.
func (s *Store) NewObject(ctx context.Context) (share.Upload, error) {
	ctx, cancel := context.WithCancel(ctx)
	return &upload{s: s, ctx: ctx, cancel: cancel}, nil
}

// upload writes an object. A small one is in buf; a large one is written by w, to a key of its own.
type upload struct {
	s      *Store
	ctx    context.Context
	cancel context.CancelFunc
	buf    bytes.Buffer
	w      *blob.Writer // nil for a small object
	key    string       // of a large object
	closed bool         // w is closed
}

func (u *upload) Write(b []byte) (int, error) {
	if u.w == nil && u.buf.Len()+len(b) <= bufferBytes {
		return u.buf.Write(b)
	}
	if u.w == nil {
		if err := u.begin(); err != nil {
			return 0, err
		}
	}
	n, err := u.w.Write(b)
	return n, describe(u.key, err)
}

// begin begins to write a large object.
func (u *upload) begin() (err error) {
	u.key = writerPrefix + rand.Text()
	if u.w, err = u.s.bucket.NewWriter(u.ctx, u.key, &objectOptions); err != nil {
		return describe(u.key, err)
	}
	_, err = u.w.Write(u.buf.Bytes())
	u.buf = bytes.Buffer{}
	return describe(u.key, err)
}

// Commit writes a small object, or copies a large one to its key.
func (u *upload) Commit(ctx context.Context, name string) error {
	if err := cmp.Or(share.CheckObject(name), ctx.Err()); err != nil {
		return err
	}
	key := objectsPrefix + name
	if u.w == nil {
		return describe(key, u.s.bucket.WriteAll(ctx, key, u.buf.Bytes(), &objectOptions))
	}
	if !u.closed {
		u.closed = true
		if err := u.w.Close(); err != nil {
			return describe(u.key, err)
		}
	}
	return u.s.copy(ctx, key, u.key)
}

// copy copies a large object. Services may refuse to copy the largest ones, such as S3 those of more
// than 5 GiB; these are read and written.
func (s *Store) copy(ctx context.Context, to, from string) error {
	copyErr := s.bucket.Copy(ctx, to, from, nil)
	if copyErr == nil {
		return nil
	}
	r, err := s.bucket.NewReader(ctx, from, nil)
	if err != nil {
		return describe(to, errors.Join(copyErr, err))
	}
	defer r.Close()
	if err := s.bucket.Upload(ctx, to, r, &objectOptions); err != nil {
		return describe(to, errors.Join(copyErr, err))
	}
	return nil
}

// Close removes what was written of a large object.
func (u *upload) Close() error {
	defer u.cancel()
	if u.w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), closeTime)
	defer cancel()
	if !u.closed {
		u.closed = true
		u.cancel() // so that nothing is written
		if u.w.Close() != nil {
			return nil
		}
	}
	if err := u.s.delete(ctx, u.key); err != nil {
		return fmt.Errorf("%w; the next publisher removes it after %v", err, interruptedAge)
	}
	return nil
}

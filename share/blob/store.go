package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/share"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// interruptedAge is the age at which an incomplete object is taken for what an interrupted publisher
// left. A younger one may be written by another publisher at this moment.
const interruptedAge = 24 * time.Hour

// Store reads and writes a publication in a bucket. It is safe for concurrent use.
//
// An upload that fails or is interrupted leaves the publication as it was. A bucket does not lock out
// other publishers: see the package comment.
type Store struct{ *Source }

var _ share.Store = (*Store)(nil)

// Create returns the store in a bucket. It removes large objects that an interrupted publisher left
// more than a day ago. The caller closes the bucket when it no longer uses the store.
func Create(ctx context.Context, bucket *blob.Bucket) (*Store, error) {
	s := &Store{Open(bucket)}
	old := time.Now().Add(-interruptedAge)
	for o, err := range s.list(ctx, writerPrefix) {
		if err == nil && o.ModTime.Before(old) {
			err = s.delete(ctx, o.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// PutRecord replaces a record. The objects that were committed before are durable, because a bucket
// confirms an object when it is.
func (s *Store) PutRecord(ctx context.Context, name string, data []byte) error {
	if err := cmp.Or(share.CheckRecord(name), ctx.Err()); err != nil {
		return err
	}
	return describe(name, s.bucket.WriteAll(ctx, name, data, &blob.WriterOptions{
		ContentType: "text/plain; charset=utf-8", CacheControl: "no-cache",
	}))
}

// Objects yields the names of all objects, and ignores what is not the name of one.
func (s *Store) Objects(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for o, err := range s.list(ctx, objectsPrefix) {
			if err != nil {
				yield("", err)
				return
			}
			name := strings.TrimPrefix(o.Key, objectsPrefix)
			if share.CheckObject(name) == nil && !yield(name, nil) {
				return
			}
		}
	}
}

// list yields what has a key with a prefix. An error is the last.
func (s *Store) list(ctx context.Context, prefix string) iter.Seq2[*blob.ListObject, error] {
	return func(yield func(*blob.ListObject, error) bool) {
		for l := s.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := l.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("list %s: %w", prefix, err))
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Remove removes an object.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := share.CheckObject(name); err != nil {
		return err
	}
	return s.delete(ctx, objectsPrefix+name)
}

// delete deletes a key. It is no error if it is absent.
func (s *Store) delete(ctx context.Context, key string) error {
	err := s.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return describe(key, err)
}

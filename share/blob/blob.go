// Package blob keeps a publication in a bucket of an object store: S3, Google Cloud Storage, Azure
// Blob Storage, and what else gocloud.dev/blob has drivers for. The program opens the bucket and so
// chooses the driver and the credentials.
//
//	head              the record of the publication: what subscribers request first
//	objects/NAME      the objects; they never change
//	.writer/NAME      large objects that are not complete yet
//
// If the bucket can be read over HTTP, subscribers need no driver: package share/web reads the same
// keys below the URL of the bucket. The head is stored with Cache-Control no-cache, and objects may
// be cached forever. To keep several publications in one bucket, give each a prefix with
// PrefixedBucket of gocloud.dev/blob.
//
// The bucket must return what was written last, as S3, Google Cloud Storage and Azure do. If it lists
// objects late, a new publisher misses some, which then remain until they are removed by hand.
// Package share/dir is better for directories. Buckets of package fileblob need the option
// MetadataDontWrite: the driver does not replace its files with metadata atomically.
//
// # Requests
//
// An object of at most 8 MiB is kept in memory and written with one request, whose cost does not
// depend on its size. A larger one is written while it is made, in parts, under another key; the bucket
// then copies it to its own key and deletes the first one. This takes two more requests and, for the time
// of the copy, twice the space. Publishing a version writes the head and about four objects, and reads
// the head once. A subscriber that requests the head every ten seconds makes 260,000 requests a month;
// buckets cannot notify it.
//
// # Publishers
//
// Buckets have no locks. A publisher reads the head before it replaces it, so that of two publishers
// on one bucket at least one soon returns an error wrapping share.ErrFork. But if both write at the
// same moment, one head is lost before that. Subscribers are late then, never wrong.
package blob

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	objectsPrefix = "objects/"
	writerPrefix  = ".writer/"
)

// Source reads a publication in a bucket. It is safe for concurrent use.
type Source struct{ bucket *blob.Bucket }

var _ share.Source = (*Source)(nil)

// Open returns the source in a bucket. It sends no request. The caller closes the bucket when it no
// longer uses the source.
func Open(bucket *blob.Bucket) *Source { return &Source{bucket} }

// Record returns a record.
func (s *Source) Record(ctx context.Context, name string) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	r, err := s.bucket.NewReader(ctx, name, nil)
	if err != nil {
		return nil, describe(name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, share.MaxRecord+1))
	switch {
	case err != nil:
		return nil, describe(name, err)
	case len(b) > share.MaxRecord:
		return nil, sentinel.Errorf(share.ErrCorrupt, "%s has %d bytes, want at most %d", name, r.Size(), share.MaxRecord)
	}
	return b, nil
}

// Object returns the bytes of an object from the offset on, with one request for this range. The
// result has a method Size() int64, which returns the bytes of the whole object.
func (s *Source) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := share.CheckObject(name); err != nil {
		return nil, err
	}
	key := objectsPrefix + name
	r, err := s.bucket.NewRangeReader(ctx, key, offset, -1, nil)
	if err == nil {
		return object{r, r, r.Size()}, nil
	}
	// Some services refuse a range that begins at the end.
	if offset > 0 && gcerrors.Code(err) != gcerrors.NotFound {
		if a, statErr := s.bucket.Attributes(ctx, key); statErr == nil && offset >= a.Size {
			return object{http.NoBody, http.NoBody, a.Size}, nil
		}
	}
	return nil, describe(key, err)
}

// object is the body of an object. It hides the Seek of a blob.Reader, which counts from the offset.
type object struct {
	io.Reader
	io.Closer
	size int64
}

// Size returns the bytes of the whole object.
func (o object) Size() int64 { return o.size }

// describe adds share.ErrNotFound to the error of a bucket.
func describe(key string, err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%s: %w: %w", key, err, share.ErrNotFound)
	}
	return fmt.Errorf("%s: %w", key, err)
}

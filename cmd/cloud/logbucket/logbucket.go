// Package logbucket keeps a shared log in a bucket of an object store: S3, Google Cloud Storage, Azure Blob Storage, and
// what else gocloud.dev/blob has drivers for. The key of a value is that of the object. A put has the condition that
// there is no such object.
//
// Entries and lists must be those that were written last, as S3, Google Cloud Storage and Azure return them. The
// bucket needs no versions, no lifecycle rule may delete objects, and its credentials must be able to read, write, list
// and delete objects.
package logbucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Medium keeps a log in a bucket.
type Medium struct{ bucket *blob.Bucket }

var _ sharedlog.Medium = Medium{}

// Open is the sharedlog.Opener of URLs such as s3://BUCKET/PREFIX?region=REGION. The driver of the scheme must be
// linked; it reads the query, and credentials from the environment.
func Open(ctx context.Context, u *url.URL) (sharedlog.Medium, error) {
	prefix := strings.Trim(u.Path, "/")
	if prefix == "" {
		return nil, fmt.Errorf("%s has no prefix: write %s://%s/GROUP, since each group needs one of its own", u.Redacted(), u.Scheme, u.Host)
	}
	plain := *u
	plain.Path = ""
	b, err := blob.OpenBucket(ctx, plain.String())
	if err != nil {
		return nil, err
	}
	return New(blob.PrefixedBucket(b, prefix+"/")), nil
}

// New returns the medium in a bucket, which has no other objects.
func New(bucket *blob.Bucket) Medium { return Medium{bucket} }

// options are those of all objects.
var options = blob.WriterOptions{ContentType: "application/octet-stream", CacheControl: "no-store", IfNotExist: true}

// Put writes an object with one request.
func (m Medium) Put(ctx context.Context, key string, data []byte) error {
	return describe(key, m.bucket.WriteAll(ctx, key, data, &options))
}

// Get reads an object with one request.
func (m Medium) Get(ctx context.Context, key string) ([]byte, error) {
	r, err := m.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, describe(key, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, sharedlog.MaxValue+1)) // a longer value is damaged
	return b, describe(key, err)
}

// List lists objects with a request for each thousand.
func (m Medium) List(ctx context.Context, prefix string) (all []string, err error) {
	for l := m.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		o, err := l.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, describe("list "+prefix, err)
		}
		all = append(all, o.Key)
	}
}

// Delete deletes an object.
func (m Medium) Delete(ctx context.Context, key string) error {
	err := m.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return describe(key, err)
}

// describe returns an error of the bucket with the class that it has for a log.
func describe(key string, err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.OK:
		return nil
	case gcerrors.FailedPrecondition:
		return fmt.Errorf("%s: %w", key, sharedlog.ErrExists)
	case gcerrors.NotFound:
		return fmt.Errorf("%s: %w", key, sharedlog.ErrNone)
	}
	return fmt.Errorf("%s: %w", key, err)
}

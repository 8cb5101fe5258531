// Package objects opens and writes objects in buckets, for verbs that read and write files.
package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"gocloud.dev/blob"
)

// Store has the objects of all buckets whose drivers are linked. A URL is that of a bucket with the key as its path:
// s3://BUCKET/KEY?region=REGION. Credentials come from the environment.
type Store struct{}

var _ object.Store = Store{}

// open opens the bucket of a URL, and returns the key.
func open(ctx context.Context, rawURL string) (b *blob.Bucket, key string, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, "", err
	}
	if u.Scheme == "file" { // the bucket is the directory
		dir := strings.LastIndexByte(u.Path, '/')
		key, u.Path = u.Path[dir+1:], u.Path[:dir]
	} else {
		key, u.Path = strings.TrimPrefix(u.Path, "/"), ""
	}
	if key == "" {
		return nil, "", fmt.Errorf("the URL names no object: write %s://BUCKET/NAME", u.Scheme)
	}
	b, err = blob.OpenBucket(ctx, u.String())
	return b, key, err
}

// Open implements [object.Store].
func (Store) Open(ctx context.Context, url string) (object.Object, error) {
	b, key, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	attributes, err := b.Attributes(ctx, key)
	if err != nil {
		b.Close()
		return nil, err
	}
	return &reader{ctx: ctx, bucket: b, key: key, size: attributes.Size}, nil
}

// reader reads an object. It keeps the request that it has read from, for a read that continues.
type reader struct {
	ctx    context.Context
	bucket *blob.Bucket
	key    string
	size   int64
	body   *blob.Reader // nil if there is none
	at     int64        // of body
}

func (r *reader) Size() int64 { return r.size }

// ReadAt implements io.ReaderAt. An object of another size than at first is an error.
func (r *reader) ReadAt(b []byte, at int64) (n int, err error) {
	if at >= r.size {
		return 0, io.EOF
	}
	if r.body != nil && r.at != at {
		if err := r.end(); err != nil {
			return 0, err
		}
	}
	if r.body == nil {
		if r.body, err = r.bucket.NewRangeReader(r.ctx, r.key, at, -1, nil); err != nil {
			return 0, err
		}
		r.at = at
		if now := r.body.Size(); now != r.size {
			return 0, fmt.Errorf("the object has changed while it was read: it had %d bytes, and has %d", r.size, now)
		}
	}
	n, err = io.ReadFull(r.body, b[:min(int64(len(b)), r.size-at)])
	r.at += int64(n)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// end ends the request.
func (r *reader) end() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

func (r *reader) Close() error {
	if err := r.end(); err != nil {
		return err
	}
	return r.bucket.Close()
}

// Put implements [object.Store]. The store compares the MD5 of what it has received, if it can. If it does not state the
// MD5 of the object, the object is read again and compared.
func (Store) Put(ctx context.Context, url, path string) error {
	b, key, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer b.Close()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, err := sumOf(f)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := b.Upload(ctx, key, f, &blob.WriterOptions{ContentType: "application/octet-stream", ContentMD5: sum}); err != nil {
		return err
	}
	attributes, err := b.Attributes(ctx, key)
	if err != nil {
		return err
	}
	stored := attributes.MD5
	if len(stored) == 0 {
		r, err := b.NewReader(ctx, key, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		if stored, err = sumOf(r); err != nil {
			return err
		}
	}
	if !bytes.Equal(stored, sum) {
		return fmt.Errorf("the object has the MD5 %x, want %x: write it again", stored, sum)
	}
	return nil
}

// sumOf returns the MD5 of what r has, as stores state it against damage.
func sumOf(r io.Reader) ([]byte, error) {
	h := md5.New()
	_, err := io.Copy(h, r)
	return h.Sum(nil), err
}

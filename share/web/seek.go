package web

import (
	"context"
	"errors"
	"io"

	"github.com/umbel-filters/umbel/share"
)

// seekable returns the content of an object for http.ServeContent, and nil if its size is not known.
// body is the object from its beginning.
func seekable(ctx context.Context, source share.Source, name string, body io.ReadCloser) io.ReadSeeker {
	if s, ok := body.(io.ReadSeeker); ok {
		return s
	}
	s, ok := body.(interface{ Size() int64 })
	if !ok || s.Size() < 0 {
		return nil
	}
	return &content{ctx: ctx, source: source, name: name, size: s.Size(), body: body}
}

// content reads an object from any offset. If that is not where its body is, it requests another
// body.
type content struct {
	ctx    context.Context
	source share.Source
	name   string
	size   int64
	body   io.ReadCloser
	bodyAt int64 // the offset of the next byte of body
	at     int64
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	c.at = offset
	return offset, nil
}

func (c *content) Read(b []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.bodyAt != c.at {
		body, err := c.source.Object(c.ctx, c.name, c.at)
		if err != nil {
			return 0, err
		}
		c.body.Close()
		c.body, c.bodyAt = body, c.at
	}
	n, err := c.body.Read(b)
	c.at += int64(n)
	c.bodyAt = c.at
	return n, err
}

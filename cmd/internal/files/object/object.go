// Package object has files at URLs, such as those in buckets. A program links what opens them, and hands it to its verbs.
package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Object is a file at a URL. Its methods are not safe for concurrent use.
type Object interface {
	io.ReaderAt // reads that follow each other are one request
	io.Closer
	Size() int64
}

// Store has objects.
type Store interface {
	Open(ctx context.Context, url string) (Object, error)
	// Put writes an object with the contents of a file, completely or not at all, and compares what was written.
	Put(ctx context.Context, url, path string) error
}

// Stores are the stores of a program by the schemes of their URLs.
type Stores map[string]Store

// schemes are those of URLs for which package cmd/cloud has a store.
var schemes = []string{"s3", "gs", "azblob"}

// IsURL reports whether a name is not that of a file, but the URL of an object.
func (s Stores) IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (s[scheme] != nil || slices.Contains(schemes, scheme))
}

// Of returns the store of a URL.
func (s Stores) Of(url string) (Store, error) {
	scheme, _, _ := strings.Cut(url, "://")
	if store := s[scheme]; store != nil {
		return store, nil
	}
	return nil, fmt.Errorf("%s: this program has no %s:// URLs; install the one that has: go install "+
		"github.com/umbel-filters/umbel/cmd/cloud/umbel@latest", url, scheme)
}

// Open opens the object at a URL.
func (s Stores) Open(ctx context.Context, url string) (Object, error) {
	store, err := s.Of(url)
	if err != nil {
		return nil, err
	}
	o, err := store.Open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return o, nil
}

// Reader reads an object from its beginning, and closes it.
type Reader struct {
	*io.SectionReader
	io.Closer
}

// NewReader returns a reader of an object.
func NewReader(o Object) Reader { return Reader{io.NewSectionReader(o, 0, o.Size()), o} }

// Pipe returns a pipe that has the contents of an object. wait returns the error of reading the object: without it, the end of the pipe is
// that of the object.
func (s Stores) Pipe(ctx context.Context, url string) (f *os.File, wait func() error, err error) {
	o, err := s.Open(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	f, w, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, o.Close())
	}
	done := make(chan error, 1)
	go func() {
		r := NewReader(o)
		n, err := io.Copy(w, r)
		if err == nil && n < o.Size() {
			err = io.ErrUnexpectedEOF
		}
		done <- errors.Join(err, r.Close(), w.Close())
	}()
	return f, func() error {
		if err := <-done; err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		return nil
	}, nil
}

// Output is where a verb writes its result.
type Output struct {
	Path   string // the file to write
	Finish func(context.Context) error
	Close  func() error // removes what is temporary
}

// Output returns the output for a name. That of a URL is a temporary file, which Finish puts to the URL.
func (s Stores) Output(name string) (Output, error) {
	nothing := func() error { return nil }
	if !s.IsURL(name) {
		return Output{name, func(context.Context) error { return nil }, nothing}, nil
	}
	store, err := s.Of(name)
	if err != nil {
		return Output{}, err
	}
	dir, err := os.MkdirTemp("", "umbel")
	if err != nil {
		return Output{}, err
	}
	path := filepath.Join(dir, "result")
	return Output{path, func(ctx context.Context) error {
		if err := store.Put(ctx, name, path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}, func() error { return os.RemoveAll(dir) }}, nil
}

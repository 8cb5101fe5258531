package member

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/wholefile"
	"golang.org/x/sync/errgroup"
)

// A new member fetches the pieces of the last snapshot of the group to files first, so that a start that was interrupted fetches only what is missing.
// Then it makes its own snapshot of them. The directory of the files exists until the node has a place in the log: see Prepare.

// fetchers is the number of pieces that are fetched at the same time.
const fetchers = 16

func fetchDir(data string) string { return filepath.Join(data, "group-fetch") }

// fetcher reads pieces from files, which it fetches.
type fetcher struct {
	medium sharedlog.Medium
	dir    string
}

func (f *fetcher) path(h hash) string { return filepath.Join(f.dir, hex.EncodeToString(h[:])) }

// get returns the value of a piece's key.
func (f *fetcher) get(ctx context.Context, key string) ([]byte, error) {
	b, err := f.medium.Get(ctx, key)
	if errors.Is(err, sharedlog.ErrNone) {
		err = sentinel.Errorf(umbel.ErrCorrupt, "%s is missing", key)
	}
	return b, err
}

// fetch makes the file of a piece, unless it exists.
func (f *fetcher) fetch(ctx context.Context, h hash) error {
	if _, err := os.Stat(f.path(h)); err == nil {
		return nil
	}
	b, err := f.get(ctx, pieceKey(h))
	if err != nil {
		return err
	}
	if sha256.Sum256(b) != h {
		return sentinel.Errorf(umbel.ErrCorrupt, "piece %x of the snapshot of the group has other bytes than its name says", h)
	}
	return wholefile.Replace(f.path(h), 0o600, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// fetch makes a snapshot in files, which is empty, from one of the group.
func fetch(ctx context.Context, medium sharedlog.Medium, m *manifest, data string, files *snapfile.Dir) error {
	f := &fetcher{medium, fetchDir(data)}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	pieces, err := m.list(ctx, f.get)
	if err != nil {
		return err
	}
	gets, getting := errgroup.WithContext(ctx)
	gets.SetLimit(fetchers)
	for _, h := range pieces {
		gets.Go(func() error { return f.fetch(getting, h) })
	}
	if err := gets.Wait(); err != nil {
		return err
	}
	r := bufio.NewReaderSize(&contents{f: f, rest: pieces}, 1<<20)
	into, err := snapshot.NewImport(files)
	if err != nil {
		return err
	}
	for range m.snapshot.Filters {
		if err := importFilter(ctx, r, into); err != nil {
			return err
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return sentinel.Errorf(umbel.ErrCorrupt, "the snapshot of the group has bytes after its %d filters", m.snapshot.Filters)
	}
	s := m.snapshot
	return into.Publish(ctx, &s)
}

// importFilter reads a filter.
func importFilter(ctx context.Context, r *bufio.Reader, into *snapshot.Import) error {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return short(err)
	}
	var entry []byte
	if entry, err = io.ReadAll(io.LimitReader(r, int64(min(n, 1<<30)))); err != nil || uint64(len(entry)) != n {
		return short(errors.Join(err, io.ErrUnexpectedEOF))
	}
	m, segments, err := snapshot.ReadEntry(entry, recovery.Limits())
	if err != nil {
		return err
	}
	return into.Filter(ctx, m, len(segments), func(i int) ([]byte, error) {
		b := make([]byte, segments[i].Len())
		if segments[i].IsZero() {
			return b, nil
		}
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, short(err)
		}
		if !segments[i].Holds(b) {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "a segment of filter %q in the snapshot of the group is altered", m.Name)
		}
		return b, nil
	})
}

// short returns the error of an end of the contents.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return sentinel.Errorf(umbel.ErrCorrupt, "the snapshot of the group ends within a filter")
	}
	return err
}

// contents reads the pieces one after the other.
type contents struct {
	f    *fetcher
	rest []hash
	file *os.File
}

// Read implements io.Reader.
func (c *contents) Read(b []byte) (int, error) {
	for {
		if c.file != nil {
			n, err := c.file.Read(b)
			if n > 0 || !errors.Is(err, io.EOF) {
				return n, err
			}
			_ = c.file.Close() // it was only read
			c.file = nil
		}
		if len(c.rest) == 0 {
			return 0, io.EOF
		}
		var err error
		if c.file, err = os.Open(c.f.path(c.rest[0])); err != nil {
			return 0, fmt.Errorf("fetched piece: %w", err)
		}
		c.rest = c.rest[1:]
	}
}

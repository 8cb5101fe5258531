package httpcache

import (
	"context"
	"errors"
	"io"
	"sync"
)

// errGone is the error of a body that has been removed from the store.
var errGone = errors.New("the stored body has been removed")

// errUnread ends the download of a body that is not stored and that nobody reads any more.
var errUnread = errors.New("nobody reads the body")

// waiting is the number of bytes that may wait for the slowest reader of a body that is not stored.
const waiting = 256 << 10

// spool is the body of one answer of the origin while it arrives. Any number of clients read it from its beginning.
// As long as it may be stored, a keeper has all bytes, and slow clients do not slow down the download. If it turns out
// to be too long for the store, or if the disk is full, the rest passes through a buffer of fixed size, and the
// download goes at the speed of the slowest client.
type spool struct {
	keep  keeper
	limit int64 // of bytes in keep

	mu      sync.Mutex
	changed sync.Cond
	kept    int64  // bytes in keep
	whole   bool   // keep has, and will have, all bytes
	keepErr error  // why keep did not take bytes, nil if they were too many
	rest    []byte // bytes after those in keep, without those that all readers have read
	restAt  int64  // offset of rest
	readers map[*spoolReader]struct{}
	sealed  bool // no reader can begin: bytes have been dropped
	ended   bool
	err     error // with which it ended, or nil
	closed  bool
}

// newSpool returns the spool of a body. At most limit bytes may be kept, and nothing without a keeper.
func newSpool(keep keeper, limit int64) *spool {
	s := &spool{keep: keep, limit: limit, whole: keep != nil, readers: map[*spoolReader]struct{}{}}
	s.changed.L = &s.mu
	return s
}

// Write appends bytes. It waits for readers if the body is not kept. The error is errUnread if nobody needs the rest.
func (s *spool) Write(p []byte) (int, error) {
	if s.keeps(len(p)) {
		n, err := s.keep.Write(p)
		if err == nil {
			s.mu.Lock()
			s.kept += int64(n)
			s.changed.Broadcast()
			s.mu.Unlock()
			return n, nil
		}
		s.mu.Lock()
		s.keepErr = err
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole || s.rest == nil {
		s.whole, s.restAt = false, s.kept
	}
	for n := 0; n < len(p); {
		for len(s.rest) >= waiting && len(s.readers) > 0 {
			s.changed.Wait()
		}
		if len(s.readers) == 0 {
			return n, errUnread
		}
		part := p[n:min(len(p), n+waiting-len(s.rest))]
		s.rest = append(s.rest, part...)
		n += len(part)
		s.changed.Broadcast()
	}
	return len(p), nil
}

// keeps reports whether the next n bytes go to the keeper.
func (s *spool) keeps(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole && s.kept+int64(n) <= s.limit
}

// isWhole reports whether the keeper has all bytes so far.
func (s *spool) isWhole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// fault returns why the keeper did not take bytes, or nil.
func (s *spool) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keepErr
}

// end ends the body. Readers get err after the last byte, or io.EOF if it is nil.
func (s *spool) end(err error) {
	s.mu.Lock()
	s.ended, s.err = true, err
	s.changed.Broadcast()
	s.mu.Unlock()
	s.closeKeeper()
}

// closeKeeper closes the keeper when nobody writes or reads.
func (s *spool) closeKeeper() {
	s.mu.Lock()
	last := s.keep != nil && s.ended && !s.closed && len(s.readers) == 0
	s.closed = s.closed || last
	s.mu.Unlock()
	if last {
		s.keep.close()
	}
}

// reader returns a reader from the beginning. Without ok the beginning is no longer there.
func (s *spool) reader() (r *spoolReader, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sealed || s.closed || s.ended && s.err != nil {
		return nil, false
	}
	r = &spoolReader{spool: s, ctx: context.Background(), stop: func() bool { return true }}
	s.readers[r] = struct{}{}
	return r, true
}

// spoolReader reads a spool. One goroutine uses it.
type spoolReader struct {
	spool *spool
	ctx   context.Context // of the client
	stop  func() bool
	at    int64 // offset of the next byte; other readers see it with the lock of the spool
}

// during makes Read return when a context is done.
func (r *spoolReader) during(ctx context.Context) {
	s := r.spool
	r.ctx = ctx
	r.stop = context.AfterFunc(ctx, func() {
		s.mu.Lock()
		s.changed.Broadcast()
		s.mu.Unlock()
	})
}

// Read waits for bytes until the context is done.
func (r *spoolReader) Read(p []byte) (int, error) {
	s := r.spool
	s.mu.Lock()
	for r.at >= s.kept && r.at >= s.restAt+int64(len(s.rest)) && !s.ended && r.ctx.Err() == nil {
		s.changed.Wait()
	}
	switch kept := s.kept; {
	case r.ctx.Err() != nil:
		s.mu.Unlock()
		return 0, r.ctx.Err()
	case r.at < kept:
		s.mu.Unlock()
		n, err := s.keep.ReadAt(p[:min(int64(len(p)), kept-r.at)], r.at)
		s.mu.Lock()
		r.at += int64(n)
		s.mu.Unlock()
		if n > 0 {
			err = nil
		}
		return n, err
	case r.at < s.restAt+int64(len(s.rest)):
		n := copy(p, s.rest[r.at-s.restAt:])
		r.at += int64(n)
		s.dropRead()
		s.mu.Unlock()
		return n, nil
	}
	err := s.err
	s.mu.Unlock()
	if err == nil {
		err = io.EOF
	}
	return 0, err
}

// caughtUp reports whether Read would wait: then what the client has not received yet has to be flushed.
func (r *spoolReader) caughtUp() bool {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && r.at >= s.kept && r.at >= s.restAt+int64(len(s.rest))
}

// Close ends reading.
func (r *spoolReader) Close() error {
	r.stop()
	s := r.spool
	s.mu.Lock()
	delete(s.readers, r)
	s.dropRead()
	s.changed.Broadcast()
	s.mu.Unlock()
	s.closeKeeper()
	return nil
}

// dropRead drops the bytes of rest that all readers have read.
func (s *spool) dropRead() {
	if len(s.rest) == 0 || len(s.readers) == 0 {
		return
	}
	least := s.restAt + int64(len(s.rest))
	for r := range s.readers {
		least = min(least, r.at)
	}
	if least <= s.restAt {
		return
	}
	n := copy(s.rest, s.rest[least-s.restAt:])
	s.rest, s.restAt, s.sealed = s.rest[:n], least, true
	s.changed.Broadcast()
}

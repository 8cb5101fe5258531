package wal

import (
	"errors"
	"io"
	"slices"
)

// window reads a file in large pieces.
type window struct {
	file io.ReaderAt
	buf  []byte
	at   int64 // offset of buf
	n    int   // bytes in buf
}

const windowBytes = 256 << 10

// peek returns n bytes at an offset, or fewer at the end of the file. They are valid until the next
// call.
func (w *window) peek(offset int64, n int) ([]byte, error) {
	if offset >= w.at && offset+int64(n) <= w.at+int64(w.n) {
		return w.buf[offset-w.at:][:n], nil
	}
	if want := max(n, windowBytes); len(w.buf) < want {
		w.buf = make([]byte, want)
	}
	got, err := w.file.ReadAt(w.buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	w.at, w.n = offset, got
	return w.buf[:min(n, got)], nil
}

// scanner finds the whole frames of a segment, in their order, damaged bytes between them
// notwithstanding.
type scanner struct {
	window
	salt   uint32
	offset int64 // of the next frame, or where it should be
	// bad is why the bytes at the end of the last frame are not a frame, nil if they are one or
	// nothing. begun reports that a header was whole among the bytes that were passed over.
	bad   error
	begun bool
	lost  scopes // scopes that were passed over without their frames

	pending uint64 // index of scope; 0 if there is none
	scope   []byte // of the frame that should come next
}

func newScanner(file io.ReaderAt, s *segment) *scanner {
	return &scanner{window: window{file: file}, salt: s.salt, offset: segmentHeader, lost: make(scopes)}
}

// orphan notes that the frame of the last scope did not follow.
func (s *scanner) orphan() {
	if s.pending != 0 {
		s.lost.add(s.pending, slices.Clone(s.scope))
		s.pending = 0
	}
}

// found is a whole frame and the link to it.
type found struct {
	frame
	link link
}

// next returns the next whole frame, and false at the end of the file. If bytes that are not a frame
// precede it, bad says why. Data is valid until the next call.
func (s *scanner) next() (found, bool, error) {
	s.bad, s.begun = nil, false
	for {
		b, err := s.peek(s.offset, headerBytes)
		if err != nil || len(b) < headerBytes {
			s.orphan()
			return found{}, false, err
		}
		if isScope(b) {
			ok, err := s.readScope(b)
			if err != nil {
				return found{}, false, err
			}
			if ok {
				continue
			}
		}
		_, n, err := parseHeader(b, s.salt)
		if err == nil {
			s.begun = true
			b, err = s.peek(s.offset, headerBytes+n+sumBytes)
			if err != nil {
				return found{}, false, err
			}
			var f frame
			var l link
			if f, l, err = parseFrame(b, s.salt); err == nil {
				if s.pending != f.index {
					s.orphan()
				}
				s.pending = 0
				s.offset += frameBytes(n)
				return found{f, l}, true, nil
			}
		}
		if s.bad == nil {
			s.bad = err
		}
		if err := s.skip(); err != nil {
			return found{}, false, err
		}
	}
}

// readScope reads a scope that may begin at offset, and moves behind it if it is whole.
func (s *scanner) readScope(b []byte) (ok bool, err error) {
	n, bad := scopeLength(b)
	if bad != nil {
		return false, nil
	}
	if b, err = s.peek(s.offset, n); err != nil || len(b) < n {
		return false, err
	}
	index, scope, bad := parseScope(b, s.salt)
	if bad != nil {
		return false, nil
	}
	s.orphan()
	s.pending, s.scope, s.begun = index, append(s.scope[:0], scope...), true
	s.offset += scopeBytes(len(scope))
	return true, nil
}

// skip moves to the next place where a frame or a scope may begin, or behind the end of the file.
func (s *scanner) skip() error {
	s.offset += align
	for {
		b, err := s.peek(s.offset, headerBytes)
		if err != nil || len(b) < headerBytes {
			return err
		}
		b = s.buf[s.offset-s.at : s.n]
		i := 0
		for ; i+headerBytes <= len(b); i += align {
			if first := [3]byte(b[i:]); first == magic || first == scopeMagic {
				s.offset += int64(i)
				return nil
			}
		}
		s.offset += int64(i)
	}
}

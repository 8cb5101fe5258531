package nats

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

const (
	// partsHeader describes a large object: its ID, its bytes, and the bytes of a part.
	partsHeader = "Umbel-Parts"
	// maxPart is the maximum number of bytes of a part.
	maxPart = 512 << 10
	// readAhead is the number of parts that are requested at once.
	readAhead = 4
)

// Object returns the bytes of an object from the offset on. The result has a method Size() int64, which
// returns the bytes of the whole object.
func (s *Source) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := share.CheckObject(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	b, ok := s.objects[name]
	s.mu.Unlock()
	if ok {
		return newSmall(b, offset)
	}
	m, err := s.get(ctx, s.o.object(name), 0)
	if err != nil {
		return nil, err
	}
	large := m.header.Get(partsHeader)
	if large == "" {
		return newSmall(m.data, offset)
	}
	id, size, part, err := parseParts(large)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	return &parts{s: s, ctx: ctx, cancel: cancel, id: id, size: size, part: part, pos: min(offset, size), next: offset / part, width: 1}, nil
}

// small is the body of an object that is in memory.
type small struct{ *bytes.Reader }

func newSmall(b []byte, offset int64) (small, error) {
	r := small{bytes.NewReader(b)}
	_, err := r.Seek(offset, io.SeekStart)
	return r, err
}

func (small) Close() error { return nil }

func formatParts(id string, size, part int64) string { return fmt.Sprintf("%s %d %d", id, size, part) }

// parseParts parses the description of a large object.
func parseParts(s string) (id string, size, part int64, err error) {
	f := strings.Split(s, " ")
	if len(f) == 3 {
		id = f[0]
		size, err = strconv.ParseInt(f[1], 10, 64)
		if err == nil {
			part, err = strconv.ParseInt(f[2], 10, 64)
		}
	}
	if len(f) != 3 || err != nil || size < 0 || part < 1 || part > maxPart || !isID(id) || formatParts(id, size, part) != s {
		return "", 0, 0, sentinel.Errorf(share.ErrCorrupt, "parts %.80q, want an ID, the bytes of the object and at most %d of a part", s, maxPart)
	}
	return id, size, part, nil
}

// parts is the body of a large object.
type parts struct {
	s          *Source
	ctx        context.Context
	cancel     context.CancelFunc
	id         string
	size, part int64
	pos        int64 // of the next byte
	next       int64 // the next part to request
	width      int   // the number of parts to request at once; it grows, since a reader may want only one
	pending    []chan reply
	rest       []byte // of the part that arrived last
	err        error  // after which nothing is read
}

// reply is a part or why there is none.
type reply struct {
	data []byte
	err  error
}

// Size returns the bytes of the whole object.
func (p *parts) Size() int64 { return p.size }

func (p *parts) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		if p.pos >= p.size {
			return 0, io.EOF
		}
		if p.err == nil {
			p.err = p.receive()
		}
		if p.err != nil {
			return 0, p.err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	p.pos += int64(n)
	return n, nil
}

// receive waits for the part with the byte at pos.
func (p *parts) receive() error {
	for len(p.pending) < p.width && p.next*p.part < p.size {
		c, subject := make(chan reply, 1), p.s.o.part(p.id, p.next)
		go func() {
			m, err := p.s.get(p.ctx, subject, 0)
			if err != nil {
				c <- reply{err: err}
				return
			}
			c <- reply{data: m.data}
		}()
		p.pending = append(p.pending, c)
		p.next++
	}
	r := <-p.pending[0]
	p.pending = p.pending[1:]
	p.width = min(p.width+1, readAhead)
	if r.err != nil {
		return r.err
	}
	number := p.pos / p.part
	if want := min(p.part, p.size-number*p.part); int64(len(r.data)) != want {
		return sentinel.Errorf(share.ErrCorrupt, "%s has %d bytes, want %d", p.s.o.part(p.id, number), len(r.data), want)
	}
	p.rest = r.data[p.pos-number*p.part:]
	return nil
}

// Close ends the requests.
func (p *parts) Close() error {
	p.cancel()
	return nil
}

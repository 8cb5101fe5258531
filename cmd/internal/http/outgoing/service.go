// Package outgoing makes containers of filters that leave the server: for HTTP, which sends them while the
// filters change, and for replies of Redis' protocol.
package outgoing

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/wire"
)

// Form is an encoding of a container.
type Form string

// Forms of a container: the one whose hash is the ID, and the smallest one.
const (
	Canonical Form = ""
	Packed    Form = api.FormPacked
)

// Service makes the containers that are being sent. A filter changes while its container is sent to
// a slow client, so the container is made from a copy of one moment. All requests for one version
// share a copy; it is discarded after the last one. One copy of a filter is made at a time; requests
// for a newer version wait for it and then share the next. The files of all copies together have a
// budget, so that slow readers cannot fill the disk.
type Service struct {
	dir  disk.Dir
	disk *budget.Budget

	mu     sync.Mutex
	open   map[copyKey]*Copy
	making map[uint64]chan struct{} // by filter; closed when its copy was made
	ids    map[uint64]idOf          // by filter
}

type copyKey struct {
	filter, version uint64
	form            Form
}

// Copy is a container of a filter as it was at one moment.
type Copy struct {
	ID   wire.ID
	Size int64 // bytes
	io.ReaderAt

	service *Service
	key     copyKey
	cancel  context.CancelFunc // ends the making
	ready   chan struct{}      // closed when err and the fields above are set
	err     error

	// Guarded by Service.mu.
	users int
	made  bool
}

// ErrNoRoom means that the disk, or the budget of a Service, has no room for a copy of a filter now.
var ErrNoRoom = errors.New("no room for a copy of the filter")

// New returns a service. The files of its copies are in dir, and their sizes are taken from a budget
// (nil: no limit).
func New(dir disk.Dir, limit *budget.Budget) *Service {
	return &Service{dir: dir, disk: limit, open: map[copyKey]*Copy{}, making: map[uint64]chan struct{}{}, ids: map[uint64]idOf{}}
}

// Acquire returns a container of the filter of this moment or a little later. The caller must
// release it. The error wraps ErrNoRoom if there is no room for the copy.
func (s *Service) Acquire(ctx context.Context, f *engine.Filter, form Form) (*Copy, error) {
	k, err := s.join(ctx, f, form)
	if err != nil {
		return nil, err
	}
	select {
	case <-k.ready:
	case <-ctx.Done():
		k.Release()
		return nil, ctx.Err()
	}
	if k.err != nil {
		err := k.err
		k.Release()
		return nil, err
	}
	return k, nil
}

// join returns a copy of the current version, which may still be being made. It waits while another
// copy of the filter is made.
func (s *Service) join(ctx context.Context, f *engine.Filter, form Form) (*Copy, error) {
	for {
		key := copyKey{f.ID(), f.Version(), form}
		s.mu.Lock()
		if k := s.open[key]; k != nil {
			k.users++
			s.mu.Unlock()
			return k, nil
		}
		busy := s.making[key.filter]
		if busy == nil {
			k := s.start(f, key)
			s.mu.Unlock()
			return k, nil
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// start begins to make a copy with one user. The caller must hold s.mu.
func (s *Service) start(f *engine.Filter, key copyKey) *Copy {
	making, cancel := context.WithCancel(context.Background()) // other requests may share the copy
	k := &Copy{service: s, key: key, cancel: cancel, ready: make(chan struct{}), users: 1}
	done := make(chan struct{})
	s.open[key], s.making[key.filter] = k, done
	go func() {
		defer cancel()
		k.err = s.fill(making, k, f)
		s.mu.Lock()
		k.made = true
		abandoned := k.users == 0
		delete(s.making, key.filter)
		s.mu.Unlock()
		if abandoned {
			discard(k.ReaderAt)
		}
		close(k.ready)
		close(done)
	}()
	return k
}

// Release ends the use of a copy. If nobody uses it any more, its making ends or its data is discarded.
func (k *Copy) Release() {
	s := k.service
	s.mu.Lock()
	k.users--
	last, made := k.users == 0, k.made
	if last && s.open[k.key] == k {
		delete(s.open, k.key)
	}
	s.mu.Unlock()
	switch {
	case last && made:
		discard(k.ReaderAt)
	case last:
		k.cancel()
	}
}

// fill makes the copy.
func (s *Service) fill(ctx context.Context, k *Copy, f *engine.Filter) (err error) {
	defer f.CatchFault(&err)
	src, err := s.source(ctx, f)
	if err != nil {
		return err
	}
	defer src.close()
	if err := s.write(ctx, k, src); err != nil {
		return err
	}
	if f.Version() == k.key.version {
		s.setID(f, idOf{k.key.version, k.ID})
		return nil
	}
	// The copy is newer than its key. It is used for the requests that wait for it, and not for others.
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[k.key] == k {
		delete(s.open, k.key)
	}
	return nil
}

// maxIDs is the number of filters whose IDs are cached.
const maxIDs = 4096

// idOf is the ID of one version of a filter.
type idOf struct {
	version uint64
	id      wire.ID
}

// ID returns the ID of the filter if it is cached for the current version.
func (s *Service) ID(f *engine.Filter) (wire.ID, bool) {
	version := f.Version()
	s.mu.Lock()
	defer s.mu.Unlock()
	is, ok := s.ids[f.ID()]
	return is.id, ok && is.version == version
}

// setID caches an ID. If there are too many, it replaces any other.
func (s *Service) setID(f *engine.Filter, is idOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.ids[f.ID()]; !known && len(s.ids) >= maxIDs {
		for other := range s.ids {
			delete(s.ids, other)
			break
		}
	}
	s.ids[f.ID()] = is
}

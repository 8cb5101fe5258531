package share

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Memory is a store in memory, for tests and for programs that serve a publication themselves. Its
// zero value is empty. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	records map[string][]byte
	objects map[string][]byte
	changed chan struct{} // closed when a record changes
}

// Record returns a record.
func (m *Memory) Record(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.records[name]
	if !ok {
		return nil, fmt.Errorf("record %s: %w", name, ErrNotFound)
	}
	return b, nil
}

// WatchRecord returns a record when it differs from last.
func (m *Memory) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	for {
		m.mu.Lock()
		b, ok := m.records[name]
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.mu.Unlock()
		if ok && !bytes.Equal(b, last) {
			return b, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// PutRecord replaces a record.
func (m *Memory) PutRecord(ctx context.Context, name string, data []byte) error {
	if err := cmp.Or(ctx.Err(), CheckRecord(name)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = make(map[string][]byte)
	}
	m.records[name] = bytes.Clone(data)
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
	return nil
}

// Object returns the bytes of an object.
func (m *Memory) Object(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return nil, fmt.Errorf("object %s: %w", name, ErrNotFound)
	}
	r := memoryObject{bytes.NewReader(b)}
	_, err := r.Seek(offset, io.SeekStart)
	return r, err
}

type memoryObject struct{ *bytes.Reader }

func (memoryObject) Close() error { return nil }

// Objects yields the names of all objects.
func (m *Memory) Objects(context.Context) iter.Seq2[string, error] {
	m.mu.Lock()
	names := slices.Collect(maps.Keys(m.objects))
	m.mu.Unlock()
	return func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// Remove removes an object.
func (m *Memory) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// NewObject begins an object.
func (m *Memory) NewObject(context.Context) (Upload, error) { return &memoryUpload{m: m}, nil }

type memoryUpload struct {
	bytes.Buffer
	m *Memory
}

func (u *memoryUpload) Commit(ctx context.Context, name string) error {
	if err := cmp.Or(ctx.Err(), CheckObject(name)); err != nil {
		return err
	}
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	if u.m.objects == nil {
		u.m.objects = make(map[string][]byte)
	}
	u.m.objects[name] = u.Bytes()
	return nil
}

func (u *memoryUpload) Close() error { return nil }

package mediumtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// Memory is a medium in memory. The zero value is empty. Its methods do not wait.
type Memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

var _ sharedlog.Medium = (*Memory)(nil)

func (m *Memory) Put(_ context.Context, key string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[key]; ok {
		return fmt.Errorf("%s: %w", key, sharedlog.ErrExists)
	}
	m.set(key, data)
	return nil
}

// Set replaces the value of a key, as no medium of a group does.
func (m *Memory) Set(key string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, data)
}

func (m *Memory) set(key string, data []byte) {
	if m.values == nil {
		m.values = make(map[string][]byte)
	}
	m.values[key] = bytes.Clone(data)
}

func (m *Memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.values[key]
	if !ok {
		return nil, fmt.Errorf("%s: %w", key, sharedlog.ErrNone)
	}
	return bytes.Clone(b), nil
}

func (m *Memory) List(_ context.Context, prefix string) (all []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.values {
		if strings.HasPrefix(key, prefix) {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all, nil
}

func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

// Copy returns a copy of what m has now.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{values: maps.Clone(m.values)}
}

// Restore makes m have what another medium has.
func (m *Memory) Restore(from *Memory) {
	other := from.Copy()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = other.values
}

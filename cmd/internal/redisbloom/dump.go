package redisbloom

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// Type is what TYPE answers for a filter: RedisBloom's types where it is of one, and the name
// of its kind otherwise.
func (m *Module) Type(f *engine.Filter) string {
	switch kind := f.Kind(); kind {
	case redisbloom.Name:
		return moduleName
	case CuckooName:
		return "MBbloomCF"
	default:
		return kind
	}
}

// Dump returns DUMP's payload, which RedisBloom's RESTORE takes. The error wraps
// errors.ErrUnsupported for filters of other kinds, and engine.ErrNotFound if it is gone; it
// says what is wrong with one of another hasher, or half loaded.
func (m *Module) Dump(f *engine.Filter) ([]byte, error) {
	if f.Incomplete() {
		return nil, errLoading
	}
	var payload []byte
	var err error
	gone := f.View(func(f umbel.Filter) {
		own, ok := f.(*redisbloom.Filter)
		if !ok {
			err = fmt.Errorf("it isn't a filter of RedisBloom's: %w", errors.ErrUnsupported)
		} else if err = notPortable(own.Hasher()); err == nil {
			payload = appendPayload(nil, own.State())
		}
	})
	return payload, errors.Join(gone, err)
}

// Restore makes a filter of RESTORE's payload: see keyspace.Dumper. The error wraps
// engine.ErrExists, or its text is the reply.
func (m *Module) Restore(name string, payload []byte, replace bool, expires int64) (engine.Position, error) {
	if !replace && m.engine.Get([]byte(name)) != nil {
		return 0, fmt.Errorf("%q: %w", name, engine.ErrExists)
	}
	hold := m.engine.NewReservation()
	defer hold.Release()
	own, err := parsePayload(payload, m.memoryLeft(), hold.Take)
	if err != nil {
		return 0, badPayload(err)
	}
	hold.Release() // it is the engine's
	f, pos, err := m.engine.Put(name, own, replace, false)
	if err != nil || expires == 0 {
		return pos, err
	}
	later, err := f.Expire(expires)
	return max(pos, later), err
}

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
	case redisbloom.Kind:
		return moduleName
	case CuckooKind:
		return "MBbloomCF"
	default:
		return kind
	}
}

// Dump returns DUMP's payload, which RedisBloom's RESTORE takes. The error wraps
// errors.ErrUnsupported for filters of other kinds, of another hasher, or half loaded, and
// engine.ErrNotFound if it is gone.
func (m *Module) Dump(f *engine.Filter) ([]byte, error) {
	if f.Hidden() {
		return nil, errors.New(loading[len("ERR "):])
	}
	var payload []byte
	err := fmt.Errorf("a filter of kind %s isn't one of RedisBloom's: %w", f.Kind(), errors.ErrUnsupported)
	gone := f.View(func(f umbel.Filter) {
		own, ok := f.(*redisbloom.Filter)
		switch {
		case !ok:
		case own.Hasher() != redisbloom.RedisHasher:
			err = fmt.Errorf("%w: %w", notPortable(fmt.Errorf("this one hashes with %v", own.Hasher().Alg)), errors.ErrUnsupported)
		default:
			payload, err = appendPayload(nil, own.State()), nil
		}
	})
	if gone != nil {
		return nil, gone
	}
	return payload, err
}

// Restore makes a filter of RESTORE's payload: see keyspace.Dumper. The error wraps
// engine.ErrExists, or its text is the reply.
func (m *Module) Restore(name string, payload []byte, replace bool, expires int64) (engine.Position, error) {
	if !replace && m.engine.Get([]byte(name)) != nil {
		return 0, fmt.Errorf("%q: %w", name, engine.ErrExists)
	}
	own, err := parsePayload(payload, m.memoryLeft())
	if err != nil {
		return 0, badPayload(err)
	}
	f, pos, err := m.engine.Put(name, own, replace, false)
	if err != nil || expires == 0 {
		return pos, err
	}
	later, err := f.Expire(expires)
	return max(pos, later), err
}

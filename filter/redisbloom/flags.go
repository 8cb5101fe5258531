package redisbloom

import (
	"errors"
	"fmt"
)

// flags are the options in a dump's header.
type flags uint32

const (
	noRound    flags = 1 // bits aren't rounded up to a power of two
	entsIsBits flags = 2 // capacities are given in bits
	force64    flags = 4 // the hash has 64 bits
	noScaling  flags = 8 // no layer but the first
	allFlags         = noRound | entsIsBits | force64 | noScaling
	scaling          = noRound | force64
	nonScaling       = noRound | force64 | noScaling
)

func (o flags) fixed() bool { return o&noScaling != 0 }

// check returns an error unless filters with these flags are known; it wraps
// errors.ErrUnsupported where it is RedisBloom that knows them.
func (o flags) check() error {
	switch {
	case o&^allFlags != 0:
		return fmt.Errorf("redisbloom: options %d, want those of %d", o, allFlags)
	case o&force64 == 0 || o&entsIsBits != 0:
		return fmt.Errorf("redisbloom: options %d: a filter with a hash of 32 bits, or with capacities in bits: %w", o, errors.ErrUnsupported)
	}
	return nil
}

package squid

import (
	"errors"

	"github.com/umbel-filters/umbel"
)

// DigestOf returns the cache digest of some keys with the given capacity and bits per entry; Squid's own digests have
// [DefaultBits]. It returns an error wrapping umbel.ErrGoal if no digest has these numbers, and one that wraps
// ErrOverfull as well, with the digest, if Squid would refuse it.
func DigestOf(keys []umbel.Digest, capacity uint32, bitsPerEntry uint8) (Digest, error) {
	n, err := maskSize(capacity, bitsPerEntry)
	if err != nil {
		return Digest{}, err
	}
	f, err := NewShape(Shape{M: 8 * n, Hasher: Hasher})
	if err != nil {
		return Digest{}, err
	}
	f.AddAll(nil, keys)
	d, err := f.Digest()
	if err != nil && !errors.Is(err, ErrOverfull) {
		return Digest{}, err
	}
	d.Capacity, d.Count, d.BitsPerEntry = capacity, uint32(len(keys)), bitsPerEntry
	return d, d.Check()
}

// TolerantOf returns the [Digest.Tolerant] digest of some keys with the least bits per entry with which its false-positive
// rate is at most that of a Squid's own digest of these keys. The errors are those of [DigestOf].
func TolerantOf(keys []umbel.Digest, capacity uint32) (Digest, error) {
	own, err := DigestOf(keys, capacity, DefaultBits)
	if err != nil {
		return own, err
	}
	for b := uint8(DefaultBits); ; b++ {
		d, err := DigestOf(keys, capacity, b)
		if err != nil {
			return d, err
		}
		d = d.Tolerant()
		if err = d.Check(); b == maxBits || err == nil && d.Fill() <= own.Fill() {
			return d, err
		}
	}
}

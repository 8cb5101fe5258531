package squid

import (
	"bytes"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The receiver of a digest in Squid up to version 7 has an error (Squid's bug 5510). After the control block,
// it moves too few of the bytes that it read together with the block. If this first read contained f bytes, it
// keeps the mask byte i-128 instead of byte i, for 128 <= i < f-128. A read has at most 4096 bytes, so f is at
// most 4096. Which f it is depends on the network.
const (
	shift     = BlockBytes
	firstRead = 4096
	shiftedTo = firstRead - BlockBytes
)

// Tolerant returns a copy of d in which queries of a Squid with bug 5510 have no false negatives: each mask byte
// i-128 also has the bits of byte i, for 128 <= i < 3968. So it doesn't matter which of the two the receiver
// keeps, and all keys of d are present for receivers with and without the error. The price is a higher
// false-positive rate, in small digests more than in large ones. The fill ratio may exceed [MaxFill]: then
// Check fails, and the digest needs more bits per entry.
func (d Digest) Tolerant() Digest {
	mask := append(make([]byte, 0, len(d.Mask)), d.Mask...)
	for i := shift; i < min(len(mask), shiftedTo); i++ {
		mask[i-shift] |= d.Mask[i]
	}
	d.Mask = mask
	return d
}

// Unfold returns d with its mask u times in a row, at 8 bits per entry: it has the same keys, fill ratio and
// false-positive rate as d. The error wraps umbel.ErrGoal if u is 0 or the mask would be longer than MaxMask.
func (d Digest) Unfold(u int) (Digest, error) {
	n := len(d.Mask)
	if u < 1 || n > 0 && u > MaxMask/n {
		return Digest{}, sentinel.Errorf(umbel.ErrGoal,
			"squid: a mask of %d bytes does not unfold by %d, want a factor of at least 1 and at most %d bytes", n, u, MaxMask)
	}
	if u == 1 {
		return d, nil
	}
	d.Mask = bytes.Repeat(d.Mask, u)
	d.Capacity, d.BitsPerEntry = uint32(len(d.Mask)), 8
	return d, nil
}

const (
	// relayedRate is the largest factor by which a relayed digest may have a higher false-positive rate.
	relayedRate = 1.25
	// relayedBytes is the length of mask up to which a digest is unfolded to be relayed.
	relayedBytes = 1 << 20
)

// Relayed returns d in a form for Squids with and without bug 5510 that does not need the keys of d: the
// tolerant form of an unfold. The first 3968 bytes of the tolerant form have more bits; they are a smaller
// part of an unfolded mask. The factor is the least power of two with which every Squid accepts the digest and
// its false-positive rate is at most 1.25 times that of d: a digest of 1,283 bytes becomes one of 41,056. The
// error is that of [Digest.Check] for d, or for the tolerant form if no mask of up to 1 MiB suffices.
func (d Digest) Relayed() (Digest, error) {
	if err := d.Check(); err != nil {
		return Digest{}, err
	}
	limit := math.Pow(d.Fill(), K) * relayedRate
	for u := 1; ; u *= 2 {
		larger, err := d.Unfold(u)
		if err != nil {
			return Digest{}, err
		}
		t := larger.Tolerant()
		err = t.Check()
		last := 2*len(t.Mask) > relayedBytes
		switch {
		case err == nil && (last || math.Pow(t.Fill(), K) <= limit):
			return t, nil
		case last:
			return Digest{}, err
		}
	}
}

package squid

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

//go:build amd64 && !purego && !race

package entropy

// extractWords is extractPlain for room words of dst and n of src and mask, except that it
// returns the number of words left, and also writes the bits that don't fill a word.
//
//go:noescape
func extractWords(dst *uint64, room int, src, mask *uint64, n int) (left int, at, partial uint64)

// depositWords is depositPlain for n words of dst and mask and more+1 of src, except that it
// returns the number of words left.
//
//go:noescape
func depositWords(dst, src *uint64, more int, mask *uint64, n int) (left int, at uint64)

func extract(dst, src, mask []uint64) (done int, at, partial uint64) {
	if !haveKernels || len(mask) == 0 || len(dst) == 0 {
		return extractPlain(dst, src, mask)
	}
	left, at, partial := extractWords(&dst[0], len(dst), &src[0], &mask[0], len(mask))
	return len(mask) - left, at, partial
}

func deposit(dst, src, mask []uint64) (done int, at uint64) {
	if !haveKernels || len(mask) == 0 || len(src) == 0 {
		return depositPlain(dst, src, mask)
	}
	left, at := depositWords(&dst[0], &src[0], len(src)-1, &mask[0], len(mask))
	return len(mask) - left, at
}

package mem

// Large arrays are copied and cleared in pieces, so that the collector does not have to wait for it.
//
// The collector stops all goroutines twice per cycle, and the runtime cannot stop one within copy and clear:
// they are single calls of assembly. While one copied 256 MiB, all others waited, on a busy machine for
// seconds. Copy and Clear can be stopped after each piece.

// Piece is the number of words that are copied or cleared at once, 2 MiB. That takes less than a millisecond,
// and copy bypasses the caches, as it does for larger sizes: half as large pieces take half as long again.
const Piece = 1 << 18

// Copy copies the words of src to dst, which has at least as many. They may share no memory.
func Copy(dst, src []uint64) {
	for len(src) > Piece {
		copyPiece(dst, src[:Piece])
		dst, src = dst[Piece:], src[Piece:]
	}
	copy(dst, src)
}

// Clear sets all words to zero.
func Clear(words []uint64) {
	for len(words) > Piece {
		clearPiece(words[:Piece])
		words = words[Piece:]
	}
	clear(words)
}

// The runtime stops a goroutine where a function begins. If these were inlined, it could only stop the few
// instructions between two pieces.

//go:noinline
func copyPiece(dst, src []uint64) { copy(dst, src) }

//go:noinline
func clearPiece(words []uint64) { clear(words) }

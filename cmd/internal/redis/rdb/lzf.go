package rdb

import (
	"errors"
	"fmt"
)

// LZF (Lehmann 2000) is Redis' compression of strings. A byte c < 32 is followed by c+1 literal bytes.
// Another byte c means that n bytes are repeated from d+1 bytes before, where
//
//	n-2 = c>>5, plus the next byte if that is 7; d = (c&31)<<8 + the following byte.
const (
	lzfLiteral  = 32      // longest run of literals
	lzfRepeat   = 264     // longest repetition, encoded in 3 bytes
	lzfDistance = 1 << 13 // repetitions are closer than this
	lzfHashBits = 13
)

var errLZF = errors.New("packed string is cut or wrong")

// unLZF appends the n decompressed bytes of src to dst. It allocates memory only as src is
// decoded.
func unLZF(dst, src []byte, n uint64) ([]byte, error) {
	if n > uint64(len(src))*lzfRepeat/3+lzfRepeat {
		return dst, fmt.Errorf("%d bytes can't unpack to %d: %w", len(src), n, errLZF)
	}
	start := len(dst)
	for len(src) > 0 {
		c := int(src[0])
		src = src[1:]
		if c < lzfLiteral {
			if len(src) <= c {
				return dst, errLZF
			}
			dst, src = append(dst, src[:c+1]...), src[c+1:]
			continue
		}
		length := c >> 5
		if length == 7 {
			if len(src) == 0 {
				return dst, errLZF
			}
			length += int(src[0])
			src = src[1:]
		}
		if len(src) == 0 {
			return dst, errLZF
		}
		from := len(dst) - (c&31<<8 + int(src[0])) - 1
		src = src[1:]
		if from < start {
			return dst, errLZF
		}
		for i := range length + 2 {
			dst = append(dst, dst[from+i])
		}
		if uint64(len(dst)-start) > n {
			return dst, errLZF
		}
	}
	if uint64(len(dst)-start) != n {
		return dst, fmt.Errorf("a packed string of %d bytes, want %d: %w", len(dst)-start, n, errLZF)
	}
	return dst, nil
}

// lzf appends src compressed to dst; ok is false if that needs more than most bytes.
func lzf(dst, src []byte, most int) ([]byte, bool) {
	var last [1 << lzfHashBits]int32 // where three bytes of that hash were seen last, plus 1
	start, literals := len(dst), 0   // literals: the bytes before i that aren't written yet
	flush := func(i int) {
		for run := src[i-literals : i]; len(run) > 0; {
			n := min(len(run), lzfLiteral)
			dst = append(append(dst, byte(n-1)), run[:n]...)
			run = run[n:]
		}
		literals = 0
	}
	note := func(i int) int {
		v := uint32(src[i])<<16 | uint32(src[i+1])<<8 | uint32(src[i+2])
		slot := &last[v*0x9e3779b1>>(32-lzfHashBits)]
		before := int(*slot) - 1
		*slot = int32(i + 1)
		return before
	}
	i := 0
	for i < len(src)-2 {
		if len(dst)-start+literals > most {
			return dst[:start], false
		}
		from := note(i)
		if from < 1 || i-from > lzfDistance || src[from] != src[i] || src[from+1] != src[i+1] || src[from+2] != src[i+2] {
			i, literals = i+1, literals+1
			continue
		}
		longest := min(lzfRepeat, len(src)-i-2)
		n := min(3, longest)
		for n < longest && src[from+n] == src[i+n] {
			n++
		}
		if n < 3 {
			i, literals = i+1, literals+1
			continue
		}
		flush(i)
		distance := i - from - 1
		if n < 9 {
			dst = append(dst, byte((n-2)<<5|distance>>8), byte(distance))
		} else {
			dst = append(dst, byte(7<<5|distance>>8), byte(n-9), byte(distance))
		}
		end := i + n
		for i = max(i+1, end-2); i < end && i < len(src)-2; i++ {
			note(i)
		}
		i = end
	}
	literals += len(src) - i
	if flush(len(src)); len(dst)-start > most {
		return dst[:start], false
	}
	return dst, true
}

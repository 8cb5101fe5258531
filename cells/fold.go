package cells

import (
	"fmt"

	"github.com/umbel-filters/umbel/internal/mem"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Fold returns an array of Len/r cells in which group j is the sum of the r neighboring groups
// j·r to j·r+r-1 of a (the OR for bits, saturating for counters). A group is a run of group cells,
// which keep their place in it. This is Sailhan and Stehr 2012, equation (3), with groups in the
// order that positions by multiplication need; with groups of Len/r cells it is the equation as
// printed, for positions by remainder. Fold returns an error wrapping [ErrShape] unless r and group
// are at least 1 and r divides Len/group; the error names the nearest factors that work.
//
// Folds compose: by r and then by s is the same as by r·s, in any order.
func (a Array) Fold(r, group uint64) (Array, error) {
	groups, err := a.groups(group)
	if err != nil {
		return Array{}, err
	}
	if err := CheckFold(groups, group, r); err != nil {
		return Array{}, err
	}
	out, err := New(a.Len/r, a.width())
	if err != nil {
		return Array{}, err
	}
	l := newLanes(a.width())
	switch words, whole := a.wordsPerGroup(group); {
	case !whole:
		l.foldBits(out, a, r, group*uint64(a.width()))
	case words == 1:
		l.foldWords(out.Words, a.Words, int(r))
	case l.bits() && words%4 == 0 && words < 64:
		foldBlocks(out.Words, a.Words, int(r), words)
	default:
		src := a.Words
		for dst := out.Words; len(dst) > 0; dst = dst[words:] {
			mem.Copy(dst, src[:words])
			for range r - 1 {
				src = src[words:]
				l.add(dst[:words], src[:words])
			}
			src = src[words:]
		}
	}
	return out, nil
}

// Unfold returns an array of Len·u cells in which each group of a is repeated u times. Folding it by
// u gives a again for bits, but not for counters. It returns an error wrapping [ErrShape] if u or
// group is 0, group doesn't divide Len, or the result is too long.
func (a Array) Unfold(u, group uint64) (Array, error) {
	if _, err := a.groups(group); err != nil {
		return Array{}, err
	}
	if u == 0 || a.Len > ^uint64(0)/u {
		return Array{}, sentinel.Errorf(ErrShape, "%d cells don't unfold by %d, want 1 or more and at most 2^64 cells", a.Len, u)
	}
	out, err := New(a.Len*u, a.width())
	if err != nil {
		return Array{}, err
	}
	switch words, whole := a.wordsPerGroup(group); {
	case !whole:
		newLanes(a.width()).unfoldBits(out, a, u, group*uint64(a.width()))
	case words == 1:
		unfoldWords(out.Words, a.Words, int(u))
	default:
		dst := out.Words
		for src := a.Words; len(src) > 0; src = src[words:] {
			for range u {
				mem.Copy(dst, src[:words])
				dst = dst[words:]
			}
		}
	}
	return out, nil
}

// groups returns the number of groups, or an error wrapping ErrShape if they don't fill the array.
func (a Array) groups(group uint64) (uint64, error) {
	if group == 0 || a.Len%group != 0 {
		return 0, sentinel.Errorf(ErrShape, "groups of %d cells in an array of %d, want a divisor", group, a.Len)
	}
	return a.Len / group, nil
}

// wordsPerGroup returns the number of words of a group, and whether a group is whole words.
func (a Array) wordsPerGroup(group uint64) (int, bool) {
	perWord := 64 / uint64(a.width())
	return int(group / perWord), group%perWord == 0
}

// foldWords sets each word of dst to the sum of r neighboring words of src. Small factors of bits have loops
// of their own: a slice and an inner loop for each word take several times as long.
func (l lanes) foldWords(dst, src []uint64, r int) {
	switch {
	case l.bits() && r == 2:
		for ; len(dst) >= 4; dst, src = dst[4:], src[8:] {
			d, s := (*[4]uint64)(dst), (*[8]uint64)(src)
			d[0], d[1], d[2], d[3] = s[0]|s[1], s[2]|s[3], s[4]|s[5], s[6]|s[7]
		}
		for j := range dst {
			dst[j] = src[2*j] | src[2*j+1]
		}
	case l.bits() && r == 3:
		for ; len(dst) >= 4; dst, src = dst[4:], src[12:] {
			d, s := (*[4]uint64)(dst), (*[12]uint64)(src)
			d[0], d[1], d[2], d[3] = s[0]|s[1]|s[2], s[3]|s[4]|s[5], s[6]|s[7]|s[8], s[9]|s[10]|s[11]
		}
		for j := range dst {
			dst[j] = src[3*j] | src[3*j+1] | src[3*j+2]
		}
	case l.bits():
		for j := range dst {
			w := src[0]
			for _, s := range src[1:r] {
				w |= s
			}
			dst[j], src = w, src[r:]
		}
	default:
		for j := range dst {
			w := src[0]
			for _, s := range src[1:r] {
				w = l.sum(w, s)
			}
			dst[j], src = w, src[r:]
		}
	}
}

// foldBlocks sets each block of dst, of a multiple of four words of bits, to the OR of r neighboring blocks
// of src.
func foldBlocks(dst, src []uint64, r, words int) {
	for ; len(dst) > 0; src = src[(r-1)*words:] {
		for range words / 4 {
			s := (*[4]uint64)(src)
			w0, w1, w2, w3 := s[0], s[1], s[2], s[3] // an array would not be in registers
			for at := words; at < r*words; at += words {
				s := (*[4]uint64)(src[at:])
				w0, w1, w2, w3 = w0|s[0], w1|s[1], w2|s[2], w3|s[3]
			}
			d := (*[4]uint64)(dst)
			d[0], d[1], d[2], d[3] = w0, w1, w2, w3
			dst, src = dst[4:], src[4:]
		}
	}
}

// unfoldWords repeats each word of src u times in dst.
func unfoldWords(dst, src []uint64, u int) {
	if u == 2 {
		for ; len(src) >= 4; dst, src = dst[8:], src[4:] {
			d, s := (*[8]uint64)(dst), (*[4]uint64)(src)
			d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = s[0], s[0], s[1], s[1], s[2], s[2], s[3], s[3]
		}
	}
	for _, w := range src {
		for i := range dst[:u] {
			dst[i] = w
		}
		dst = dst[u:]
	}
}

// foldBits folds groups of n bits, and unfoldBits unfolds them, wherever in a word they begin.
func (l lanes) foldBits(out, a Array, r, n uint64) {
	from := uint64(0)
	for to := uint64(0); to < out.size(); to += n {
		for range r {
			l.addBits(out.Words, to, a.Words, from, n)
			from += n
		}
	}
}

func (l lanes) unfoldBits(out, a Array, u, n uint64) {
	to := uint64(0)
	for from := uint64(0); from < a.size(); from += n {
		for range u {
			l.addBits(out.Words, to, a.Words, from, n)
			to += n
		}
	}
}

// addBits adds n bits of src from bit from on, which are whole cells, to dst from bit to on.
func (l lanes) addBits(dst []uint64, to uint64, src []uint64, from, n uint64) {
	for n > 0 {
		take := min(n, 64-to&63)
		v := src[from>>6] >> (from & 63)
		if next := from>>6 + 1; next < uint64(len(src)) {
			v |= src[next] << (64 - from&63)
		}
		v &^= ^uint64(0) << take
		dst[to>>6] = l.sum(dst[to>>6], v<<(to&63))
		to, from, n = to+take, from+take, n-take
	}
}

// CheckFold returns an error wrapping [ErrShape] if r is zero or doesn't divide groups, the number of
// groups of group cells. The error names the nearest factors that work and, if r is not too large,
// the nearest number of cells that r divides.
func CheckFold(groups, group, r uint64) error {
	if r > 0 && groups%r == 0 {
		return nil
	}
	size := ""
	if r > 0 && r < groups {
		size = fmt.Sprintf("; %d cells fold by %d", nearestMultiple(groups, r)*group, r)
	}
	return sentinel.Errorf(ErrShape, "%d groups of %d cells don't fold by %d, they do by %s%s",
		groups, group, r, divisorsNear(groups, r), size)
}

// nearestMultiple returns the multiple of r that is nearest to n, which is larger than r: the larger one of two.
func nearestMultiple(n, r uint64) uint64 {
	if rest := n % r; rest < r-rest {
		return n - rest
	}
	return n - n%r + r
}

// divisorsNear returns the divisors of n nearest to r, below and above it, as text. To bound the time
// it tries only divisors up to 2^16 and their cofactors, so above 2^32 a nearer one may exist.
func divisorsNear(n, r uint64) string {
	below, above := uint64(1), max(n, 1)
	for d := uint64(1); d <= 1<<16 && d <= n/d; d++ {
		if n%d != 0 {
			continue
		}
		for _, f := range [2]uint64{d, n / d} {
			if f < r {
				below = max(below, f)
			} else {
				above = min(above, f)
			}
		}
	}
	if below == above {
		return fmt.Sprint(below)
	}
	return fmt.Sprintf("%d and %d", below, above)
}

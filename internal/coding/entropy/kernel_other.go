//go:build !amd64 || purego || race

package entropy

func takeGaps(l *[lanes]taker, n int)  { takeGapsPlain(l, n) }
func takeBytes(l *[lanes]taker, n int) { takeBytesPlain(l, n) }
func putAll(l *[lanes]putter, n int)   { putPlain(l, n) }

func (l *source) listWords(symbols []uint32, words []uint64, zeros uint64) ([]uint32, uint64) {
	return l.listWordsPlain(symbols, words, zeros)
}

func extract(dst, src, mask []uint64) (done int, at, partial uint64) {
	return extractPlain(dst, src, mask)
}

func deposit(dst, src, mask []uint64) (done int, at uint64) {
	return depositPlain(dst, src, mask)
}

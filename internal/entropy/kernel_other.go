//go:build !amd64 || purego || race

package entropy

func takeGaps(l *[lanes]taker, n int)  { takeGapsPlain(l, n) }
func takeBytes(l *[lanes]taker, n int) { takeBytesPlain(l, n) }
func putAll(l *[lanes]putter, n int)   { putPlain(l, n) }

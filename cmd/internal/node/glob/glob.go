// Package glob matches names against Redis' patterns, for KEYS, SCAN, CONFIG GET and rights of users.
package glob

// Match reports whether pattern matches all of name. * matches any bytes, ? one byte, [abc],
// [a-c] and [^a] one byte of a class, and \x the byte x. A class without an end extends to the
// end of the pattern. Every pattern is valid.
//
// The number of steps is at most the product of the lengths, however many stars the pattern has:
// after a later star has matched, no earlier one needs to be tried again, because the later one
// can skip the same bytes. Match does not allocate.
func Match[P, N ~string | ~[]byte](pattern P, name N) bool {
	p, n := 0, 0
	star, from := -1, 0 // the pattern after the last star, and its start in name
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, n
			continue
		}
		if next, ok := one(pattern, p, name[n]); ok {
			p, n = next, n+1
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one matches a byte with the element at p of the pattern, and returns the index after it.
func one[P ~string | ~[]byte](pattern P, p int, c byte) (next int, ok bool) {
	if p == len(pattern) {
		return p, false
	}
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return class(pattern, p+1, c)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == c
}

// class matches a byte with the class whose contents begin at p.
func class[P ~string | ~[]byte](pattern P, p int, c byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		switch {
		case pattern[p] == '\\' && p+1 < len(pattern):
			p++
			ok = ok || pattern[p] == c
		case p+2 < len(pattern) && pattern[p+1] == '-':
			a, b := pattern[p], pattern[p+2]
			p += 2
			ok = ok || min(a, b) <= c && c <= max(a, b)
		default:
			ok = ok || pattern[p] == c
		}
	}
	return min(p+1, len(pattern)), ok != not
}

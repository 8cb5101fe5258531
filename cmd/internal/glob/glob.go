// Package glob matches names against patterns as Redis writes them: for KEYS, SCAN,
// CONFIG GET and the rights of users.
package glob

// Match reports whether all of name fits pattern, where * is any bytes, ? is one byte,
// [abc], [a-c] and [^a] are one byte of a class, and \x is x itself. A class without an
// end goes up to the end of the pattern. Any pattern is one; there is no error.
//
// It takes at most as many steps as the lengths' product, however many stars there are:
// when a star has been passed, no star before it needs to be tried again, because what
// it would skip the later one can skip too. It allocates nothing.
func Match[P, N ~string | ~[]byte](pattern P, name N) bool {
	p, n := 0, 0
	star, from := -1, 0 // the pattern behind the last star, and where in name it began
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

// one matches a byte with what stands at p in the pattern, and returns what is behind it.
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

// class matches a byte with the class that begins at p, behind its bracket.
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

package access

import (
	"fmt"
	"strings"
)

// match reports whether name fits the pattern, in which * stands for any bytes, ? for one,
// [a-c] and [^a-c] for one of a set or none of it, and \ takes the meaning from what follows:
// the patterns of Redis' KEYS. Only the last * is ever tried again, so the time is at most the
// product of the lengths.
func match(pattern string, name []byte) bool {
	p, n := 0, 0
	star, from := -1, 0 // where to go on behind the last *, and the name it was tried with
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, n
			continue
		}
		if p < len(pattern) {
			if ok, next := one(pattern, p, name[n]); ok {
				p, n = next, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// one matches a byte with what stands at p, which is no *, and returns what is behind it.
func one(pattern string, p int, c byte) (ok bool, next int) {
	switch pattern[p] {
	case '?':
		return true, p + 1
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	case '[':
		return set(pattern, p+1, c)
	}
	return pattern[p] == c, p + 1
}

// set matches a byte with the set that begins at p, behind its bracket.
func set(pattern string, p int, c byte) (ok bool, next int) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for p < len(pattern) && pattern[p] != ']' {
		var low, high byte
		low, p = member(pattern, p)
		high = low
		if p+1 < len(pattern) && pattern[p] == '-' && pattern[p+1] != ']' {
			high, p = member(pattern, p+1)
		}
		ok = ok || min(low, high) <= c && c <= max(low, high)
	}
	return ok != not, min(p+1, len(pattern))
}

// member returns one byte of a set, and what is behind it.
func member(pattern string, p int) (byte, int) {
	if pattern[p] == '\\' && p+1 < len(pattern) {
		p++
	}
	return pattern[p], p + 1
}

// checkPattern returns an error for a pattern with a set that doesn't end, or with nothing
// behind its last backslash: it would mean something else than was thought.
func checkPattern(pattern string) error {
	open := false
	for p := 0; p < len(pattern); p++ {
		switch c := pattern[p]; {
		case c == '\\':
			if p++; p == len(pattern) {
				return fmt.Errorf("pattern %q ends in a backslash", pattern)
			}
		case c == '[':
			open = true
		case c == ']':
			open = false
		}
	}
	if open {
		return fmt.Errorf("pattern %q: a set isn't closed by ]", pattern)
	}
	if pattern == "" {
		return fmt.Errorf("pattern is empty; %q is every name", all)
	}
	return nil
}

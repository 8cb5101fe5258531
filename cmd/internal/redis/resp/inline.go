package resp

// split appends the words of a line to words. "Double quotes" support the escapes \n \r \t \b \a
// \xHH, and any other byte after \ stands for itself; in 'single quotes' \' is a quote. The words
// share the memory of the line, which is overwritten: no word is longer than its source.
func split(words [][]byte, line []byte) (all [][]byte, balanced bool) {
	for i := 0; ; {
		for i < len(line) && blank(line[i]) {
			i++
		}
		if i == len(line) {
			return words, true
		}
		word := line[i:i]
		for i < len(line) && !ends(line[i]) {
			if q := line[i]; q != '"' && q != '\'' {
				word = append(word, q)
				i++
				continue
			}
			var ok bool
			if word, i, ok = unquote(word, line, i); !ok {
				return nil, false
			}
			break
		}
		words = append(words, word[:len(word):len(word)])
	}
}

// unquote appends the contents of the quotes that begin at i to word. It returns the index after
// them, which is the end of the line or a blank.
func unquote(word, line []byte, i int) (_ []byte, next int, ok bool) {
	quote := line[i]
	for i++; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			i++
			return word, i, i == len(line) || blank(line[i])
		case c == '\\' && quote == '\'':
			if i+1 < len(line) && line[i+1] == '\'' {
				i++
				c = '\''
			}
		case c == '\\' && i+3 < len(line) && line[i+1] == 'x' && hex(line[i+2]) < 16 && hex(line[i+3]) < 16:
			c = hex(line[i+2])<<4 | hex(line[i+3])
			i += 3
		case c == '\\' && i+1 < len(line):
			i++
			c = escaped(line[i])
		}
		word = append(word, c)
	}
	return nil, 0, false
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

// hex returns the value of a hexadecimal digit, or at least 16 for another byte.
func hex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// blank reports whether c separates words.
func blank(c byte) bool { return ends(c) || c == '\v' || c == '\f' }

// ends reports whether c ends an unquoted word.
func ends(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

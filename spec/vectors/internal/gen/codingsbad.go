package main

// badCodings returns containers of one array whose only block has an invalid payload. The array
// has 1000 bits unless the comment names others.
func badCodings() []containerVector {
	const (
		ten      = "\x01\x0a\x00\x00\x00\x00\x00\x00\x00" // ten bits
		counters = "\x02\x0a\x00\x00\x00\x00\x00\x00\x00" // ten counters of 2 bits
		thousand = "\x01\xe8\x03\x00\x00\x00\x00\x00\x00"
	)
	good := payloadOf(scattered(6, 1000, 40))
	bad := func(name, comment, array, coding, body string) containerVector {
		return containerVector{name, "corrupt", comment, sealed(head, one, array, coding, body, alone)}
	}
	return []containerVector{
		bad("length-long-form", "the length of a payload in a byte too many", thousand, arithmetic, "\x81\x00\x00"),
		bad("length-2-64", "a payload of 2^64 bytes", thousand, arithmetic, ones(9)+"\x02"),
		bad("length-of-words", "a payload as long as the words", bits(64), arithmetic, payload(zeros(8))),
		bad("length-beyond", "a payload longer than the container", bits(blockCells), arithmetic, "\xff\x7f"+zeros(100)),

		bad("levels-cut", "no level", thousand, arithmetic, payload("")),
		bad("level-no-bits", "a level for a string without bits: of ten counters none is 1", counters, arithmetic, payload("\x02\x00\x01")),
		bad("state-zero", "the state's last byte is zero", thousand, arithmetic, payload("\x00\x00")),
		bad("state-left", "the state isn't 0 in the end", thousand, arithmetic, payload("\x00\x01")),
		bad("words-left", "a word too many", thousand, arithmetic, payload(good+"\x01\x00\x00\x00")),
		bad("gap-beyond", "a gap of more than ten bits in ten", ten, arithmetic, payload("\x01\xb5")),

		bad("counters-header-cut", "counters without a header", counters, arithmetic, payload("")),
		bad("counters-header-half", "a header of which the second byte is missing", counters, arithmetic, payload("\x81")),
		bad("counters-header-long-form", "a header in a byte too many", counters, arithmetic, payload("\x81\x00\x00")),
		bad("counters-thresholds", "four thresholds of counters up to 3", counters, arithmetic, payload("\x04"+zeros(4))),
		bad("counters-lengths", "numbers of 3 bits for counters of 2", counters, arithmetic, payload("\x21"+zeros(5))),
		bad("counters-no-threshold", "a list without thresholds", counters, arithmetic, payload("\x10"+zeros(2))),
		bad("counters-beyond", "a counter of 2 bits that is 4 or more", counters, arithmetic, payload("\x13\xb5\xb5\xb5\xb5\xb5\x01")),
		bad("counters-levels-cut", "a level is missing", counters, arithmetic, payload("\x03\x00\x00")),

		bad("positions-cut", "positions without their number", thousand, listed, payload("")),
		bad("positions-long-form", "the number of positions in a byte too many", thousand, listed, payload("\x81\x00\x00\x01")),
		bad("positions-many", "eleven positions of ten", ten, listed, payload("\x0b\x00\xff\x07")),
		bad("positions-no-k", "a position, and no k", thousand, listed, payload("\x01")),
		bad("positions-k-64", "k is 64", thousand, listed, payload("\x01\x40\x01"+zeros(8))),
		bad("positions-missing", "two positions, and one is there", thousand, listed, payload("\x02\x00\x01")),
		bad("positions-low-cut", "a gap whose low bits end early", thousand, listed, payload("\x01\x08\xff")),
		bad("positions-padding", "a bit is set after the last position", thousand, listed, payload("\x01\x00\x03")),
		bad("positions-byte", "a byte after the last position", thousand, listed, payload("\x01\x00\x01\x00")),
		bad("positions-none", "a byte after no positions", thousand, listed, payload("\x00\x00")),
		bad("positions-beyond", "position 10 of ten", ten, listed, payload("\x01\x00\x00\x04")),
		bad("rare-no-blocks", "a run of no blocks", thousand, rare, "\x00\x01\x00"),
		bad("rare-blocks-beyond", "a run of two blocks in an array of one", thousand, rare, "\x02\x01\x00"),
		bad("rare-blocks-long-form", "the number of blocks in a byte too many", thousand, rare, "\x81\x00\x01\x00"),
		bad("rare-cut", "a run without a length", thousand, rare, "\x01"+payload("")),
		bad("rare-long-form", "the length in a byte too many", thousand, rare, "\x01"+payload("\x81\x00\x00\xb5\x00")),
		bad("rare-long", "gaps in a string of 11 bits for ten cells", ten, rare, "\x01"+payload("\x0b\x00\xb5\x00")),
		bad("rare-byte", "a byte after no cells", thousand, rare, "\x01"+payload("\x00\x00")),
		bad("rare-no-low", "a length and no number of low bits", thousand, rare, "\x01"+payload("\x01")),
		bad("rare-low", "32 low bits", thousand, rare, "\x01"+payload("\x01\x20\xb5\x00")),
		bad("rare-no-gap", "a string of gaps that ends with a zero", thousand, rare, "\x01"+payload("\x04\x00\x00\x00")),
		bad("rare-beyond", "cell 1023 of 1000", thousand, rare, "\x01"+payload("\x01\x0a\xb5\xb5")),
		bad("rare-many", "16385 cells that aren't zero", bits(blockCells), rare, "\x01"+payload("\x81\x80\x01\x00\xb5\x00")),
		bad("rare-lengths", "numbers of 3 bits for counters of 2", counters, rare, "\x01"+payload("\x01\x00\x02\xb5\x00\x00\x00\x00\x00")),

		bad("positions-counters", "positions of counters", counters, listed, payload("\x01\x00\x01")),
	}
}

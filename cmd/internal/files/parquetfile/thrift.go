package parquetfile

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// maxNesting is the largest depth of structs and lists in a footer. Parquet's own have 6.
const maxNesting = 32

// Types of values in Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1 // in a field the type is the value; in a list it takes a byte
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// thrift reads values in Thrift's compact protocol from the front of b. After the first error all
// values are zero, and structs and lists are empty.
type thrift struct {
	b     []byte
	depth int
	err   error
}

// fail keeps the first error and ends the input.
func (t *thrift) fail(format string, args ...any) {
	t.stop(fmt.Errorf(format, args...), umbel.ErrCorrupt)
}

// limit is fail for valid input that is too large.
func (t *thrift) limit(format string, args ...any) {
	t.stop(fmt.Errorf(format, args...), umbel.ErrLimit)
}

func (t *thrift) stop(err, kind error) {
	if t.err == nil {
		t.err = fmt.Errorf("%w: %w", err, kind)
	}
	t.b = nil
}

// take returns the next n bytes.
func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.b)) {
		t.fail("%d bytes are left, want %d", len(t.b), n)
		return nil
	}
	b := t.b[:n]
	t.b = t.b[n:]
	return b
}

func (t *thrift) byte() byte {
	b := t.take(1)
	if b == nil {
		return 0
	}
	return b[0]
}

func (t *thrift) uvarint() uint64 {
	u, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.fail("%d bytes are left, want a whole number", len(t.b))
		return 0
	}
	t.b = t.b[n:]
	return u
}

// number reads a whole number of 16, 32 or 64 bits.
func (t *thrift) number() int64 {
	u := t.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// binary reads a string; it shares memory with the input.
func (t *thrift) binary() []byte { return t.take(t.uvarint()) }

// record reads a struct. It calls field for each of its fields; field reads the value and returns
// true, or returns false to skip it.
func (t *thrift) record(field func(id int16, typ byte) bool) {
	if !t.enter() {
		return
	}
	var id int16
	for t.err == nil {
		head := t.byte()
		typ := head & 15
		if typ == thriftStop {
			break
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			id = int16(t.number())
		}
		if !field(id, typ) {
			t.skip(typ)
		}
	}
	t.depth--
}

// list reads a list or a set. It calls element, which reads the value, for each element.
func (t *thrift) list(element func(typ byte)) {
	if !t.enter() {
		return
	}
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	// An element has at least one byte.
	if n > uint64(len(t.b)) {
		t.fail("a list of %d elements in %d bytes", n, len(t.b))
	}
	for i := uint64(0); i < n && t.err == nil; i++ {
		element(head & 15)
	}
	t.depth--
}

func (t *thrift) enter() bool {
	if t.depth == maxNesting {
		t.fail("values nest deeper than %d", maxNesting)
		return false
	}
	t.depth++
	return true
}

// skip skips the value of a field.
func (t *thrift) skip(typ byte) {
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		t.take(8)
	case thriftUUID:
		t.take(16)
	case thriftBinary:
		t.binary()
	case thriftList, thriftSet:
		t.list(t.skipElement)
	case thriftMap:
		t.skipMap()
	case thriftStruct:
		t.record(func(int16, byte) bool { return false })
	default:
		t.fail("a value of unknown type %d", typ)
	}
}

// skipElement is skip for elements; a boolean element has one byte.
func (t *thrift) skipElement(typ byte) {
	if typ == thriftTrue || typ == thriftFalse {
		typ = thriftByte
	}
	t.skip(typ)
}

func (t *thrift) skipMap() {
	n := t.uvarint()
	if n == 0 || !t.enter() {
		return
	}
	types := t.byte()
	for i := uint64(0); i < n && t.err == nil; i++ {
		t.skipElement(types >> 4)
		t.skipElement(types & 15)
	}
	t.depth--
}

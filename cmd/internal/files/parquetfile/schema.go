package parquetfile

import (
	"bytes"
	"strings"
	"unicode"
)

const (
	maxElements = 1 << 20  // of the schema
	maxPaths    = 64 << 20 // bytes of all columns' paths together
	maxLevels   = 100      // of the schema
)

// separator is between the names of a path, because names may have dots.
const separator = "\x00"

// column is a leaf of the schema.
type column struct {
	key string // names from the root, with separators
	typ valueType
}

func (c column) path() string { return dotted(c.key) }

// dotted returns the names of a key joined by dots, without characters that control a terminal.
func dotted(key string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\x00':
			return '.'
		case unicode.IsControl(c):
			return '\ufffd'
		}
		return c
	}, key)
}

// group is an element of the schema that isn't a leaf.
type group struct {
	name    string
	left    int64 // children that are still to come
	variant bool  // it is, or is part of, a VARIANT
}

// readSchema reads the list of SchemaElement: the tree's elements in depth-first
// order, each with the number of its children. It returns the leaves. A group may be empty.
func readSchema(t *thrift) []column {
	var columns []column
	var groups []group // from the root, whose name isn't part of a path, to the element
	elements, total := 0, 0
	t.list(func(typ byte) {
		if typ != thriftStruct {
			t.fail("schema element %d has type %d, want %d", elements, typ, thriftStruct)
			return
		}
		e := readElement(t)
		for len(groups) > 0 && groups[len(groups)-1].left == 0 {
			groups = groups[:len(groups)-1]
		}
		root := elements == 0
		elements++
		variant := e.logical.member == logicalVariant
		switch {
		case t.err != nil:
			return
		case elements > maxElements:
			t.limit("a schema of more than %d elements", maxElements)
			return
		case e.children < 0:
			t.fail("schema element %d has %d children", elements, e.children)
			return
		case root:
		case len(groups) == 0:
			t.fail("schema element %d belongs to no group", elements)
			return
		default:
			parent := &groups[len(groups)-1]
			parent.left--
			variant = variant || parent.variant
		}
		if root || e.children > 0 || e.physical < 0 {
			if len(groups) == maxLevels {
				t.fail("groups of the schema nest deeper than %d", maxLevels)
			}
			groups = append(groups, group{e.name, e.children, variant})
			return
		}
		var key strings.Builder
		for _, g := range groups[1:] {
			key.WriteString(g.name + separator)
		}
		key.WriteString(e.name)
		if total += key.Len(); total > maxPaths {
			t.limit("paths of columns have more than %d bytes together", maxPaths)
			return
		}
		columns = append(columns, column{key.String(), e.valueType(variant)})
	})
	if t.err == nil && elements == 0 {
		t.fail("a schema without an element")
	}
	for _, g := range groups {
		if g.left != 0 {
			t.fail("%d elements are missing at the end of the schema", g.left)
		}
	}
	return columns
}

// element is a SchemaElement.
type element struct {
	name      string
	children  int64
	physical  int64 // -1 in a group
	length    int64 // of FIXED_LEN_BYTE_ARRAY
	converted int64 // the older form of the logical type; -1 for none
	scale     int64 // of a decimal in the older form
	precision int64
	logical   logical
}

// logical is a LogicalType: the number of the union's member, 0 for none, and its fields.
type logical struct {
	member           int16
	scale, precision int64
	unit             int16 // 1 milliseconds, 2 microseconds, 3 nanoseconds
	utc              bool
	bits             int64
	signed           bool
}

func readElement(t *thrift) element {
	e := element{physical: -1, converted: -1}
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 4 && typ == thriftBinary:
			e.name = string(bytes.ToValidUTF8(t.binary(), []byte("\ufffd")))
		case id == 10 && typ == thriftStruct:
			e.logical = readLogical(t)
		case typ != thriftI32:
			return false
		case id == 1:
			e.physical = t.number()
		case id == 2:
			e.length = t.number()
		case id == 5:
			e.children = t.number()
		case id == 6:
			e.converted = t.number()
		case id == 7:
			e.scale = t.number()
		case id == 8:
			e.precision = t.number()
		default:
			return false
		}
		return true
	})
	return e
}

func readLogical(t *thrift) (l logical) {
	t.record(func(member int16, typ byte) bool {
		if l.member != 0 {
			t.fail("logical types %d and %d of one column", l.member, member)
		}
		l.member = member
		if typ != thriftStruct {
			return false
		}
		t.record(func(id int16, typ byte) bool {
			switch {
			case member == logicalDecimal && id == 1 && typ == thriftI32:
				l.scale = t.number()
			case member == logicalDecimal && id == 2 && typ == thriftI32:
				l.precision = t.number()
			case (member == logicalTime || member == logicalTimestamp) && id == 1:
				l.utc = typ == thriftTrue
				return false
			case (member == logicalTime || member == logicalTimestamp) && id == 2 && typ == thriftStruct:
				t.record(func(unit int16, _ byte) bool { l.unit = unit; return false })
			case member == logicalInteger && id == 1 && typ == thriftByte:
				l.bits = int64(int8(t.byte()))
			case member == logicalInteger && id == 2:
				l.signed = typ == thriftTrue
				return false
			default:
				return false
			}
			return true
		})
		return true
	})
	return l
}

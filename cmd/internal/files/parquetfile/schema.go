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

// schemaReader collects the leaves of a schema's tree, whose elements come in depth-first order, each with the number of its
// children.
type schemaReader struct {
	t               *thrift
	columns         []column
	groups          []group // from the root, whose name isn't part of a path, to the element
	elements, total int     // total are the bytes of paths
}

// readSchema reads the list of SchemaElement. It returns the leaves. A group may be empty.
func readSchema(t *thrift) []column {
	r := schemaReader{t: t}
	t.list(r.element)
	if t.err == nil && r.elements == 0 {
		t.fail("a schema without an element")
	}
	for _, g := range r.groups {
		if g.left != 0 {
			t.fail("%d elements are missing at the end of the schema", g.left)
		}
	}
	return r.columns
}

// element reads the next element.
func (r *schemaReader) element(typ byte) {
	if typ != thriftStruct {
		r.t.fail("schema element %d has type %d, want %d", r.elements, typ, thriftStruct)
		return
	}
	e := readElement(r.t)
	for len(r.groups) > 0 && r.groups[len(r.groups)-1].left == 0 {
		r.groups = r.groups[:len(r.groups)-1]
	}
	root := r.elements == 0
	r.elements++
	variant := e.logical.member == logicalVariant
	switch {
	case r.t.err != nil:
		return
	case r.elements > maxElements:
		r.t.limit("a schema of more than %d elements", maxElements)
		return
	case e.children < 0:
		r.t.fail("schema element %d has %d children", r.elements, e.children)
		return
	case root:
	case len(r.groups) == 0:
		r.t.fail("schema element %d belongs to no group", r.elements)
		return
	default:
		parent := &r.groups[len(r.groups)-1]
		parent.left--
		variant = variant || parent.variant
	}
	if root || e.children > 0 || e.physical < 0 {
		if len(r.groups) == maxLevels {
			r.t.fail("groups of the schema nest deeper than %d", maxLevels)
		}
		r.groups = append(r.groups, group{e.name, e.children, variant})
		return
	}
	r.leaf(e, variant)
}

// leaf adds a column.
func (r *schemaReader) leaf(e element, variant bool) {
	var key strings.Builder
	for _, g := range r.groups[1:] {
		key.WriteString(g.name + separator)
	}
	key.WriteString(e.name)
	if r.total += key.Len(); r.total > maxPaths {
		r.t.limit("paths of columns have more than %d bytes together", maxPaths)
		return
	}
	r.columns = append(r.columns, column{key.String(), e.valueType(variant)})
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

package parquetfile

import (
	"bytes"
	"strings"
)

const (
	maxElements = 1 << 20  // of the schema
	maxPaths    = 64 << 20 // bytes of all columns' paths together
	maxLevels   = 100      // of the schema
)

// column is a leaf of the schema.
type column struct {
	path string
	typ  valueType
}

// readSchema reads the list of SchemaElement: the tree's elements in depth-first
// order, each with the number of its children. It returns the leaves.
func readSchema(t *thrift) []column {
	var columns []column
	var names []string // from the root, whose name isn't part of a path, to the group
	var left []int64   // remaining children of each group
	elements, total := 0, 0
	t.list(func(byte) {
		e := readElement(t)
		for len(left) > 0 && left[len(left)-1] == 0 {
			left, names = left[:len(left)-1], names[:len(names)-1]
		}
		root := elements == 0
		elements++
		switch {
		case t.err != nil:
			return
		case elements > maxElements:
			t.limit("a schema of more than %d elements", maxElements)
			return
		case root:
		case len(left) == 0:
			t.fail("schema element %d belongs to no group", elements)
			return
		default:
			left[len(left)-1]--
		}
		if root || e.children > 0 {
			if len(left) == maxLevels {
				t.fail("groups of the schema nest deeper than %d", maxLevels)
			}
			left, names = append(left, e.children), append(names, e.name)
			return
		}
		path := strings.Join(append(names[1:len(names):len(names)], e.name), ".")
		if total += len(path); total > maxPaths {
			t.limit("paths of columns have more than %d bytes together", maxPaths)
			return
		}
		typ, err := e.valueType()
		if err != nil {
			t.fail("column %q: %w", clip(path), err)
		}
		columns = append(columns, column{path, typ})
	})
	for _, n := range left {
		if n != 0 {
			t.fail("%d elements are missing at the end of the schema", n)
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
	var scale, precision int64
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
			scale = t.number()
		case id == 8:
			precision = t.number()
		default:
			return false
		}
		return true
	})
	if e.logical.member == 0 {
		e.logical = convert(e.converted, scale, precision)
	}
	return e
}

func readLogical(t *thrift) (l logical) {
	t.record(func(member int16, typ byte) bool {
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

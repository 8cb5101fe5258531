package parquetfile

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Answer is the answer of the Bloom filter of one row group for each value.
type Answer struct {
	RowGroup int
	May      []bool // whether the value may be in the row group
	Known    []bool // false if there is no answer, so that the value may be there
	Err      error  // why a filter has no answer, or nil
}

// Query queries the filters of a column for values, and returns one answer per row group. The column is a path, or "@" and
// the index of the column. A value is text: numbers in decimal, dates as 2006-01-31, times as 15:04:05.999, timestamps as
// 2006-01-31T15:04:05.999Z (without the zone where the column has none), UUIDs with hyphens, strings and enums unchanged.
// Dates, times and timestamps may be given as the whole number that is stored. Bytes without a logical type are those
// of the text. All types but strings and enums may be given as the stored bytes, in hex digits after "hex:", and those that
// have no text form only so. A value of the column's type that is nearest to a number is queried. JSON has many
// texts for one value; so only hex digits are excluded by a filter.
//
// It returns an error wrapping errColumn that lists the columns, or one wrapping errValue that
// describes the type's values; for BOOLEAN it wraps errors.ErrUnsupported as well. Some writers
// hash a truth value as a byte, parquet-go v0.32 hashes eight of them packed in
// one, and most make no filter. If no filter of the column can be read, it returns the error of the first, or one wrapping
// ErrNoFilter. A file without row groups has no value.
func (f *File) Query(column string, values ...string) ([]Answer, error) {
	index, err := f.names.find(column)
	if err != nil {
		return nil, err
	}
	queries := make([]query, len(values))
	for j, v := range values {
		if queries[j], err = f.names.columns[index].query(v); err != nil {
			return nil, err
		}
	}
	answers := make([]Answer, f.groups)
	for g := range answers {
		answers[g] = Answer{RowGroup: g, May: make([]bool, len(values)), Known: make([]bool, len(values))}
		for j := range values {
			answers[g].May[j] = true
		}
	}
	first, readable := error(nil), false
	for _, c := range f.chunks {
		if c.Index != index {
			continue
		}
		a := &answers[c.RowGroup]
		filter, err := f.Filter(c)
		if err != nil {
			err = fmt.Errorf("the Bloom filter of %q in row group %d: %w", clip(c.Name), c.RowGroup, err)
			a.Err = err
			if first == nil {
				first = err
			}
			continue
		}
		readable = true
		for j, q := range queries {
			has := q.in(filter)
			a.May[j], a.Known[j] = has || q.open, has || !q.open
			if !a.Known[j] {
				a.Err = sentinel.Errorf(errors.ErrUnsupported, "column %q is %s: one value has many texts, so that no filter excludes a text; "+
					"the bytes as stored, as hex:…, can be excluded", clip(column), c.Type)
			}
		}
	}
	switch {
	case readable || f.groups == 0:
		return answers, nil
	case first != nil:
		return nil, first
	}
	return nil, fmt.Errorf("column %q: %w in any of %d row groups", column, ErrNoFilter, f.groups)
}

// query is a value: the digests of its encodings.
type query struct {
	digests []umbel.Digest
	open    bool
}

func (c column) query(value string) (query, error) {
	e, err := c.typ.encode(value)
	if err != nil {
		return query{}, sentinel.Errorf(errValue, "column %q is %s: %w", clip(c.path()), c.typ.name, err)
	}
	q := query{open: e.open}
	for _, b := range e.all {
		q.digests = append(q.digests, splitblock.ParquetHasher.HashBytes(b))
	}
	return q, nil
}

// in reports whether a filter has one of the digests.
func (q query) in(f *splitblock.Filter) bool {
	for _, d := range q.digests {
		if f.Has(d) {
			return true
		}
	}
	return false
}

// Find returns the chunk of a column in a row group. The column is as in Query. Errors wrap errColumn, or ErrNoFilter if
// it has none there.
func (f *File) Find(rowGroup int, column string) (Chunk, error) {
	index, err := f.names.find(column)
	if err != nil {
		return Chunk{}, err
	}
	for _, c := range f.chunks {
		if c.RowGroup == rowGroup && c.Index == index {
			return c, nil
		}
	}
	return Chunk{}, fmt.Errorf("column %q in row group %d of %d: %w", column, rowGroup, f.groups, ErrNoFilter)
}

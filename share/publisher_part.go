package share

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// part has the revisions that lead from a version to a later one.
type part struct {
	from, to uint64
	ref      Ref    // of an object, if inline is nil
	inline   []byte // the encoded revisions
}

const partMagic = "umbrev\n\x02"

// appendRevisions encodes the revisions of a part of notes.
func appendRevisions(b []byte, revisions []revision) []byte {
	b = append(b, partMagic...)
	for _, r := range revisions {
		b = r.append(b)
	}
	return b
}

// append encodes a revision.
func (r *revision) append(b []byte) []byte {
	before, err := wire.Append(nil, r.before)
	if err != nil {
		panic(fmt.Sprintf("share: %v", err)) // the state was published
	}
	return r.changes.Append(appendString(binary.AppendUvarint(b, r.to-r.from), before))
}

// parsePart decodes the revisions between two versions, whose states have the shape of s.
func parsePart(b []byte, from, to uint64, s umbel.State) (revisions []revision, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(partMagic))
	r := indexReader{b: rest}
	if !ok {
		r.fail("a part of notes that begins with %.8q", b)
	}
	for from < to {
		v := revision{from: from}
		if n := r.uvarint(); n == 0 || n > to-from {
			r.fail("a revision of %d versions from %d, of a part to version %d", n, from, to)
		} else {
			from += n
		}
		v.to = from
		if v.before, err = wire.Parse(r.next(int(r.count(1))), wire.Limits{Bytes: 1}); err != nil { // it has no arrays
			return nil, err
		}
		if !v.before.SameShape(s.WithoutArrays()) {
			r.fail("a state of another shape")
		}
		if r.err != nil {
			return nil, r.err
		}
		if v.changes, r.b, err = delta.ParseChanges(r.b, s); err != nil {
			return nil, err
		}
		revisions = append(revisions, v)
	}
	if len(r.b) > 0 {
		r.fail("%d bytes follow a part of notes", len(r.b))
	}
	return revisions, r.err
}

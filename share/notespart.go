package share

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

const partMagic = "umbrev\n\x01"

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
	b = appendString(b, string(before))
	for _, flips := range r.flips {
		b = binary.AppendUvarint(b, uint64(len(flips)))
		next := uint64(0)
		for _, f := range flips {
			b = binary.AppendUvarint(b, f.Word-next)
			b = binary.LittleEndian.AppendUint64(b, f.Mask)
			next = f.Word + 1
		}
	}
	return b
}

// parsePart decodes n revisions of states that have the shape of s.
func parsePart(b []byte, n uint64, s umbel.State) (revisions []revision, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(partMagic))
	r := indexReader{b: rest}
	if !ok {
		r.fail("a part of notes that begins with %.8q", b)
	}
	arrays := flatten(nil, s)
	for range n {
		var v revision
		if v.before, err = wire.Parse(r.next(int(r.count(1))), wire.Limits{Bytes: 1}); err != nil { // it has no arrays
			return nil, err
		}
		if !sameParts(v.before, s) {
			r.fail("a state of another shape")
		}
		for _, a := range arrays {
			v.flips = append(v.flips, r.flips(a))
		}
		if r.err != nil {
			return nil, r.err
		}
		revisions = append(revisions, v)
	}
	if len(r.b) > 0 {
		r.fail("%d bytes follow a part of notes", len(r.b))
	}
	return revisions, r.err
}

// flips reads the flips of an array.
func (r *indexReader) flips(a cells.Array) (list []delta.Flip) {
	next := uint64(0)
	for range r.count(1 + 8) {
		gap := r.uvarint()
		if gap >= uint64(len(a.Words))-next {
			r.fail("a change beyond the last word")
			return nil
		}
		f := delta.Flip{Word: next + gap, Mask: binary.LittleEndian.Uint64(r.next(8))}
		next = f.Word + 1
		used := a.Len * uint64(max(a.Width, 1)) % 64
		if f.Mask == 0 || next == uint64(len(a.Words)) && used > 0 && f.Mask>>used != 0 {
			r.fail("word %d changes in %#x", f.Word, f.Mask)
			return nil
		}
		list = append(list, f)
	}
	return list
}

// connect sets the parameters of the versions after revisions that lead to s.
func connect(revisions []revision, s umbel.State) {
	after := wordless(s)
	for i := range slices.Backward(revisions) {
		revisions[i].after, after = after, revisions[i].before
	}
}

package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Delta appends the delta from old to new to dst: a message by which [Apply] makes new
// of old. Each bit is coded by what the old filter leads to expect of it: Mitzenmacher
// 2002, section IV, sends the exclusive or of both, which takes as much where filters are
// half full and up to 30 % more where they are sparse (docs/papers.md). But for a hundred
// bytes, a delta is never longer than the container of new that a [Packer] makes.
//
// States may differ in all but kind and hasher: in params, in the number, order and
// length of planes and parts. On error dst comes back as it was. The error wraps
// umbel.ErrMismatch where kind or hasher differ: send a container then; otherwise errors
// are those of [Append], for either state.
func Delta(dst []byte, old, new umbel.State) ([]byte, error) {
	return Differ{}.Delta(dst, old, new)
}

// Differ makes deltas, as [Delta] and [Refine] do. Its zero value is ready to use. A
// Differ may be used by many goroutines at once.
type Differ struct {
	// Base and Result are the IDs of the two states, where they are known; the zero ID
	// isn't. To find an ID takes longer than to find what little has changed: a program
	// that sends one delta after another has the result of the last as base. A wrong ID
	// makes a delta that Apply refuses.
	Base, Result ID
	// Workers is how many goroutines code blocks; 0 is one, the caller's.
	Workers int
}

// Delta is [Delta].
func (o Differ) Delta(dst []byte, old, new umbel.State) ([]byte, error) {
	if err := checkBoth(old, new); err != nil {
		return dst, err
	}
	if o.Base == (ID{}) {
		o.Base = Identify(old)
	}
	if o.Result == (ID{}) {
		o.Result = Identify(new)
	}
	out := appender(dst)
	d := newDiffer(&out, o.Workers)
	d.head(o.Base, o.Result, new)
	d.change(old, new)
	d.flush()
	d.buf = binary.LittleEndian.AppendUint32(d.buf, d.crc)
	d.flush()
	return out, nil
}

// checkBoth returns an error unless there is a delta between two states.
func checkBoth(old, new umbel.State) error {
	for _, s := range []umbel.State{old, new} {
		if err := check(s); err != nil {
			return err
		}
	}
	if err := old.Alike(new); err != nil {
		return fmt.Errorf("wire: no delta leads from one to the other, send a container: %w", err)
	}
	return nil
}

// differ writes a delta.
type differ struct {
	encoder
	line line[segment]
}

func newDiffer(w io.Writer, workers int) *differ {
	packing := line[batch]{workers: workers, work: (*batch).code}
	return &differ{
		encoder: encoder{w: w, blocks: func(e *encoder, a cells.Array) {
			e.packed(&packing, numBlocks(a), inMemory(a), func(*batch) {})
		}},
		line: line[segment]{workers: workers, work: (*segment).code},
	}
}

func (d *differ) head(base, result ID, s umbel.State) {
	d.buf = append(d.buf, deltaMagic...)
	d.buf = append(d.buf, base[:]...)
	d.buf = append(d.buf, result[:]...)
	d.buf = binary.LittleEndian.AppendUint64(d.buf, s.Bytes())
	d.name(s.Kind)
}

// change writes how the result comes of the base, which are alike.
func (d *differ) change(base, result umbel.State) {
	d.params(base.Params, result.Params)
	d.buf = append(d.buf, byte(len(result.Arrays)))
	for i, p := range result.Arrays {
		d.plane(base.Arrays, i, p)
	}
	d.buf = binary.AppendUvarint(d.buf, uint64(len(result.Parts)))
	for i, j := range origins(base.Parts, result.Parts) {
		d.buf = binary.AppendUvarint(d.buf, uint64(j+1))
		if j < 0 {
			d.state(result.Parts[i])
		} else {
			d.change(base.Parts[j], result.Parts[i])
		}
	}
}

// params writes the parameters: the values that changed, where nothing else did.
func (d *differ) params(base, result umbel.Params) {
	alike := slices.EqualFunc(base, result, func(p, q umbel.Param) bool {
		return p.Name == q.Name && p.Value.IsFloat() == q.Value.IsFloat()
	})
	var changed []byte
	n := 0
	for i, p := range result {
		if alike && p != base[i] {
			n++
			changed = append(changed, byte(i))
			changed = binary.LittleEndian.AppendUint64(changed, p.Value.Bits())
		}
	}
	if alike && n < allParams {
		d.buf = append(d.buf, byte(n))
		d.buf = append(d.buf, changed...)
		return
	}
	d.buf = append(d.buf, allParams, byte(len(result)))
	for _, p := range result {
		d.param(p)
	}
}

// plane writes plane i of a state, by what the planes of the base lead to expect.
func (d *differ) plane(base []cells.Array, i int, a cells.Array) {
	s, expected := sourceOf(base, i, a)
	d.buf = append(d.buf, s.form)
	if s.form == formNew {
		d.encoder.plane(a)
		return
	}
	d.buf = append(d.buf, s.index)
	if s.resizes() {
		d.buf = binary.AppendUvarint(d.buf, s.factor)
		d.buf = binary.AppendUvarint(d.buf, s.group)
	}
	if s.form == formRefine {
		d.refine(s, a, base[s.index].Len)
	} else {
		d.revise(s, a, expected)
	}
}

package wire

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Delta appends the delta from old to new to dst: a message by which [Apply] makes new
// of old. Each bit is coded by what the old filter leads to expect of it: Mitzenmacher
// 2002, section 5, sends the exclusive or of both, which takes as much where filters are
// half full and up to a quarter more where they are sparse. A delta is never longer, but
// for a few bytes, than the container of new that a [Packer] makes.
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
	d := differ{out: dst, packer: Packer{Workers: o.Workers}}
	d.head(o.Base, o.Result, new)
	d.change(old, new)
	sum := crc32.Checksum(d.out[len(dst):], castagnoli)
	return binary.LittleEndian.AppendUint32(d.out, sum), nil
}

// checkBoth returns an error unless there is a delta between two states.
func checkBoth(old, new umbel.State) error {
	for _, s := range []umbel.State{old, new} {
		if err := check(s); err != nil {
			return err
		}
	}
	if err := old.Alike(new); err != nil {
		return mismatch("no delta leads from one to the other, send a container: %w", err)
	}
	return nil
}

// differ writes a delta.
type differ struct {
	out    []byte
	packer Packer
}

func (d *differ) head(base, result ID, s umbel.State) {
	d.out = append(d.out, deltaMagic...)
	d.out = append(d.out, base[:]...)
	d.out = append(d.out, result[:]...)
	d.out = binary.LittleEndian.AppendUint64(d.out, s.Bytes())
	d.out = appendName(d.out, s.Kind)
}

// change writes how the result comes of the base, which are alike.
func (d *differ) change(base, result umbel.State) {
	d.params(base.Params, result.Params)
	d.out = append(d.out, byte(len(result.Planes)))
	for i, p := range result.Planes {
		d.plane(base.Planes, i, p)
	}
	d.out = binary.AppendUvarint(d.out, uint64(len(result.Parts)))
	for i, j := range origins(base.Parts, result.Parts) {
		d.out = binary.AppendUvarint(d.out, uint64(j+1))
		if j < 0 {
			d.out = d.packer.appendState(d.out, result.Parts[i])
		} else {
			d.change(base.Parts[j], result.Parts[i])
		}
	}
}

// params writes the parameters: those whose values changed, where that is all.
func (d *differ) params(base, result umbel.Params) {
	alike := slices.EqualFunc(base, result, func(p, q umbel.Param) bool {
		return p.Name == q.Name && p.Value.IsFloat() == q.Value.IsFloat()
	})
	at := len(d.out)
	d.out = append(d.out, 0)
	if alike {
		changed := 0
		for i, p := range result {
			if p != base[i] {
				changed++
				d.out = append(d.out, byte(i))
				d.out = binary.LittleEndian.AppendUint64(d.out, p.Value.Bits())
			}
		}
		if changed < allParams {
			d.out[at] = byte(changed)
			return
		}
		d.out = d.out[:at+1]
	}
	d.out[at] = allParams
	d.out = append(d.out, byte(len(result)))
	for _, p := range result {
		d.out = appendParam(d.out, p)
	}
}

// plane writes plane i of a state, by what the planes of the base lead to expect.
func (d *differ) plane(base []cells.Array, i int, a cells.Array) {
	s, prediction := sourceOf(base, i, a)
	d.out = append(d.out, s.form)
	if s.form == formNew {
		d.out = d.packer.appendPlane(d.out, a)
		return
	}
	d.out = append(d.out, s.index)
	if s.resizes() {
		d.out = binary.AppendUvarint(d.out, s.factor)
		d.out = binary.AppendUvarint(d.out, s.group)
	}
	d.blocks(s, a, prediction)
}

package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/model"
)

// unit is a job of coding or decoding a plane that refines its fold: the cells of the
// fold from one to another, and what it doesn't say of the plane.
type unit struct {
	from, to uint64
	payload  []byte
	off      uint64 // of the delta's bytes read with the payload
	model    model.Coder
	err      error
}

// units returns a reader of jobs for a fold of n cells by u. It calls then for each.
func units(n, u uint64, then func(*unit)) func(*unit) bool {
	next, step := uint64(0), model.RefinementCells(u)
	return func(x *unit) bool {
		if next >= n {
			return false
		}
		x.from, x.to = next, min(next+step, n)
		x.err = nil
		next = x.to
		then(x)
		return true
	}
}

// refine writes the units of a plane by its fold of n cells.
func (d *differ) refine(s source, a cells.Array, n uint64) {
	l := line[unit]{
		workers: d.line.workers,
		read:    units(n, s.factor, func(*unit) {}),
		work: func(x *unit) {
			x.payload = x.model.AppendRefinement(x.payload[:0], a, s.factor, s.group, x.from, x.to)
		},
		write: func(x *unit) error {
			d.buf = appendPayload(d.buf, x.payload)
			d.flush()
			return d.err
		},
	}
	_ = l.run() // an error of the writer, which d keeps
}

// refine reads the units of a plane, which is zero, by its fold.
func (p *patch) refine(s source, a, fold cells.Array) error {
	l := line[unit]{workers: p.line.workers}
	if s.group%64 != 0 {
		l.workers = 0 // units share words
	}
	l.read = units(fold.Len, s.factor, func(x *unit) {
		// Bits that nothing is known of take a bit each, and a few bytes for each string.
		most := (x.to-x.from)*s.factor/8 + 4*s.factor + 64
		x.payload, x.err = p.payload(x.payload[:0], most)
		x.off = p.off
	})
	l.work = func(x *unit) {
		if x.err != nil {
			return
		}
		if err := x.model.DecodeRefinement(x.payload, a, fold, s.factor, s.group, x.from, x.to); err != nil {
			x.err = fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		}
	}
	l.write = func(x *unit) error {
		if x.err != nil {
			p.off = x.off
			return fmt.Errorf("cells %d to %d of the fold: %w", x.from, x.to, x.err)
		}
		return nil
	}
	return l.run()
}

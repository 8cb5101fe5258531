package mapped

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// cacheBytes is the most memory of decoded blocks and runs, until much of a large array was decoded.
const cacheBytes = 16 << 20

// maxSlots is the most slots of a table, until the array has words.
const maxSlots = 1 << 14

// units are the decoded blocks and runs of an array in a container. They take cacheBytes, and the oldest are dropped for others,
// until an eighth of the array was decoded. From then on all are kept, if there may be memory for the array: the cells of
// blocks are then in its words. So at most an eighth of the array is decoded in vain. An array that fits into cacheBytes has its
// words at once.
type units struct {
	index *format.Index
	shift uint                     // a block has 1 << shift cells
	words func() ([]uint64, error) // makes the words of the array, zero, if they may have memory

	table   atomic.Pointer[table]
	decoded atomic.Uint64 // blocks and runs that are neither empty nor full
	placed  atomic.Uint64 // blocks in the words of the array

	mu    sync.Mutex     // not held while a unit is read
	queue []*format.Unit // those with memory of their own, the oldest first
	bytes int
	stays bool // there is no memory for the array
}

// table has the units in slots: that of block i is in slot i & (len - 1), and a run is in those of all its blocks that were queried.
type table struct {
	slots []atomic.Pointer[format.Unit]
	words []uint64 // of the array, or nil; then each block has a slot
}

// newTable returns a table for n blocks, with at most about most slots.
func newTable(n, most uint64) *table {
	return &table{slots: make([]atomic.Pointer[format.Unit], 1<<bits.Len64(max(min(n, most), 1)-1))}
}

func (t *table) slot(block uint64) *atomic.Pointer[format.Unit] {
	return &t.slots[block&uint64(len(t.slots)-1)]
}

// unit returns the unit of a block, if it has a cell, or nil.
func (t *table) unit(block, cell uint64) *format.Unit {
	if x := t.slot(block).Load(); x != nil && x.Contains(cell) {
		return x
	}
	return nil
}

// begin prepares u for an index.
func (u *units) begin(x *format.Index) {
	u.index, u.shift = x, uint(bits.TrailingZeros64(block.Cells(x.Array)))
	u.table.Store(newTable(block.Count(x.Array), maxSlots))
}

// arrayBytes returns the bytes of the words of the array.
func (u *units) arrayBytes() uint64 { return 8 * block.NumWords(u.index.Array) }

// find returns the unit that has a cell, if it is in the table, or nil.
func (u *units) find(cell uint64) *format.Unit { return u.table.Load().unit(cell>>u.shift, cell) }

// probe is a cell that the digest with a number needs.
type probe struct {
	cell uint64
	key  int
}

// group is the number of units that are decoded together, which is faster than one by one.
const group = 16

// each calls f for each of the probes, which it sorts, with the unit that has the cell. A unit is decoded once for all of them.
func (u *units) each(probes []probe, f func(probe, *format.Unit)) error {
	if len(probes) == 0 {
		return nil
	}
	u.expect(len(probes))
	slices.SortFunc(probes, func(a, b probe) int { return cmp.Compare(a.cell, b.cell) })
	answer := func(x *format.Unit) {
		for ; len(probes) > 0 && x.Contains(probes[0].cell); probes = probes[1:] {
			f(probes[0], x)
			u.link(x, probes[0].cell)
		}
	}
	var places [group]format.Place
	for len(probes) > 0 {
		x, n, err := u.next(&places, probes)
		switch {
		case err != nil:
		case x != nil:
			answer(x)
		default:
			err = u.decode(places[:n], answer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns the unit of the first probe if it is in the table. Otherwise it sets the places of the next units, n of them.
func (u *units) next(places *[group]format.Place, probes []probe) (x *format.Unit, n int, err error) {
	for _, p := range probes {
		switch {
		case n > 0 && places[n-1].Contains(p.cell):
			continue
		case n == group:
			return nil, n, nil
		}
		place, err := u.index.Find(p.cell)
		if err != nil {
			return nil, n, err
		}
		if x = u.table.Load().unit(place.Block, p.cell); x != nil {
			break
		}
		places[n] = place
		n++
	}
	if n > 0 {
		x = nil
	}
	return x, n, nil
}

// claimed is in the slots of blocks that a goroutine decodes into the words of the array. It has no cell.
var claimed = new(format.Unit)

// decode decodes the units at places and calls answer with each.
func (u *units) decode(places []format.Place, answer func(*format.Unit)) error {
	u.claim(places)
	defer u.release(places) // also if a page of a file that is missing ends the reading
	return u.index.Decode(places, func(x *format.Unit) { answer(u.keep(x)) })
}

// claim sets the words of blocks that no one else decodes, if the array has words.
func (u *units) claim(places []format.Place) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.table.Load()
	for i := range places {
		p := &places[i]
		if p.Words = nil; t.words != nil && p.HasWords() && t.slot(p.Block).CompareAndSwap(nil, claimed) {
			p.Words = p.In(t.words)
		}
	}
}

// release ends the claims of blocks that were not decoded.
func (u *units) release(places []format.Place) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.table.Load()
	for _, p := range places {
		if p.Words != nil && t.slot(p.Block).Load() == claimed {
			clear(p.Words)
			t.slot(p.Block).Store(nil)
		}
	}
}

// link makes find return x for a cell too, unless x was dropped.
func (u *units) link(x *format.Unit, cell uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := u.table.Load(); t.slot(x.Block).Load() == x {
		t.slot(cell >> u.shift).Store(x)
	}
}

// keep returns x, which was decoded, or a copy of it, and stores it in the table.
func (u *units) keep(x *format.Unit) *format.Unit {
	u.mu.Lock()
	defer u.mu.Unlock()
	if x.HasWords() && !x.Placed() {
		u.makeRoom(1)
	}
	t := u.table.Load()
	slot := t.slot(x.Block)
	old := slot.Load()
	switch {
	case x.Placed():
	case old == claimed: // another goroutine decodes it too
		return x.Clone()
	case old != nil && old.Contains(x.First):
		return old
	case t.words != nil && x.HasWords():
		x = x.In(t.words)
	default:
		x = x.Clone()
		u.queue = append(u.queue, x)
		u.bytes += x.Bytes()
		for u.bytes > u.most(t) {
			u.drop(t)
		}
	}
	if x.Coded() {
		u.decoded.Add(1)
	}
	if x.Placed() {
		u.placed.Add(1)
	}
	slot.Store(x)
	return x
}

// most returns the most bytes of the queue.
func (u *units) most(t *table) int { return max(cacheBytes, 8*len(t.words)) }

// expect prepares u for the cells of n probes.
func (u *units) expect(n int) {
	if u.dense() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.makeRoom(min(uint64(n), u.index.Coded))
	}
}

// makeRoom makes the words of the array if that is due when n more blocks are decoded.
func (u *units) makeRoom(n uint64) {
	t := u.table.Load()
	fits := uint64(u.bytes)+n*8*block.Words <= cacheBytes || u.decoded.Load()+n < u.index.Coded/8
	if t.words != nil || u.stays || fits && u.arrayBytes() > cacheBytes {
		return
	}
	words, err := u.words()
	if err != nil {
		u.stays = true
		return
	}
	t = newTable(block.Count(u.index.Array), math.MaxUint64)
	t.words = words
	queue := u.queue
	u.queue, u.bytes = nil, 0
	for _, x := range queue {
		if x.HasWords() {
			x = x.In(words)
			u.placed.Add(1)
		} else {
			u.queue = append(u.queue, x)
			u.bytes += x.Bytes()
		}
		t.slot(x.Block).Store(x)
	}
	u.table.Store(t)
}

// drop drops the oldest unit.
func (u *units) drop(t *table) {
	x := u.queue[0]
	u.queue[0], u.queue = nil, u.queue[1:]
	u.bytes -= x.Bytes()
	last := (x.End - 1) >> u.shift
	for i := x.Block; i <= last && i-x.Block < uint64(len(t.slots)); i++ {
		t.slot(i).CompareAndSwap(x, nil)
	}
}

// reset drops all units.
func (u *units) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.queue, u.bytes = nil, 0
	u.table.Store(newTable(1, 1))
}

// dense reports whether most of the array is neither runs nor empty. Runs answer as fast as the words of the array would.
func (u *units) dense() bool { return u.index.Coded-u.index.Runs >= block.Count(u.index.Array)/2 }

// complete reports whether nearly all blocks are in the words of the array, so that the others may be decoded too: at most an eighth
// of the array is decoded for no query.
func (u *units) complete() bool {
	blocks := u.index.Coded - u.index.Runs
	return u.placed.Load() >= blocks-blocks/8 && u.hasWords() && u.dense()
}

// hasWords reports whether blocks are in the words of the array.
func (u *units) hasWords() bool { return u.table.Load().words != nil }

// array decodes what is left, and returns the array, which has words. It returns errBusy if another goroutine decodes a block.
func (u *units) array() (cells.Array, error) {
	a := u.index.Array
	a.Words = u.table.Load().words
	var probes []probe
	for first := range block.Count(a) {
		probes = append(probes, probe{cell: first << u.shift})
	}
	last, busy := uint64(math.MaxUint64), false
	err := u.each(probes, func(_ probe, x *format.Unit) {
		if x.Block == last {
			return
		}
		if last = x.Block; x.HasWords() && !x.Placed() {
			busy = true
		} else {
			x.CopyTo(a)
		}
	})
	if err == nil && busy {
		err = errBusy
	}
	return a, err
}

var errBusy = errors.New("another goroutine decodes a block")

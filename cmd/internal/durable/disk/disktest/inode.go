package disktest

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// sector is the unit in which data reaches the disk.
const sector = 512

// inode is a file.
type inode struct {
	data   []byte
	safe   []byte             // as it was synced
	states map[int64][][]byte // what a sector contained since then, in order
	sizes  []int              // sizes since then
	spoilt [2]int             // bytes from the first to before the second cannot be read
}

// put writes b at an offset.
func (f *inode) put(b []byte, at int) {
	if end := at + len(b); end > len(f.data) {
		f.resize(end)
	}
	copy(f.data[at:], b)
	f.touch(at, at+len(b))
}

// touch notes the new contents of sectors.
func (f *inode) touch(from, to int) {
	if f.states == nil {
		f.states = map[int64][][]byte{}
	}
	for at := from / sector * sector; at < to; at += sector {
		now := bytes.Clone(f.data[at:min(at+sector, len(f.data))])
		f.states[int64(at)] = append(f.states[int64(at)], now)
	}
}

func (f *inode) resize(n int) {
	f.data = resize(f.data, n)
	f.sizes = append(f.sizes, n)
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// sync makes durable what was written since the last sync, unless that failed.
func (f *inode) sync() {
	f.safe = resize(f.safe, len(f.data))
	for at, states := range f.states {
		copy(f.safe[min(int(at), len(f.safe)):], states[len(states)-1])
	}
	f.states, f.sizes = nil, nil
}

// settle makes the data of a file durable.
func (f *inode) settle() {
	f.safe = bytes.Clone(f.data)
	f.states, f.sizes = nil, nil
}

// cut loses a part of what was not synced.
func (f *inode) cut(random *rand.Rand, luck float64) {
	data := bytes.Clone(f.safe)
	if len(f.sizes) > 0 && random.Float64() < luck {
		data = resize(data, f.sizes[random.IntN(len(f.sizes))])
	}
	for _, at := range slices.Sorted(maps.Keys(f.states)) {
		if random.Float64() < luck && at < int64(len(data)) {
			states := f.states[at]
			copy(data[at:], states[random.IntN(len(states))])
		}
	}
	f.data = data
	f.settle()
}

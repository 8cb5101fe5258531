package contacts

import (
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
)

// Bytes of messages.
const (
	headBytes    = 16  // type, shape, peer and checksum, of each message
	hashBytes    = 8   // of a key in a list
	requestBytes = 48  // head and the 32 bytes of an object's name
	missBytes    = 16  // "I don't have it"
	objectBytes  = 272 // head and 256 bytes, for example a reading or a short text

	missCost = requestBytes + missBytes // of a false positive
)

// exchange is one direction of a contact: from summarizes its store, and to requests objects.
// It ends when no byte is left.
type exchange struct {
	*world
	*Tally
	from, to *peer
	left     int     // bytes
	joules   float64 // of Tally before the exchange
	expected int     // bytes of a contact of mean length: what the peers expect
	got      []int
	memory   *memory
	verify   bool // decode each message and compare the result, for tests
}

// send sends a message and reports whether it arrived.
func (x *exchange) send(bytes int) bool {
	if x.Energy > 0 {
		rest := x.Energy - (x.Joules(prices[x.Radio]) - x.joules)
		x.left = min(x.left, prices[x.Radio].bytes(rest))
	}
	sent := min(bytes, x.left)
	x.left -= sent
	x.Bytes += int64(sent)
	x.Packets += int64((sent + packetBytes - 1) / packetBytes)
	return sent == bytes
}

// keys charges the processor for n keys, cells for n cells that are encoded or decoded.
func (x *exchange) keys(n int)     { x.CPU += int64(n) * keyMicroseconds }
func (x *exchange) cells(n uint64) { x.CPU += int64(n) * cellMicroseconds }

// fill adds the sender's objects to f, which is empty.
func (x *exchange) fill(f *bloom.Filter) *bloom.Filter {
	ds := make([]umbel.Digest, len(x.from.store))
	for i, o := range x.from.store {
		ds[i] = x.digests[o]
	}
	f.AddAll(nil, ds)
	return f
}

// fold returns the base, which contains the sender's objects, folded to the given size. It is
// built at that size, which gives the same filter and takes less of the simulation's time.
func (x *exchange) fold(size uint64) (*bloom.Filter, error) {
	f, err := bloom.NewShape(bloom.Shape{M: size, K: cellsK})
	if err != nil {
		return nil, err
	}
	return x.fill(f), nil
}

// positives returns the objects of wanted that the summary may contain, popular ones first.
func (x *exchange) positives(f *bloom.Filter, wanted []int) (found []int) {
	x.keys(len(wanted))
	for _, o := range wanted {
		if f.Has(x.digests[o]) {
			found = append(found, o)
		}
	}
	return found
}

// request requests objects until the contact ends, and reports whether it lasts.
func (x *exchange) request(objects []int) bool {
	for _, o := range objects {
		if !x.send(requestBytes) {
			return false
		}
		if !x.from.has[o] {
			if !x.send(missBytes) {
				return false
			}
			x.Requests++
			x.Wasted++
			continue
		}
		if !x.send(objectBytes) {
			return false
		}
		x.Requests++
		x.Found++
		x.got = append(x.got, o)
	}
	return true
}

// whole sends a filter whole or not at all, and then requests all positives.
func (x *exchange) whole(f *bloom.Filter, bytes int) {
	if !x.send(bytes) {
		return
	}
	positives := x.positives(f, x.to.wanted)
	for _, o := range positives {
		if !x.from.has[o] {
			x.Positives++
		}
	}
	for _, o := range x.to.wanted {
		if !x.from.has[o] {
			x.Predicted += plan.Filter{M: f.Shape().M, K: f.Shape().K}.FPRate(uint64(len(x.from.store)))
		}
	}
	x.request(positives)
}

// run simulates all contacts with one scheme. It has the same peers, the same contacts and the
// same changes for each scheme with the same seed.
func (w *world) run(s scheme, seed uint64, verify bool) (Tally, error) {
	w = w.clone()
	var t Tally
	expected := int(w.Seconds * w.Bandwidth / 2)
	if w.Energy > 0 {
		expected = min(expected, prices[w.Radio].bytes(w.Energy))
	}
	memories := make(map[[2]int]*memory)
	for i := range w.Contacts {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		a, b := w.pair(r)
		bytes := r.ExpFloat64() * w.Seconds * w.Bandwidth
		w.change(a, r)
		w.change(b, r)
		for _, way := range [][2]*peer{{a, b}, {b, a}} {
			ids := [2]int{way[0].id, way[1].id}
			if memories[ids] == nil {
				memories[ids] = new(memory)
			}
			x := exchange{
				world: w, Tally: &t, from: way[0], to: way[1], memory: memories[ids],
				left: int(bytes / 2), joules: t.Joules(prices[w.Radio]), expected: expected, verify: verify,
			}
			if err := s.exchange(&x); err != nil {
				return t, err
			}
			for _, o := range x.got {
				w.receive(x.to, o, r)
			}
		}
	}
	return t, nil
}

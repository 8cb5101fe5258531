package adaptive

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/probe"
)

// attempts is how often at most a codeword is drawn until it has enough ones.
const attempts = 32

// Sampler draws the codewords of a design. It may be used by many goroutines at once.
//
// Codeword number s of a link, the set that a header's seed names, is drawn by the
// values of the stream of the link's [inpacket.Codeword] from value s·2^12 on, each of
// them mixed, so that whoever knows that codeword draws the same bits:
//
//   - Hashed: each of K values v falls to the position whose odds hold it, where odds
//     lie one after the other from 0 on; beyond the last position it sets nothing.
//   - Independent: the paths from one to the next are drawn, by survival. S_j is the
//     chance that no position up to j is set, as a 64-bit fraction: before the first
//     position it is 2^64-1, and S_j = S_{j-1} - ⌊S_{j-1}·odds/2^64⌋ - 1, but at least
//     0. From a position a a value v gives u = ⌊v·S_a/2^64⌋, and the next one is the
//     first position with S_j <= u. Where S falls below 2^44 a segment ends and S begins
//     anew: the first position there is looked for with another value. This takes one
//     value for each one and each segment: 51.5 for the 47.8 ones among 2071 positions
//     of the heuristic.
//
// If fewer than Design.Least of the first m_1 positions are ones the codeword is drawn
// again, by the values that follow, up to 32 times; the last is then kept. (Who needs
// more than 2^12 values goes on with those of the next set: so sets of designs with
// thousands of ones in a codeword have some in common.) Without
// that some links match nearly every short filter for as long as their key lasts: of
// an optimum's codewords the share with no one among the first m_1 positions is
// about the rate itself.
//
// Values are mixed since those of a stream that follow each other aren't independent
// enough to fall behind one bound together: of codewords with 6 draws, each behind m_1
// with odds of 0.678, a share of 0.1006 ± 0.0002 would have no one before it, and not
// 0.0973. The mix is the one that ends SplitMix64 (Steele, Lea and Flood 2014):
// z = (z ^ z>>30)·0xbf58476d1ce4e5b9, z = (z ^ z>>27)·0x94d049bb133111eb, z ^ z>>31.
type Sampler struct {
	bits   int
	first  int // m_1
	least  int
	k      int
	hashed []mass   // of Hashed
	alive  []uint64 // of Independent: S_j
	ends   []int    // of its segments
}

// mass is where the odds of a run's positions lie.
type mass struct {
	from, each uint64
	position   int
	positions  uint64
}

// restart is the survival below which a segment ends.
const restart = 1 << 44

// Sampler returns a sampler of the design; the error is that of [Design.Check].
func (d *Design) Sampler() (*Sampler, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	s := &Sampler{bits: d.Bits(), first: d.Ends[0], least: d.Least, k: d.K}
	if d.Objective == Hashed {
		s.hashed = masses(d.Runs)
	} else {
		s.alive, s.ends = survival(d.Runs)
	}
	return s, nil
}

func masses(runs []Run) []mass {
	ms := make([]mass, len(runs))
	var from uint64
	position := 0
	for i, r := range runs {
		ms[i] = mass{from, r.Odds, position, uint64(r.Positions)}
		from += r.Odds * uint64(r.Positions) // 2^64 at the last one's end at most
		position += r.Positions
	}
	return ms
}

func survival(runs []Run) (alive []uint64, ends []int) {
	left := uint64(math.MaxUint64)
	for _, r := range runs {
		for range r.Positions {
			dies, _ := bits.Mul64(left, r.Odds)
			left -= min(left, dies+1)
			alive = append(alive, left)
			if left < restart {
				ends, left = append(ends, len(alive)), math.MaxUint64
			}
		}
	}
	if left != math.MaxUint64 {
		ends = append(ends, len(alive))
	}
	return alive, ends
}

// draws is a stream whose values are mixed.
type draws struct{ probe.Stream }

func (d draws) next() (uint64, draws) {
	z, s := d.Next()
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, draws{s}
}

// Bits returns the number of positions of a codeword.
func (s *Sampler) Bits() int { return s.bits }

// Codeword returns the codeword of a set, 0 to 65535, of the link with the codeword c:
// position j is bit j&63 of word j>>6, as filters of the form [inpacket.Dense] have it.
// Bits beyond the last position are zero.
func (s *Sampler) Codeword(c inpacket.Codeword, set int) []uint64 {
	return s.AppendCodeword(nil, c, set)
}

// AppendCodeword appends the words of a codeword to dst: see Codeword.
func (s *Sampler) AppendCodeword(dst []uint64, c inpacket.Codeword, set int) []uint64 {
	words := (s.bits + 63) / 64
	dst = slices.Grow(dst, words)
	w := dst[len(dst) : len(dst)+words]
	values := draws{probe.Start(umbel.Digest(c)).Skip(uint64(set) << 12)}
	for range attempts {
		clear(w)
		if s.k > 0 {
			values = s.hash(w, values)
		} else {
			values = s.jump(w, values)
		}
		if s.enough(w) {
			break
		}
	}
	return dst[:len(dst)+words]
}

// enough reports whether the codeword has as many ones as it needs at the front.
func (s *Sampler) enough(w []uint64) bool {
	n := 0
	for i, x := range w {
		if rest := s.first - i*64; rest < 64 {
			return n+bits.OnesCount64(x&(1<<max(0, rest)-1)) >= s.least
		}
		n += bits.OnesCount64(x)
	}
	return n >= s.least
}

// hash sets the K positions that values fall to.
func (s *Sampler) hash(w []uint64, values draws) draws {
	var v uint64
	for range s.k {
		v, values = values.next()
		low, high := 0, len(s.hashed) // the run is in [low, high)
		for high-low > 1 {
			if mid := (low + high) / 2; s.hashed[mid].from <= v {
				low = mid
			} else {
				high = mid
			}
		}
		m := &s.hashed[low]
		if at := (v - m.from) / m.each; at < m.positions {
			j := m.position + int(at)
			w[j>>6] |= 1 << (j & 63)
		}
	}
	return values
}

// jump goes from one to one.
func (s *Sampler) jump(w []uint64, values draws) draws {
	var v uint64
	j := 0 // the next position
	for _, end := range s.ends {
		left := uint64(math.MaxUint64)
		for j < end {
			v, values = values.next()
			u, _ := bits.Mul64(v, left)
			j = s.next(j, end, u)
			if j == end {
				break
			}
			w[j>>6] |= 1 << (j & 63)
			left = s.alive[j]
			j++
		}
	}
	return values
}

// next returns the first position from j on that survival has not reached u at, or
// end. It doubles its steps, since most jumps are short, and then halves them.
func (s *Sampler) next(j, end int, u uint64) int {
	step := 1
	for j+step <= end && s.alive[j+step-1] > u {
		j += step
		step *= 2
	}
	high := min(j+step-1, end) // s.alive[high] <= u, or high is end
	for j < high {
		if mid := (j + high) / 2; s.alive[mid] > u {
			j = mid + 1
		} else {
			high = mid
		}
	}
	return j
}

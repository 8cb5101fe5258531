package adaptive

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// attempts is the largest number of times that a codeword is drawn.
const attempts = 32

// Sampler draws the codewords of a design. It is safe for concurrent use.
//
// Codeword number s of a link, where s is the seed of a header, is drawn with the values
// of the stream of the link's [inpacket.Codeword] from value s·2^12 on. Each value is
// mixed. So everyone who has the inpacket.Codeword draws the same bits:
//
//   - Hashed: the odds of all positions are intervals, one after the other from 0 on.
//     Each of K values v sets the position whose interval contains v. A value after the
//     last interval sets no position.
//   - Independent: the distances between set positions are drawn, by survival. S_j is
//     the probability that no position up to j is set, as a 64-bit fraction. It begins
//     with 2^64-1, and S_j = S_{j-1} - ⌊S_{j-1}·odds/2^64⌋ - 1, but at least 0. From
//     position a, a value v gives u = ⌊v·S_a/2^64⌋, and the next set position is the
//     first one with S_j <= u. If S falls below 2^44, a segment ends and S begins again
//     with 2^64-1; the first set position there is drawn with a new value. This takes
//     one value per set position and per segment: 51.5 for the 47.8 ones among 2071
//     positions of the paper's formula.
//
// If fewer than Design.Least of the first m_1 positions are ones, the codeword is redrawn
// with the values that follow. The 32nd draw is always kept. Without redrawing, some
// links would match nearly every short filter for as long as their key lasts: among an
// optimum's codewords, the share without a one among the first m_1 positions is about
// the rate itself. (A codeword that needs more than 2^12 values continues with the values
// of the next seed, so designs with thousands of ones per codeword have bits in common
// under different seeds.)
//
// Values are mixed because successive values of a stream are not independent enough to
// be compared with one bound. Of codewords with 6 draws, each after m_1 with probability
// 0.678, a share of 0.1006 ± 0.0002 would have no one before m_1, instead of 0.0973. The
// mixer is the last step of SplitMix64 (Steele, Lea and Flood 2014):
// z = (z ^ z>>30)·0xbf58476d1ce4e5b9, z = (z ^ z>>27)·0x94d049bb133111eb, z ^ z>>31.
type Sampler struct {
	bits   int
	first  int // m_1
	least  int
	k      int
	hashed []interval // for Hashed
	alive  []uint64   // for Independent: S_j
	ends   []int      // the ends of its segments
}

// interval is the interval of the odds of a run, from which each position takes width.
type interval struct {
	from, width uint64
	position    int // the first position of the run
	positions   uint64
}

// restart is the survival below which a segment ends.
const restart = 1 << 44

// Sampler returns a sampler of the design. It returns the error of [Design.Check] if d is
// not valid.
func (d *Design) Sampler() (*Sampler, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	s := &Sampler{bits: d.Bits(), first: d.Ends[0], least: d.Least, k: d.K}
	if d.Objective == Hashed {
		s.hashed = intervals(d.Runs)
	} else {
		s.alive, s.ends = survival(d.Runs)
	}
	return s, nil
}

func intervals(runs []Run) []interval {
	all := make([]interval, len(runs))
	var from uint64
	position := 0
	for i, r := range runs {
		all[i] = interval{from, r.Odds, position, uint64(r.Positions)}
		from += r.Odds * uint64(r.Positions) // at most 2^64, which wraps to 0 after the last run
		position += r.Positions
	}
	return all
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

// draws is a stream with mixed values.
type draws struct{ probe.Stream }

func (d draws) next() (uint64, draws) {
	z, s := d.Next()
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, draws{s}
}

// Codeword returns the codeword under seed set, 0 to 65535, of the link with codeword c.
// Position j is bit j&63 of word j>>6, as in filters of the form [inpacket.Dense]. Bits
// after the last position are zero.
func (s *Sampler) Codeword(c inpacket.Codeword, set int) []uint64 {
	return s.AppendCodeword(nil, c, set)
}

// AppendCodeword appends the words of Codeword(c, set) to dst.
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

// enough reports whether at least s.least of the first m_1 positions are ones.
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

// hash sets the positions that K values select.
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
		if at := (v - m.from) / m.width; at < m.positions {
			j := m.position + int(at)
			w[j>>6] |= 1 << (j & 63)
		}
	}
	return values
}

// jump draws the distances from one set position to the next.
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

// next returns the first position from j on whose survival is at most u, or end. It
// doubles its steps, because most distances are short, and then halves them.
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

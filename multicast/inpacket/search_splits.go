package inpacket

import "slices"

// lengths are the lengths in bits that a filter with sections would have, by the number of
// sections.
type lengths [maxSections + 1]int

// extraPer is the number of bits, in 1024ths, by which each excluded link makes a filter
// longer, by the number of sections: -log2(1 - 2^-sections).
var extraPer = lengths{1: 1024, 2: 425, 3: 197, 4: 95, 5: 47, 6: 23, 7: 12, 8: 6}

// lengthsFor returns the lengths of filters that contain held links and exclude others: the
// least, if all solutions of the sections could be tried, and the mean of the first one.
func lengthsFor(held, others int) (least, mean lengths) {
	for r := 1; r <= maxSections; r++ {
		least[r] = r*held + others*extraPer[r]>>10
		mean[r] = r*held + others>>(r-1)
	}
	return least, mean
}

// chooseSplits chooses the splits worth trying for a tree of held links next to others, and
// returns a length at which a filter is easy to find. It returns no split if a seed takes
// too long.
func chooseSplits(held, others int, q *search) (all []choice, start int) {
	least, mean := lengthsFor(held, others)
	leastNot, meanNot := lengthsFor(others, held)
	var within, first int // the shortest length of each kind
	each := func(yield func(c choice, least, mean int)) {
		for _, form := range []Form{Linear, Deep, Complement} {
			for k, s := range splits[form] {
				c := choice{form, uint8(k)}
				switch {
				case !slices.Contains(q.Forms, form) || falseMatchIn(form, s.sections) > q.MaxFalseMatch:
				case form == Complement:
					yield(c, leastNot[s.sections], meanNot[s.sections])
				default:
					yield(c, least[s.sections], mean[s.sections])
				}
			}
		}
	}
	each(func(_ choice, least, mean int) {
		if within == 0 || least < within {
			within = least
		}
		if first == 0 || mean < first {
			first = mean
		}
	})
	each(func(c choice, least, mean int) {
		if (least <= within+within/32+3 || mean <= first+first/64) && !slow(c, held, others) {
			all = append(all, c)
		}
	})
	return all, first + 16
}

// mostSteps is the number of steps of about a nanosecond that a seed may take.
const mostSteps = 1 << 31

// slow reports whether a seed takes too long with a split: the time to solve a system of
// equations grows with the cube of their number.
func slow(c choice, held, others int) bool {
	if c.form == Complement {
		held, others = others, held
	}
	sections := splits[c.form][c.k].sections
	steps := func(equations int) float64 {
		return float64(equations) * float64(equations) / 4 * float64(words(equations))
	}
	last := held + others>>(sections-1)
	return steps(last)+float64(sections-1)*(steps(held)+float64(others)*float64(words(held)*(freeDims+1))) > mostSteps
}

package topology

import (
	"io"
	"strconv"
	"strings"
)

// ReadWeights reads a network as the Rocketfuel project writes the weights of links
// (Mahajan et al. 2002): lines of two names and a weight with spaces between them.
// In a name, "+" stands for a space. Both directions of a link have a line, which isn't
// noted as a repetition; the lower weight is kept. Errors wrap ErrFormat or ErrLimit.
func ReadWeights(r io.Reader, l Limits) (*Graph, Notes, error) {
	b := newBuilder(l)
	ids := map[string]int{}
	alone := map[[2]int]bool{} // directions whose reverse hasn't come
	in := newLines(r, b.limits)
	for in.next() {
		fields := strings.Fields(in.text)
		if len(fields) != 3 {
			return nil, Notes{}, formatError(in.number, "%d fields, want two names and a weight", len(fields))
		}
		var ends [2]int
		for i, id := range fields[:2] {
			var ok bool
			if ends[i], ok = ids[id]; ok {
				continue
			}
			var err error
			if ends[i], err = b.node(Node{Name: strings.ReplaceAll(id, "+", " ")}, in.number); err != nil {
				return nil, Notes{}, err
			}
			ids[id] = ends[i]
		}
		weight, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, Notes{}, formatError(in.number, "weight %.40q, want a number", fields[2])
		}
		if err := b.link(ends[0], ends[1], weight, in.number); err != nil {
			return nil, Notes{}, err
		}
		if reverse := [2]int{ends[1], ends[0]}; alone[reverse] && reverse != ends {
			delete(alone, reverse)
			b.notes.Merged-- // it is the other direction, and no repetition
		} else {
			alone[ends] = true
		}
	}
	if err := in.err(); err != nil {
		return nil, Notes{}, err
	}
	return b.done()
}

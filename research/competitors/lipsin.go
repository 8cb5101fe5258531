package competitors

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

// Lipsin encodes a tree as the best of d filters of fixed length: package lipsin. If all
// filters of a tree are fuller than the parameters allow, Plan returns an error wrapping
// lipsin.ErrOverfull. If the parameters allow more than three quarters, the limit of
// umbel's routers, its routers drop only filters that consist of ones.
type Lipsin struct {
	Design lipsin.Parameters // default: the paper's, lipsin.LIPSIN
	ByRate bool              // whether to choose by expected rate (the paper's fpa) instead of tests on known links (fpr)
	TTL    int               // 1 to 255; 0 is scheme.DefaultTTL. Headers of deeper trees have the tree's depth.
	scheme.Routers
}

// Name returns "lipsin".
func (Lipsin) Name() string { return "lipsin" }

// Domain returns the domain of LIPSIN; see [scheme.Scheme].
func (l Lipsin) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	if l.Design == (lipsin.Parameters{}) {
		l.Design = lipsin.LIPSIN()
	}
	if err := l.Design.Check(); err != nil {
		return nil, err
	}
	return scheme.Dense{Bits: l.Design.M, Sets: l.Design.Sets, AnyFill: l.Design.MaxFill > 0.75, TTL: l.TTL, Routers: l.Routers,
		Codewords: l.Design.Codewords, Encode: l.encode,
	}.Domain(known, present)
}

// encode implements scheme.Dense.
func (l Lipsin) encode(links, others [][]inpacket.BitString) (h inpacket.Header, p scheme.Plan, err error) {
	choice, err := l.Design.Choose(links, others)
	if err != nil {
		return h, p, err
	}
	best := choice.ByTests
	if l.ByRate {
		best = choice.ByRate
	}
	if best.Ones == l.Design.M {
		return h, p, fmt.Errorf("competitors: %d links set all %d bits, and routers drop such filters; split the tree or use more "+
			"bits: %w", len(links), l.Design.M, lipsin.ErrOverfull)
	}
	best.Put(&h)
	return h, scheme.Plan{FalseMatch: l.Design.ExactRate(best.Ones), Trials: uint64(l.Design.Sets)}, nil
}

package adaptive

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/inpacket"
	design "github.com/umbel-filters/umbel/inpacket/lipsin"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// stranger writes headers without knowing a key: of a filter's bits some are one, in
// any places.
type stranger struct {
	name       string
	form       inpacket.Form
	k          uint8
	bits, ones int
	ttl        uint8
	anyFill    bool    // routers take over-full filters
	window     int     // of routers: how many sources
	bound      float64 // of routers: the highest chance of a match, 0 for any
	sequenced  bool    // the headers have a source and a sequence number
}

// stages are the ones and bits of each stage of a staged filter of a stranger, who
// writes as many as the TTL asks for.
const (
	stageBits = 8
	stageOnes = 6
	stageHead = 12
)

// header returns a header of the stranger's.
func (s *stranger) header(r *rand.Rand) ([]byte, error) {
	h := inpacket.Header{TTL: s.ttl, Form: s.form, K: s.k, Seed: uint16(r.IntN(8)), Bits: s.bits}
	if s.form == inpacket.Folded {
		h.Seed = 0
	}
	if s.form == inpacket.Staged {
		h.Bits = int(s.ttl) * (stageHead + stageBits)
	}
	h.Filter = make([]byte, (h.Bits+7)/8)
	set := func(bit int) { h.Filter[bit>>3] |= 1 << (bit & 7) }
	if s.form == inpacket.Staged {
		for at := 0; at < h.Bits; at += stageHead + stageBits {
			set(at + 4 + 3) // the length, 8
			for _, bit := range r.Perm(stageBits)[:stageOnes] {
				set(at + stageHead + bit)
			}
		}
	} else {
		for _, bit := range r.Perm(s.bits)[:s.ones] {
			set(bit)
		}
	}
	if s.sequenced {
		h.Sequenced, h.Source, h.Sequence = true, r.Uint32(), r.Uint32()
	}
	return h.AppendBinary(nil)
}

// chance returns how likely a link is to match the stranger's filter.
func (s *stranger) chance() float64 {
	switch s.form {
	case inpacket.Dense:
		return design.LIPSIN().ExactRate(s.ones)
	case inpacket.Staged:
		return math.Pow(float64(stageOnes)/stageBits, float64(s.k))
	case inpacket.Linear:
		planes, _ := inpacket.LinearSections(s.k, s.bits)
		return math.Pow(0.5, float64(planes))
	}
	return math.Pow(float64(s.ones)/float64(s.bits), float64(s.k))
}

// What a trial of a stranger's header counts.
const (
	copiesMade = "copies"
	nodesTold  = "nodes" // that got the packet
	stormsMade = "storms"
)

// sending is a simulation: a header from any node, to nobody in particular.
func (s *stranger) sending(g *topology.Graph) trial.Simulation {
	return trial.Simulation{
		Name:   fmt.Sprintf("002 stranger %s %+v", g.Name, *s),
		Values: []string{copiesMade, nodesTold, stormsMade},
		Worker: func() (trial.Trial, error) {
			n := multicast.NewNetwork(g, key, 0)
			d, err := s.domain(n)
			if err != nil {
				return nil, err
			}
			wires := sim.NewFabric(n)
			return func(source *rand.ChaCha8, out []int64) error {
				r := rand.New(source)
				b, err := s.header(r)
				if err != nil {
					return err
				}
				t := tree.Tree{Graph: g, Source: r.IntN(len(g.Nodes))}
				for node := range g.Nodes {
					if node != t.Source {
						t.Receivers = append(t.Receivers, node)
					}
				}
				record := wires.Send(d, &t, scheme.Plan{Headers: [][]byte{b}}, sim.Options{})
				out[0], out[1], out[2] = int64(record.Copies), int64(record.Reached), 0
				if record.Storm {
					out[2] = 1
				}
				return nil
			}, nil
		},
	}
}

// listening is a domain whose nodes take all packets of group 0.
type listening []*multicast.Node

// domain returns the nodes of a network as the stranger finds them.
func (s *stranger) domain(n *multicast.Network) (listening, error) {
	var d listening
	lipsin := design.LIPSIN()
	for node := range n.Graph.Nodes {
		keys := n.Keys(node)
		if s.form == inpacket.Dense {
			keys.DenseBits = lipsin.M
			for set := range lipsin.Sets {
				var stored []inpacket.BitString
				for _, c := range keys.Ports {
					stored = append(stored, lipsin.Link(c).Set(set))
				}
				keys.Dense = append(keys.Dense, stored)
			}
		}
		router, err := multicast.NewNode(multicast.Config{ID: uint32(node), Ports: len(n.Ports(node)), Keys: []multicast.Keys{keys},
			Window: s.window, AnyFill: s.anyFill, MaxFalseMatch: s.bound})
		if err != nil {
			return nil, err
		}
		router.Join(0)
		d = append(d, router)
	}
	return d, nil
}

func (d listening) Plan(*tree.Tree, uint32) (scheme.Plan, error) {
	return scheme.Plan{}, errors.New("adaptive: strangers plan nothing")
}

func (d listening) Router(node int) multicast.Router { return d[node] }

func (d listening) Receive(uint32, []int) {}

package adaptive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
	design "github.com/umbel-filters/umbel/research/competitors/lipsin"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// untrustedHeader describes headers of a sender without a key: some random bits of the
// filter are one. The names of the fields determine the seeds of the simulation.
type untrustedHeader struct {
	name       string
	form       inpacket.Form
	k          uint8
	bits, ones int
	ttl        uint8
	anyFill    bool    // routers accept overfull filters
	window     int     // of routers: number of stored sources
	bound      float64 // of routers: the highest chance of a match, 0 for any
	sequenced  bool    // the headers have a source and a sequence number
}

// The ones and bits of each stage of a staged filter, which has as many stages as its TTL.
const (
	stageBits = 8
	stageOnes = 6
	stageHead = 12
)

// header returns a random header.
func (s *untrustedHeader) header(r *rand.Rand) ([]byte, error) {
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

// chance returns the probability that a link matches the filter.
func (s *untrustedHeader) chance() float64 {
	switch s.form {
	case inpacket.Dense:
		return design.LIPSIN().ExactRate(s.ones)
	case inpacket.Staged:
		return math.Pow(float64(stageOnes)/stageBits, float64(s.k))
	case inpacket.Linear, inpacket.Complement:
		sections, _ := inpacket.Sections(s.form, s.k, s.bits)
		odd := math.Pow(0.5, float64(sections))
		if s.form == inpacket.Complement {
			return 1 - odd
		}
		return odd
	}
	return math.Pow(float64(s.ones)/float64(s.bits), float64(s.k))
}

// The values that a trial of an untrusted header counts.
const (
	copiesMade   = "copies"
	nodesReached = "nodes" // that got the packet
	stormsMade   = "storms"
)

// sending returns a simulation that sends a header from a random node.
func (s *untrustedHeader) sending(g *topology.Graph) trial.Simulation {
	return trial.Simulation{
		Name:   fmt.Sprintf("002 stranger %s %+v", g.Name, *s),
		Values: []string{copiesMade, nodesReached, stormsMade},
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

// listening is a domain whose nodes receive all packets of group 0.
type listening []*multicast.Node

// domain returns the nodes of a network with the options of the routers.
func (s *untrustedHeader) domain(n *multicast.Network) (listening, error) {
	var d listening
	lipsin := design.LIPSIN()
	for node := range n.Graph.Nodes {
		keys := n.Keys(node)
		if s.form == inpacket.Dense {
			keys.DenseBits = lipsin.M
			for set := range lipsin.Sets {
				var stored []inpacket.BitString
				for _, c := range keys.Ports {
					stored = append(stored, lipsin.Codewords(c)[set])
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
	return scheme.Plan{}, errors.New("adaptive: untrusted headers have no plan")
}

func (d listening) Router(node int) multicast.Router { return d[node] }

func (d listening) Receive(uint32, []int) {}

// untrusted contains headers that a sender without a key may send, with each of ttls.
var untrusted = []untrustedHeader{
	{name: "all ones", form: inpacket.Single, k: 5, bits: 248, ones: 248},
	{name: "all but one bit", form: inpacket.Single, k: 5, bits: 248, ones: 247},
	{name: "all but one bit", form: inpacket.Single, k: 5, bits: 248, ones: 247, anyFill: true},
	{name: "75 % ones", form: inpacket.Single, k: 1, bits: 248, ones: 186},
	{name: "75 % ones", form: inpacket.Single, k: 5, bits: 248, ones: 186},
	{name: "75 % ones", form: inpacket.Single, k: 15, bits: 248, ones: 186},
	{name: "half ones", form: inpacket.Single, k: 5, bits: 248, ones: 124},
	{name: "75 % ones", form: inpacket.Folded, k: 1, bits: 240, ones: 180},
	{name: "75 % ones", form: inpacket.Dense, bits: 248, ones: 186},
	{name: "75 % ones in each stage", form: inpacket.Staged, k: 1},
	{name: "half ones, one plane", form: inpacket.Linear, k: 0, bits: 128, ones: 64},
	{name: "half ones, four planes", form: inpacket.Linear, k: 15, bits: 128, ones: 64},
	{name: "75 % ones, sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, sequenced: true},
	{name: "75 % ones, sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, sequenced: true, window: 1024},
	{name: "75 % ones, not sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, window: 1024},
	{name: "75 % ones, bound 1/8", form: inpacket.Single, k: 1, bits: 248, ones: 186, bound: 1. / 8},
	{name: "half ones, bound 1/8", form: inpacket.Single, k: 3, bits: 248, ones: 124, bound: 1. / 8},
	{name: "half ones, three planes, bound 1/8", form: inpacket.Linear, k: 8, bits: 128, ones: 64, bound: 1. / 8},
}

// ttls contains the TTLs of untrusted headers.
var ttls = []uint8{4, 8, 32}

var guards = piece.Piece{
	Name:  "002/guards",
	Title: "Headers of a sender without a key",
	Note: `
A sender without a key can't encode a tree, but can send any bits. How far do 300 headers with a
given number of ones in random places go, each from a random node? Routers drop filters with
only ones, or with more than three quarters of ones; if "guard" is no, they drop only filters
with only ones. "Chance" is the computed probability that a link matches. "Copies" is the number
of copies per packet for each TTL, limited to 10 000. "Reached" is the share of all other nodes,
and "storms" the share of packets that reached the limit, both for the last TTL. A window stores
1024 sources.

The guard stops only headers with (almost) only ones. If an attacker uses one position per link,
or one plane, and at most three quarters of ones, packets are copied until the TTL ends, which
is late for a TTL of 32. Headers with more positions or planes die out. A window stops repeated
copies of headers with a sequence, but an attacker omits the sequence. Routers that bound the
chance of a match, as in the last rows, forward nothing that spreads; the headers of their own
senders are then longer.`,
	Make: makeGuards,
}

func makeGuards(ctx context.Context, r *piece.Run) error {
	maps, err := changing(r)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "filter", "form", "K", "guard", "window", "chance"}}
	for _, ttl := range ttls {
		t.Head = append(t.Head, "copies: "+strconv.Itoa(int(ttl)))
	}
	t.Head = append(t.Head, "reached", "storms")
	for _, g := range maps {
		for _, s := range untrusted {
			row := []string{g.Name, s.name, scheme.FormName(s.form), strconv.Itoa(int(s.k)), yesNo(!s.anyFill), yesNo(s.window > 0),
				strconv.FormatFloat(s.chance(), 'g', 2, 64)}
			var of trial.Result
			for _, s.ttl = range ttls {
				if of, err = r.Simulate(ctx, s.sending(g), min(mostTrees, r.Trials)); err != nil {
					return err
				}
				row = append(row, piece.Fixed(of.Of(copiesMade).Mean(), 1))
			}
			t.Append(append(row, piece.Fixed(of.Of(nodesReached).Mean()/float64(len(g.Nodes)-1), 3), piece.Fixed(of.Of(stormsMade).Mean(), 2))...)
		}
	}
	r.Tabulate(t)
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

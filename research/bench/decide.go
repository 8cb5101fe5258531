package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/research/competitors/lipsin"
)

const (
	decidePath = "multicast/decide/link"
	// decidePackets is the number of packets of one timing.
	decidePackets = 1 << 13
	// headersInTurn is the number of different headers, a power of two: too many for a
	// branch predictor to learn.
	headersInTurn = 256
)

// nodeLinks contains the numbers of links of the measured nodes.
var nodeLinks = []int{4, 8, 16, 29, 45}

func linksColumn(n int) string { return fmt.Sprintf("%d links", n) }

// matcher contains the links of a node in a layout of package inpacket.
type matcher interface {
	Match(dst []uint64, h *inpacket.Header)
}

// decision is a form of filter, with a size, that is matched with the links of a node.
type decision struct {
	name string
	form inpacket.Form
	k    uint8
	bits int
	// links returns the layout of links with these codewords; nil for that of all forms
	// except Dense.
	links func(cs []inpacket.Codeword) (matcher, error)
	sets  int // number of sets of stored codewords, at least 1; 0 if codewords are computed
}

const (
	denseRow   = "LIPSIN, dense, 256 bits"
	prefixRow  = "dense, 600 bits of an adaptive codeword"
	singleRow  = "umbel single, K=4, 157 bits"
	longRow    = "umbel single, K=4, 2000 bits"
	stagedRow  = "umbel staged, K=4, 4 stages, 168 bits"
	foldedRow  = "umbel folded, K=4, 168 bits"
	linear1Row = "umbel linear, 1 plane, 60 bits"
	linear2Row = "umbel linear, 2 planes, 100 bits"
	linear3Row = "umbel linear, 3 planes, 160 bits"
)

// decisions contains all forms with sizes of headers to 16 receivers, and one unusually
// long filter. Linear planes have the most frequent split.
var decisions = []decision{
	{name: denseRow, form: inpacket.Dense, bits: 256, links: lipsinLinks, sets: lipsinDesign.Sets},
	{name: prefixRow, form: inpacket.Dense, bits: 600, links: adaptiveLinks, sets: 1},
	{name: singleRow, form: inpacket.Single, k: 4, bits: 157},
	{name: longRow, form: inpacket.Single, k: 4, bits: 2000},
	{name: stagedRow, form: inpacket.Staged, k: 4, bits: 168},
	{name: foldedRow, form: inpacket.Folded, k: 4, bits: 168},
	{name: linear1Row, form: inpacket.Linear, k: 0, bits: 60},
	{name: linear2Row, form: inpacket.Linear, k: 4, bits: 100},
	{name: linear3Row, form: inpacket.Linear, k: 10, bits: 160},
}

// runDecide measures the decision about a packet with a parsed header: which links of a
// node are in its filter?
func runDecide(nodes []int, o options, p *progress) (*Table, error) {
	p.scope = decidePath
	t := &Table{
		Section: "multicast", Path: decidePath, Unit: "Time per link; a packet takes this times the number of links; ns per link",
		Title: "The decision about a parsed header, by number of links of the node",
	}
	for _, n := range nodes {
		t.Columns = append(t.Columns, linksColumn(n))
	}
	var tasks []task
	for _, q := range decisions {
		if !o.only.MatchString(t.Path + "/" + q.name) {
			continue
		}
		row := &Row{Name: q.name}
		t.Rows = append(t.Rows, row)
		for _, n := range nodes {
			f, err := q.decider(n)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", t.Path, q.name, err)
			}
			tasks = append(tasks, task{row, linksColumn(n), func(int) (float64, error) {
				return timed(func() { f(decidePackets) }).Seconds() * 1e9 / float64(decidePackets*n), nil
			}})
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	return t, interleave(o.rounds, max(1, o.timedNear/decidePackets), p, tasks, func() {})
}

// node returns a node with the given number of links.
func (q *decision) node(r *rand.Rand, links int) (matcher, error) {
	cs := make([]inpacket.Codeword, links)
	for i := range cs {
		cs[i] = inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()}
	}
	if q.links != nil {
		return q.links(cs)
	}
	return inpacket.NewTable(cs), nil
}

// decider returns a loop over packets at a node with at most 64 links.
func (q *decision) decider(links int) (func(packets int), error) {
	r := rand.New(rand.NewPCG(1, uint64(links)))
	node, err := q.node(r, links)
	if err != nil {
		return nil, err
	}
	headers := make([]inpacket.Header, headersInTurn)
	for i := range headers {
		headers[i] = q.header(r)
	}
	matched := make([]uint64, 1)
	return func(packets int) {
		var sum uint64
		for i := range packets {
			node.Match(matched, &headers[i&(headersInTurn-1)])
			sum += matched[0]
		}
		sink.Add(int64(sum))
	}, nil
}

// header returns a header whose filter is half full.
func (q *decision) header(r *rand.Rand) inpacket.Header {
	h := inpacket.Header{TTL: 1, Form: q.form, K: q.k, Bits: q.bits, Filter: make([]byte, (q.bits+7)/8)}
	switch {
	case q.sets > 0:
		h.Seed = uint16(r.IntN(q.sets))
	case q.form != inpacket.Folded:
		h.Seed = uint16(r.IntN(256))
	}
	for bit := range q.bits {
		put(h.Filter, bit, 1, r.Uint32())
	}
	if q.form == inpacket.Staged {
		const stages = 4
		each := q.bits / stages
		code, _ := inpacket.StageCode(each - inpacket.StageHeadBits)
		for first := 0; first < stages*each; first += each {
			put(h.Filter, first+4, 8, uint32(code)) // after the stage's part of the seed
		}
		h.TTL = uint8(1 + r.IntN(stages))
	}
	return h
}

// put writes the low n bits of v into a filter, starting at bit first.
func put(filter []byte, first, n int, v uint32) {
	for i := range n {
		at := first + i
		filter[at>>3] = filter[at>>3]&^(1<<(at&7)) | byte(v>>i&1)<<(at&7)
	}
}

// lipsinDesign is the design of LIPSIN with 256 bits.
var lipsinDesign = lipsin.Parameters{M: 256, K: 5, Sets: 8, MaxFill: 0.7}

func lipsinLinks(cs []inpacket.Codeword) (matcher, error) {
	links := make([][]inpacket.BitString, len(cs))
	for i, c := range cs {
		links[i] = lipsinDesign.Codewords(c)
	}
	return lipsinDesign.Table(links), nil
}

// adaptiveLinks returns the layout of one set of codewords of the optimal design for up to
// 200 links at a rate of 1 %.
func adaptiveLinks(cs []inpacket.Codeword) (matcher, error) {
	design, err := adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: 0.01, Weights: adaptive.Uniform(200)})
	if err != nil {
		return nil, err
	}
	sampler, err := design.Sampler()
	if err != nil {
		return nil, err
	}
	set := make([]inpacket.BitString, len(cs))
	for i, c := range cs {
		set[i] = sampler.Codeword(c, 0)
	}
	return inpacket.NewDenseTable(design.Bits(), [][]inpacket.BitString{set}), nil
}

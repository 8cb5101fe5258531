package slots

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel/internal/wholefile"
)

// Place is the place of a node in a slot map. The map and the leading nodes may be replaced at any time; a nil Place is that of
// a node without a slot map. It is safe for concurrent use.
type Place struct {
	file, self string
	mu         sync.Mutex // held while the view is replaced
	stated     *string    // the leader of the own shard by its group, see Lead; nil: the node is in no group
	view       atomic.Pointer[View]
}

// View is a map as a node sees it. It does not change.
type View struct {
	*Map
	Self    string // address of the node
	shard   int    // of the node, -1 if it is in none
	leaders []int  // index of the leading node of each shard, -1 if none leads
	leads   bool   // the node leads its shard
}

// Open reads the map in a file. self is the address of the node in it.
func Open(file, self string) (*Place, error) {
	p := &Place{file: file, self: self}
	m, err := p.read()
	if err != nil {
		return nil, err
	}
	if v := p.set(m); v.shard < 0 {
		return nil, fmt.Errorf("slot map %s: no line has %s, the address of this node; add it, or set advertise to the address that the map has", file, self)
	}
	return p, nil
}

func (p *Place) read() (*Map, error) {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return nil, fmt.Errorf("slot map: %w", err)
	}
	m, err := Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("slot map %s: %w", p.file, err)
	}
	return m, nil
}

// View returns the present view.
func (p *Place) View() *View { return p.view.Load() }

// Reload reads the map again, and returns the view. On an error the map stays. A map may leave the node out: it then redirects all
// clients to others, and keeps its filters, so that they can be moved.
func (p *Place) Reload() (*View, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.read()
	if err != nil {
		return nil, err
	}
	return p.set(m), nil
}

// Install is Reload with a text that takes the place of the file.
func (p *Place) Install(text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	err = wholefile.Replace(p.file, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("slot map: %w", err)
	}
	p.set(m)
	return nil
}

// Lead states who leads the node's own shard: the node with an address, "" if none does or it is unknown. A group calls it at the start and
// whenever that changes; from then on Watch leaves the own shard to it. If the shard has no such node in the map, none leads
// until a map has it, and Lead returns false.
func (p *Place) Lead(addr string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stated = &addr
	v := *p.View()
	v.leaders = slices.Clone(v.leaders)
	p.store(&v)
	return addr == "" || v.shard < 0 || v.leaders[v.shard] >= 0
}

// found notes that the node with an address leads its shard.
func (p *Place) found(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := *p.View()
	if shard, node, ok := v.find(addr); ok && v.leaders[shard] != node {
		v.leaders = slices.Clone(v.leaders)
		v.leaders[shard] = node
		p.store(&v)
	}
}

// watched reports whether Watch finds the leader of a shard of the view.
func (p *Place) watched(v *View, shard int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(v.Shards[shard].Nodes) > 1 && (shard != v.shard || p.stated == nil)
}

// set makes m the map. A node that led leads further if it is there.
func (p *Place) set(m *Map) *View {
	v := &View{Map: m, Self: p.self, shard: -1, leaders: make([]int, len(m.Shards))}
	if i, _, ok := m.find(p.self); ok {
		v.shard = i
	}
	if old := p.View(); old != nil {
		for i, s := range old.Shards {
			if l := old.leaders[i]; l >= 0 {
				if shard, node, ok := m.find(s.Nodes[l].Addr); ok {
					v.leaders[shard] = node
				}
			}
		}
	}
	p.store(v)
	return v
}

// store makes v the view. Its leaders are no other view's.
func (p *Place) store(v *View) {
	if p.stated != nil && v.shard >= 0 {
		v.leaders[v.shard] = slices.IndexFunc(v.Shards[v.shard].Nodes, func(n Node) bool { return n.Addr == *p.stated })
	}
	v.leads = v.shard >= 0 && v.Leader(v.shard) != nil && v.Leader(v.shard).Addr == v.Self
	p.view.Store(v)
}

// Own returns the index of the node's own shard, -1 if the map does not have it.
func (v *View) Own() int { return v.shard }

// Leader returns the node that leads a shard, nil if none does.
func (v *View) Leader(shard int) *Node {
	if v.leaders[shard] < 0 {
		return nil
	}
	return &v.Shards[shard].Nodes[v.leaders[shard]]
}

// LeaderFirst returns the nodes of a shard, the leading one first.
func (v *View) LeaderFirst(shard int) []Node {
	nodes := slices.Clone(v.Shards[shard].Nodes)
	if l := v.leaders[shard]; l > 0 {
		nodes[0], nodes[l] = nodes[l], nodes[0]
	}
	return nodes
}

// Present reports whether the map has the node.
func (v *View) Present() bool { return v.shard >= 0 }

// Leads reports whether the node leads its shard, and accepts changes of the filters there.
func (v *View) Leads() bool { return v.leads }

// Here is where a call with names of one slot is answered.
type Here int

const (
	Answered  Here = iota // by this node
	Elsewhere             // by the leading node of its shard
	Nowhere               // by no node until the shard has a leader
	Later                 // the slot is moving, so that the change must be sent again
)

// Where returns where a call with names of a slot is answered. write is whether it may change a filter, and replica whether
// the client accepts the answers of a node that does not lead.
func (v *View) Where(slot int, write, replica bool) Here {
	switch shard := v.Owner(slot); {
	case shard == v.shard && (v.leads || replica && !write):
		if write && v.moving[slot] {
			return Later
		}
		return Answered
	case v.leaders[shard] < 0:
		return Nowhere
	}
	return Elsewhere
}

// CrossSlot is the reply to a call whose names have several slots.
const CrossSlot = "CROSSSLOT Keys in request don't hash to the same slot"

// Reply returns the reply to a call that is not answered here, "" for one that is.
func (v *View) Reply(slot int, write, replica bool) string {
	switch v.Where(slot, write, replica) {
	case Elsewhere:
		return fmt.Sprintf("MOVED %d %s", slot, v.Leader(v.Owner(slot)).Addr)
	case Nowhere:
		return "CLUSTERDOWN no node leads the group that has the slot"
	case Later:
		return fmt.Sprintf("TRYAGAIN the filters of slot %d are being moved, and can be changed again when they have", slot)
	}
	return ""
}

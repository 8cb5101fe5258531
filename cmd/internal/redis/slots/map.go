package slots

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Map assigns each slot to a shard. It does not change.
type Map struct {
	Shards []Shard
	owner  [Count]uint16 // indices of shards
	moving [Count]bool   // slots that refuse changes
}

// Shard is the nodes that have the same filters. One of them leads: it accepts changes.
type Shard struct {
	Nodes  []Node // the first leads unless more is known
	Ranges []Range
}

// Node is a node of a map.
type Node struct {
	Addr string // host:port at which Redis clients reach it
	URL  string // of its HTTP interface, "" if the map does not have it
}

// Range is the slots from First to Last.
type Range struct{ First, Last int }

// String returns the range as in the file.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// ID returns 40 hexadecimal digits that identify a node to clients. They depend on its address only.
func (n Node) ID() string {
	sum := sha256.Sum256([]byte(n.Addr))
	return hex.EncodeToString(sum[:20])
}

// Host and Port return the parts of the address.
func (n Node) Host() string {
	host, _, _ := net.SplitHostPort(n.Addr)
	return host
}

func (n Node) Port() int {
	_, port, _ := net.SplitHostPort(n.Addr)
	p, _ := strconv.Atoi(port)
	return p
}

// Owner returns the index in Shards of the shard that has a slot.
func (m *Map) Owner(slot int) int { return int(m.owner[slot]) }

// Moving reports whether the filters of a slot are being moved, so that they are queried and not changed.
func (m *Map) Moving(slot int) bool { return m.moving[slot] }

// find returns the indices of a node by its address.
func (m *Map) find(addr string) (shard, node int, ok bool) {
	for i, s := range m.Shards {
		if j := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Addr == addr }); j >= 0 {
			return i, j, true
		}
	}
	return 0, 0, false
}

// maxLines and maxLine bound a map, in lines and in bytes of a line.
const maxLines, maxLine = 1 << 15, 1 << 17

// Parse reads a map. A line is a shard: its slots, such as 0-5460,7000, the address of its node, and the URL of the node's HTTP
// interface, which only umbel node slots needs. Further addresses with their URLs are nodes of the same group. A line "moving" with
// slots makes these slots refuse changes. The rest of a line after # is a comment. Each slot is on one line, and each address.
func Parse(r io.Reader) (*Map, error) {
	p := parser{Map: new(Map), nodes: map[string]int{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if err := p.line(n, words); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if n > maxLines {
			return nil, fmt.Errorf("the slot map has more than %d lines", maxLines)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("after %d shards: %w", len(p.Shards), err)
	}
	return p.end()
}

// parser collects the lines of a map.
type parser struct {
	*Map
	lineOf [Count]int     // of the shard of a slot, 0 for none
	nodes  map[string]int // lines of addresses
}

func (p *parser) line(n int, words []string) error {
	if words[0] == "moving" {
		if len(words) != 2 {
			return fmt.Errorf(`"moving" needs slots, as in: moving 0-99,200`)
		}
		_, err := ranges(words[1], func(slot int) error { p.moving[slot] = true; return nil })
		return err
	}
	if len(words) < 2 {
		return fmt.Errorf("want slots and the address of a node, as in: 0-5460 a.example:6380 http://a.example:8780")
	}
	var s Shard
	for _, word := range words[1:] {
		if strings.Contains(word, "://") {
			if len(s.Nodes) == 0 || s.Nodes[len(s.Nodes)-1].URL != "" {
				return fmt.Errorf("%s has no address before it", word)
			}
			if u, err := url.Parse(word); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
				return fmt.Errorf("%q is not the URL of a node, want http://host:port or https://host:port", word)
			}
			s.Nodes[len(s.Nodes)-1].URL = word
			continue
		}
		if err := CheckAddress(word); err != nil {
			return err
		}
		if other := p.nodes[word]; other != 0 {
			return fmt.Errorf("%s is on line %d, too; give all slots of a node on one line", word, other)
		}
		p.nodes[word] = n
		s.Nodes = append(s.Nodes, Node{Addr: word})
	}
	if len(s.Nodes) == 0 {
		return fmt.Errorf("want the address of a node after the slots, as in: 0-5460 a.example:6380")
	}
	var err error
	s.Ranges, err = ranges(words[0], func(slot int) error {
		if other := p.lineOf[slot]; other != 0 {
			return fmt.Errorf("slot %d is on line %d, too; each slot has one shard", slot, other)
		}
		p.lineOf[slot], p.owner[slot] = n, uint16(len(p.Shards))
		return nil
	})
	p.Shards = append(p.Shards, s)
	return err
}

// end returns the map, which must have all slots.
func (p *parser) end() (*Map, error) {
	if len(p.Shards) == 0 {
		return nil, fmt.Errorf("the slot map is empty; umbel node slots --map-nodes prints one")
	}
	if first := slices.Index(p.lineOf[:], 0); first >= 0 {
		last := first
		for last+1 < Count && p.lineOf[last+1] == 0 {
			last++
		}
		return nil, fmt.Errorf("no line has slot %v; a map has all slots from 0 to %d", Range{first, last}, Count-1)
	}
	return p.Map, nil
}

// CheckAddress returns an error unless a text is host:port.
func CheckAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || host == "" || n == 0 || strings.ContainsAny(host, "@,") {
		return fmt.Errorf("%q is not the address of a node, want host:port", text)
	}
	return nil
}

// ranges parses slots, such as 0-99,200, and calls each with every slot.
func ranges(text string, each func(slot int) error) (list []Range, err error) {
	for word := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(word, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseUint(first, 10, 16)
		b, errB := strconv.ParseUint(last, 10, 16)
		if errA != nil || errB != nil || a > b || b >= Count {
			return nil, fmt.Errorf("%q is not a range of slots, want FIRST-LAST from 0 to %d", word, Count-1)
		}
		for slot := int(a); slot <= int(b); slot++ {
			if err := each(slot); err != nil {
				return nil, err
			}
		}
		list = append(list, Range{int(a), int(b)})
	}
	return list, nil
}

// rangesOf returns the slots for which has is true.
func rangesOf(has func(slot int) bool) (list []Range) {
	for slot := range Count {
		switch n := len(list); {
		case !has(slot):
		case n > 0 && list[n-1].Last == slot-1:
			list[n-1].Last = slot
		default:
			list = append(list, Range{slot, slot})
		}
	}
	return list
}

// Text returns the map as a file that Parse reads.
func (m *Map) Text() []byte {
	var b bytes.Buffer
	for _, s := range m.Shards {
		fmt.Fprint(&b, joined(s.Ranges))
		for _, n := range s.Nodes {
			fmt.Fprint(&b, " ", n.Addr)
			if n.URL != "" {
				fmt.Fprint(&b, " ", n.URL)
			}
		}
		b.WriteByte('\n')
	}
	if moving := rangesOf(m.Moving); len(moving) > 0 {
		fmt.Fprintf(&b, "moving %s\n", joined(moving))
	}
	return b.Bytes()
}

func joined(list []Range) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = r.String()
	}
	return strings.Join(words, ",")
}

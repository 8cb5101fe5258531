package topology

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadTSV reads a network as lines of tab-separated fields:
//
//	# a comment
//	n	ID	NAME	[X	Y]
//	e	ID	ID	[WEIGHT]
//
// A node comes before its links. X and Y are its place, longitude and latitude. The
// default weight is 1. Errors wrap ErrFormat or ErrLimit.
func ReadTSV(r io.Reader, l Limits) (*Graph, Notes, error) {
	b := newBuilder(l)
	ids := map[string]int{}
	in := newLines(r, b.limits)
	for in.next() {
		fields := strings.Split(in.text, "\t")
		var err error
		switch fields[0] {
		case "n":
			err = b.nodeLine(fields, ids, in.number)
		case "e":
			err = b.linkLine(fields, ids, in.number)
		default:
			err = formatError(in.number, "the line begins with %.20q, want a node, n<tab>ID<tab>NAME, or a link, e<tab>ID<tab>ID[<tab>WEIGHT]", fields[0])
		}
		if err != nil {
			return nil, Notes{}, err
		}
	}
	if err := in.err(); err != nil {
		return nil, Notes{}, err
	}
	return b.done()
}

func (b *builder) nodeLine(fields []string, ids map[string]int, line int) (err error) {
	if len(fields) != 3 && len(fields) != 5 {
		return formatError(line, "a node with %d fields, want n, id, name, and x and y or neither", len(fields))
	}
	id, node := fields[1], Node{Name: fields[2], Placed: len(fields) == 5}
	if _, ok := ids[id]; ok {
		return formatError(line, "repeated node %.40q", id)
	}
	if node.Placed {
		if node.X, err = strconv.ParseFloat(fields[3], 64); err == nil {
			node.Y, err = strconv.ParseFloat(fields[4], 64)
		}
		if err != nil {
			return formatError(line, "place %.40q, %.40q, want two numbers", fields[3], fields[4])
		}
	}
	if ids[id], err = b.node(node, line); err == nil && id != strconv.Itoa(ids[id]) {
		b.graph.Nodes[ids[id]].ID = id
	}
	return err
}

func (b *builder) linkLine(fields []string, ids map[string]int, line int) (err error) {
	if len(fields) != 3 && len(fields) != 4 {
		return formatError(line, "a link with %d fields, want e, two ids, and a weight or none", len(fields))
	}
	var ends [2]int
	for i, id := range fields[1:3] {
		var ok bool
		if ends[i], ok = ids[id]; !ok {
			return formatError(line, "a link of unknown node %.40q; nodes come before their links", id)
		}
	}
	weight := 1.0
	if len(fields) == 4 {
		if weight, err = strconv.ParseFloat(fields[3], 64); err != nil {
			return formatError(line, "weight %.40q, want a number", fields[3])
		}
	}
	return b.link(ends[0], ends[1], weight, line)
}

// WriteTSV writes a graph in the format of ReadTSV, which returns the same graph except
// for its name, which is written as a comment.
func WriteTSV(w io.Writer, g *Graph) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s: %d nodes, %d links\n", clean(g.Name), len(g.Nodes), len(g.Links))
	ids := writtenIDs(g)
	for i, n := range g.Nodes {
		fmt.Fprintf(out, "n\t%s\t%s", ids[i], n.Name)
		if n.Placed {
			fmt.Fprintf(out, "\t%v\t%v", n.X, n.Y)
		}
		fmt.Fprintln(out)
	}
	for _, l := range g.Links {
		fmt.Fprintf(out, "e\t%s\t%s\t%v\n", ids[l.A], ids[l.B], l.Weight)
	}
	return out.Flush()
}

// writtenIDs returns the IDs of a graph's nodes, and their indexes for nodes without one. If these are not unique, as
// in a part of a graph, it returns the indexes of all.
func writtenIDs(g *Graph) []string {
	ids, indexes := make([]string, len(g.Nodes)), make([]string, len(g.Nodes))
	used := make(map[string]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		indexes[i] = strconv.Itoa(i)
		ids[i] = cmp.Or(n.ID, indexes[i])
		used[ids[i]] = true
	}
	if len(used) < len(ids) {
		return indexes
	}
	return ids
}

// readWeights reads a network in the format of Rocketfuel's link weights (Mahajan et al.
// 2002): lines of two names and a weight, separated by spaces. "+" in a name stands for a
// space. Each direction of a link has a line; this is not counted as a repetition, and
// the lower weight is kept. Errors wrap ErrFormat or ErrLimit.
func readWeights(r io.Reader, l Limits) (*Graph, Notes, error) {
	b := newBuilder(l)
	ids := map[string]int{}
	alone := map[[2]int]bool{} // directions whose reverse hasn't been read
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
			b.notes.Merged-- // the other direction of a link is not a repetition
		} else {
			alone[ends] = true
		}
	}
	if err := in.err(); err != nil {
		return nil, Notes{}, err
	}
	return b.done()
}

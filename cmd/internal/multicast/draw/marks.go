package draw

import (
	"fmt"
)

// role is the role of a node in a drawing.
type role string

const (
	plain    role = "node"
	source   role = "source"
	receiver role = "receiver"
	lost     role = "lost"
)

// roles returns the role of each node.
func (d *drawing) roles() []role {
	roles := make([]role, len(d.graph.Nodes))
	for i := range roles {
		roles[i] = plain
	}
	if d.Tree != nil {
		for _, r := range d.Tree.Receivers {
			roles[r] = receiver
		}
	}
	for _, v := range d.Lost {
		roles[v] = lost
	}
	if d.Tree != nil {
		roles[d.Tree.Source] = source
	}
	return roles
}

// nodes draws the nodes, those with a role last, so that they are on top.
func (d *drawing) nodes() {
	roles := d.roles()
	d.printf("<g class=\"nodes\">\n")
	for _, on := range []bool{false, true} {
		for i, r := range roles {
			if (r != plain) != on {
				continue
			}
			d.printf(`<path class="%s" data-node="%d" d="%s"><title>`, r, i, shape(r, d.places[i], d.radius))
			d.text(d.graph.Nodes[i].Name)
			if r != plain {
				d.printf(", %s", map[role]string{source: "source", receiver: "receiver", lost: "lost receiver"}[r])
			}
			d.printf("</title></path>\n")
		}
	}
	d.printf("</g>\n")
}

// shape returns the outline of a node. Roles differ in shape as well as in color.
func shape(of role, at point, r float64) string {
	x, y := at.x, at.y
	switch of {
	case source:
		r = max(5, 1.2*r)
		return fmt.Sprintf("M%s %sh%sv%sh%sz", n(x-r), n(y-r), n(2*r), n(2*r), n(-2*r))
	case receiver, lost:
		r = max(5.5, 1.4*r)
		diamond := fmt.Sprintf("M%s %sL%s %s %s %s %s %sz", n(x), n(y-r), n(x+r), n(y), n(x), n(y+r), n(x-r), n(y))
		if of == lost {
			s := r / 2
			diamond += fmt.Sprintf("M%s %sL%s %sM%s %sL%s %s", n(x-s), n(y-s), n(x+s), n(y+s), n(x-s), n(y+s), n(x+s), n(y-s))
		}
		return diamond
	}
	return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0z", n(x-r), n(y), n(r), n(r), n(2*r), n(r), n(r), n(-2*r))
}

// names writes the names of nodes with a role, or of all nodes, next to them; near the
// sides of the picture, toward its middle.
func (d *drawing) names() {
	d.printf("<g class=\"names\">\n")
	for i, r := range d.roles() {
		if r == plain && !d.Names {
			continue
		}
		at, anchor, by := d.places[i], "start", d.radius+6
		if at.x > width-2*margin-wideLabel {
			anchor, by = "end", -by
		}
		d.printf(`<text x="%s" y="%s" text-anchor="%s">`, n(at.x+by), n(at.y+4), anchor)
		d.text(short(d.graph.Nodes[i].Name))
		d.printf("</text>\n")
	}
	d.printf("</g>\n")
}

// short shortens a name to 28 characters. The node's title contains the whole name.
func short(name string) string {
	if r := []rune(name); len(r) > 28 {
		return string(r[:27]) + "…"
	}
	return name
}

// key is an entry of the legend: a mark and its meaning.
type key struct{ mark, what string }

// Dimensions of the legend.
const (
	keysInRow = 4
	keyWidth  = (width - 2*margin/2) / keysInRow
	keyHeight = 24.0
)

// keys returns the legend's entries for what the drawing contains.
func (d *drawing) keys() (keys []key) {
	line := func(class, what string) {
		arrow := ""
		if class == "way" || class == "stray" {
			arrow = fmt.Sprintf(` marker-end="url(#%s-%s)"`, d.ID, class)
		}
		keys = append(keys, key{fmt.Sprintf(`<path class="%s"%s d="M0 0 26 0"/>`, class, arrow), what})
	}
	node := func(r role, what string) {
		keys = append(keys, key{fmt.Sprintf(`<path class="%s" d="%s"/>`, r, shape(r, point{13, 0}, min(d.radius, 5))), what})
	}
	if d.Tree != nil {
		node(source, "source")
		node(receiver, "receiver")
	}
	if len(d.Lost) > 0 {
		node(lost, "lost receiver")
	}
	if d.Tree != nil {
		line("way", "tree")
	}
	if len(d.False) > 0 {
		line("stray", "false forward")
	}
	if len(d.Failed) > 0 {
		line("failed", "failed link")
	}
	if most := d.mostLoad(); most > 0 {
		line("load", "up to "+counted(most, "packet"))
	}
	return keys
}

// legendHeight returns the height of a legend with the given number of keys.
func legendHeight(keys int) float64 {
	rows := (keys + keysInRow - 1) / keysInRow
	if rows == 0 {
		return 0
	}
	return keyHeight*float64(rows) + 12
}

// legend draws the keys below the network.
func (d *drawing) legend(keys []key) {
	if len(keys) == 0 {
		return
	}
	d.printf("<g class=\"legend\">\n")
	for i, k := range keys {
		x := margin/2 + keyWidth*float64(i%keysInRow)
		y := d.height + keyHeight*(float64(i/keysInRow)+0.5)
		d.printf(`<g transform="translate(%s %s)">%s<text x="36" y="4">`, n(x), n(y), k.mark)
		d.text(k.what)
		d.printf("</text></g>\n")
	}
	d.printf("</g>\n")
}

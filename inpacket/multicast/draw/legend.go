package draw

import "fmt"

// key is a line of the legend: how a thing is drawn, and what it is.
type key struct{ mark, what string }

// Places of the legend's keys.
const (
	keysInRow = 4
	keyWidth  = (width - 2*margin/2) / keysInRow
	keyHeight = 24.0
)

// keys returns what the drawing needs explained.
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

// legendHeight returns the height of a legend of so many keys.
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

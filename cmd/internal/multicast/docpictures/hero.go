package main

import (
	"fmt"
	"io"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/files/picture"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// heroShape folds by 4 with a useful rate, and is that of docs/messages.md.
var heroShape = bloom.Shape{M: 320_000, K: 2, Group: 6}

// message is what a subscriber received, and the filter that it decoded from it.
type message struct {
	what  string
	bytes int
	has   *bloom.Filter
}

// Sizes of the picture.
const (
	heroWidth, heroHeight = 800, 260
	heroSide              = 8  // of a cell
	heroColumns           = 24 // of cells
	heroRows              = 20
	heroTop               = 62 // of the cells
	subscriberLeft        = 560
	subscriberHeight      = 66
	subscriberStep        = 80
)

// drawHero draws a publisher's filter, three messages with their sizes, and three subscribers whose
// answers are those of the filters that they decoded.
func drawHero(w io.Writer, _ string) error {
	today, messages, err := heroMessages()
	if err != nil {
		return err
	}
	c := picture.NewCanvas(w, heroWidth, heroHeight, "umbel: one filter, many subscribers",
		"A publisher's filter is sent whole, folded by 4, and as a delta. Three subscribers answer queries from what they received.")
	c.Text(20, 26, "strong", "publisher")
	c.Text(20, 46, "muted", fmt.Sprintf("%v keys in %v cells; the first %d", quantity.Count(messageKeys),
		quantity.Count(today.State().Arrays[0].Len), heroColumns*heroRows))
	drawCells(c, today.State().Arrays[0])
	for i, m := range messages {
		y := float64(20 + subscriberStep*i)
		drawSubscriber(c, y, i+1, m.has)
		middle := y + subscriberHeight/2
		c.Arrow([]string{"0", "1", "2"}[i], 20+heroColumns*heroSide+20, heroHeight/2+(middle-heroHeight/2)*0.4, subscriberLeft-12, middle)
		c.Text(300, middle-[]float64{-9, 10, -8}[i], "ink", fmt.Sprintf("%s: %v bytes", m.what, quantity.Count(m.bytes)))
	}
	return c.Close()
}

// heroMessages returns the publisher's filter and three messages: the whole filter, its fold by 4,
// and the delta from the filter before 1 % of the keys was replaced.
func heroMessages() (*bloom.Filter, []message, error) {
	today, err := filled(heroShape, 1, messageKeys)
	if err != nil {
		return nil, nil, err
	}
	yesterday, err := filled(heroShape, 1+messageKeys/100, messageKeys)
	if err != nil {
		return nil, nil, err
	}
	folded := today.Clone()
	if err := folded.Fold(4); err != nil {
		return nil, nil, err
	}
	var messages []message
	for _, send := range []struct {
		what   string
		filter *bloom.Filter
	}{{"whole", today}, {"folded by 4", folded}} {
		b, err := wire.Packer{}.Append(nil, send.filter.State())
		if err != nil {
			return nil, nil, err
		}
		s, err := wire.Parse(b, wire.Limits{})
		if err != nil {
			return nil, nil, err
		}
		has, err := bloom.Open(s)
		if err != nil {
			return nil, nil, err
		}
		messages = append(messages, message{send.what, len(b), has})
	}
	update, err := delta.Append(nil, yesterday.State(), today.State())
	if err != nil {
		return nil, nil, err
	}
	s, err := delta.Apply(yesterday.State().Clone(), update, wire.Limits{})
	if err != nil {
		return nil, nil, err
	}
	has, err := bloom.Open(s)
	if err != nil {
		return nil, nil, err
	}
	return today, append(messages, message{"delta of 1 % new keys", len(update), has}), nil
}

// drawCells draws the first cells of the publisher.
func drawCells(c picture.Canvas, a cells.Array) {
	for i := range uint64(heroColumns * heroRows) {
		class := "empty"
		if a.Get(i) != 0 {
			class = "fill0"
		}
		c.Rect(float64(20+i%heroColumns*heroSide), float64(heroTop+i/heroColumns*heroSide), heroSide-1, heroSide-1, class, "")
	}
}

// drawSubscriber draws a subscriber with its answers for a key of the set, and for one that is not
// in it.
func drawSubscriber(c picture.Canvas, y float64, number int, f *bloom.Filter) {
	c.Rect(subscriberLeft, y, heroWidth-subscriberLeft-20, subscriberHeight, "box", "")
	rate := f.Stats().FPRate
	c.Text(subscriberLeft+12, y+20, "strong", fmt.Sprintf("subscriber %d", number))
	c.Text(heroWidth-32, y+20, "muted end", fmt.Sprintf("rate %.2g %%", 100*rate))
	for i, key := range []string{"77", "zebra"} {
		answer, class := "no", "fill1"
		if f.HasString(key) {
			answer, class = "yes", "fill2"
		}
		x := float64(subscriberLeft + 12 + 100*i)
		c.Text(x, y+48, "muted", key+"?")
		c.Text(x+52, y+48, class+" strong", answer)
	}
}

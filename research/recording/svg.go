package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Sizes of the picture, in units of the drawing.
const (
	charWidth, lineHeight = 8.4, 18
	margin                = 14
	fontSize              = 14
)

// interval is a line of text in a row of the screen, from one time to another.
type interval struct {
	row      int
	text     string
	from, to time.Duration
}

// intervals returns the lines of the film. A line that stays in its row is one interval.
func (f *film) intervals() []interval {
	var done []interval
	open := map[int]interval{}
	closeRow := func(row int, at time.Duration) {
		if v, ok := open[row]; ok {
			v.to = at
			done = append(done, v)
			delete(open, row)
		}
	}
	for _, fr := range f.frames {
		for row := range rows {
			text := ""
			if row < len(fr.lines) {
				text = fr.lines[row]
			}
			if open[row].text == text {
				continue
			}
			closeRow(row, fr.at)
			if text != "" {
				open[row] = interval{row: row, text: text, from: fr.at}
			}
		}
	}
	for row := range rows {
		closeRow(row, f.end)
	}
	return done
}

// write writes the film as an SVG whose lines appear and disappear by animations in CSS. The
// animation begins again at its end.
func (f *film) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	width, height := columns*charWidth+2*margin, float64(rows*lineHeight+2*margin)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="umbel-session" viewBox="0 0 %.0f %.0f" role="img">`+"\n", width, height)
	fmt.Fprintf(b, "<title>A session of umbel in a terminal</title>\n<style>%s", style)
	list := f.intervals()
	percent := func(t time.Duration) float64 { return 100 * t.Seconds() / f.end.Seconds() }
	for i, v := range list {
		fmt.Fprintf(b, "@keyframes k%d{0%%{visibility:hidden}%.2f%%{visibility:visible}%.2f%%,to{visibility:hidden}}\n",
			i, percent(v.from), percent(v.to))
		fmt.Fprintf(b, ".umbel-session .l%d{animation:k%d %.2fs step-end infinite}\n", i, i, f.end.Seconds())
	}
	fmt.Fprintf(b, "</style>\n"+`<rect width="%.0f" height="%.0f" rx="8" class="ground"/>`+"\n", width, height)
	for i, v := range list {
		class := fmt.Sprintf("l%d", i)
		if strings.HasPrefix(v.text, prompt) {
			class += " typed"
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" class="%s" textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
			margin, margin+v.row*lineHeight+fontSize, class, charWidth*float64(len([]rune(v.text))), escape(v.text))
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// style is light or dark according to the reader's system.
const style = `
.umbel-session text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1b1f24;white-space:pre;visibility:hidden}
.umbel-session .typed{fill:#0072b2;font-weight:600}
.umbel-session .ground{fill:#f6f8fa}
@media(prefers-color-scheme:dark){
.umbel-session text{fill:#e6e8eb}
.umbel-session .typed{fill:#56b4e9}
.umbel-session .ground{fill:#15181d}
}
`

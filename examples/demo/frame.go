package main

import (
	"fmt"
	"strings"
)

// wide is the width of a terminal from which rows are explained.
const wide = 130

// intro is the line below the title.
const intro = "One program publishes a set that changes; five answer queries from memory."

// frame returns the lines that show a report on a terminal of a width and height. Lines that do not fit
// are left out, those at the end first. Lines may be longer than width.
func frame(r Report, width, height int) []line {
	lines := []line{titleLine(r, width), text(faint, intro), nil}
	lines = append(lines, setLines(r)...)
	lines = append(lines, nil)
	lines = append(lines, subscriberLines(r, width)...)
	lines = append(lines, nil)
	lines = append(lines, comparisonLines(r, width)...)
	if room := height - len(lines) - 1; room > 0 && len(r.Events) > 0 {
		lines = append(lines, nil)
		for _, e := range r.Events[max(0, len(r.Events)-room):] {
			lines = append(lines, text(faint, "%7s  %s", seconds(e.Seconds), e.Text))
		}
	}
	return lines[:max(0, min(len(lines), height))]
}

func titleLine(r Report, width int) line {
	end := seconds(r.Seconds) + ", ^C ends"
	if r.Final {
		end = seconds(r.Seconds)
	}
	return line{{cell(max(0, width-len(end)), "umbel demo"), strong}, {end, plain}}
}

func setLines(r Report) []line {
	set := fmt.Sprintf("set     %s keys, %.0f changes per second, version %s", count(r.Set.Keys), r.Set.PerSecond, count(r.Set.Version))
	if r.Set.Skipped > 0 {
		set += fmt.Sprintf("; %s files not read", count(uint64(r.Set.Skipped)))
	}
	return []line{
		text(plain, "%s", set),
		text(plain, "filter  %s cells in %s bytes, published at %s", count(r.Filter.Cells), count(r.Filter.Bytes), r.Set.URL),
	}
}

// colors of states.
var colors = map[State]style{Exact: green, Late: yellow, Stale: red, Off: faint}

func subscriberLines(r Report, width int) []line {
	lines := []line{text(strong, "%s", strings.TrimRight(row("subscriber", "state", "behind", "received", "fold", "false+", "false-", "retries"), " "))}
	for _, s := range r.Subscribers {
		l := line{
			{cell(nameWidth, s.Name) + "  ", plain},
			{cell(stateWidth, string(s.State)), colors[s.State]},
			{subscriberCells(s), plain},
		}
		if s.Wrong > 0 {
			l[2].style = red
		}
		if width >= wide {
			about := s.About
			if s.Lost > 0 {
				about += fmt.Sprintf("; %s of %s lost", count(s.Lost), count(s.Segments))
			}
			l = append(l, piece{"  " + about, faint})
		}
		lines = append(lines, l)
	}
	return lines
}

// The widths of columns.
const (
	nameWidth  = 13
	stateWidth = 5
)

func row(name, state, behind, received, fold, positive, negative, retries string) string {
	return cell(nameWidth, name) + "  " + cell(stateWidth, state) + "  " + cell(-11, behind) + "  " + cell(-10, received) +
		"  " + cell(-4, fold) + "  " + cell(-7, positive) + "  " + cell(-6, negative) + "  " + cell(-7, retries)
}

// subscriberCells returns the columns of a row after the state.
func subscriberCells(s Subscriber) string {
	behind, fold, rate := "", "", ""
	if s.Behind > 0 {
		behind = fmt.Sprintf("%s, %s", count(s.Behind), seconds(s.Late))
	}
	if s.Absent > 0 {
		rate = percent(s.Rate)
	}
	if s.Fold > 0 {
		fold = count(s.Fold)
	}
	cells := row("", "", behind, count(s.Received), fold, rate, count(s.Wrong), count(s.Failures))
	return cells[nameWidth+2+stateWidth:]
}

// comparisonLines compares the bytes that were received with those of other forms.
func comparisonLines(r Report, width int) []line {
	heads, objects := uint64(0), uint64(0)
	for _, s := range r.Subscribers {
		heads += s.Heads
		objects += s.Objects
	}
	parts := fmt.Sprintf("%s of objects, %s of heads, and the headers of HTTP", count(objects), count(heads))
	lines := []line{text(strong, "%s", strings.TrimRight(form("bytes for the same versions", "all five", "times"), " "))}
	for _, c := range []struct {
		name, about string
		bytes       uint64
	}{
		{"umbel, all that was received", parts, r.Received},
		{"filter copies, packed", "each version as a whole, or its fold, compressed to the entropy of its cells", r.Costs.Packed},
		{"filter copies, as in memory", "each version as a whole", r.Costs.Unpacked},
		{"5 bits per key", "each version as Squid's caches encode their contents: 9 % false positives", r.Costs.Digests},
		{"key lists, gzip", "each version as a list of all keys: no false positives", r.Costs.Lists},
		{"key list changes, gzip", "the list once, then each change: no false positives; a missed change needs the list again", r.Costs.ListChanges},
	} {
		l := text(plain, "%s", form(c.name, count(c.bytes), times(c.bytes, r.Received)))
		if width >= wide {
			l = append(l, piece{"  " + c.about, faint})
		}
		lines = append(lines, l)
	}
	hourly := uint64(r.Hourly.Bytes + 0.5)
	about := fmt.Sprintf("  %.0f min old, lacks %.0f %%", r.Hourly.Age/60, 100*r.Hourly.Outdated)
	if width >= wide {
		about += " of the keys on average: once an hour, as by Squid's default, scaled to this time"
	}
	return append(lines, line{{form("5 bits per key, hourly, scaled", count(hourly), times(hourly, r.Received)), plain}, {about, faint}})
}

// form returns the columns of a row of the comparison.
func form(name, bytes, times string) string {
	return cell(30, name) + "  " + cell(-15, bytes) + "  " + cell(-6, times)
}

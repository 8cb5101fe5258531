package filters

import (
	"fmt"
	"math"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/sparse"
)

// A curve of rates has curveColumns characters. Its lowest level is at curveLowest times the
// highest rate.
const (
	curveColumns = 32
	curveLowest  = 1e-4
)

var curveLevels = []rune("▁▂▃▄▅▆▇█")

// shapes contains, for each kind of fixed size whose rate depends on the number of keys alone, the
// function that returns a filter's shape.
var shapes = map[string]func(umbel.Filter) umbel.Shape{
	blocked.Name:     shapeWith[blocked.Shape],
	bloom.Name:       shapeWith[bloom.Shape],
	counting.Name:    shapeWith[counting.Shape],
	imported.Name:    shapeWith[imported.Shape],
	nixbloom.Name:    shapeWith[nixbloom.Shape],
	partitioned.Name: shapeWith[partitioned.Shape],
	sparse.Name:      shapeWith[sparse.Shape],
	splitblock.Name:  shapeWith[splitblock.Shape],
	squid.Name:       shapeWith[squid.Shape],
}

// shapeWith returns the shape of a filter whose shapes are of type S.
func shapeWith[S umbel.Shape](f umbel.Filter) umbel.Shape {
	return f.(interface{ Shape() S }).Shape()
}

// rateCurve draws how the rate of f grows with the number of keys, on a logarithmic scale, up to
// twice the planned and present keys, and marks both below it. planned is 0 if it is not known. It
// returns no lines for an empty or full filter, and for other kinds.
func rateCurve(f umbel.Filter, kind string, present float64, planned uint64) []string {
	shape := shapes[kind]
	last := 2 * math.Max(present, float64(planned))
	if shape == nil || !(last >= 2) || last > 1<<53 {
		return nil
	}
	rateAt := func(keys float64) float64 { return shape(f).Forecast(uint64(math.Round(keys))).FPRate }
	highest := rateAt(last)
	var line strings.Builder
	for column := range curveColumns {
		rate := rateAt(last * float64(column+1) / curveColumns)
		height := 1 - math.Log(rate/highest)/math.Log(curveLowest)
		level := math.Round(height * float64(len(curveLevels)-1))
		line.WriteRune(curveLevels[int(max(0, min(level, float64(len(curveLevels)-1))))])
	}
	fmt.Fprintf(&line, " %s with %s keys", cli.RateOf(highest), WholeKeys(last))
	marks := []rune(strings.Repeat(" ", curveColumns))
	legend := "▲ present"
	if planned > 0 {
		marks[curveColumn(float64(planned), last)] = '△'
		legend += fmt.Sprintf(", △ planned %v", quantity.Count(planned))
	}
	marks[curveColumn(present, last)] = '▲'
	return []string{line.String(), string(marks) + " " + legend}
}

// curveColumn returns the column of a number of keys, at most the last one's.
func curveColumn(keys, last float64) int {
	return max(0, min(curveColumns-1, int(math.Ceil(curveColumns*keys/last))-1))
}

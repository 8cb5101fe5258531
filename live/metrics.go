package live

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteMetrics writes metrics of filters in the text format of Prometheus, for an HTTP handler. The label "filter" is the path that
// was given to Open. The names are those of a node of umbel. It reads no cells.
func WriteMetrics(w io.Writer, filters ...*Filter) error {
	all := make([]Status, len(filters))
	for i, f := range filters {
		all[i] = f.Status()
	}
	b := bufio.NewWriter(w)
	for _, m := range metrics {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s gauge\n", m.name, m.help, m.name)
		for i, f := range filters {
			fmt.Fprintf(b, "%s{filter=\"%s\"} %s\n", m.name, label.Replace(f.path), strconv.FormatFloat(m.value(all[i]), 'g', -1, 64))
		}
	}
	return b.Flush()
}

// label escapes the value of a label.
var label = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

var metrics = []struct {
	name, help string
	value      func(Status) float64
}{
	{"umbel_filter_keys", "Estimated number of distinct keys.", func(s Status) float64 { return s.Keys }},
	{"umbel_filter_fill_ratio", "Nonzero cells divided by all cells.", func(s Status) float64 { return s.Fill }},
	{"umbel_filter_false_positive_ratio", "Estimated false-positive rate.", func(s Status) float64 { return s.FPRate }},
	{"umbel_filter_bytes", "Memory used by the filter.", func(s Status) float64 { return float64(s.Bytes) }},
	{"umbel_filter_planned_keys", "Keys that the filter was made for.", func(s Status) float64 { return float64(s.Planned.Keys) }},
	{"umbel_filter_planned_false_positive_ratio", "False-positive rate that the filter was made for.", func(s Status) float64 { return s.Planned.FPRate }},
	{"umbel_filter_overfull", "1 if the false-positive rate is above twice the planned one.", func(s Status) float64 { return number(s.Overfull) }},
	{"umbel_filter_unsaved_changes", "Changes that the file does not have.", func(s Status) float64 { return float64(s.Unsaved) }},
	{"umbel_filter_saved_timestamp_seconds", "Time of the last save.", func(s Status) float64 { return float64(s.Saved.UnixMilli()) / 1000 }},
	{"umbel_filter_save_healthy", "0 if the last save failed.", func(s Status) float64 { return number(s.Err == nil) }},
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

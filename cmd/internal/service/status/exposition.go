package status

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// scrapes is the number of scrapes of one server that are answered at the same time. Others are refused.
const scrapes = 4

// Exposition returns the handler of metrics in the text format of Prometheus, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats). Metrics of one name are one family, which has the help and
// kind of the first of them. Each of more writes further families.
func Exposition(metrics func() []Metric, more ...func(io.Writer)) http.Handler {
	free := make(chan struct{}, scrapes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		default:
			http.Error(w, "too many scrapes at the same time: wait for one of them", http.StatusServiceUnavailable)
			return
		}
		var page bytes.Buffer
		expose(&page, metrics())
		for _, write := range more {
			write(&page)
		}
		begin(w, "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("Vary", "Accept-Encoding")
		if !acceptsGzip(r) {
			_, _ = page.WriteTo(w) // the client has gone
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = page.WriteTo(packed)
		_ = packed.Close()
	})
}

// acceptsGzip reports whether the client lists gzip, and not with the weight 0.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
			return weight == "" || err == nil && q > 0
		}
	}
	return false
}

// expose writes the families in the order of their first metrics.
func expose(page *bytes.Buffer, metrics []Metric) {
	families := map[string][]*Metric{}
	var names []string
	for i := range metrics {
		m := &metrics[i]
		if families[m.name] == nil {
			names = append(names, m.name)
		}
		families[m.name] = append(families[m.name], m)
	}
	for _, name := range names {
		first := families[name][0]
		page.WriteString("# HELP " + name + " " + helpText.Replace(first.help) + "\n# TYPE " + name + " " + first.kind + "\n")
		for _, m := range families[name] {
			if m.kind == "histogram" {
				m.durations.expose(page, name, m.labels)
			} else {
				series(page, name, m.labels, m.value)
			}
		}
	}
}

// expose writes the series of a histogram: for each bound the number of durations up to it, their sum, and how many there are.
func (d Durations) expose(page *bytes.Buffer, name string, labels []string) {
	var upTo uint64
	for i, n := range d.Buckets {
		upTo += n
		bound := "+Inf"
		if i < len(d.Buckets)-1 {
			bound = number((d.Least << (2 * i)).Seconds())
		}
		series(page, name+"_bucket", append(labels[:len(labels):len(labels)], "le", bound), float64(upTo))
	}
	series(page, name+"_sum", labels, d.Total.Seconds())
	series(page, name+"_count", labels, float64(upTo))
}

// Texts of help and values of labels have these escapes.
var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// series writes one line.
func series(page *bytes.Buffer, name string, labels []string, value float64) {
	page.WriteString(name)
	before := "{"
	for i := 0; i+1 < len(labels); i += 2 {
		page.WriteString(before + labels[i] + `="` + labelValue.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
		before = ","
	}
	if before == "," {
		page.WriteByte('}')
	}
	page.WriteString(" " + number(value) + "\n")
}

// number returns a number as the format has it. It has NaN and infinities as strconv has them.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

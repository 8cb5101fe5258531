// Package statustest tests that the text, the JSON and the metrics of a status state the same numbers.
package statustest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// Fill sets all fields of a struct that are uint64 to different numbers, and returns them. v is a pointer.
func Fill(v any) (numbers []uint64) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		if f := s.Field(i); f.Kind() == reflect.Uint64 {
			n := 1_000_003 + 10_007*uint64(i)
			f.SetUint(n)
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Same tests that all forms of a report, which contains each of the numbers once, have them.
func Same(t *testing.T, r status.Report, numbers []uint64) {
	t.Helper()
	if len(numbers) == 0 {
		t.Fatal("no numbers")
	}
	mux := http.NewServeMux()
	status.Handle(mux, func() status.Report { return r })
	get := func(path string) string {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, w.Code)
		}
		return w.Body.String()
	}
	text, asJSON := get("/status"), get("/status.json")
	if asJSON != get("/status?format=json") {
		t.Error("the query format=json has another form")
	}
	inJSON, inMetrics := numbersOf(t, asJSON), valuesOf(t, get("/metrics"))
	for _, n := range numbers {
		if !strings.Contains(text, quantity.Count(n).String()) {
			t.Errorf("the text does not have %v:\n%s", quantity.Count(n), text)
		}
		if !slices.Contains(inJSON, float64(n)) {
			t.Errorf("the JSON does not have %d: %s", n, asJSON)
		}
		if !slices.Contains(inMetrics, float64(n)) {
			t.Errorf("the metrics do not have %d: %v", n, inMetrics)
		}
	}
}

// numbersOf returns all numbers in JSON.
func numbersOf(t *testing.T, text string) (numbers []float64) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return numbers
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if n, ok := token.(float64); ok {
			numbers = append(numbers, n)
		}
	}
}

// valuesOf returns the values of all metrics in a text for Prometheus.
func valuesOf(t *testing.T, text string) (values []float64) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		value := strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		values = append(values, n)
	}
	return values
}

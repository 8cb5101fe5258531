package ribbon

import (
	"testing"
	"math"
"github.com/umbel-filters/umbel"
)

func TestX(t *testing.T) {
	for _, n := range []int{1,10,60,100,1000,10000,100000} {
	for _, p := range []float64{.1,.0216,.01,.001,.000459,1e-6} {
		s, err := solveShape(p)
		if err != nil { t.Fatal(err) }
		f, _ := New(s)
		ds := digests(1, n)
		for _, d := range ds { f.Add(d) }
		if err := f.Seal(); err != nil { t.Fatal(err) }
		for _, d := range ds { if !f.Has(d) { t.Fatal("lost") } }
		out := digests(2, 200000)
		yes := 0
		for _, d := range out { if f.Has(d) { yes++ } }
		st := f.Stats()
		fc := s.Forecast(uint64(n))
		t.Logf("n=%d p=%g: %.4f bits/key (bound %.4f, +%.2f%%) forecast %.4f; rate %.6f stats %.6f forecast %.6f; listed %d", n, p, float64(st.Bytes)*8/float64(n), -math.Log2(p), 100*(float64(st.Bytes)*8/float64(n)/-math.Log2(p)-1), float64(fc.Bytes)*8/float64(n), float64(yes)/200000, st.FPRate, fc.FPRate, f.list.len())
	}}
}

func solveShape(p float64) (Shape, error) { return Plan(umbel.Goal{Keys: 1000, FPRate: p}) }

package plan

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestExtremes: formulas return numbers that are not negative, or an error, for arguments at the ends of their ranges.
func TestExtremes(t *testing.T) {
	counts := []uint64{1, 2, 3, 7, 63, 64, 65, 1000, 1 << 20, 1 << 32, 1 << 40, 1 << 53, 1 << 56, 1 << 62, math.MaxInt64, 1 << 63, math.MaxUint64}
	ks := []int{1, 2, 3, 7, 8, 16, 64, 256, 1024, 8192}
	rates := []float64{
		math.SmallestNonzeroFloat64, 1e-323, 0x1p-1022, 1e-308, 1e-300, 1e-100, 1e-17, 1e-9, 0.01, 0.5, 0.9, 0.9999, 1 - 1e-15, math.Nextafter(1, 0),
	}
	for name, f := range map[string]any{
		"BlockedDesignForRate": BlockedDesignForRate,
		"WireBits":             WireBits, "WireDeviation": WireDeviation, "SparseSize": SparseSize,
		"DeltaBits": DeltaBits, "DeltaDeviation": DeltaDeviation, "XORDeltaBits": XORDeltaBits, "XORDeltaDeviation": XORDeltaDeviation,
		"SnapshotBits": SnapshotBits, "UpdateBits": UpdateBits,
		"DynamicFPRate": DynamicFPRate, "DynamicLayers": DynamicLayers, "RoundFoldable": RoundFoldable, "Fill": Fill, "FPRate": FPRate,
		"LayeredFPRate": LayeredFPRate, "HalfFull": HalfFull,
		"RibbonBreakEven": RibbonBreakEven, "RibbonShards": RibbonShards, "RibbonStepsFor": RibbonStepsFor, "RibbonBits": RibbonBits,
		"BestK": BestK, "Size": Size, "SizeForK": SizeForK, "Capacity": Capacity,
		"PartitionedSize": PartitionedSize, "PartitionedSizeForK": PartitionedSizeForK,
		"SplitBlockSize": SplitBlockSize,
	} {
		v := reflect.ValueOf(f)
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 1))
			in, shown := make([]reflect.Value, v.Type().NumIn()), []any{}
			for i := range in {
				switch v.Type().In(i).Kind() {
				case reflect.Uint64:
					in[i] = reflect.ValueOf(counts[rng.IntN(len(counts))])
				case reflect.Int:
					in[i] = reflect.ValueOf(ks[rng.IntN(len(ks))])
				default:
					in[i] = reflect.ValueOf(rates[rng.IntN(len(rates))])
				}
				shown = append(shown, in[i].Interface())
			}
			out := v.Call(in)
			if err, ok := out[len(out)-1].Interface().(error); ok && err != nil {
				continue
			}
			for _, o := range out {
				if o.Kind() == reflect.Float64 && !(o.Float() >= 0) {
					t.Errorf("%s of %v is %v", name, shown, o.Float())
				}
			}
		}
	}
}

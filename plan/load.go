package plan

import "math"

// overLoad returns the mean of f(i) over the load i of one of blocks blocks that n
// keys choose among at random: Binomial(n, 1/blocks). It takes f to be between 0
// and 1, not to fall, and to have a concave logarithm, as 1-q^i to the power k
// has; then the terms rise to one peak and fall. Weights start at 1 at the most
// likely load and are multiplied up and down from there, which needs no factorial
// and works for every n; terms below 1e-9 of both sums are left out.
func overLoad(n, blocks uint64, f func(load float64) float64) float64 {
	const negligible = 1e-9
	N, B := float64(n), float64(blocks)
	if blocks == 1 || n == 0 {
		return f(N)
	}
	mean := N / B
	if mean > 1<<16 {
		sd := math.Sqrt(mean * (1 - 1/B))
		return (f(mean-sd) + f(mean+sd)) / 2
	}
	mode := math.Floor((N + 1) / B)
	weights, sum := 1.0, f(mode)
	add := func(i, w float64) (more bool) {
		term := w * f(i)
		weights += w
		sum += term
		return w > negligible*weights || term > negligible*sum
	}
	for i, w := mode, 1.0; i < N; i++ {
		w *= (N - i) / (i + 1) / (B - 1)
		if !add(i+1, w) {
			break
		}
	}
	for i, w := mode, 1.0; i > 0; i-- {
		w *= i / (N - i + 1) * (B - 1)
		if !add(i-1, w) {
			break
		}
	}
	return sum / weights
}

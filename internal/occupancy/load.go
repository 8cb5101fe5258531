package occupancy

import "math"

// OverLoad returns the mean of f(i) over the load i of one block, if n keys choose among blocks
// blocks at random: Binomial(n, 1/blocks). f must be between 0 and 1, not fall, and have a concave
// logarithm, as 1-q^i to the power k does; the terms then rise to one peak and fall. Weights
// start at 1 at the most likely load and are multiplied from there in both directions, which
// needs no factorials and works for every n. Terms below 1e-9 of both sums are omitted. The time
// is proportional to the square root of the mean load; above a mean load of 2^16 the result is
// the mean of f one standard deviation above and below it.
//
// Putze, Sanders and Singler 2010, equation (3), use a Poisson load, which is the limit of many
// blocks. With 1024 bits in blocks of 512, 100 keys and k=6 anywhere in a block, the rate is
// 0.00815, and Poisson gives 0.00868.
func OverLoad(n, blocks uint64, f func(load float64) float64) float64 {
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
	return min(sum/weights, 1) // where the compiler fuses operations, rounding made it more
}

//go:build !amd64 || purego

package probe

// Machines without kernels take the plain paths: none of these is called.
const haveKernels = false

func hasBits(t *table, h1, h2, k uint64) uint64 { panic("probe: no kernels") }
func addBits(t *table, h1, h2, k uint64) uint64 { panic("probe: no kernels") }

func prefetchBits(t *table, ds *uint64, count int, from *origin, k uint64) {
	panic("probe: no kernels")
}

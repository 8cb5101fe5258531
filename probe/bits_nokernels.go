//go:build !amd64 || purego

package probe

// Machines without kernels take the plain paths: none of these is called.
const haveKernels = false

const noKernels = "probe: this machine has no kernels"

func hasBits(t *table, h1, h2, k uint64) bool                        { panic(noKernels) }
func addBits(t *table, h1, h2, k uint64) bool                        { panic(noKernels) }
func prefetchBits(t *table, ds *uint64, count int, k uint64)         { panic(noKernels) }
func hasMany(t *table, ds *uint64, far, near int, k uint64, _ *bool) { panic(noKernels) }
func addMany(t *table, ds *uint64, far, near int, k uint64, _ *bool) { panic(noKernels) }

//go:build !amd64 || purego || race

package probe

const (
	haveKernels = false
	haveLanes   = 0
)

func hasBits(b *Bits, h1, h2 uint64) bool { return hasPlain(b, h1, h2) }
func addBits(b *Bits, h1, h2 uint64) bool { return addPlain(b, h1, h2) }

// Without kernels table.first is always nil, and these are not called.

const noKernels = "probe: this machine has no kernels"

func prefetchBits(t *table, ds *uint64, count int)           { panic(noKernels) }
func hasMany(t *table, ds *uint64, far, near int, dst *bool) { panic(noKernels) }
func addMany(t *table, ds *uint64, far, near int, dst *bool) { panic(noKernels) }
func setMany(t *table, ds *uint64, far, near int)            { panic(noKernels) }
func hasEights(t *table, ds *uint64, n, far int, dst *bool)  { panic(noKernels) }
func setEights(t *table, ds *uint64, n, far int)             { panic(noKernels) }

func hasEightsAVX2(t *table, ds *uint64, n, far int, dst *bool) { panic(noKernels) }
func setEightsAVX2(t *table, ds *uint64, n, far int)            { panic(noKernels) }

//go:build amd64 && !purego && !race

package ribbon

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

//go:generate sh -c "cd ../../tools && GOWORK=off go run ./asm/ribbon -out ../filter/ribbon/kernel_amd64.s"

// kernels reports whether the machine can run the kernel. Under the race detector, which
// does not see into assembly, the reference implementation runs.
var kernels = cpuid.CPU.Has(cpuid.AVX2)

// The kernel depends on these offsets and on this size.
const (
	_ = -unsafe.Offsetof(question{}.at)
	_ = -(unsafe.Offsetof(question{}.coefficients) - 24)
	_ = -(unsafe.Offsetof(question{}.columns) - 48)
	_ = -(unsafe.Offsetof(question{}.want) - 56)
	_ = -(unsafe.Sizeof(question{}) - 64)
)

// answer is answerPlain for at least one question; dst has the same length. If the words are
// far, it prefetches the blocks of all questions first.
func answer(words []uint64, qs []question, far bool, dst []bool) {
	if !kernels {
		for i := range qs {
			dst[i] = answerPlain(words, &qs[i])
		}
		return
	}
	ask := 0
	if far {
		ask = len(qs)
	}
	answerKeys(&words[0], &qs[0], len(qs), ask, &dst[0])
}

// answer1 is answerPlain.
func answer1(words []uint64, q *question) bool {
	if !kernels {
		return answerPlain(words, q)
	}
	var yes bool
	answerKeys(&words[0], q, 1, 0, &yes)
	return yes
}

//go:noescape
func answerKeys(words *uint64, qs *question, n, far int, dst *bool)

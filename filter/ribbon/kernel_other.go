//go:build !amd64 || purego || race

package ribbon

func answer(words []uint64, qs []question, _ bool, dst []bool) {
	for i := range qs {
		dst[i] = answerPlain(words, &qs[i])
	}
}

func answer1(words []uint64, q *question) bool { return answerPlain(words, q) }

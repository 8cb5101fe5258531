// Package advances recomputes the numbers, plots and program of Verma's report "Bloom
// Filter Advancements", and those of the weighted filter of Bruck, Gao and Jiang, which
// the report presents.
package advances

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

// Paper is Verma 2015.
var Paper = piece.Paper{
	Number: "003",
	Title:  "Verma, Bloom Filter Advancements, project report, Jaypee University of Information Technology, 2015",
	Note: `
A report on counting and weighted filters, with plots and a program in Java whose screens it
shows. m is the number of cells, k the number of cells set per key and n the number of keys. A
weighted filter sets k_e cells for key e, which is in the set with probability x_e and has the
share r_e of the queries for absent keys.`,
	Pieces: []piece.Piece{program, hashChain, deletion, algebra, estimates, overflow, figure13, figure14, weights, zipfFigure},
	Errata: errata,
}

var errata = []piece.Erratum{{
	Where:   "Abstract, 5.4, comparison",
	Printed: "at each level the false positive probability is reduced; counting is better than basic",
	Right:   "a counting filter has the rate of a plain filter",
	Why:     "of 2000 queries per trial, none has another result, see 003/estimates",
}, {
	Where:   "Figure 14",
	Printed: "y axis: false positivity",
	Right:   "a bound on the probability that a counter overflows",
	Why:     "m=1024, n=128, k=6: plotted 4.7e-12, the false-positive rate is 0.022",
}, {
	Where:   "Figure 14, large n",
	Printed: "false positivity decreases for large n",
	Right:   "for large n, k = round((m/n) ln 2) is 0, and so is z",
	Why:     "from n = 89, 178 and 710 for m = 64, 128 and 512",
}, {
	Where:   "Figure 14",
	Printed: "2.71",
	Right:   "e",
	Why:     "to the power 16, the difference is 5 %: the bound with e is 4.944e-12 at m=1024, n=128, k=6",
}, {
	Where:   "Figure 13",
	Printed: "k = (m/n) ln 2, not rounded",
	Right:   "a whole number, at least 1",
	Why:     "m=64, n=1000: k = 0.044 gives 0.97, k = 1 gives 1 - e^(-15.6)",
}, {
	Where:   "Section 2.3",
	Printed: "9m/13n",
	Right:   "(m/n) ln 2",
	Why:     "an approximation: 9/13 is 0.6923, ln 2 is 0.6931",
}, {
	Where:   "Section 3.1, deletion",
	Printed: "an element can be deleted if its counts are zero",
	Right:   "if its counts are above zero",
	Why:     "the pseudocode of section 3.4 decrements the counts and clears a bit when its count becomes zero",
}, {
	Where:   "Section 3.1, space",
	Printed: "twice that of the basic filter",
	Right:   "four times, with counters of four bits",
	Why:     "counters replace bits; the program stores a byte, 32 bits and a reference per cell",
}, {
	Where:   "Section 3.2, condition",
	Printed: "k less than ln 2m/n",
	Right:   "at most (ln 2)(m/n)",
	Why: "m=80000, n=10^4, k=6, j=16: (enk/(jm))^j is 4.828e-15, which exceeds the supposed bound (e ln2/j)^j = 1.368e-15; " +
		"with the factor m they are 3.862e-10 and 1.094e-10",
}, {
	Where:   "Chapter 4, k_e and E{P_FP}",
	Printed: "(m/n) ln 2 + log2 r_e - Σ (x_i/n) log2 r_i",
	Right:   "(m/n) ln 2 + log2(r_e/x_e) - Σ (x_i/n) log2(r_i/x_i)",
	Why: "the printed formula is optimal only if all x_e are equal: by Zipf's law with x_e from 0.02 to 0.18, the " +
		"printed k_e give 0.0036305, the right ones 0.0032352",
}, {
	Where:   "Program, getHash",
	Printed: "% (set.length - 1), Math.abs",
	Right:   "% set.length, without the sign bit",
	Why:     "the last cell is never used, a capacity of 1 divides by zero, and abs of the smallest integer is negative",
}, {
	Where:   "Program, getSetArray",
	Printed: "each position is the hash of the previous position",
	Right:   "k hashes of the element",
	Why:     "keys with the same first position have all positions in common: m=1024, n=100, k=7 gives 0.28 instead of 0.0074, see 003/hash-chain",
}, {
	Where:   "Program, getSetArray",
	Printed: "keySize = keySize*2",
	Right:   "k is fixed, or depends on the class of the key",
	Why:     "queries for older keys then look at positions that were never set, which gives false negatives; contains and delete double it too",
}, {
	Where:   "Program, getSetArray of section 5.1",
	Printed: "(frequency/freqSum)*100, freqSum counts distinct elements",
	Right:   "frequency*100/totalElements, as in chapter 6",
	Why:     "integer division: 1 of 5 gives 0, but Figure 11 shows 20; an empty filter divides by zero",
}, {
	Where:   "Program, frequency",
	Printed: "weight by insertions of elements 0 to 19",
	Right:   "weight by queries, for any element",
	Why:     "chapter 4 weighs by query frequency; element 20 makes the program crash",
}, {
	Where:   "Program, delete",
	Printed: "a count of 1 is cleared; at any other count it stops",
	Right:   "query first, then decrement every count",
	Why:     "deleted keys stay and other keys are lost, see 003/deletion; the size decreases in any case",
}, {
	Where:   "Program, insert and delete",
	Printed: "a position that occurs twice in one key is counted twice",
	Right:   "count each cell once per key",
	Why: "delete stops at a count other than 1, so the key can never be deleted: 13 has three equal positions " +
		"(003/program), and one insertion gives them the count 3",
}, {
	Where:   "Program, size and isEmpty",
	Printed: "insert adds 1 to the size, delete subtracts 1",
	Right:   "only if the filter changed; isEmpty looks at the counts",
	Why:     "duplicates and refused deletions are counted too: the size drifts and can become negative, and isEmpty is then wrong",
}, {
	Where:   "Program, makeEmpty",
	Printed: "it clears set and countSet",
	Right:   "it clears frequency and keySize too",
	Why:     "the weights of the cleared keys remain",
}, {
	Where:   "Figure 10, text",
	Printed: "the size initially entered by the user",
	Right:   "the number of insertions",
	Why:     "the screen shows 5, but the filter has 20 cells",
}}

package advances

import "github.com/umbel-filters/umbel/research/papers/internal/piece"

var errata = []piece.Erratum{{
	Where:   "Abstract, 5.4, comparison",
	Printed: "at each level the false positive probability is reduced; counting is better than basic",
	Right:   "a counting filter answers as a plain one",
	Why:     "of 2000 questions a trial none is answered otherwise, see 003/estimates",
}, {
	Where:   "Figure 14",
	Printed: "y axis: false positivity",
	Right:   "a bound on the probability that a counter overflows",
	Why:     "m=1024, n=128, k=6: plotted 4.7e-12, the rate of false positives is 0.022",
}, {
	Where:   "Figure 14, large n",
	Printed: "false positivity decreases for large n",
	Right:   "k = round((m/n) ln 2) is 0 there, and so is z",
	Why:     "from n = 89, 178, 710 for m = 64, 128, 512 on",
}, {
	Where:   "Figure 14",
	Printed: "2.71",
	Right:   "e",
	Why:     "to the power 16 that is 5 % less: the bound with e is 4.944e-12 at m=1024, n=128, k=6",
}, {
	Where:   "Figure 13",
	Printed: "k = (m/n) ln 2 as it is",
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
	Right:   "if they are above zero",
	Why:     "the pseudocode of section 3.4 decrements them and clears a bit at zero",
}, {
	Where:   "Section 3.1, space",
	Printed: "twice that of the basic filter",
	Right:   "four times, with counters of four bits",
	Why:     "counters take the place of bits; the program has 32 bits and a reference for each besides its byte",
}, {
	Where:   "Section 3.2, condition",
	Printed: "k less than ln 2m/n",
	Right:   "at most (ln 2)(m/n)",
	Why:     "m=80000, n=10^4, k=6, j=16: (enk/(jm))^j gives 3.862e-10, and (e ln2/j)^j 1.094e-10 bounds nothing",
}, {
	Where:   "Chapter 4, k_e and E{P_FP}",
	Printed: "(m/n) ln 2 + log2 r_e - Σ (x_i/n) log2 r_i",
	Right:   "(m/n) ln 2 + log2(r_e/x_e) - Σ (x_i/n) log2(r_i/x_i)",
	Why:     "least only where all x_e are equal: by Zipf's law with x_e from 0.02 to 0.18 printed 0.0036305, right 0.0032352",
}, {
	Where:   "Program, getHash",
	Printed: "% (set.length - 1), Math.abs",
	Right:   "% set.length, without the sign bit",
	Why:     "the last cell is never used, a capacity of 1 divides by zero, and abs of the least integer is negative",
}, {
	Where:   "Program, getSetArray",
	Printed: "each position is the hash of the last",
	Right:   "k hashes of the element",
	Why:     "keys that share the first share all: m=1024, n=100, k=7 gives 0.28 in place of 0.0074, see 003/hash-chain",
}, {
	Where:   "Program, getSetArray",
	Printed: "keySize = keySize*2",
	Right:   "k is fixed, or of the key's class",
	Why:     "keys added before are then looked for at positions that were never set: false negatives; and contains and delete double it too",
}, {
	Where:   "Program, getSetArray of section 5.1",
	Printed: "(frequency/freqSum)*100, freqSum counts distinct elements",
	Right:   "frequency*100/totalElements, as in chapter 6",
	Why:     "whole numbers are divided: 1 of 5 gives 0, and Figure 11 shows 20; an empty filter divides by zero",
}, {
	Where:   "Program, frequency",
	Printed: "weight by insertions of elements 0 to 19",
	Right:   "by questions, of any element",
	Why:     "chapter 4 weighs by query frequency; element 20 ends the program",
}, {
	Where:   "Program, delete",
	Printed: "a count of 1 is cleared, at another it stops",
	Right:   "each count is decremented, of a key that is there",
	Why:     "keys stay or others are lost, see 003/deletion; size falls all the same, below zero",
}, {
	Where:   "Program, makeEmpty",
	Printed: "clears set and countSet",
	Right:   "frequency and keySize as well",
	Why:     "what was forgotten still weighs",
}, {
	Where:   "Figure 10, text",
	Printed: "the size initially entered by the user",
	Right:   "the number of insertions",
	Why:     "it shows 5, and the filter has 20 cells",
}}

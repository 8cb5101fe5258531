// Papers makes the tables and figures of the papers that umbel builds on again, by
// umbel's own formulas, filters and coders, and one document, docs/papers.md, that
// sets what is printed, recomputed and measured side by side.
//
//	go run ./research/papers                        # everything, from the repository's root
//	go run ./research/papers --list                 # names of the pieces
//	go run ./research/papers --only 004/table       # pieces whose names match
//	go run ./research/papers --print --only 002/costs # a table that was made, for another document
//	go run ./research/papers --trials 100000        # as many trials as paper 004 has
//
// A thousand trials of paper 004 take 22 seconds of one core of an AMD EPYC and, up to
// 5000, 21 more for the paper's own coder, which takes a step for each cell: 2000, which
// is what there is without the flag, a minute on two cores, and 100000 about twenty.
// The other papers together take 100 seconds of one core with 2000, but for packets over
// networks; of these the random search of paper 002 takes 40, four runs of it for each
// point.
//
// Paper 002 has packets follow their headers over networks. Maps of providers aren't in
// this repository; --topologies names a directory of them, edges/*.tsv in the format of
// topology.ReadTSV. Without it there are networks made by rule, and the document names
// those. It takes six minutes of one core, with 25 maps.
//
// A piece is one table, figure or claim. It becomes files below docs/papers: rows and
// points as CSV, a figure as SVG and PNG. The document is put together from those
// files, so pieces may be made one by one.
//
// Simulations keep what they have in docs/papers/.work, which isn't committed: an
// interrupted run goes on where it stopped, and more trials are added to those that
// are there. Results depend on the seed and the number of trials, and not on the
// number of goroutines. PNG files aren't committed either.
package main

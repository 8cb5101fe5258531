// Bench measures umbel's filters and those of other Go libraries side by side in
// one run, and prints Markdown tables with bits per key and measured rate of false
// positives beside the times, and how the ratios compare with the targets.
//
//	go run ./research/bench                                  # everything: about 45 minutes, 5 GiB
//	go run ./research/bench --n 1e5                          # in cache only: a few minutes
//	go run ./research/bench --only 'bits=11/.*(blocked|parquet)' --json
//
// Rounds go over all contestants in turn, so that a disturbance of the machine
// hits all alike; the first round warms up and isn't counted. A round has turns of
// 10^5 keys for each contestant; the best of all is printed, the median in brackets.
//
// The kinds that adapt have sections of their own, beside the standard filter that
// doesn't: counting and weighted filters of as many cells, or as much memory; filters
// that grow, at a hundred times the keys that they were made for, beside one that was
// made for all; folds of a folding filter beside a copy of it; answers of plan.
//
//	go run ./research/bench --n 1e5,1e7 --only '^(counting|weighted|growing|folding|planner)/'
//
// Filters that are sent have sections of their own too: messages, packed and as
// updates, beside compressors of the same cells and what an ideal code takes; and
// static, sets that are made once and then only asked.
//
//	go run ./research/bench --n 1e4,1e6 --rounds 3 --only '^(messages|static)/' --md docs/measurements-messages.md
//
// takes about six minutes on two cores. A coder that takes more than a second for a
// plane of 16 MiB is timed once. Sizes are those of the blocks: a container has 74
// bytes more, a delta 96.
//
// And so have filters in packets: multicast, what a router's decision costs, how long
// headers are for trees over networks, how long it takes to find them, and how many
// packets a network's routers take over loopback, beside LIPSIN, truncated adaptive
// filters, BIER and BIER-TE.
//
//	UMBEL_TOPOLOGIES=DIR go run ./research/bench --only '^multicast/' --md docs/measurements-multicast.md
//
// takes about five minutes on two cores. Networks of carriers are those in DIR/edges; without the
// variable others are made by rule, and the targets of carriers' headers not judged.
// A search is timed on one core, over all trees, in three rounds at most.
//
// Keys and digests are made beforehand and read in order. A filter of many keys is
// filled to the last key before it is asked; its additions are timed on the last
// part of the way. A filter in cache is emptied and filled again for each timing.
// Every timing of keys that were added checks that all are found.
//
// Each library gets its keys as it wants them: those that take a 64-bit hash get
// XXH3-64 of the key, parquet-go XXH64, as its format says. Pebble's filter is left
// out: it brings the modules of a database with it. So is btcutil's gcs, which brings
// those of a node of Bitcoin and goes through the whole set for each question; the
// bytes of the Golomb-coded sets here are those that it makes.
package main

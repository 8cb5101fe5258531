// Bench measures umbel's filters and those of other Go libraries in the same run. It
// prints Markdown tables with times, bits per key and measured false-positive rates, and
// compares the ratios with targets.
//
//	go run ./research/bench                                  # everything: about 45 minutes, 5 GiB
//	go run ./research/bench --n 1e5                          # in cache only: a few minutes
//	go run ./research/bench --only 'bits=11/.*(blocked|parquet)' --json
//
// A round measures all contestants in turn, so that a disturbance of the machine affects
// all of them. The first round is a warm-up and is not counted. A round consists of turns
// of 10^5 keys per contestant. The tables contain the best turn and, in brackets, the
// median.
//
// Keys and digests are made in advance and read in order. A large filter is filled before
// it is queried; its last additions are timed. A filter in cache is cleared and filled
// for each timing. After the timings, bench checks that all added keys are found.
//
// Each library receives its usual input: XXH3-64 of the key if it takes a 64-bit hash,
// XXH64 for parquet-go, as the format requires. Two libraries are missing because they
// require large modules: Pebble's filter those of a database, and btcutil's gcs those of a
// Bitcoin node. gcs also scans the whole set for each query; the Golomb-coded sets here
// have the same number of bytes.
//
// In section shared two goroutines, or as many as --goroutines says, use one filter.
//
// Sections by themselves:
//
//	go run ./research/bench --n 1e5,1e7 --only '^(counting|weighted|growing|folding|planner)/'
//
// compares kinds with the standard filter: counting and weighted filters with as many
// cells or as much memory; growing filters with a hundred times the planned keys; folds
// of a folding filter with a copy of it; and functions of plan.
//
//	go run ./research/bench --n 1e4,1e6 --rounds 3 --only '^(messages|static)/' --md docs/measurements-messages.md
//
// compares packed filters and updates with general compressors and with the length of an
// ideal code, and static sets with each other. It takes about six minutes on two cores. A
// coder that needs more than a second for an array of 16 MiB is timed once. Sizes are those
// of the blocks: a container has 74 bytes more, a delta 96.
//
//	UMBEL_TOPOLOGIES=DIR go run ./research/bench --only '^multicast/' --md docs/measurements-multicast.md
//
// compares filters in packets with LIPSIN, truncated adaptive filters, BIER and BIER-TE:
// the decision of a router, the length of headers for trees, the time to find them, and
// packets over loopback. It takes about five minutes on two cores. The networks of
// carriers are in DIR/edges. Without the variable, networks are generated and the targets
// for carriers are not judged. A search is timed on one core, over all trees, in at most
// three rounds.
package main

package main

var (
	anyKeys   = []input{hashed, bytes8, bytes32}
	bytesOnly = []input{bytes8, bytes32}
	hashOnly  = []input{hashed}
)

// contest is who is compared, in the order of the tables, and what is timed.
type contest struct {
	section string
	who     []contestant
	ops     [][]operation // the first group is of additions
	shared  bool          // two goroutines on one filter
	note    string        // what a title adds
}

var (
	filters  = contest{section: "filters", who: fixed, ops: singleOps}
	together = contest{section: "shared", who: fixed, ops: sharedOps, shared: true, note: ", two goroutines on one filter"}

	// Those of filters that adapt, each beside the filter that doesn't.
	counters = contest{section: "counting", who: countingOnes, ops: removeOps, note: ", filters that take removals"}
	weights  = contest{section: "weighted", who: weightedOnes, ops: singleOps, note: ", of which none are hot, where 1 % besides are"}
	statics  = contest{section: "static", who: staticOnes, ops: singleOps, note: ", sets that stay as they are"}
	growers  = contest{section: "growing", who: growingOnes, ops: singleOps, note: ", filters that were made for 1 % of them"}
)

// fixed are the filters that stay as they are made.
var fixed = []contestant{
	{"umbel bloom", anyKeys, umbelBloom, filter},
	{"umbel partitioned", anyKeys, umbelPartitioned, filter},
	{"umbel blocked", anyKeys, umbelBlocked, filter},
	{"umbel splitblock", anyKeys, umbelSplitBlock, filter},
	{"bits-and-blooms", bytesOnly, bitsAndBlooms, filter},
	{"BoomFilters classic", bytesOnly, boomClassic, filter},
	{"BoomFilters partitioned", bytesOnly, boomPartitioned, filter},
	{"holiman", anyKeys, holiman, filter},
	{"ristretto z.Bloom", anyKeys, ristretto, filter},
	{"blobloom", anyKeys, blobloomPlain, filter},
	{"blobloom SyncFilter", hashOnly, blobloomSync, filter},
	{"parquet-go SBBF", anyKeys, parquetGo, filter},
	{"xorfilter fuse8", hashOnly, fuse8, static},
	{"touch a line", hashOnly, touchFloor, floor},
	{"prefetch a line", hashOnly, prefetchFloor, floor},
}

var (
	countingOnes = []contestant{
		{"umbel bloom", anyKeys, umbelBloom, filter},
		{"umbel counting", anyKeys, umbelCounting, filter},
		{"umbel counting with a view", anyKeys, umbelCountingView, filter},
		{"BoomFilters counting", bytesOnly, boomCounting, filter},
	}
	weightedOnes = []contestant{
		{"umbel bloom", hashOnly, umbelBloom, filter},
		{"umbel weighted, k of bloom", hashOnly, umbelWeighted, filter},
		{"umbel weighted", hashOnly, umbelWeightedPlanned, filter},
	}
	growingOnes = []contestant{
		{"umbel bloom", anyKeys, umbelBloom, filter},
		{"umbel scalable", anyKeys, umbelScalable, filter},
		{"umbel redisbloom", anyKeys, umbelRedisbloom, filter},
		{"BoomFilters scalable", bytesOnly, boomScalable, filter},
	}
	staticOnes = []contestant{
		{"umbel bloom", hashOnly, umbelBloom, filter},
		{"umbel blocked", hashOnly, umbelBlocked, filter},
		{"umbel sparse", hashOnly, umbelSparse, static},
		{ribbonRow, hashOnly, umbelRibbon, static},
		{"xorfilter fuse8", hashOnly, fuse8, static},
	}
)

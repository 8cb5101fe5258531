package main

var (
	anyKeys   = []input{hashed, bytes8, bytes32}
	bytesOnly = []input{bytes8, bytes32}
	hashOnly  = []input{hashed}
)

// contestants lists all that is measured, in the order of the tables.
var contestants = []contestant{
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

package arch

import "slices"

// floor is a row of packages that don't know each other.
type floor struct {
	number   float64
	what     string
	packages []string // below the repository's root; "x/..." is all of a module
}

// floors are the packages of the repository from the ground up.
var floors = []floor{
	{0, "arrays and arithmetic, knowing nothing of filters", []string{
		"cells", "internal/entropy", "internal/number",
	}},
	{0.5, "what is made of arrays: lists of numbers, expectations of blocks", []string{
		"internal/eliasfano", "internal/model",
	}},
	{1, "the words that all share", []string{
		".",
	}},
	{2, "positions, formulas, containers: knowing no kind", []string{
		"probe", "plan", "wire",
	}},
	{2.5, "what kinds share among themselves", []string{
		"filter/internal/design", "filter/internal/plane", "filter/internal/row",
	}},
	{3, "simple kinds", []string{
		"filter/blocked", "filter/bloom", "filter/partitioned", "filter/redisbloom", "filter/ribbon", "filter/sparse", "filter/splitblock",
		"filter/weighted", "filter/window",
	}},
	{3.5, "kinds that keep another beside them", []string{
		"filter/counting",
	}},
	{4, "kinds made of others", []string{
		"filter/dynamic", "filter/folding", "filter/incremental", "filter/scalable",
	}},
	{5, "the list of kinds, and their suite", []string{
		"filter", "filter/filtertest", "inpacket", "inpacket/multicast/topology",
	}},
	{5.05, "patterns of names", []string{
		"cmd/internal/glob",
	}},
	{5.1, "what a node stands on: filters in memory, a log, a protocol, users", []string{
		"cmd/internal/engine", "cmd/internal/oplog", "cmd/internal/resp", "cmd/internal/access",
	}},
	{5.2, "networks that tests look for, a log that fails as tests want", []string{
		"inpacket/multicast/internal/maps", "cmd/internal/oplog/oplogtest",
	}},
	{5.25, "errors as replies, and replies as text", []string{
		"cmd/internal/permit", "cmd/internal/refusal", "cmd/internal/resptest",
	}},
	{5.3, "schemes for packets, trees over topologies", []string{
		"inpacket/adaptive", "inpacket/lipsin", "inpacket/multicast/tree",
	}},
	{5.4, "filters in memory kept in the log", []string{
		"cmd/internal/store",
	}},
	{5.5, "what two filters have in common", []string{
		"cmd/internal/overlap",
	}},
	{5.6, "what trees are for", []string{
		"inpacket/multicast", "inpacket/multicast/draw",
	}},
	{5.7, "what filters in packets are compared with", []string{
		"inpacket/multicast/bier",
	}},
	{5.8, "all schemes", []string{
		"inpacket/multicast/scheme",
	}},
	{5.9, "schemes at work", []string{
		"inpacket/multicast/sim", "inpacket/multicast/dataplane",
	}},
	{6, "parts of the command", []string{
		"cmd/internal/ability", "cmd/internal/atomicfile", "cmd/internal/folding", "cmd/internal/heavy", "cmd/internal/keys", "cmd/internal/memory",
		"cmd/internal/parquetfile", "cmd/internal/picture", "cmd/internal/progress", "cmd/internal/prompt", "cmd/internal/quantity",
		"cmd/internal/table", "cmd/internal/trial",
		"cmd/internal/keyspace", "cmd/internal/redisbloom", "cmd/internal/metrics",
	}},
	{6.3, "containers as files", []string{
		"cmd/internal/container",
	}},
	{6.6, "filters from files of keys", []string{
		"cmd/internal/build",
	}},
	{6.7, "filters of any kind over two protocols, on what the verbs share", []string{
		"cmd/internal/um", "cmd/internal/httpapi",
	}},
	{6.8, "a node asked over HTTP, and held against what serves it", []string{
		"cmd/internal/remote",
	}},
	{7, "a process", []string{
		"cmd/internal/node",
	}},
	{8, "programs", []string{
		"cmd/umbel", "spec/vectors/internal/gen",
	}},
	{8.3, "what papers' pieces are made with", []string{
		"papers/internal/chart", "papers/internal/trial",
	}},
	{8.5, "what pieces have in common", []string{
		"papers/internal/piece",
	}},
	{8.6, "rates and trees, measured", []string{
		"papers/internal/forward", "papers/internal/sample",
	}},
	{8.7, "papers, made again", []string{
		"papers/folds", "papers/scaled", "papers/adaptive", "papers/advances", "papers/compressed",
	}},
	{8.8, "what programs are run with", []string{
		"interop/internal/proc",
	}},
	{9, "what looks at all the rest, and nothing looks at", []string{
		"internal/arch", "bench/...", "interop", "interop/faults", "interop/speed", "papers",
	}},
}

// pure is the floor from which packages may have to do with the world.
const pure = 5

// worldly are the packages of the standard library, with those below them, that
// mean the world: its files, its clock, its network.
var worldly = []string{"net", "os", "time", "log"}

// mayStartGoroutines are the packages below the floor called pure that do, each
// with the reason.
var mayStartGoroutines = map[string]string{
	"wire": "codes and decodes blocks with as many as Packer.Workers and Limits.Workers ask for, and ends them before it returns",
}

// libraries are what the library module may depend on.
var libraries = []string{
	"github.com/zeebo/xxh3",
	"github.com/cespare/xxhash/v2",
	"github.com/dchest/siphash",
	"github.com/klauspost/cpuid/v2",
}

// testLibraries are what its tests may depend on besides.
var testLibraries = []string{"pgregory.net/rapid"}

// testUpward are the packages that tests on any floor may import.
var testUpward = []string{"filter/filtertest", "inpacket/multicast/internal/maps", "cmd/internal/oplog/oplogtest"}

// blind are packages that get the kinds they handle as a value, umbel.Variants,
// and so work with kinds made elsewhere: they import neither a kind nor the list.
var blind = []string{"cmd/internal/engine", "cmd/internal/store", "share"}

// owners are packages that alone know something from elsewhere, so that another can take its
// place: what, and who.
var owners = map[string]string{
	"github.com/nats-io/nats-server/v2": "cmd/internal/oplog",
	"github.com/nats-io/nats.go":        "cmd/internal/oplog",
}

// floorOf returns the floor of a package of a module, and whether it has one.
func floorOf(path, module string) (floor, bool) {
	for _, f := range floors {
		if slices.Contains(f.packages, path) || module != "." && slices.Contains(f.packages, module+"/...") {
			return f, true
		}
	}
	return floor{}, false
}

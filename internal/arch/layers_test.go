package arch

import "strings"

// layer is a set of packages. Its number is its index in layers.
type layer struct {
	name     string
	packages []string // paths below the repository's root; "x/..." includes everything below x
}

// layers are the packages of the repository, the lowest layer first.
var layers = []layer{
	{"arrays", []string{"cells", "internal/..."}},
	{"vocabulary", []string{"."}},
	{"formats", []string{"internal/probe", "internal/distinct", "plan", "wire/...", "internal/fixture"}},
	{"kinds", []string{"filter/..."}},
	{"collections", []string{"filter", "filter/filtertest", "filter/build", "internal/filling", "filter/compare", "filter/fold", "filter/message", "multicast/inpacket", "multicast/adaptive"}},
	{"network", []string{"multicast/...", "share/...", "siblings", "live", "internal/maps", "internal/faultlog", "internal/event", "internal/wholefile", "wire/mapped", "internal/httptarget", "internal/hop/...", "internal/pace", "internal/pause", "internal/await"}},
	{"logs and files", []string{"cmd/internal/service/budget", "cmd/internal/files/quantity", "cmd/internal/durable/disk/...", "cmd/internal/durable/wal/...", "cmd/internal/durable/snapfile/..."}},
	{"engine", []string{"cmd/internal/engine", "cmd/internal/engine/operation", "cmd/internal/durable/statecode"}},
	{"changes", []string{"cmd/internal/durable/changes"}},
	{"journal and snapshots", []string{"cmd/internal/durable/journal", "cmd/internal/durable/snapshot"}},
	{"recovery", []string{"cmd/internal/durable/recovery"}},
	{"backup", []string{"cmd/internal/durable/backup"}},
	{"store", []string{"cmd/internal/durable/store"}},
	{"program", []string{"cmd/...", "connect/..."}},
	{"research", []string{"examples/...", "research/...", "tools/...", "spec/...", "internal/arch", "internal/freeport", "filter/internal/gen"}},
}

// lastPure is the last layer whose packages have no side effects: they don't use files,
// clocks, networks or logs, and start no goroutine of their own.
const lastPure = "collections"

// sideEffects are the packages of the standard library, with the packages below
// them, that lastPure excludes.
var sideEffects = []string{"net", "os", "time", "log"}

// mayStartGoroutines lists the packages up to lastPure that start goroutines, each
// with the reason.
var mayStartGoroutines = map[string]string{
	"filter/filtertest":   "tests that concurrent additions and queries are safe",
	"internal/merkle":     "hashes leaves with the number of workers that the caller sets, and ends them before it returns",
	"wire/internal/block": "encodes and decodes blocks with the number of workers that the caller sets, and ends them before it returns",
}

// libraries are what any package of the library module may import.
var libraries = []string{
	"github.com/zeebo/xxh3",
	"github.com/cespare/xxhash/v2",
	"github.com/dchest/siphash",
	"github.com/klauspost/cpuid/v2",
}

// partLibraries are what only the named packages of the library module may import, so that nobody who uses filters
// compiles them.
var partLibraries = map[string][]string{
	"golang.org/x/mod/sumdb": {"share/...", "siblings", "spec/...", "examples/demo"},  // signed heads
	"github.com/gofrs/flock": {"share/dir", "internal/wholefile"},                     // one writer of a directory or file
	"golang.org/x/sys":       {"multicast/dataplane", "wire/mapped", "examples/demo"}, // options of sockets, mapped files, sizes of terminals
}

// testLibraries are what the tests of the library module may depend on in addition.
var testLibraries = []string{"pgregory.net/rapid", "go.uber.org/goleak"}

// testSupport lists the packages that tests of any layer may import.
var testSupport = []string{
	"internal/fixture", "internal/freeport", "internal/await", "internal/race", "internal/hop/hoptest", "wire/internal/wiretest", "filter/filtertest", "internal/maps", "cmd/internal/durable/wal/waltest",
	"cmd/internal/durable/disk/disktest",
}

// kindAgnostic lists the packages that receive the kinds as a value of type umbel.Kinds,
// and so work with kinds of other modules.
var kindAgnostic = []string{
	"cmd/internal/engine", "cmd/internal/durable/statecode", "cmd/internal/durable/changes", "cmd/internal/durable/journal", "cmd/internal/durable/snapshot",
	"cmd/internal/durable/recovery", "cmd/internal/durable/backup", "cmd/internal/durable/store",
}

// owners maps an external module to the only packages that may import it.
var owners = map[string][]string{
	"github.com/gofrs/flock":    {"cmd/internal/durable/disk", "internal/wholefile", "share/dir"},
	"gocloud.dev":               {"share/blob", "cmd/cloud/logbucket", "cmd/cloud/objects", "cmd/cloud/umbel"},
	"github.com/maypok86":       {"cmd/internal/webcache/httpcache"},
	"github.com/nats-io":        {"share/nats", "cmd/cloud/lognats"},
	"github.com/redpanda-data":  {"connect/benthos", "connect/umbel-connect"},
	"github.com/warpstreamlabs": {"connect/bento", "connect/bento/umbel-bento"},
}

// layerOf returns the index of the layer of a package, and false if there is none. A
// path decides before a pattern, and a longer pattern before a shorter one.
func layerOf(path string) (int, bool) {
	found, longest := -1, -1
	for i, l := range layers {
		for _, pattern := range l.packages {
			switch {
			case pattern == path:
				return i, true
			case matches(pattern, path) && len(pattern) > longest:
				found, longest = i, len(pattern)
			}
		}
	}
	return found, found >= 0
}

// matches reports whether path is pattern, or lies below it if it ends in "/...".
func matches(pattern, path string) bool {
	prefix, below := strings.CutSuffix(pattern, "/...")
	return path == prefix || below && strings.HasPrefix(path, prefix+"/")
}

// isPure reports whether a layer is at most lastPure.
func isPure(i int) bool {
	for j, l := range layers {
		if l.name == lastPure {
			return i <= j
		}
	}
	panic("lastPure is not a layer: " + lastPure)
}

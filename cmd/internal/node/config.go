package node

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
)

// Config contains all settings of a node. DefaultConfig returns the defaults. The comment of a field names
// its setting, which is the name of the flag and of the key in the file of settings. The environment
// variable has the prefix UMBEL_ and capital letters.
type Config struct {
	Replica bool // the node follows publications (umbel replica) instead of having a data directory

	Data          string                // data
	Subscriptions replica.List          // subscriptions
	Following     []replica.Publication // those of Subscriptions and of the command line, which is no setting
	Cache         string                // cache
	Stale         string                // stale: error, maybe or last
	Every         time.Duration         // every

	Log    string            // log: URL of the log of a group; "": the node is in none
	MaxAge time.Duration     // max-age; 0: any
	Logs   sharedlog.Openers // how a program opens logs; no setting

	Limits

	RESP                 string        // resp: host:port, port 0 means any; "off": not served
	HTTP                 string        // http: likewise
	Unix                 string        // unix: path of a socket for Redis clients; "": none
	loops                int           // event loops of RESP: resp.Options.Loops; no setting
	TLSCert              string        // tls-cert: PEM file; "": no TLS
	TLSKey               string        // tls-key
	TLSClientCA          string        // tls-client-ca
	TLSRequireClient     bool          // tls-require-client-cert
	Users                string        // users: file; "": everyone has all rights
	AllowInsecureNetwork bool          // allow-insecure-network
	HTTPHosts            string        // http-hosts: names separated by commas, "*": any
	MaxBody              quantity.Size // max-body
	Durability           string        // durability: always, everysec or none
	CommitDelay          time.Duration // commit-delay
	SnapshotInterval     time.Duration // snapshot-interval; 0: not by time
	SnapshotBytes        quantity.Size // snapshot-bytes
	SnapshotAtShutdown   bool          // snapshot-at-shutdown
	AcceptLoss           bool          // accept-loss
	MaxMemory            Memory        // max-memory
	Hash                 string        // default-hash: auto, redisbloom, siphash or xxh3
	BFErrorRate          float64       // bf-error-rate
	BFInitialSize        uint64        // bf-initial-size
	BFExpansionFactor    uint32        // bf-expansion-factor
	Cuckoo               bool          // cuckoo-emulation
	AtomicMADD           bool          // atomic-madd
	SlotMap              string        // slot-map: file; "": none
	Advertise            string        // advertise: host:port, "": that of resp
	Metrics              string        // metrics: "http", "off", or a separate host:port
	MetricsFilters       int           // metrics-filters
	Pprof                bool          // pprof
	Publications         Publications  // publications
	LogLevel             string        // log-level: debug, info, warn or error
	LogFormat            string        // log-format: auto, text or json
	DrainDelay           time.Duration // drain-delay
	ShutdownTimeout      time.Duration // shutdown-timeout
}

// off is the value of an address or of metrics that is not served.
const off = "off"

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	var c Config
	c.flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	return c
}

// Flags adds a flag for each setting, and one for the file of settings, to fs. LoadConfig reads
// them.
func Flags(fs *pflag.FlagSet) { addFlags(fs, Config{}) }

func addFlags(fs *pflag.FlagSet, c Config) {
	fs.String(fileFlag, "", "YAML `FILE` with settings; the keys are the names of these flags")
	c.flags(fs)
}

// fileFlag is the flag with the path of the file of settings.
const fileFlag = "config"

// flags binds the fields of c to flags and sets the defaults. It is the only list of settings.
func (c *Config) flags(fs *pflag.FlagSet) {
	c.serverFlags(fs)
	if c.Replica {
		c.replicaFlags(fs)
	} else {
		c.dataFlags(fs)
	}
}

// serverFlags are the settings of nodes with a data directory and of replicas.
func (c *Config) serverFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.RESP, "resp", "127.0.0.1:6380", "`ADDRESS` for Redis clients; off: none")
	fs.StringVar(&c.HTTP, "http", "127.0.0.1:8780", "`ADDRESS` for HTTP; off: none")
	fs.StringVar(&c.Unix, "unix", "", "`PATH` of a Unix socket for Redis clients, without TLS; its directory decides who may connect")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "PEM `FILE` with the certificate chain; enables TLS for all addresses")
	fs.StringVar(&c.TLSKey, "tls-key", "", "PEM `FILE` with the key of the certificate")
	fs.StringVar(&c.TLSClientCA, "tls-client-ca", "", "PEM `FILE` with the authorities that sign client certificates")
	fs.BoolVar(&c.TLSRequireClient, "tls-require-client-cert", false, "require a client certificate")
	fs.StringVar(&c.Users, "users", "", "`FILE` with users, made by umbel user; without it everyone has all rights")
	fs.BoolVar(&c.AllowInsecureNetwork, "allow-insecure-network", false, "accept connections from other machines without TLS and users")

	fs.StringVar(&c.HTTPHosts, "http-hosts", "", "`NAMES` allowed in the Host header besides addresses and localhost, "+
		"separated by commas; *: any; the default is any for a node with users that other machines can reach, otherwise none")
	c.limitFlags(fs)
	sizeVar(fs, &c.MaxBody, "max-body", "64MiB", "`SIZE` of an HTTP request body at most, except streams")

	c.MaxMemory = Memory{Auto: true}
	fs.Var(&c.MaxMemory, "max-memory", "`SIZE` of memory at most, of all filters; auto = 75 % of available memory; none = no limit")

	fs.StringVar(&c.Metrics, "metrics", "http", "where Prometheus metrics are served: http = /metrics, off, or a separate `ADDRESS`")
	fs.IntVar(&c.MetricsFilters, "metrics-filters", 100, "`NUMBER` of largest filters with their own series")
	fs.BoolVar(&c.Pprof, "pprof", false, "serve /debug/pprof to administrators")
	choiceVar(fs, &c.LogLevel, "log-level", "info", "minimum level", "debug", "info", "warn", "error")
	choiceVar(fs, &c.LogFormat, "log-format", "auto", "log format; auto = text on a terminal, otherwise JSON", "auto", "text", "json")
	quantity.DurationVar(fs, &c.DrainDelay, "drain-delay", 0, "`DURATION` for which /readyz fails before connections are closed")
	quantity.DurationVar(fs, &c.ShutdownTimeout, "shutdown-timeout", 30*time.Second, "close connections and write changes within this `DURATION` at shutdown")
	spec.Group(fs, "Limits of clients", "max-body")
	spec.Group(fs, "Access from other machines", "tls-client-ca", "tls-require-client-cert", "allow-insecure-network", "http-hosts")
	spec.Group(fs, "Log and metrics", "log-level", "log-format", "metrics", "metrics-filters", "pprof")
	spec.Group(fs, startAndEnd, "drain-delay", "shutdown-timeout")
}

// startAndEnd is the title of settings in the help.
const startAndEnd = "Start and end"

// dataFlags are the settings of nodes with a data directory.
func (c *Config) dataFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Data, "data", "umbel-data", "data `DIRECTORY`")
	c.groupFlags(fs)
	choiceVar(fs, &c.Durability, "durability", "always", "when writes are acknowledged: always = after fsync; everysec = at "+
		"once, synced every second; none = at once, durable at the next snapshot", "always", "everysec", "none")
	quantity.DurationVar(fs, &c.CommitDelay, "commit-delay", 0, "`DURATION` to wait for more changes before a write to the log")
	quantity.DurationVar(fs, &c.SnapshotInterval, "snapshot-interval", 15*time.Minute, "`DURATION` between snapshots; 0: only on request or by snapshot-bytes")
	sizeVar(fs, &c.SnapshotBytes, "snapshot-bytes", "256MiB", "take a snapshot when the log exceeds this `SIZE`")
	fs.BoolVar(&c.SnapshotAtShutdown, "snapshot-at-shutdown", false, "take a snapshot at shutdown, which shortens the next start")
	sizeVar(fs, &c.MaxDisk, "max-disk", "0", "`SIZE` at most of the files of log, snapshots, reserve, copies, and "+
		"publications in the data directory; before it is exceeded, writes are refused until snapshots have truncated the log; 0: no limit")
	fs.BoolVar(&c.AcceptLoss, "accept-loss", false, "start even if data on the disk is lost, and log what is lost")

	choiceVar(fs, &c.Hash, "default-hash", "auto", "hash of new filters; auto = like RedisBloom for BF.* and XXH3 otherwise "+
		"if all addresses are loopback, else SipHash with a secret seed", "auto", "redisbloom", "siphash", "xxh3")
	fs.Float64Var(&c.BFErrorRate, "bf-error-rate", 0.01, "false-positive `RATE` of filters made by BF.ADD")
	fs.Uint64Var(&c.BFInitialSize, "bf-initial-size", 100, "`NUMBER` of keys for which BF.ADD makes a filter")
	fs.Uint32Var(&c.BFExpansionFactor, "bf-expansion-factor", 2, "`NUMBER` by which each layer is larger than the one before, in filters made by BF.ADD")
	fs.BoolVar(&c.Cuckoo, "cuckoo-emulation", false, "serve CF.* with counting filters")
	fs.BoolVar(&c.AtomicMADD, "atomic-madd", false, "BF.MADD and BF.INSERT add all keys or none")
	fs.StringVar(&c.SlotMap, "slot-map", "", "`FILE` that assigns slots to nodes, for clients of Redis Cluster; see docs/scale.md")
	fs.StringVar(&c.Advertise, "advertise", "",
		"`ADDRESS` at which Redis clients reach this node, as in the slot map and in a group; the default is that of --resp")
	fs.Var(&c.Publications, "publications", "filters to publish, a `LIST` of filter, key, period, valid, directory, public, publish-seed, folds; see docs/node.md")
	spec.Group(fs, "Writes to the disk", "commit-delay", "snapshot-interval", "snapshot-bytes")
	spec.Group(fs, startAndEnd, "accept-loss", "snapshot-at-shutdown")
	spec.Group(fs, "Several nodes", "log", "max-age", "slot-map", "advertise")
	spec.Group(fs, "Filters that clients make", "default-hash", "bf-error-rate", "bf-initial-size", "bf-expansion-factor", "cuckoo-emulation", "atomic-madd")
}

// Validate returns an error if settings contradict each other or would serve other machines
// without TLS and users. The error contains the remedy.
func (c Config) Validate() error {
	if c.RESP == off && c.HTTP == off && c.Unix == "" {
		return fmt.Errorf("resp and http are both off; enable one of them")
	}
	for name, address := range map[string]string{"resp": c.RESP, "http": c.HTTP, "metrics": c.metricsAddress()} {
		if address == off {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("%s: %w; want host:port or off", name, err)
		}
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fmt.Errorf("tls-cert and tls-key must be set together")
	case c.TLSClientCA != "" && c.TLSCert == "":
		return fmt.Errorf("tls-client-ca needs tls-cert and tls-key")
	case c.TLSRequireClient && c.TLSClientCA == "":
		return fmt.Errorf("tls-require-client-cert needs tls-client-ca")
	case c.MaxClients < 1:
		return fmt.Errorf("max-clients is %d, want at least 1", c.MaxClients)
	case c.MetricsFilters < 0 || c.Rate < 0 || c.HTTPRate < 0 || c.IdleTimeout < 0 || c.DrainDelay < 0 || c.ShutdownTimeout < 0:
		return fmt.Errorf("metrics-filters, rates and times can't be negative")
	}
	check := c.validateData
	if c.Replica {
		check = c.validateReplica
	}
	if err := check(); err != nil {
		return err
	}
	return c.checkReach()
}

// validateData is Validate for the settings of dataFlags.
func (c Config) validateData() error {
	switch {
	case c.Data == "":
		return fmt.Errorf("data is empty, want a directory")
	case !(c.BFErrorRate > 0 && c.BFErrorRate < 1):
		return fmt.Errorf("bf-error-rate is %v, want more than 0 and less than 1", c.BFErrorRate)
	case c.BFInitialSize < 1 || c.BFInitialSize > 1<<30:
		return fmt.Errorf("bf-initial-size is %d, want 1 to %d", c.BFInitialSize, 1<<30)
	case c.BFExpansionFactor > 32768:
		return fmt.Errorf("bf-expansion-factor is %d, want 0 to 32768", c.BFExpansionFactor)
	case c.CommitDelay < 0 || c.SnapshotInterval < 0:
		return fmt.Errorf("commit-delay and snapshot-interval can't be negative")
	case c.MaxDisk > 0 && c.MaxDisk < leastDisk:
		return fmt.Errorf("max-disk is %v, want at least %v, which a node without filters needs, or 0 for no limit", c.MaxDisk, leastDisk.RoundUp())
	case c.CommitDelay > time.Second:
		return fmt.Errorf("commit-delay is %v, want at most 1s because every write waits for it", c.CommitDelay)
	}
	return cmp.Or(c.validatePlace(), c.validateGroup())
}

// checkReach returns an error if other machines can connect without TLS and users, unless that is
// allowed.
func (c Config) checkReach() error {
	open := c.exposed()
	if len(open) == 0 || c.AllowInsecureNetwork || c.TLSCert != "" && c.Users != "" {
		return nil
	}
	var missing []string
	if c.TLSCert == "" {
		missing = append(missing, "TLS (tls-cert and tls-key)")
	}
	if c.Users == "" {
		missing = append(missing, "users (a file made by umbel user)")
	}
	accepts, has := "accepts", "has"
	if len(open) > 1 {
		accepts, has = "accept", "have"
	}
	return fmt.Errorf("%s %s connections from other machines, but %s no %s; set what is missing, listen on 127.0.0.1, or "+
		"set allow-insecure-network if the network is trusted",
		strings.Join(open, " and "), accepts, has, strings.Join(missing, " and no "))
}

// exposed returns the settings whose addresses other machines can reach.
func (c Config) exposed() (names []string) {
	for _, l := range []struct{ name, address string }{{"resp", c.RESP}, {"http", c.HTTP}, {"metrics", c.metricsAddress()}} {
		if l.address != off && !loopback(l.address) {
			names = append(names, fmt.Sprintf("%s (%s)", l.name, l.address))
		}
	}
	return names
}

// hosts returns the Host headers that are allowed at an address for HTTP. Any name is allowed only
// if http-hosts says so, or if it is not set and other machines log in: a page that has pointed its
// own name at the node (DNS rebinding) has no credentials for that name. A port of a container that
// is published on 127.0.0.1 is reached through a browser on that machine like a loopback address.
func (c Config) hosts(address string) httpapi.Hosts {
	names := strings.FieldsFunc(c.HTTPHosts, func(r rune) bool { return r == ',' || r == ' ' })
	return httpapi.Hosts{
		Any:   slices.Contains(names, "*") || len(names) == 0 && c.Users != "" && !loopback(address),
		Names: names,
	}
}

// metricsAddress returns the separate address for metrics, or off.
func (c Config) metricsAddress() string {
	if c.Metrics == "http" {
		return off
	}
	return c.Metrics
}

// loopback reports whether only this machine can reach an address. Names other than localhost
// count as reachable.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Memory is a memory limit: a number of bytes, none, or a part of the available memory.
type Memory struct {
	Auto  bool
	Bytes quantity.Size // 0: no limit
}

// leastDisk is the smallest limit with which anything can be changed.
var leastDisk = quantity.Size(store.LeastLimit(diskReserve))

// leastMemory is the smallest limit that is not taken for a number whose unit is missing.
const leastMemory quantity.Size = 64 << 10

// Set parses "auto", "none" or a size, which is at least leastMemory.
func (m *Memory) Set(s string) error {
	switch s {
	case "auto":
		*m = Memory{Auto: true}
		return nil
	case "none":
		*m = Memory{}
		return nil
	}
	n, err := quantity.ParseSize(s)
	if err != nil {
		return fmt.Errorf("%w, auto or none", err)
	}
	if n < leastMemory {
		return fmt.Errorf("%v is less than a filter needs; want at least %v, such as 1GiB", n, leastMemory)
	}
	*m = Memory{Bytes: n}
	return nil
}

// String returns text that Set parses.
func (m *Memory) String() string {
	switch {
	case m.Auto:
		return "auto"
	case m.Bytes == 0:
		return "none"
	}
	return m.Bytes.String()
}

// Type names the flag's value in help texts.
func (m *Memory) Type() string { return "size" }

// choice is a setting with a few possible values.
type choice struct {
	to    *string
	among []string
}

func (c choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return fmt.Errorf("want %s", strings.Join(c.among, ", "))
	}
	*c.to = s
	return nil
}

func (c choice) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}

func (c choice) Type() string { return strings.Join(c.among, "|") }

func choiceVar(fs *pflag.FlagSet, to *string, name, value, usage string, among ...string) {
	*to = value
	fs.Var(choice{to, among}, name, usage)
}

func sizeVar(fs *pflag.FlagSet, to *quantity.Size, name, value, usage string) {
	if err := to.Set(value); err != nil {
		panic(err)
	}
	fs.Var(to, name, usage)
}

package node

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// Config is all that can be set of a node. DefaultConfig returns one that is ready. Each field
// says which setting it is; what flags call it files call it too, and the environment in capitals
// behind UMBEL_.
type Config struct {
	Data string // data

	RESP               string // resp: host:port, port 0 is any; "off" serves none
	HTTP               string // http: likewise
	TLSCert            string // tls-cert: file in PEM; without one nothing is encrypted
	TLSKey             string // tls-key
	TLSClientCA        string // tls-client-ca
	TLSRequireClient   bool   // tls-require-client-cert
	Users              string // users: file; without one everyone may do all
	Insecure           bool   // insecure
	HTTPHosts          string // http-hosts: names with commas, "*" any
	MaxClients         int    // max-clients: connections of RESP
	IdleTimeout        time.Duration
	MaxBulk            quantity.Size // max-bulk
	MaxOutput          quantity.Size // max-output
	MaxBody            quantity.Size // max-body
	Rate               float64       // rate: commands a second of one connection; 0: no limit
	HTTPRate           float64       // http-rate: requests a second of one client; 0: no limit
	Durability         string        // durability: always, everysec or none
	CommitDelay        time.Duration // commit-delay
	SnapshotInterval   time.Duration // snapshot-interval; 0: never by time
	SnapshotBytes      quantity.Size // snapshot-bytes
	SnapshotAtShutdown bool          // snapshot-at-shutdown
	AcceptLoss         bool          // accept-loss
	MaxMemory          Memory        // max-memory
	Hash               string        // hash: auto, redisbloom, siphash or xxh3
	BFErrorRate        float64       // bf-error-rate
	BFInitialSize      uint64        // bf-initial-size
	BFExpansionFactor  uint32        // bf-expansion-factor
	Cuckoo             bool          // cuckoo-emulation
	AtomicMADD         bool          // atomic-madd
	Metrics            string        // metrics: "http", "off", or host:port of its own
	MetricsFilters     int           // metrics-filters
	Pprof              bool          // pprof
	LogLevel           string        // log-level: debug, info, warn or error
	LogFormat          string        // log-format: auto, text or json
	DrainDelay         time.Duration // drain-delay
	ShutdownTimeout    time.Duration // shutdown-timeout
}

// off is an address that isn't listened on, and metrics that aren't served.
const off = "off"

// DefaultConfig returns what is in force where nothing is set.
func DefaultConfig() Config {
	var c Config
	c.flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	return c
}

// Flags adds a flag for each setting to fs, and one for the file of settings. LoadConfig reads them.
func Flags(fs *pflag.FlagSet) {
	fs.String(fileFlag, "", "YAML `file` of settings, named as these flags are")
	new(Config).flags(fs)
}

// fileFlag is the flag that names the file of settings.
const fileFlag = "config"

// flags binds c's fields to flags, and sets them to their defaults. It is the one list of
// settings there is.
func (c *Config) flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Data, "data", "umbel-data", "`directory` where filters are kept")

	fs.StringVar(&c.RESP, "resp", "127.0.0.1:6380", "`address` for Redis clients; off: none")
	fs.StringVar(&c.HTTP, "http", "127.0.0.1:8780", "`address` for HTTP; off: none")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "`file` with the certificate, and those up to its authority, in PEM: both addresses speak TLS then")
	fs.StringVar(&c.TLSKey, "tls-key", "", "`file` with the certificate's key, in PEM")
	fs.StringVar(&c.TLSClientCA, "tls-client-ca", "", "`file` with the authorities that sign clients' certificates, in PEM")
	fs.BoolVar(&c.TLSRequireClient, "tls-require-client-cert", false, "clients must show a certificate")
	fs.StringVar(&c.Users, "users", "", "`file` of users (umbel user); without one everyone may do all")
	fs.BoolVar(&c.Insecure, "allow-insecure-network", false, "accept connections from other machines without TLS and users")

	fs.StringVar(&c.HTTPHosts, "http-hosts", "", "`names` besides localhost that HTTP may be asked by where it listens on this machine alone, with commas; *: any")
	fs.IntVar(&c.MaxClients, "max-clients", 10000, "connections of Redis clients at once, and as many of HTTP")
	fs.DurationVar(&c.IdleTimeout, "idle-timeout", 0, "Redis clients that say nothing for so long are cut; 0: never")
	sizeVar(fs, &c.MaxBulk, "max-bulk", "512MiB", "longest argument of a command")
	sizeVar(fs, &c.MaxOutput, "max-output", "64MiB", "replies that wait for a client that doesn't read")
	sizeVar(fs, &c.MaxBody, "max-body", "64MiB", "longest body of an HTTP request that isn't a stream")
	fs.Float64Var(&c.Rate, "rate", 0, "commands a second of one Redis connection; 0: no limit")
	fs.Float64Var(&c.HTTPRate, "http-rate", 0, "HTTP requests a second of one client; 0: no limit")

	choiceVar(fs, &c.Durability, "durability", "always", "when a change is acknowledged: when it is on the disk, up to a second before, or never mind", "always", "everysec", "none")
	fs.DurationVar(&c.CommitDelay, "commit-delay", 0, "how long changes wait for others to be written with")
	fs.DurationVar(&c.SnapshotInterval, "snapshot-interval", 15*time.Minute, "how often what changed is copied to the disk; 0: when asked, or the log is long")
	sizeVar(fs, &c.SnapshotBytes, "snapshot-bytes", "256MiB", "length of the log from which on a copy is made")
	fs.BoolVar(&c.SnapshotAtShutdown, "snapshot-at-shutdown", false, "copy what changed when the node ends: the next start is faster")
	fs.BoolVar(&c.AcceptLoss, "accept-loss", false, "start although a part of the log is lost, and say what")

	c.MaxMemory = Memory{Auto: true}
	fs.Var(&c.MaxMemory, "max-memory", "memory that filters may take; auto: three quarters of what there is; none: all there is")
	choiceVar(fs, &c.Hash, "hash", "auto", "how new filters hash keys; auto: as RedisBloom does, and with XXH3, on this machine alone, and with a secret seed beyond", "auto", "redisbloom", "siphash", "xxh3")
	fs.Float64Var(&c.BFErrorRate, "bf-error-rate", 0.01, "false-positive rate of filters that BF.ADD makes")
	fs.Uint64Var(&c.BFInitialSize, "bf-initial-size", 100, "keys that filters that BF.ADD makes have room for at first")
	fs.Uint32Var(&c.BFExpansionFactor, "bf-expansion-factor", 2, "how many times larger their next layer is")
	fs.BoolVar(&c.Cuckoo, "cuckoo-emulation", false, "serve CF.*, from counting filters")
	fs.BoolVar(&c.AtomicMADD, "atomic-madd", false, "BF.MADD and BF.INSERT add all keys or none, where a filter is full")

	fs.StringVar(&c.Metrics, "metrics", "http", "where Prometheus finds metrics: http (at /metrics), off, or an `address` of their own")
	fs.IntVar(&c.MetricsFilters, "metrics-filters", 100, "how many filters, the largest ones, have metrics of their own")
	fs.BoolVar(&c.Pprof, "pprof", false, "serve profiles of the process to administrators at /debug/pprof")
	choiceVar(fs, &c.LogLevel, "log-level", "info", "what is logged", "debug", "info", "warn", "error")
	choiceVar(fs, &c.LogFormat, "log-format", "auto", "form of the log; auto: text on a terminal, JSON otherwise", "auto", "text", "json")
	fs.DurationVar(&c.DrainDelay, "drain-delay", 0, "how long /readyz says no before the node ends, so that balancers see it")
	fs.DurationVar(&c.ShutdownTimeout, "shutdown-timeout", 30*time.Second, "how long clients have to end, and changes to be written")
}

// Validate returns an error if settings contradict each other, or would serve filters to
// whoever asks from elsewhere. It says what to do.
func (c Config) Validate() error {
	if c.RESP == off && c.HTTP == off {
		return fmt.Errorf("resp and http are both off: there is nothing to serve")
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
	case c.Data == "":
		return fmt.Errorf("data: the directory has no name")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fmt.Errorf("tls-cert and tls-key go together")
	case c.TLSClientCA != "" && c.TLSCert == "":
		return fmt.Errorf("tls-client-ca needs tls-cert and tls-key")
	case c.TLSRequireClient && c.TLSClientCA == "":
		return fmt.Errorf("tls-require-client-cert needs tls-client-ca, the authorities that sign them")
	case !(c.BFErrorRate > 0 && c.BFErrorRate < 1):
		return fmt.Errorf("bf-error-rate is %v, want more than 0 and less than 1", c.BFErrorRate)
	case c.BFInitialSize < 1 || c.BFInitialSize > 1<<30:
		return fmt.Errorf("bf-initial-size is %d, want 1 to %d", c.BFInitialSize, 1<<30)
	case c.BFExpansionFactor > 32768:
		return fmt.Errorf("bf-expansion-factor is %d, want 0 to 32768", c.BFExpansionFactor)
	case c.MaxClients < 1:
		return fmt.Errorf("max-clients is %d, want at least 1", c.MaxClients)
	case c.MetricsFilters < 0 || c.Rate < 0 || c.HTTPRate < 0 || c.IdleTimeout < 0 || c.CommitDelay < 0 ||
		c.SnapshotInterval < 0 || c.DrainDelay < 0 || c.ShutdownTimeout < 0:
		return fmt.Errorf("metrics-filters, rates and times can't be negative")
	case c.CommitDelay > time.Second:
		return fmt.Errorf("commit-delay is %v, want at most 1s: every client waits for it", c.CommitDelay)
	}
	return c.checkReach()
}

// checkReach returns an error if others than this machine can reach the node who shouldn't.
func (c Config) checkReach() error {
	open := c.beyond()
	if len(open) == 0 || c.Insecure || c.TLSCert != "" && c.Users != "" {
		return nil
	}
	var missing []string
	if c.TLSCert == "" {
		missing = append(missing, "TLS (tls-cert and tls-key)")
	}
	if c.Users == "" {
		missing = append(missing, "users (a file made by umbel user)")
	}
	return fmt.Errorf("%s accepts connections from other machines, but has no %s; set what is missing, listen on 127.0.0.1, or set allow-insecure-network if the network is trusted",
		strings.Join(open, " and "), strings.Join(missing, " and no "))
}

// beyond returns the settings of addresses that others than this machine can reach.
func (c Config) beyond() (names []string) {
	for _, l := range []struct{ name, address string }{{"resp", c.RESP}, {"http", c.HTTP}, {"metrics", c.metricsAddress()}} {
		if l.address != off && !loopback(l.address) {
			names = append(names, fmt.Sprintf("%s (%s)", l.name, l.address))
		}
	}
	return names
}

// hosts returns the names that HTTP may be asked by, nil for any. Where only this machine is
// served a page from elsewhere must not ask through the browser of somebody here, under a name that
// leads here.
func (c Config) hosts() []string {
	if c.HTTPHosts == "*" || c.HTTP != off && !loopback(c.HTTP) {
		return nil
	}
	return strings.FieldsFunc(c.HTTPHosts+",", func(r rune) bool { return r == ',' || r == ' ' })
}

// metricsAddress returns the address that is for metrics alone, off if there is none.
func (c Config) metricsAddress() string {
	if c.Metrics == "http" {
		return off
	}
	return c.Metrics
}

// loopback reports whether an address is this machine's alone. A name that isn't localhost
// isn't, wherever it leads now.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Memory is a bound of memory: a number of bytes, none, or what the machine has.
type Memory struct {
	Auto  bool
	Bytes quantity.Size // 0: no limit
}

// Set reads "auto", "none" or a size.
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
		return fmt.Errorf("%w, or auto, or none", err)
	}
	*m = Memory{Bytes: n}
	return nil
}

// String is what Set reads.
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

// choice is a setting that is one of a few words.
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

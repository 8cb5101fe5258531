package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Float is a number that may be infinite, which JSON writes as null.
type Float float64

// MarshalJSON writes infinities and NaN as null, and -0 as 0.
func (f Float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f) + 0)
}

// UnmarshalJSON reads null as +Inf.
func (f *Float) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Float(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// Rate is a false-positive rate that is requested. 0 is none, as null is. A rate that was stated and is 0 as a float64 is -0,
// so that it does not count as none.
type Rate float64

// UnmarshalJSON reads a number of any size.
func (r *Rate) UnmarshalJSON(b []byte) error {
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, (*float64)(r)); err != nil {
		return err
	}
	if *r == 0 {
		*r = Rate(math.Copysign(0, -1))
	}
	return nil
}

// Check returns an error wrapping umbel.ErrGoal if r was stated and no filter can have it as its rate.
func (r Rate) Check() error {
	f := float64(r)
	if f == 0 && !math.Signbit(f) {
		return nil
	}
	if _, err := quantity.ParseRate(strconv.FormatFloat(f+0, 'g', -1, 64)); err != nil {
		return sentinel.Wrap(umbel.ErrGoal, err)
	}
	return nil
}

// Whole is a whole number that JSON may write as 1000, 1e3 or 1000.0; null is 0.
type Whole uint64

// UnmarshalJSON returns an error wrapping umbel.ErrGoal if b is no whole number from 0 to 2^64-1.
func (w *Whole) UnmarshalJSON(b []byte) error {
	n, err := ParseWhole(string(bytes.TrimSpace(b)))
	*w = Whole(n)
	return err
}

// ParseWhole parses a Whole.
func ParseWhole(s string) (uint64, error) {
	if s == "null" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f >= 1<<63 || f != math.Trunc(f) {
		return 0, sentinel.Errorf(umbel.ErrGoal, "%q is not a whole number from 0 to 2^64-1", Clip(s))
	}
	return uint64(f), nil
}

// Clip shortens untrusted text for an error message.
func Clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// FilterName names a second filter in a request. Only one of the fields may be set.
type FilterName struct {
	Name       string `json:"name,omitempty"`
	NameBase64 string `json:"nameBase64,omitempty"` // for a name that is not UTF-8
}

// NewFilterName returns the JSON form of a name.
func NewFilterName(name string) FilterName {
	plain, encoded := EncodeName(name)
	if plain != nil {
		return FilterName{Name: *plain}
	}
	return FilterName{NameBase64: encoded}
}

// Decode returns the name, "" if none is set.
func (n FilterName) Decode() (string, error) {
	if n.NameBase64 == "" {
		return n.Name, nil
	}
	b, err := base64.StdEncoding.DecodeString(n.NameBase64)
	if err != nil || n.Name != "" {
		return "", errors.New("set either name, or nameBase64 in base64")
	}
	return string(b), nil
}

// Why a filter is incomplete: every query of it returns true.
const (
	FilterLoading = "loading" // parts of it have not been written yet
	FilterLost    = "lost"    // data of it was lost
)

// Brief describes a filter in a list.
type Brief struct {
	Name       *string    `json:"name,omitempty"`
	NameBase64 string     `json:"nameBase64,omitempty"` // for a name that is not UTF-8
	Path       string     `json:"path"`
	Kind       string     `json:"kind"`
	Bytes      uint64     `json:"bytes"`
	Expires    *time.Time `json:"expires,omitempty"`
	Incomplete string     `json:"incomplete,omitempty"` // loading or lost; every query returns true
	Planned    *Planned   `json:"planned,omitempty"`    // absent if unknown
	Window     *Window    `json:"window,omitempty"`     // of a filter whose keys expire by time
}

// Window is when the keys of a filter expire, in ticks of its time: after between Generations and Generations + 1
// times Ticks.
type Window struct {
	Now         uint64 `json:"now"`
	Ticks       uint64 `json:"ticks"` // of a generation
	Generations uint64 `json:"generations"`
	// TickNanos is the length of a tick in nanoseconds, if Now follows the system's clock; 0 if a program chose the
	// unit and the origin of the time.
	TickNanos int64 `json:"tickNanos,omitempty"`
	// BehindSeconds is the time since Now, if keys that have expired by the clock are still present: the server
	// accepts no changes, or is a replica. Otherwise it is 0.
	BehindSeconds float64 `json:"behindSeconds,omitempty"`
	// AheadSeconds is the time from the clock to Now, if it is more than a generation: keys stay until the clock has
	// reached Now. Otherwise it is 0.
	AheadSeconds float64 `json:"aheadSeconds,omitempty"`
}

// Planned is what a filter was made for, compared with its last measurement.
type Planned struct {
	Keys     uint64 `json:"keys"`
	FPRate   Float  `json:"fpRate"`   // with these keys
	Overfull bool   `json:"overfull"` // the rate is more than umbel.OverfullFactor times FPRate
}

// NewPlanned returns the JSON form of p, nil if p is unknown.
func NewPlanned(p umbel.Planned, overfull bool) *Planned {
	if p == (umbel.Planned{}) {
		return nil
	}
	return &Planned{p.Keys, Float(p.FPRate), overfull}
}

// Info describes one filter.
type Info struct {
	Brief
	Hash       string           `json:"hash"`
	Seed       string           `json:"seed,omitempty"` // hexadecimal; absent if it is secret
	SecretSeed bool             `json:"secretSeed,omitempty"`
	Params     map[string]Float `json:"params"`
	Can        []string         `json:"can"`
	Parts      int              `json:"parts"`
	Cells      uint64           `json:"cells"`
	K          Float            `json:"k"`
	Keys       Estimate         `json:"keys"`
	Fill       Float            `json:"fill"`
	FPRate     Float            `json:"fpRate"`
	IdleMillis int64            `json:"idleMillis"`
	Counts     Counts           `json:"counts"`
}

// Estimate is a number of keys with an interval that contains it with a probability of at least 0.95.
type Estimate struct {
	Estimate Float `json:"estimate"`
	Low      Float `json:"low"`
	High     Float `json:"high"`
}

// NewEstimate returns the JSON form of the number of keys that s has.
func NewEstimate(s umbel.Stats) Estimate {
	return Estimate{Float(s.Keys), Float(s.Low), Float(s.High)}
}

// Counts are the numbers of keys that a filter was given since the process began.
type Counts struct {
	Added   uint64 `json:"added"`
	Changed uint64 `json:"changed"` // added keys that changed the filter
	Queried uint64 `json:"queried"`
	Found   uint64 `json:"found"` // queried keys that were present
	Removed uint64 `json:"removed"`
}

// Index has paths of the server, for a person who looks at it first.
type Index struct {
	Filters string `json:"filters"`
	Kinds   string `json:"kinds"`
	Status  string `json:"status"`
	Metrics string `json:"metrics"`
	OpenAPI string `json:"openapi"`
}

// Page is a part of the list of all filters.
type Page struct {
	Filters []Brief `json:"filters"`
	Cursor  string  `json:"cursor,omitempty"` // for the next page; absent on the last one
}

// Overlap estimates how many keys two filters contain, each and together.
type Overlap struct {
	A     Estimate `json:"a"`
	B     Estimate `json:"b"`
	Union Estimate `json:"union"`
	Both  Estimate `json:"both"`
	OnlyA Estimate `json:"onlyA"` // the keys of one filter that the other does not have
	OnlyB Estimate `json:"onlyB"`
	Cells uint64   `json:"cells"` // size at which the filters were compared
}

// FilterSpec describes a filter to be made or planned.
type FilterSpec struct {
	Kind    string                 `json:"kind,omitempty"`
	Keys    Whole                  `json:"keys,omitempty"`
	FPRate  Rate                   `json:"fpRate,omitempty"`
	Bytes   Whole                  `json:"bytes,omitempty"`
	Hash    string                 `json:"hash,omitempty"` // "": the server's default
	Seed    *string                `json:"seed,omitempty"` // hexadecimal
	Params  map[string]json.Number `json:"params,omitempty"`
	Expires *time.Time             `json:"expires,omitempty"`
	// TickNanos is the length of a tick in nanoseconds of a window that is to follow the clock of the server, at
	// most 2^63-1; 0: it does not.
	TickNanos uint64 `json:"tickNanos,omitempty"`
}

// Forecast describes what a filter of a kind would be. Problem says why it is impossible.
type Forecast struct {
	Kind    string   `json:"kind"`
	Keys    uint64   `json:"keys"`
	FPRate  Float    `json:"fpRate"`
	Cells   uint64   `json:"cells"`
	Bytes   uint64   `json:"bytes"`
	K       Float    `json:"k"`
	Fits    bool     `json:"fits"` // within the server's memory limit, now
	Problem *Problem `json:"problem,omitempty"`
}

// Problem is an error response as in RFC 9457.
type Problem struct {
	Type   string `json:"type"` // ProblemPath and a word that never changes
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Done   uint64 `json:"done,omitempty"` // keys of the request that were processed before the error
}

// Words of problems on which a client acts.
const (
	WordNotFound     = "not-found"
	WordExists       = "exists"
	WordReadOnly     = "read-only"
	WordPrecondition = "precondition"
	WordAbsent       = "absent"    // the node does not have the function
	WordElsewhere    = "elsewhere" // the slot map gives the filter to another node
)

// Word returns what follows ProblemPath in the type.
func (p Problem) Word() string { return strings.TrimPrefix(p.Type, ProblemPath) }

// Totals summarizes the answers to the keys of one request.
type Totals struct {
	Keys uint64 `json:"keys"`
	Yes  uint64 `json:"yes"`           // keys whose answer was true, or a number above 0
	Sum  uint64 `json:"sum,omitempty"` // of the numbers
	// Overfull states, after an addition, that the filter has too many keys: see Planned.
	Overfull bool `json:"overfull,omitempty"`
}

// Missing describes losses of data after which names of filters may be missing.
type Missing struct {
	Since   time.Time `json:"since"`   // of the first loss
	Batches uint64    `json:"batches"` // of the log that were lost, at least
}

// Acknowledged is the response to an acknowledgement.
type Acknowledged struct {
	Acknowledged bool `json:"acknowledged"` // names may have been missing before
}

// Growth describes changes that one limit refuses because filters may not become larger.
type Growth struct {
	Reason  string    `json:"reason"` // memory (max-memory) or disk (max-disk)
	Since   time.Time `json:"since"`
	Filter  string    `json:"filter"`           // of a refused change
	Error   string    `json:"error"`            // of this change
	Needed  uint64    `json:"needed,omitempty"` // least limit in bytes with which this change is accepted; 0: unknown
	Refused uint64    `json:"refused"`          // changes since Since
}

// Status describes the node.
type Status struct {
	Version        string     `json:"version"`
	Uptime         float64    `json:"uptimeSeconds"`
	Problem        string     `json:"problem,omitempty"` // why changes are refused
	Filters        int        `json:"filters"`
	Incomplete     int        `json:"incomplete"` // filters of which data was lost
	Faulty         int        `json:"faulty"`     // filters that could not be read, because of a fault of the program
	Missing        *Missing   `json:"missingNames,omitempty"`
	Bytes          uint64     `json:"bytes"`       // memory of the filters
	MaxBytes       uint64     `json:"maxBytes"`    // limit of that memory; 0: none
	Clients        int        `json:"clients"`     // Redis connections
	ClientBytes    uint64     `json:"clientBytes"` // memory of requests
	Durability     string     `json:"durability"`
	DiskBytes      uint64     `json:"diskBytes"`               // log, snapshots, reserve, and publications in the data directory
	MaxDisk        uint64     `json:"maxDisk"`                 // limit of these and of copies; 0: none
	LeftBytes      *uint64    `json:"leftBytes,omitempty"`     // that the limit and the file system leave; nil: unknown
	SnapshotNeed   uint64     `json:"snapshotNeed"`            // bytes that the next snapshot may write
	MissingBytes   uint64     `json:"missingBytes,omitempty"`  // that must be freed before changes are accepted
	NeededMaxDisk  uint64     `json:"neededMaxDisk,omitempty"` // limit with which refused changes are accepted
	PendingBytes   uint64     `json:"pendingBytes"`            // changes waiting to be written
	LagSeconds     float64    `json:"lagSeconds"`              // age of the oldest of them
	Snapshotting   bool       `json:"snapshotting"`
	LastSnapshot   *time.Time `json:"lastSnapshot,omitempty"`
	SnapshotFailed string     `json:"snapshotFailed,omitempty"` // error of the last snapshot

	Growth        []Growth       `json:"growthRefused,omitempty"` // by the limits that refuse changes now; other changes are accepted
	Publications  []Publication  `json:"publications,omitempty"`
	Subscriptions []Subscription `json:"subscriptions,omitempty"` // of a replica
	Group         *Group         `json:"group,omitempty"`         // of a member of a group
}

// Headers of the members of a group.
const (
	// HeaderPosition is, in a response, the position of a change: those before it are in the answer, or are made by the request. In a request it makes
	// a member wait until it has the changes up to a position.
	HeaderPosition = "Umbel-Position"
	// HeaderAge is the time in seconds for which the member may lack changes, at most.
	HeaderAge = "Umbel-Age"
)

// The roles of the members of a group.
const (
	RoleLeader   = "leader"
	RoleFollower = "follower"
	RoleStranded = "stranded" // the member can neither follow nor lead
)

// Group is the state of a member of a group.
type Group struct {
	Role           string     `json:"role"`
	Leader         string     `json:"leader,omitempty"`     // address for Redis clients
	LeaderHTTP     string     `json:"leaderHTTP,omitempty"` // URL
	Epoch          uint64     `json:"epoch"`                // number of times that a member began to lead
	Entry          uint64     `json:"entry"`                // number of the last entry of the log that the member has
	Batch          uint64     `json:"batch"`                // number of batches up to this entry
	Position       uint64     `json:"position"`             // of the last change
	AgeSeconds     float64    `json:"ageSeconds"`           // for which the member may lack changes, at most; -1: it has not seen the end of the log
	SilenceSeconds float64    `json:"silenceSeconds"`       // after which another member leads
	Problem        string     `json:"problem,omitempty"`
	LastSnapshot   *time.Time `json:"lastSnapshot,omitempty"` // of the group, that this process has taken
	SnapshotFailed string     `json:"snapshotFailed,omitempty"`
}

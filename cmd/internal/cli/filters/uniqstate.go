package filters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/wire"
)

// Numbers of different lines for which a state is made, if --keys isn't given.
const (
	uniqKeys       = 100_000 // in the first layer
	uniqWindowKeys = 1_000_000
)

// uniqState is the lines that umbel uniq has seen: in memory only, in a file, or on a node.
type uniqState struct {
	*cli.Streams
	Tolerance
	on    cli.Node
	given cli.Given

	name    string // "": in memory only
	lasting time.Duration
	rate    quantity.Rate
	keys    quantity.Count
	most    quantity.Size

	file   *uniq.File // nil: none
	full   bool       // it has more lines of earlier runs than it was made for
	filter umbel.Filter
	seen   *uniq.Filter

	node *remote.Client
	// Of the node's filter: its rate at the beginning, and what it is planned for, 0 if unknown.
	nodeRate, nodePlanned float64
}

func (s *uniqState) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.name, "state", "", "`FILE` with the lines seen, which is made if it does not exist")
	quantity.DurationVar(flags, &s.lasting, "forget", 0, "forget lines that were not seen for this `DURATION`, such as 1h")
	s.rate = 1e-6
	flags.VarP(&s.rate, "fpr", "p", "false-positive `RATE`: the share of new lines that are taken for known ones (default 1e-6)")
	flags.Lookup("fpr").DefValue = ""
	flags.VarP(&s.keys, "keys", "n", "`NUMBER` of distinct keys, which are lines, at first; with --forget in this time")
	flags.Lookup("keys").DefValue = ""
	flags.Var(&s.most, "max-memory", "`SIZE` of memory at most, of the filter (default no limit)")
	flags.Lookup("max-memory").DefValue = ""
	cli.OutputFlag{Name: "state"}.Guard(cmd)
}

// check returns an error for flags that contradict each other.
func (s *uniqState) check() error {
	given := s.given
	switch {
	case given["forget"] && s.lasting < time.Second:
		return fmt.Errorf("--forget %v is too short, want at least 1s: the clock counts seconds", s.lasting)
	case given["keys"] && s.keys == 0:
		return errors.New("--keys 0: want the number of different lines, at least 1")
	case s.name == "-":
		return errors.New("--state is a file, not standard input")
	case given["save"] && s.name == "":
		return errors.New("--save needs --state")
	case given[cli.AddrFlag] && s.name == "":
		return errors.New("--addr needs --state, the name of a filter on the node")
	case s.name == "" || s.on.Addr == "":
		return nil
	}
	for _, name := range []string{"forget", "fpr", "keys", "max-memory", "save"} {
		switch {
		case given[name] && name == "forget":
			return errors.New("--forget is for a state in a file: lines expire only there")
		case given[name]:
			return fmt.Errorf("--%s is for a state in a file; make the filter on the node first: umbel make --kind scalable --fpr 1e-6 "+
				"--keys NUMBER --allow-empty -o %s --addr NODE /dev/null", name, s.name)
		}
	}
	return nil
}

// open returns the lines seen so far.
func (s *uniqState) open(ctx context.Context) (uniq.Seen, error) {
	if s.name != "" && s.on.Addr != "" {
		return s.openOnNode(ctx)
	}
	stop := s.Note("waiting until no other program changes " + s.name)
	err := s.load()
	stop()
	if err != nil {
		return nil, err
	}
	if limited, ok := s.filter.(interface{ SetMaxBytes(uint64) }); ok && s.most > 0 {
		limited.SetMaxBytes(uint64(s.most))
	}
	if bytes := s.filter.State().Bytes(); s.most > 0 && bytes > uint64(s.most) {
		return nil, fmt.Errorf("the filter takes %v, more than --max-memory; give fewer --keys or a higher --fpr for a new state", quantity.Size(bytes))
	}
	var now func() uint64
	if follows, err := s.followsClock(); err != nil {
		return nil, err
	} else if follows {
		now = func() uint64 { return clock(s.Now).ticks(time.Duration(s.filter.State().Tick)) }
	}
	s.seen = uniq.NewFilter(s.filter, now)
	if !s.existed() {
		return s.seen, nil
	}
	s.seen.Advance()
	return s.seen, s.judge()
}

// load sets the filter: that in the file, or a new one, which the file then has.
func (s *uniqState) load() (err error) {
	if s.name == "" {
		s.filter, err = s.newFilter()
		return err
	}
	if s.file, s.filter, err = uniq.OpenFile(s.name, s.openFilter, s.newFilter); err != nil {
		return err
	}
	if s.existed() {
		return s.checkShape()
	}
	return nil
}

// existed reports whether the file has lines of earlier runs.
func (s *uniqState) existed() bool { return s.file != nil && s.file.Existed() }

// openFilter opens the filter of the file. Windows that follow the clock grow with their lines.
func (s *uniqState) openFilter(state umbel.State) (umbel.Filter, error) {
	first := state
	if state.Kind == union.Name && len(state.Parts) > 0 {
		first = state.Parts[0]
	}
	span, ok := windowSpan(first)
	isUnion := state.Kind == union.Name // another verb may have written it, without the tick
	if ok && (state.Tick != 0 || isUnion && span.unix() || s.lasting > 0 && (span.now == 0 || span.unix())) {
		if w, ok, err := uniq.OpenWindows(state, uint64(tick)); ok || err != nil {
			return w, err
		}
	}
	f, err := filter.All.Open(state)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return f, nil
}

// newFilter makes the filter that the flags describe.
func (s *uniqState) newFilter() (umbel.Filter, error) {
	goal := umbel.Goal{Keys: uint64(cmp.Or(s.keys, uniqKeys)), FPRate: float64(s.rate)}
	if s.lasting > 0 {
		goal.Keys = uint64(cmp.Or(s.keys, uniqWindowKeys))
		return uniq.NewWindows(goal, s.seconds(), uint64(tick), clock(s.Now).ticks(tick))
	}
	forecast, err := scalable.Kind.Plan(goal, nil)
	if err != nil {
		return nil, err
	}
	if err := container.Fits(fmt.Sprintf("a filter of %v lines", quantity.Count(goal.Keys)), forecast.Bytes); err != nil {
		return nil, err
	}
	return scalable.Kind.New(goal, nil)
}

// stated returns the rate at which new lines may be taken for known ones: that of --fpr, or of an existing filter.
func (s *uniqState) stated() float64 {
	switch {
	case s.given["fpr"]:
		return float64(s.rate)
	case s.node != nil:
		return cmp.Or(s.nodePlanned, float64(s.rate))
	}
	return cmp.Or(s.filter.State().Planned.FPRate, float64(s.rate))
}

// checkShape returns an error if a flag contradicts the filter of the file.
func (s *uniqState) checkShape() error {
	given, planned := s.given, s.filter.State().Planned
	if w, ok := s.filter.(*uniq.Windows); ok {
		planned = w.First()
	}
	for _, f := range []struct{ flag, made, now string }{
		{"fpr", quantity.Rate(planned.FPRate).Percent(), s.rate.Percent()},
		{"keys", quantity.Count(planned.Keys).String(), s.keys.String()},
	} {
		switch {
		case !given[f.flag] || f.made == f.now:
		case planned == umbel.Planned{}:
			return fmt.Errorf("%s was made without --%s; leave the flag out, or use another --state", s.name, f.flag)
		default:
			return fmt.Errorf("%s was made with --%s %s, and not %s; leave the flag out, or use another --state", s.name, f.flag, f.made, f.now)
		}
	}
	w, ok := windowSpan(s.filter.State())
	switch {
	case !given["forget"]:
	case !ok:
		return fmt.Errorf("%s was made without --forget; leave the flag out, or use another --state", s.name)
	case (s.seconds()-1)/w.steps+1 != w.step: // the length of a step is rounded up
		return fmt.Errorf("lines of %s expire %s, and not after %s as --forget requests; leave the flag out, or use another --state",
			s.name, w.After(), duration(s.seconds(), tick))
	}
	return nil
}

// seconds returns --forget, rounded up.
func (s *uniqState) seconds() uint64 { return uint64((s.lasting + tick - 1) / tick) }

// followsClock reports whether the filter follows the system's clock. With --forget it makes a window do so whose
// time can be in seconds since 1970; that of another one may be in another unit, and only umbel edit advance sets it.
func (s *uniqState) followsClock() (bool, error) {
	span, ok := windowSpan(s.filter.State())
	switch {
	case !ok || span.tick == 0 && s.lasting == 0:
		return false, nil
	case span.tick != 0:
		return true, nil
	case span.now != 0 && !span.unix():
		return false, fmt.Errorf("the time of %s is %d, and not that of the system's clock; use another --state", s.name, span.now)
	}
	clock(s.Now).followClock(s.filter)
	return true, nil
}

// save writes the file, if there is one and something new.
func (s *uniqState) save() error {
	if s.file == nil {
		return nil
	}
	return s.file.Save(s.seen)
}

// sizeWords says how much room the state needs, after an error for a full disk.
func (s *uniqState) sizeWords(err error) string {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return ""
	}
	return fmt.Sprintf("; the state needs %v bytes, and the old one stays until they are written", quantity.Count(wire.Size(s.filter.State())))
}

func (s *uniqState) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// exceeded returns an error if a line of this run was beyond what the filter is planned for.
func (s *uniqState) exceeded() error {
	if s.seen == nil {
		return nil
	}
	return s.seen.Full()
}

// summary describes the filter.
func (s *uniqState) summary(ctx context.Context) (Summary, error) {
	if s.node == nil {
		return Summarize(s.name, s.filter), nil
	}
	in, err := s.node.Info(ctx, s.name)
	return SummaryOf(s.name, in), err
}

// openOnNode returns the lines in the node's filter.
func (s *uniqState) openOnNode(ctx context.Context) (uniq.Seen, error) {
	var err error
	if s.node, err = s.on.Dial(s.Streams); err != nil {
		return nil, err
	}
	f, in, err := s.node.Filter(ctx, s.name)
	if err != nil {
		return nil, err
	}
	for _, can := range []string{"advance", "count", "remove"} {
		if slices.Contains(in.Can, can) {
			return nil, fmt.Errorf("%s is of kind %s, whose reply to an addition does not show whether the key was new; use a filter "+
				"of kind scalable or bloom", s.name, in.Kind)
		}
	}
	rate := float64(in.FPRate)
	s.nodeRate = rate
	if in.Planned != nil {
		rate = float64(in.Planned.FPRate)
		s.nodePlanned = rate
	}
	return nodeSeen{f}, s.judgeRate(rate)
}

// nodeSeen is the lines in a filter on a node, which answers whether an addition changed it.
type nodeSeen struct{ f *remote.Filter }

func (n nodeSeen) Look(ctx context.Context, known []bool, list [][]byte) error {
	changed, err := n.f.Keys(ctx, remote.Add, list)
	for i, c := range changed {
		known[i] = c == 0
	}
	return err
}

// Remember does nothing: Look has added the lines.
func (nodeSeen) Remember(int) {}

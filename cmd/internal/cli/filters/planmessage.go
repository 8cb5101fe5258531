package filters

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter/message"
)

// messageFlags are the flags of umbel plan for a filter that is sent.
type messageFlags struct {
	sent      quantity.Size
	churn     quantity.Rate
	peers     quantity.Count
	perHour   float64
	tail      quantity.Rate
	queryOnly bool
	power     bool
	curve     string
}

// messageFlagNames are the flags that plan a message.
var messageFlagNames = []string{"sent", "churn", "peers", "per-hour", "tail", "query-only", "power-of-two", "curve"}

func (f *messageFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.sent, "sent", "largest `SIZE` of a message, 1400B or 11200b")
	flags.Var(&f.churn, "churn", "`SHARE` of the keys replaced between two messages; updates are deltas")
	flags.Var(&f.peers, "peers", "`NUMBER` of receivers")
	flags.Float64Var(&f.perHour, "per-hour", 1, "`NUMBER` of messages per receiver and hour")
	f.tail = message.DefaultTail
	flags.Var(&f.tail, "tail", "`PROBABILITY` that a message is larger than --sent")
	flags.BoolVar(&f.queryOnly, "query-only", false, "receivers only query: they apply no deltas, and don't merge or fold")
	flags.BoolVar(&f.power, "power-of-two", false, "only numbers of cells that are powers of two")
	flags.StringVar(&f.curve, "curve", "", "draw the rates that --sent allows to `FILE`, as SVG; - prints them")
	cli.OutputFlag{Name: "curve", Heads: []string{cli.SVGHead}}.Guard(cmd)
	for name, value := range map[string]string{"sent": "", "churn": "", "peers": "", "tail": "1e-6"} {
		flags.Lookup(name).DefValue = value
	}
	for _, name := range messageFlagNames {
		cli.Exclusive(cmd, name, "explain")
	}
	for _, name := range []string{"fpr", "bytes", "churn", "peers", "per-hour", "tail", "query-only", "power-of-two", "kind"} {
		cli.Exclusive(cmd, "curve", name)
	}
}

// check returns an error if a number that must be positive is 0: in a message.Goal 0 means
// not given.
func (f *messageFlags) check(given cli.Given) error {
	switch {
	case given["sent"] && f.sent == 0:
		return errors.New("--sent is less than 1 byte, want the largest size of a message")
	case given["peers"] && f.peers == 0:
		return errors.New("--peers is 0, want 1 or more")
	case given["per-hour"] && f.perHour == 0:
		return errors.New("--per-hour is 0, want more; 0.5 is one message in two hours")
	}
	return nil
}

// given reports whether one of the flags is given.
func (f *messageFlags) given(given cli.Given) bool {
	for _, name := range messageFlagNames {
		if given[name] {
			return true
		}
	}
	return false
}

// message returns the message to plan. With keys alone the rate is 1%.
func (f *messageFlags) message(g *spec.Flags, kind string) message.Goal {
	q := message.Goal{
		Kind: kind, PowerOfTwo: f.power, Keys: uint64(g.Keys), Bits: 8 * float64(f.sent), FPRate: float64(g.Rate), Memory: uint64(g.Bytes),
		Churn: float64(f.churn), Peers: int(min(f.peers, math.MaxInt)), PerHour: f.perHour, QueryOnly: f.queryOnly, Tail: float64(f.tail),
	}
	if q.Bits == 0 && q.FPRate == 0 {
		q.FPRate = spec.DefaultRate
	}
	return q
}

// messagePlan is one way to send a filter, in JSON. Sizes are bytes.
type messagePlan struct {
	Kind              string    `json:"kind"`
	Coded             bool      `json:"coded"`
	List              bool      `json:"list,omitempty"` // of positions, not the cells
	Keys              uint64    `json:"keys"`
	Cells             uint64    `json:"cells,omitempty"`
	K                 int       `json:"k,omitempty"`
	FPRate            cli.Float `json:"fpRate"`
	Snapshot          cli.Float `json:"snapshot"`
	SnapshotDeviation cli.Float `json:"snapshotDeviation"`
	SnapshotMost      cli.Float `json:"snapshotMost"`
	Delta             cli.Float `json:"delta,omitempty"`
	DeltaDeviation    cli.Float `json:"deltaDeviation,omitempty"`
	DeltaMost         cli.Float `json:"deltaMost,omitempty"`
	Memory            uint64    `json:"memory"`
	PerHour           cli.Float `json:"perHour"`
	Fits              bool      `json:"fits"`
	Why               *string   `json:"why,omitempty"` // it isn't the best
}

func newMessagePlan(keys uint64, o message.Option) messagePlan {
	s := messagePlan{
		Kind: o.Kind, Coded: o.Coded, List: o.List, Keys: keys, Cells: o.M, K: o.K, FPRate: cli.Float(o.FPRate),
		Memory: o.Memory, PerHour: cli.Float(o.PerHour), Fits: o.Fits,
		Snapshot: cli.Float(o.Snapshot.Mean / 8), SnapshotDeviation: cli.Float(o.Snapshot.Deviation / 8), SnapshotMost: cli.Float(o.Snapshot.Most / 8),
		Delta: cli.Float(o.Delta.Mean / 8), DeltaDeviation: cli.Float(o.Delta.Deviation / 8), DeltaMost: cli.Float(o.Delta.Most / 8),
	}
	if o.Why != "" {
		s.Why = &o.Why
	}
	return s
}

// planMessage prints the ways to send a filter.
func planMessage(streams *cli.Streams, given cli.Given, g *spec.Flags, f messageFlags, kind string) error {
	q := f.message(g, kind)
	if err := f.check(given); err != nil {
		return cli.UsageError(err)
	}
	most := q.Keys == 0 // print how many keys fit
	switch {
	case most && (f.sent == 0 || g.Rate == 0):
		return cli.UsageError(errors.New("give the number of keys, -n NUMBER, or both --sent and --fpr, for the largest number"))
	case most:
		var err error
		if q.Keys, err = q.MostKeys(); err != nil {
			return cli.UsageError(err)
		}
	}
	if f.curve != "" {
		return planCurve(streams, q, f.curve)
	}
	options, err := q.Plan()
	if err != nil {
		return cli.UsageError(err)
	}
	if streams.JSON {
		for _, o := range options {
			if err := cli.JSONLine(streams.Out, newMessagePlan(q.Keys, o)); err != nil {
				return err
			}
		}
		return nil
	}
	if most {
		fmt.Fprintf(streams.Out, "%s fit\n\n", quantity.Count(q.Keys).Of("key"))
	}
	return printMessagePlans(streams, given, q, options)
}

// column is a column of the table of messages.
type column struct {
	header string
	cell   func(o message.Option) string
}

// columns returns the columns that the given flags need.
func columns(given cli.Given) []column {
	cs := []column{{"Kind", label}, {" Filter", func(o message.Option) string { return sizeOf(o.Snapshot.Mean / 8) }}}
	if given["churn"] {
		cs = append(cs, column{" Update", func(o message.Option) string { return sizeOf(o.Update().Mean / 8) }})
	}
	cs = append(cs, column{" At most", func(o message.Option) string { return sizeOf(o.Update().Most / 8) }})
	if given["peers"] || given["per-hour"] {
		cs = append(cs, column{" Per hour", func(o message.Option) string { return sizeOf(o.PerHour) }})
	}
	cs = append(cs, column{" Memory", func(o message.Option) string { return quantity.Size(o.Memory).String() }})
	if len(cs) < 6 { // within 80 columns; the command for the best option has its cells
		cs = append(cs, column{" Cells", func(o message.Option) string { return unlessZero(o.M) }})
	}
	return append(cs,
		column{" K", func(o message.Option) string { return unlessZero(uint64(o.K)) }},
		column{"Rate", func(o message.Option) string { return cli.Percent(cli.Float(o.FPRate)) }})
}

// unlessZero formats a count; 0 is empty.
func unlessZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return quantity.Count(n).String()
}

// printMessagePlans prints a table, the best option in words, and why it is better than the others.
func printMessagePlans(streams *cli.Streams, given cli.Given, q message.Goal, options []message.Option) error {
	w, cs := streams.Out, columns(given)
	var headers []string
	for _, c := range cs {
		headers = append(headers, c.header)
	}
	t := table.New(headers...)
	for _, o := range options {
		if o.Update().Mean == 0 {
			continue // impossible
		}
		var row []string
		for _, c := range cs {
			row = append(row, c.cell(o))
		}
		t.Row(row...)
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	p := cli.NewPage(w)
	fmt.Fprintln(w)
	p.Words("", "  ", label(options[0])+": "+bestWords(q, options[0]))
	for _, o := range options[1:] {
		p.Words("", "  ", label(o)+": "+o.Why)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(commandsFor(q, options[0]), "\n"))
	return err
}

// label names an option: filters with cells are sent plain or coded.
func label(o message.Option) string {
	if o.Coded && o.Kind != "sparse" {
		return o.Kind + ", coded"
	}
	return o.Kind
}

// bestWords describes the best option.
func bestWords(q message.Goal, o message.Option) string {
	words := "the lowest rate for the size"
	if q.FPRate > 0 {
		words = "sends the least"
	}
	switch {
	case o.List:
		words += "; the list of positions, which receivers store and query"
	case o.Kind == "sparse":
		words += "; a coded bloom filter, of which receivers store positions"
	}
	return words
}

// commandsFor returns the commands that make an option.
func commandsFor(q message.Goal, o message.Option) []string {
	made := fmt.Sprintf("--kind %s -n %d --fpr %.6g", o.Kind, q.Keys, cmp.Or(q.FPRate, o.FPRate))
	switch {
	case o.Kind == "counting":
		made = fmt.Sprintf("--kind counting --m %d --k %d", o.M, o.K)
	case o.List:
		made = fmt.Sprintf("--kind sparse --m %d", o.M)
	case o.K > 0:
		made = fmt.Sprintf("--m %d --k %d", o.M, o.K)
	}
	commands := []string{"umbel make -o filter.umb " + made + " KEYFILE"}
	if o.Coded {
		commands = append(commands, "umbel convert --as packed filter.umb -o message.umb")
	}
	if o.Kind == "sparse" && !o.List {
		commands = append(commands, "umbel convert message.umb --sparse -o copy.umb     # on receivers",
			"umbel fetch SOURCE --public-key KEY --sparse -o copy.umb  # or")
	}
	return commands
}

// sizeOf formats a number of bytes, which may have a fraction.
func sizeOf(bytes float64) string {
	return quantity.Size(min(math.Round(bytes), math.MaxInt64)).String()
}

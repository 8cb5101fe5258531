package filters

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/message"
)

// growth is the value of a flag for keys that are added: 5%/day, 1000/hour or 200/6h.
type growth struct {
	text  string
	share quantity.Rate
	keys  quantity.Count
	each  time.Duration
}

// units are names of times after which keys were added.
var units = map[string]string{"minute": "1m", "hour": "1h", "h": "1h", "day": "1d", "d": "1d", "week": "7d"}

func (g *growth) Set(s string) error {
	wrong := fmt.Errorf("growth %.40q: want keys or a share per time, such as 1000/day, 5%%/week or 20/6h", s)
	amount, unit, ok := strings.Cut(s, "/")
	if !ok {
		return wrong
	}
	if name, ok := units[unit]; ok {
		unit = name
	}
	each, err := quantity.ParseDuration(unit)
	if err != nil || each <= 0 {
		return wrong
	}
	*g = growth{text: s, each: each}
	if strings.HasSuffix(amount, "%") {
		g.share, err = quantity.ParseRate(amount)
	} else {
		g.keys, err = quantity.ParseCount(amount)
	}
	if err != nil {
		return wrong
	}
	return nil
}

func (g *growth) String() string { return g.text }

// Type is the name in the usage line.
func (g *growth) Type() string { return "growth" }

// growthFlags are the flags of umbel plan for keys that are added.
type growthFlags struct {
	added growth
	until time.Duration
}

func (f *growthFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(&f.added, "added", "keys that are added: `AMOUNT/TIME`, 5%/day or 1000/hour; plans the folds of kind folding")
	quantity.DurationVar(cmd.Flags(), &f.until, "for", 30*24*time.Hour, "with --added: end after this `DURATION`")
	for _, name := range []string{"sent", "churn", "tail", "query-only", "power-of-two", "curve", "bytes", "explain", "kind"} {
		cli.Exclusive(cmd, "added", name)
	}
}

// stagePlan is a stage of the growth in JSON. Times are seconds from the beginning; sizes are mean bytes.
type stagePlan struct {
	From     float64   `json:"from"`
	Keys     uint64    `json:"keys"`
	Fold     uint64    `json:"fold"`
	Cells    uint64    `json:"cells"`
	K        int       `json:"k"`
	FPRate   cli.Float `json:"fpRate"`
	Snapshot cli.Float `json:"snapshot"`
	Delta    cli.Float `json:"delta"`
	Sent     cli.Float `json:"sent"` // to all receivers in the stage
	Base     uint64    `json:"base"` // cells
}

// print prints the stages of the growth.
func (f *growthFlags) print(streams *cli.Streams, given cli.Given, wanted *spec.Flags, m messageFlags) error {
	each := f.added.each
	periods := math.Ceil(float64(f.until) / float64(each))
	switch {
	case wanted.Keys == 0:
		return cli.UsageError(errors.New("give the number of keys at the beginning, -n NUMBER"))
	case f.until <= 0:
		return cli.UsageError(fmt.Errorf("--for is %v, want more than 0", f.until))
	}
	g := message.Growth{Keys: uint64(wanted.Keys), Share: float64(f.added.share), Added: float64(f.added.keys),
		Periods: int(min(periods, math.MaxInt32)), FPRate: float64(wanted.Rate)}
	if g.FPRate == 0 {
		g.FPRate = spec.DefaultRate
	}
	if given["per-hour"] {
		g.Messages = m.perHour * each.Hours()
	}
	s, stages, err := g.Plan()
	if err != nil {
		return cli.UsageError(err)
	}
	peers := float64(max(m.peers, 1))
	if streams.JSON {
		for _, o := range stages {
			if err := cli.JSONLine(streams.Out, stagePlan{
				(time.Duration(o.First) * each).Seconds(), o.Keys, o.Fold, o.M, s.K, cli.Float(o.FPRate),
				cli.Float(o.Snapshot / 8), cli.Float(o.Update / 8), cli.Float(o.Sent / 8 * peers), s.M,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	return f.write(streams, g, s, stages, peers)
}

// write writes a table of the stages, and what the base is.
func (f *growthFlags) write(streams *cli.Streams, g message.Growth, s folding.Shape, stages []message.Stage, peers float64) error {
	w, total := streams.Out, 0.0
	t := table.New(" From", " Keys", " Fold", " Cells", "Rate", " Filter", " Update", " Sent")
	for _, o := range stages {
		total += o.Sent / 8 * peers
		t.Row(after(time.Duration(o.First)*f.added.each), quantity.Count(o.Keys).String(), quantity.Count(o.Fold).String(), quantity.Count(o.M).String(),
			cli.Percent(cli.Float(o.FPRate)), sizeOf(o.Snapshot/8), sizeOf(o.Update/8), sizeOf(o.Sent/8*peers))
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	last := stages[len(stages)-1]
	length := time.Duration(g.Periods) * f.added.each
	p := cli.NewPage(w)
	fmt.Fprintln(w)
	p.Words("", "", fmt.Sprintf("A base of %v cells, k %d, %v, for %v keys after %s; its folds are sent. Each line is the folded "+
		"filter from a time on, with its keys, rate and messages at its end. In all %s are sent, %s per day.",
		quantity.Count(s.M), s.K, quantity.Size(s.Forecast(last.Keys).Bytes), quantity.Count(last.Keys),
		after(length), sizeOf(total), sizeOf(total/length.Hours()*24)))
	_, err := fmt.Fprintf(w, "\numbel make -o base.umb --kind folding -n %d --fpr %g KEYFILE\n", last.Keys, g.FPRate)
	return err
}

// after formats a time from the beginning on: days, or less than a day as it is.
func after(d time.Duration) string {
	if d >= 24*time.Hour && d%time.Hour == 0 {
		return fmt.Sprintf("%.4gd", d.Hours()/24)
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

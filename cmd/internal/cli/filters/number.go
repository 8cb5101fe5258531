package filters

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
)

// listed is the number of divisors that are printed without --all-divisors.
const listed = 24

// numberFlags describe a size instead of a plan.
type numberFlags struct {
	number quantity.Count
	within quantity.Rate
	all    bool
}

func (n *numberFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	n.within = 0.01
	flags.Var(&n.number, "number", "show how well `M` groups of cells fold, and better numbers near M, instead of a plan")
	flags.Lookup("number").DefValue = ""
	flags.Var(&n.within, "within", "with --number, look for better numbers within `RATE` of M")
	flags.BoolVar(&n.all, "all-divisors", false, "with --number, list all divisors")
	for _, goal := range []string{"keys", "fpr", "bytes", "sent", "kind"} {
		cli.Exclusive(cmd, "number", goal)
	}
	cli.Needs(cmd, "within", "number", "--number M")
	cli.Needs(cmd, "all-divisors", "number", "--number M")
}

// print prints how well the number folds.
func (n *numberFlags) print(streams *cli.Streams) error {
	if n.number == 0 {
		return cli.UsageError(errors.New("--number is 0, want 1 or more"))
	}
	a := analyze(uint64(n.number), float64(n.within))
	return streams.Answer(a, func(w io.Writer) error { return a.Write(w, n.within, n.all) })
}

// analysis is the result of umbel plan --number.
type analysis struct {
	Number       uint64    `json:"number"`
	Factors      []factor  `json:"factors"`
	Divisors     []uint64  `json:"divisors"`
	LargestPrime uint64    `json:"largestPrime"` // 1 for 1
	Superior     bool      `json:"superiorHighlyComposite"`
	Highly       bool      `json:"highlyComposite"`
	Largely      bool      `json:"largelyComposite"`
	Excess       cli.Float `json:"excess"` // of a fold, on average
	Better       []better  `json:"better"` // ascending
}

type factor struct {
	Prime    uint64 `json:"prime"`
	Exponent int    `json:"exponent"`
}

// better is a number with more divisors.
type better struct {
	Number   uint64    `json:"number"`
	Divisors int       `json:"divisors"`
	Excess   cli.Float `json:"excess"`
}

func analyze(m uint64, within float64) analysis {
	ladder := plan.FoldSizes(m, 1)
	a := analysis{
		Number: m, Factors: []factor{}, Divisors: ladder, LargestPrime: 1,
		Superior: endsWith(number.SuperiorHighlyComposite(m), m),
		Highly:   endsWith(number.HighlyComposite(m), m),
		Largely:  endsWith(number.LargelyComposite(m), m),
		Excess:   cli.Float(plan.MeanOvershoot(ladder)),
		Better:   []better{},
	}
	for _, p := range number.Factor(m) {
		a.Factors = append(a.Factors, factor{p.Prime, p.Exponent})
		a.LargestPrime = p.Prime
	}
	reach := uint64(float64(m) * within)
	a.look(m-min(reach, m-1), m-1)
	a.look(m+1, m+min(reach, ^m))
	return a
}

func endsWith(list []uint64, m uint64) bool { return len(list) > 0 && list[len(list)-1] == m }

// look adds the best number from low to high if it has more divisors.
func (a *analysis) look(low, high uint64) {
	m, ok := number.MostDivisors(low, high)
	if !ok {
		return
	}
	if ladder := plan.FoldSizes(m, 1); len(ladder) > len(a.Divisors) {
		a.Better = append(a.Better, better{m, len(ladder), cli.Float(plan.MeanOvershoot(ladder))})
	}
}

func (a analysis) Write(w io.Writer, within quantity.Rate, all bool) error {
	shown := a.Divisors
	if !all && len(shown) > listed {
		shown = shown[:listed]
	}
	texts := make([]string, len(shown))
	for i, d := range shown {
		texts[i] = quantity.Count(d).String()
	}
	if len(shown) < len(a.Divisors) {
		texts = append(texts, "… (--all-divisors)")
	}
	divisors := "divisors"
	if len(a.Divisors) == 1 {
		divisors = "divisor"
	}
	fmt.Fprintf(w, "%v = %s\n%v %s: %s\n\n", quantity.Count(a.Number), product(a.Factors),
		quantity.Count(len(a.Divisors)), divisors, strings.Join(texts, ", "))
	fmt.Fprintf(w, "%s.\n", a.composite())
	if a.Number > 1 {
		fmt.Fprintf(w, "On average the fold is %s larger than the requested size.\n", cli.Percent(a.Excess))
	}
	return a.writeBetter(w, within)
}

// product formats prime powers as a product.
func product(factors []factor) string {
	var texts []string
	for _, f := range factors {
		text := quantity.Count(f.Prime).String()
		if f.Exponent > 1 {
			text += fmt.Sprint("^", f.Exponent)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "1"
	}
	return strings.Join(texts, " · ")
}

// composite classifies the number in words.
func (a analysis) composite() string {
	largest := quantity.Count(a.LargestPrime)
	switch {
	case a.Number == 1:
		return "One cell, which doesn't fold"
	case a.Superior:
		return fmt.Sprintf("Superior highly composite, %v-smooth: all smaller numbers have fewer divisors, and all larger ones fewer relative to their size", largest)
	case a.Highly:
		return fmt.Sprintf("Highly composite, %v-smooth: all smaller numbers have fewer divisors", largest)
	case a.Largely:
		return fmt.Sprintf("Largely composite, %v-smooth: no smaller number has more divisors", largest)
	case a.LargestPrime == a.Number:
		return "A prime: it folds to 1 only"
	}
	return fmt.Sprintf("%v-smooth (its largest prime factor); smaller numbers have more divisors", largest)
}

func (a analysis) writeBetter(w io.Writer, within quantity.Rate) error {
	share := cli.Percent(cli.Float(within))
	if len(a.Better) == 0 {
		_, err := fmt.Fprintf(w, "\nNo number within %s has more divisors.\n", share)
		return err
	}
	fmt.Fprintf(w, "\nMore divisors within %s:\n", share)
	t := table.New(" Number", " Difference", " Divisors", " Larger by")
	for _, b := range a.Better {
		difference := 100 * float64(int64(b.Number-a.Number)) / float64(a.Number)
		t.Row(quantity.Count(b.Number).String(), fmt.Sprintf("%+.2g%%", difference), quantity.Count(b.Divisors).String(), cli.Percent(b.Excess))
	}
	_, err := t.WriteTo(w)
	return err
}

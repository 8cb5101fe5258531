package filters

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/part"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter"
)

// machinesFlags are the flags of umbel plan for a filter that several machines make.
type machinesFlags struct {
	machines quantity.Count
	memory   quantity.Size
	speed    quantity.Count
}

func (f *machinesFlags) add(cmd *cobra.Command) {
	f.speed = 5e6
	flags := cmd.Flags()
	flags.Var(&f.machines, "machines", "plan how `NUMBER` machines make the filter, and print the commands")
	flags.Var(&f.memory, "memory", "with --machines: `SIZE` of memory of each machine")
	flags.Var(&f.speed, "keys-per-second", "with --machines: `NUMBER` of keys that a machine reads per second")
	cli.Needs(cmd, "memory", "machines", "--machines NUMBER")
	cli.Needs(cmd, "keys-per-second", "machines", "--machines NUMBER")
	cli.Needs(cmd, "machines", "memory", "--memory SIZE, the memory of each machine")
	for _, name := range []string{"sent", "churn", "tail", "query-only", "power-of-two", "curve", "bytes", "explain", "added", "number"} {
		cli.Exclusive(cmd, "machines", name)
	}
}

const (
	// mergeBytes is the number of bytes of parts that umbel merge reads per second, from the page cache.
	mergeBytes = 1.5e9
	// program is the memory of umbel make apart from the filter: its buffers, and what a loader of a large filter takes.
	program = 512 << 20
	// mergeMemory is the largest memory of umbel merge.
	mergeMemory = 64 << 20
)

// machinesPlan is how machines make a filter.
type machinesPlan struct {
	Kind     string    `json:"kind"`
	Keys     uint64    `json:"keys"`
	FPRate   cli.Float `json:"fpRate"`
	Bytes    uint64    `json:"bytes"`
	Machines uint64    `json:"machines"`
	Memory   uint64    `json:"memory"` // of a machine
	Divide   part.Way  `json:"divide"`
	Parts    uint64    `json:"parts"`
	// PartMemory is the memory that umbel make takes for a part, PartBytes the size of its file.
	PartMemory uint64 `json:"partMemory"`
	PartBytes  uint64 `json:"partBytes"`
	// Rounds is the number of parts that a machine makes, one after the other.
	Rounds uint64 `json:"rounds"`
	// Speed is the keys that a machine reads per second, on which the times are based.
	Speed        uint64    `json:"keysPerSecond"`
	MakeSeconds  cli.Float `json:"makeSeconds"`
	MergeSeconds cli.Float `json:"mergeSeconds"`
	MergeMemory  uint64    `json:"mergeMemory"`
	Fits         bool      `json:"fits"` // the filter fits into the memory of a machine
	Make         string    `json:"make"`
	Merge        string    `json:"merge"`
}

// plan plans a filter of a kind.
func (f *machinesFlags) plan(kind umbel.Kind, s spec.Spec) (p machinesPlan, err error) {
	goal := spec.Complete(kind, s.Goal, s.Params)
	forecast, err := kind.Plan(goal, s.Params)
	if err != nil {
		return p, err
	}
	room := uint64(f.memory) - min(uint64(f.memory), program)
	p = machinesPlan{
		Kind: kind.Name, Keys: forecast.Keys, FPRate: cli.Float(forecast.FPRate), Bytes: forecast.Bytes, Machines: uint64(f.machines), Memory: uint64(f.memory),
		Divide: part.Lines, Parts: uint64(f.machines), Rounds: 1, Speed: uint64(f.speed), MergeMemory: mergeMemory, Fits: forecast.Bytes <= room,
		PartMemory: forecast.Bytes + program, PartBytes: forecast.Bytes,
	}
	read := float64(p.Keys) / float64(p.Machines)
	if !p.Fits {
		if room == 0 {
			return p, fmt.Errorf("--memory is %v, want more than the %v that umbel make takes apart from the filter", f.memory, quantity.Size(program))
		}
		p.Divide = part.Cells
		p.Parts = max(p.Machines, (forecast.Bytes+room-1)/room)
		p.Rounds = (p.Parts + p.Machines - 1) / p.Machines
		p.PartBytes = (forecast.Bytes + p.Parts - 1) / p.Parts
		p.PartMemory = p.PartBytes + program
		read = float64(p.Keys) * float64(p.Rounds) // each part reads all keys
	}
	if p.Parts > part.MaxParts {
		return p, fmt.Errorf("%v parts are too many, want at most %v; give more --memory", quantity.Count(p.Parts), quantity.Count(part.MaxParts))
	}
	if err := f.check(kind, goal, s.Params, p.Divide); err != nil {
		return p, err
	}
	p.MakeSeconds = cli.Float(read / float64(f.speed))
	p.MergeSeconds = cli.Float(float64(p.PartBytes) * float64(p.Parts+1) / mergeBytes) // the first is read twice
	p.Make = fmt.Sprintf("umbel make -o part$I.umb --kind %s --keys %d --fpr %g --part $I/%d", p.Kind, p.Keys, goal.FPRate, p.Parts)
	if p.Divide != part.Lines {
		p.Make += " --divide " + string(p.Divide)
	}
	for _, param := range s.Params {
		p.Make += fmt.Sprintf(" --%s %v", param.Name, param.Value)
	}
	p.Make += " keys-*.txt"
	p.Merge = fmt.Sprintf("umbel merge part*.umb --expect %d -o filter.umb", p.Parts)
	return p, nil
}

// check returns an error if a kind can't be made in parts.
func (f *machinesFlags) check(kind umbel.Kind, g umbel.Goal, ps umbel.Params, w part.Way) error {
	if w == part.Cells {
		_, err := part.Skeleton(kind, g, ps)
		return err
	}
	g.Keys, g.Bytes = min(max(g.Keys, 1), 1000), 0
	small, err := kind.New(g, ps)
	if err == nil {
		err = part.CheckCellwise(small.State())
	}
	return err
}

// print prints the plan.
func (f *machinesFlags) print(streams *cli.Streams, kind string, s spec.Spec) error {
	switch {
	case f.machines == 0:
		return cli.UsageError(errors.New("--machines is 0, want at least 1"))
	case f.speed == 0:
		return cli.UsageError(errors.New("--keys-per-second is 0, want more"))
	case s.Goal.Keys == 0:
		return cli.UsageError(errors.New("give --keys, the number of keys of all machines together"))
	}
	if kind == "" {
		kind = filter.All[0].Name
	}
	v, err := findKind(kind)
	if err != nil {
		return err
	}
	p, err := f.plan(v, s)
	if err != nil {
		return cli.UsageError(err)
	}
	return streams.Answer(p, p.write)
}

// write writes the plan in words, and the commands.
func (p machinesPlan) write(w io.Writer) error {
	page := cli.NewPage(w)
	size := func(n uint64) string { return quantity.Size(n).String() }
	page.Words("", "", fmt.Sprintf("%s: %v keys at a rate of %s in %s, made in %s by %s with %s each.", p.Kind, quantity.Count(p.Keys), cli.Percent(p.FPRate),
		size(p.Bytes), quantity.Count(p.Parts).Of("part"), quantity.Count(p.Machines).Of("machine"), size(p.Memory)))
	reads := "reads its share of the keys and holds the whole filter"
	if p.Divide == part.Cells {
		reads = "reads all keys and holds its share of the cells, since the whole filter does not fit into the memory of a machine"
	}
	page.Words("", "", fmt.Sprintf("\nFor each I from 1 to %d, %s. A part %s: %s of memory, a file of %s, about %s if a machine reads %v keys a second.",
		p.Parts, p.turns(), reads, size(p.PartMemory), size(p.PartBytes), about(p.MakeSeconds), quantity.Count(p.Speed)))
	fmt.Fprintf(w, "\n%s\n\n", p.Make)
	page.Words("", "", fmt.Sprintf("Then on one machine, with at most %s of memory, about %s if it reads %s a second:",
		size(p.MergeMemory), about(p.MergeSeconds), "1.5 GB"))
	if _, err := fmt.Fprintf(w, "\n%s\n", p.Merge); err != nil || p.Fits {
		return err
	}
	fmt.Fprintln(w)
	page.Words("", "", fmt.Sprintf("umbel has queries filter.umb in its file. A node that serves it needs more than %s of memory.", size(p.Bytes+program)))
	return nil
}

// turns describes how many parts a machine makes.
func (p machinesPlan) turns() string {
	if p.Rounds == 1 {
		return "each on a machine of its own"
	}
	return fmt.Sprintf("%d on each machine, one after the other", p.Rounds)
}

// about formats a time roughly.
func about(s cli.Float) string {
	switch d := float64(s); {
	case d < 90:
		return fmt.Sprintf("%.0f s", math.Ceil(d))
	case d < 90*time.Minute.Seconds():
		return fmt.Sprintf("%.0f min", d/60)
	case d < 72*time.Hour.Seconds():
		return fmt.Sprintf("%.1f h", d/3600)
	default:
		return fmt.Sprintf("%.0f days", d/86400)
	}
}

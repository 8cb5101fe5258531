package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const kindsHelp = `List the kinds of filter, or KIND alone: their purpose, the operations that they support besides adding and
querying keys, and their parameters, which are flags of umbel make.`

// kindInfo is the description of a kind.
type kindInfo struct {
	Kind   string      `json:"kind"`
	Doc    string      `json:"doc"`
	Can    []string    `json:"can"`
	Params []paramInfo `json:"params"`
}

type paramInfo struct {
	Name string  `json:"name"`
	Doc  string  `json:"doc"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// KindsCommand is umbel kinds.
func KindsCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use:     "kinds [KIND]",
		Short:   "list the kinds of filter",
		Long:    kindsHelp,
		Example: "  umbel kinds\n  umbel kinds scalable\n  umbel kinds --json | jq -r .kind",
		Args:    cli.Arguments(0, 1),
	}, listKinds)
}

func listKinds(_ context.Context, streams *cli.Streams, args []string) error {
	kinds, err := chosenKinds(strings.Join(args, ""))
	if err != nil {
		return err
	}
	var list []kindInfo
	for _, v := range kinds {
		k, err := describe(v)
		if err != nil {
			return err
		}
		list = append(list, k)
	}
	return cli.AnswerAll(streams, list, func(w io.Writer) error { return writeKinds(w, list) })
}

// describe makes small filters of the kind to find out what it supports.
func describe(v umbel.Kind) (kindInfo, error) {
	k := kindInfo{Kind: v.Name, Doc: v.Doc, Can: []string{}, Params: []paramInfo{}}
	can, err := ability.Of(v)
	if err != nil {
		return k, err
	}
	for _, a := range can {
		k.Can = append(k.Can, a.Word+withParam(a.Param))
	}
	for _, p := range v.Params {
		k.Params = append(k.Params, paramInfo{p.Name, p.Doc, p.Min, p.Max})
	}
	return k, nil
}

func writeKinds(w io.Writer, list []kindInfo) error {
	var text strings.Builder
	p := cli.NewPage(&text)
	for i, k := range list {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(k.Kind + "\n")
		p.Words("  ", "  ", k.Doc)
		p.Words("  ", "    ", "can "+strings.Join(k.Can, ", "))
		for _, param := range k.Params {
			p.Words(fmt.Sprintf("  --%s  ", param.Name), "    ", fmt.Sprintf("%s: %s to %s", param.Doc, bound(param.Min), bound(param.Max)))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// bound formats the end of a range; a large power of two as a power.
func bound(f float64) string {
	if fraction, exponent := math.Frexp(f); fraction == 0.5 && exponent > 20 {
		return fmt.Sprintf("2^%d", exponent-1)
	}
	return fmt.Sprint(f)
}

// The operations that only some kinds support, for the errors of [require].
const (
	opRemove  = "removing keys"
	opCount   = "counting keys"
	opClear   = "clearing"
	opAdvance = "expiry of old keys"
	opFold    = "folding"
	opLocate  = "explaining answers by cells"
)

// require returns the filter of a file as a T. If its kind doesn't support that operation it
// returns an error that names the kinds that do, and wraps errors.ErrUnsupported.
func require[T any](file string, f umbel.Filter, operation string) (T, error) {
	t, ok := f.(T)
	if ok {
		return t, nil
	}
	if _, isWindows := f.(*uniq.Windows); isWindows {
		return t, sentinel.Errorf(errors.ErrUnsupported, "%s: windows of umbel uniq, which follow the clock together, don't support %s", file, operation)
	}
	return t, sentinel.Errorf(errors.ErrUnsupported, "%s: kind %s doesn't support %s; %s", file, f.State().Kind, operation, kindsThatCan[T]())
}

// kindsThatCan lists the kinds that are a T, for an error.
func kindsThatCan[T any]() string {
	var kinds []string
	for _, t := range ability.Who[T](filter.All) {
		kinds = append(kinds, t.Kind+withParam(t.Param))
	}
	if len(kinds) == 0 {
		return "no kind does"
	}
	return "kinds that do: " + strings.Join(kinds, ", ")
}

// withParam adds the parameter that an ability needs.
func withParam(name string) string {
	if name == "" {
		return ""
	}
	return " with --" + name
}

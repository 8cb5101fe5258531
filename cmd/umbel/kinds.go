package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/filter"
)

const kindsHelp = `List the kinds of filter, what they are for, what they can do besides taking and
finding keys, and the parameters that umbel make takes for them.`

// kindInfo is what umbel kinds says of a kind.
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

func kindsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kinds",
		Short:   "list the kinds of filter",
		Long:    kindsHelp,
		Example: "  umbel kinds\n  umbel kinds --json | jq -r '.[].kind'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []kindInfo
			for _, v := range filter.All {
				k, err := describe(v)
				if err != nil {
					return err
				}
				list = append(list, k)
			}
			return answer(cmd, list, func(w io.Writer) error { return writeKinds(w, list) })
		},
	}
}

// describe makes small filters of the kind to see what it can do.
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
	for i, k := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n  %s\n  can %s\n", k.Kind, k.Doc, strings.Join(k.Can, ", "))
		for _, p := range k.Params {
			if _, err := fmt.Fprintf(w, "  --%s  %s: %s to %s\n", p.Name, p.Doc, bound(p.Min), bound(p.Max)); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound writes the end of a range, a large power of two as one.
func bound(f float64) string {
	if fraction, exponent := math.Frexp(f); fraction == 0.5 && exponent > 20 {
		return fmt.Sprintf("2^%d", exponent-1)
	}
	return fmt.Sprint(f)
}

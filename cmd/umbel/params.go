package main

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// param is a flag made of a kind's parameter.
type param struct {
	doc   umbel.ParamDoc
	value umbel.Number
}

// Set reads a count, or any number where the kind takes one.
func (p *param) Set(s string) error {
	if p.doc.Float {
		f, err := strconv.ParseFloat(s, 64)
		p.value = umbel.Float(f)
		return err
	}
	n, err := quantity.ParseCount(s)
	p.value = umbel.Uint(uint64(n))
	return err
}

func (p *param) String() string { return "" }
func (p *param) Type() string   { return "NUMBER" }

// params are the parameters of all kinds, each once.
type params []*param

// addParamFlags adds a flag for each parameter of the kinds, whose help names the
// kinds that take it.
func addParamFlags(flags *pflag.FlagSet, kinds umbel.Kinds) params {
	var ps params
	takers := map[string][]string{}
	for _, v := range kinds {
		for _, doc := range v.Params {
			if takers[doc.Name] == nil {
				ps = append(ps, &param{doc: doc})
			}
			takers[doc.Name] = append(takers[doc.Name], v.Name)
		}
	}
	for _, p := range ps {
		flags.Var(p, p.doc.Name, p.doc.Doc+"; of kind "+strings.Join(takers[p.doc.Name], ", "))
	}
	return ps
}

// given returns the parameters whose flags were set.
func (ps params) given(flags *pflag.FlagSet) umbel.Params {
	var out umbel.Params
	for _, p := range ps {
		if flags.Changed(p.doc.Name) {
			out = append(out, umbel.Param{Name: p.doc.Name, Value: p.value})
		}
	}
	return out
}

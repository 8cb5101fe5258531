package explain_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// evaluate computes the numbers of a formula: + - · / ^, parentheses and the functions
// below. It fails if a formula contains anything else.
func evaluate(s string) (v float64, err error) {
	e := &expression{rest: s}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%q: %v at %q", s, r, e.rest)
		}
	}()
	v = e.sum()
	if e.peek() != "" {
		panic("more follows")
	}
	return v, nil
}

type expression struct{ rest string }

// peek returns the rest without leading spaces.
func (e *expression) peek() string {
	e.rest = strings.TrimLeft(e.rest, " ")
	return e.rest
}

func (e *expression) take(token string) bool {
	rest, ok := strings.CutPrefix(e.peek(), token)
	if ok {
		e.rest = rest
	}
	return ok
}

func (e *expression) sum() float64 {
	v := e.product()
	for {
		switch {
		case e.take("+"):
			v += e.product()
		case e.take("-"):
			v -= e.product()
		default:
			return v
		}
	}
}

func (e *expression) product() float64 {
	v := e.power()
	for {
		switch {
		case e.take("·"):
			v *= e.power()
		case e.take("/"):
			v /= e.power()
		default:
			return v
		}
	}
}

func (e *expression) power() float64 {
	if e.take("-") {
		return -e.power()
	}
	v := e.atom()
	if e.take("^") {
		v = math.Pow(v, e.power())
	}
	return v
}

func (e *expression) atom() float64 {
	for name, f := range map[string]func(float64) float64{
		"ln": math.Log, "log2": math.Log2, "sqrt": math.Sqrt, "ceil": math.Ceil, "exp": math.Exp,
	} {
		if e.take(name) {
			return f(e.atom())
		}
	}
	if e.take("(") {
		v := e.sum()
		if !e.take(")") {
			panic("no )")
		}
		return v
	}
	return e.number()
}

// number reads the longest number at the front.
func (e *expression) number() float64 {
	s := e.peek()
	for i := len(s); i > 0; i-- {
		if v, err := strconv.ParseFloat(s[:i], 64); err == nil && s[0] != '+' && s[0] != '-' {
			e.rest = s[i:]
			return v
		}
	}
	panic("no number")
}

package squid_test

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

// How do I make a cache digest that every Squid reads?
func Example() {
	f, err := squid.NewGoal(umbel.Goal{Keys: 2000, FPRate: 0.005, Hasher: squid.Hasher})
	if err != nil {
		panic(err)
	}
	for i := range 2000 {
		uri, err := squid.CanonicalURI(fmt.Sprintf("HTTP://Example.org:80/%d", i))
		if err != nil {
			panic(err)
		}
		f.AddBytes(squid.AppendKey(nil, squid.MethodGet, uri, ""))
	}
	d, err := f.Digest()
	if err != nil {
		panic(err)
	}
	b, err := d.Tolerant().AppendBinary(nil)
	if err != nil {
		panic(err)
	}

	// A Squid receives b. So does a program:
	d, err = squid.Parse(b, squid.Limits{})
	if err != nil {
		panic(err)
	}
	g, err := d.Filter()
	if err != nil {
		panic(err)
	}
	fmt.Println(g.HasBytes(squid.AppendKey(nil, squid.MethodGet, "http://example.org/77", "")))
	fmt.Println(g.HasBytes(squid.AppendKey(nil, squid.MethodGet, "http://example.org/absent", "")))
	// Output:
	// true
	// false
}

// How do I query for one variant of an object?
func ExampleVaryMark() {
	mark := squid.VaryMark(squid.Field{Name: "Accept-Language", Value: "de-CH, fr;q=0.5"}, squid.Field{Name: "Cookie", Absent: true})
	fmt.Println(mark)
	fmt.Println(squid.Hasher.HashBytes(squid.AppendKey(nil, squid.MethodGet, "http://example.org/menu", mark)))
	// Output:
	// accept-language="de-CH,%20fr%3Bq%3D0.5", cookie
	// f694b27349cefae1aa8b45b847648be1
}

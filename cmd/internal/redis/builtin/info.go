package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// part is a section of INFO that is computed on demand.
type part struct {
	name  string
	group group
	make  func() [][2]string
}

// group selects the sections that are returned by default.
type group uint8

const (
	plain      group = iota // INFO
	all                     // INFO all
	everything              // INFO everything, INFO modules
)

// order is the order of the sections in Redis.
var order = []string{"Server", "Clients", "Memory", "Persistence", "Stats", "Replication", "CPU", "Modules",
	"Commandstats", "Errorstats", "Cluster", "Keyspace", "bf_bloom_core_metrics"}

// parts returns the sections: those of the node and those of this package.
func (k *builtin) parts(c *resp.Conn) []part {
	list := []part{
		{"Clients", plain, func() [][2]string { return k.clients(c) }},
		{"Commandstats", all, func() [][2]string { return k.commands(c) }},
		{"Errorstats", plain, func() [][2]string { return errorFields(c.Server().Errors()) }},
		{"Keyspace", plain, k.keyspaceFields},
		{"bf_bloom_core_metrics", everything, k.blooms},
	}
	for _, s := range k.node.Info() {
		list = append(list, part{s.Name, plain, func() [][2]string { return s.Fields }})
	}
	slices.SortStableFunc(list, func(a, b part) int { return slices.Index(order, a.name) - slices.Index(order, b.name) })
	return list
}

// asked reports whether the section is wanted; wanted is in lower case.
func (p part) asked(wanted []string) bool {
	if len(wanted) == 0 {
		return p.group == plain
	}
	return slices.ContainsFunc(wanted, func(w string) bool {
		switch w {
		case "default":
			return p.group == plain
		case "all":
			return p.group <= all
		case "everything":
			return true
		case "modules", "bf":
			return p.group == everything
		}
		return w == strings.ToLower(p.name)
	})
}

func (k *builtin) info(c *resp.Conn, args [][]byte) {
	var wanted []string
	for _, w := range args[1:] {
		wanted = append(wanted, strings.ToLower(string(w)))
	}
	var b strings.Builder
	for _, p := range k.parts(c) {
		if !p.asked(wanted) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "# %s\r\n", p.name)
		for _, f := range p.make() {
			fmt.Fprintf(&b, "%s:%s\r\n", f[0], f[1])
		}
	}
	c.Verbatim(b.String())
}

func (k *builtin) clients(c *resp.Conn) [][2]string {
	n := uint64(0)
	c.Server().Clients(func(*resp.Conn) { n++ })
	fields := [][2]string{{"connected_clients", number(n)}, {"blocked_clients", "0"}}
	if most, ok := k.value("maxclients"); ok {
		fields = append(fields, [2]string{"maxclients", most})
	}
	return fields
}

// keyspaceFields returns the line of database 0, or nothing if it is empty.
func (k *builtin) keyspaceFields() [][2]string {
	var keys, expiring uint64
	var left int64
	now := k.engine.Now()
	k.each(func(f *engine.Filter) {
		keys++
		if at := f.Expires(); at != 0 {
			expiring++
			left += max(at-now, 0) / 1024 // avoids overflow of the sum
		}
	})
	if keys == 0 {
		return nil
	}
	mean := uint64(left) / max(expiring, 1) * 1024
	return [][2]string{{"db0", fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", keys, expiring, mean)}}
}

// commands returns the totals of each command, without rejected and failed calls, which are not counted.
func (k *builtin) commands(c *resp.Conn) (fields [][2]string) {
	k.monitor.usage(c.Server(), func(cmd *resp.Command, calls uint64, took time.Duration) {
		micros := took.Microseconds()
		fields = append(fields, [2]string{"cmdstat_" + cmd.Name,
			fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f", calls, micros, float64(micros)/float64(calls))})
	})
	return fields
}

// errorFields returns the numbers of error replies by their first word.
func errorFields(counts map[string]uint64) (fields [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fields = append(fields, [2]string{"errorstat_" + name, "count=" + number(counts[name])})
	}
	return fields
}

// blooms returns the section of valkey-bloom's INFO bf: totals of the filters made by BF.*.
func (k *builtin) blooms() [][2]string {
	var objects, bytes, layers, items, capacity uint64
	k.each(func(f *engine.Filter) {
		in, ok := bloomInfo(f)
		if !ok {
			return
		}
		objects++
		bytes += memoryOf(f)
		layers += uint64(in.Filters)
		items += in.Items
		capacity += in.Capacity
	})
	return [][2]string{
		{"bf_bloom_total_memory_bytes", number(bytes)},
		{"bf_bloom_num_objects", number(objects)},
		{"bf_bloom_num_filters_across_objects", number(layers)},
		{"bf_bloom_num_items_across_objects", number(items)},
		{"bf_bloom_capacity_across_objects", number(capacity)},
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

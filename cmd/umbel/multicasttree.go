package main

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// treeFlags say which tree of which network a scheme is to write into packets.
type treeFlags struct {
	net  networkFlags
	ends endFlags
	how  schemeFlags
}

func (f *treeFlags) add(cmd *cobra.Command) {
	f.net.add(cmd)
	f.ends.add(cmd)
	f.how.add(cmd)
}

// plannedTree is a tree that a scheme has written into packets.
type plannedTree struct {
	network *multicast.Network
	tree    *tree.Tree
	scheme  scheme.Scheme
	domain  scheme.Domain // whose routers know that the tree's receivers receive the group
	plan    scheme.Plan
}

// plan finds the tree and has it written.
func (f *treeFlags) plan(cmd *cobra.Command, group uint32) (p plannedTree, err error) {
	if p.network, err = f.net.network(cmd); err != nil {
		return p, err
	}
	source, receivers, err := f.ends.ends(cmd, p.network.Graph)
	if err != nil {
		return p, err
	}
	if p.tree, err = f.net.find(p.network.Graph, source, receivers); err != nil {
		return p, err
	}
	if p.scheme, err = f.how.scheme(cmd); err != nil {
		return p, err
	}
	if p.domain, err = p.scheme.Domain(p.network, p.network); err != nil {
		return p, err
	}
	if p.plan, err = p.domain.Plan(p.tree, group); err != nil {
		return p, err
	}
	p.domain.Receive(group, p.tree.Receivers)
	return p, nil
}

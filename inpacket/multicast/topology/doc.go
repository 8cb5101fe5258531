// Package topology reads networks from files and makes them by rule: nodes, and links
// between them.
//
// Files of the Internet Topology Zoo, TopoHub (SNDlib) and Rocketfuel are read as they
// are; what a Graph can't have is changed, and counted in Notes. Links between the
// same two nodes become one, of the lowest weight, and links from a node to itself
// none. Keys of links are made of the names of nodes, so each node gets one of its
// own: control characters become spaces, which are cut at both ends; a node without a
// name has its id in GML and GraphML, and is "node 7" in a table, by its index in the
// graph; a name that an earlier node has is followed by " (2)", " (3)" and so on. So
// names depend on the order of nodes in the file, and a file in which nodes of the
// same name change places gives their links other keys.
//
// A graph may be in several parts. LargestComponent is what most studies take.
package topology

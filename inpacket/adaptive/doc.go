// Package adaptive designs filters that are cut to the length their content needs:
// Heszberger et al. 2010. A codeword has many positions with odds that fall; a
// header carries the first m_i of them when it holds i links.
package adaptive

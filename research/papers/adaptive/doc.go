// Package adaptive makes the figures of paper 002 again, Heszberger et al. 2010,
// "Adaptive Bloom filters for multicast addressing", and judges what it claims.
package adaptive

package window

// FPRateAt is fpRate, for tests with other fill ratios than those of a filter.
var FPRateAt = fpRate

//go:build !race

package providers

const raceEnabled = false

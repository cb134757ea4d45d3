//go:build race

package command

// raceDetector tells that the race detector is on, which takes several times the memory.
const raceDetector = true

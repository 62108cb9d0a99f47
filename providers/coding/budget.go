package coding

import (
	"errors"
	"fmt"
)

const (
	freeBody = 10 << 20  // allowed size of every body
	maxRatio = 100       // above that, allowed multiple of the bytes as sent
	maxBody  = 256 << 20 // largest allowed size
)

// ErrExpands is the error for a body that becomes too large.
var ErrExpands = errors.New("it becomes too large")

// sizeBudget limits the output of the stages of one body by the bytes as sent.
type sizeBudget struct{ sent int }

// stepBytes is how many bytes as sent count at a time. So the place where a body becomes too large
// doesn't depend on how it was cut into writes.
const stepBytes = 4 << 10

// receiveBytes counts the next bytes as sent, at most n and up to the next step. It returns how many.
func (b *sizeBudget) receiveBytes(n int) int {
	n = min(n, stepBytes-b.sent%stepBytes)
	b.sent += n
	return n
}

// maxOutput returns how many bytes a stage may have output so far.
func (b *sizeBudget) maxOutput() int {
	sent := (b.sent + stepBytes - 1) / stepBytes * stepBytes
	return min(maxBody, max(freeBody, maxRatio*sent))
}

// exceededError returns the error for a stage that has output more.
func (b *sizeBudget) exceededError() error {
	if b.maxOutput() == maxBody {
		return fmt.Errorf("%w: more than %d MiB", ErrExpands, maxBody>>20)
	}
	return fmt.Errorf("%w: more than %d MiB and %d times its sent size", ErrExpands, freeBody>>20, maxRatio)
}

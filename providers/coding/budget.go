package coding

import (
	"errors"
	"fmt"
)

const (
	freeBody = 10 << 20  // a body may become so big whatever was sent
	maxRatio = 100       // and beyond that so many times what was sent
	maxBody  = 256 << 20 // and never bigger than this
)

// ErrExpands is why a body is not decoded further that becomes too big.
var ErrExpands = errors.New("it expands too much")

// sizeBudget is what the stages of one body may make of the bytes as sent.
type sizeBudget struct{ sent int }

// stepBytes is how many bytes as sent count at a time: the place where a body becomes too big is the
// same however it was cut into writes.
const stepBytes = 4 << 10

// receiveBytes takes the next bytes as sent: of n, those up to the next step.
func (b *sizeBudget) receiveBytes(n int) int {
	n = min(n, stepBytes-b.sent%stepBytes)
	b.sent += n
	return n
}

// maxOutput is how many bytes a stage may have made by now.
func (b *sizeBudget) maxOutput() int {
	sent := (b.sent + stepBytes - 1) / stepBytes * stepBytes
	return min(maxBody, max(freeBody, maxRatio*sent))
}

// exceededError says that a stage has made more.
func (b *sizeBudget) exceededError() error {
	if b.maxOutput() == maxBody {
		return fmt.Errorf("%w: to more than %d MiB", ErrExpands, maxBody>>20)
	}
	return fmt.Errorf("%w: to more than %d MiB and %d times what was sent", ErrExpands, freeBody>>20, maxRatio)
}

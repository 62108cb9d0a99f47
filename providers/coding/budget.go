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

// budget is what the stages of one body may make of the bytes as sent.
type budget struct{ sent int }

// step is how many bytes as sent count at a time: the place where a body becomes too big is the
// same however it was cut into writes.
const step = 4 << 10

// receive takes the next bytes as sent: of n, those up to the next step.
func (b *budget) receive(n int) int {
	n = min(n, step-b.sent%step)
	b.sent += n
	return n
}

// most is how many bytes a stage may have made by now.
func (b *budget) most() int {
	sent := (b.sent + step - 1) / step * step
	return min(maxBody, max(freeBody, maxRatio*sent))
}

// spent says that a stage has made more.
func (b *budget) spent() error {
	if b.most() == maxBody {
		return fmt.Errorf("%w: to more than %d MiB", ErrExpands, maxBody>>20)
	}
	return fmt.Errorf("%w: to more than %d MiB and %d times what was sent", ErrExpands, freeBody>>20, maxRatio)
}

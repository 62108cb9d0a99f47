//go:build !nohub

package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"toolscope/capture/record"
)

const (
	minHealPause = 2 * time.Second // before a hub looks whether there is room again; longer each time
	maxHealPause = time.Minute     // and as if it had not been full when it was not for so long
	minHealRoom  = 16 << 20        // bytes that are to be there for it
)

var errFull = errors.New("there is no room")

// isStuck reports whether the server says that it takes nothing any more for a stream, as a write failed: it
// stays so for as long as it runs, however much room there is later.
func isStuck(format string) bool { return strings.Contains(format, "critical write error") }

// isRefused reports whether the server says that of a message, of each that comes while it is stuck.
func isRefused(text string) bool { return strings.Contains(text, "failed to store a msg") }

// reasonOf is the error that the server logs.
func reasonOf(v []any) string {
	if len(v) > 0 {
		if err, is := v[len(v)-1].(error); is {
			return plainReason(err).Error()
		}
	}
	return "the disk does not take it"
}

// restartOnDiskError has the server begin anew when the disk did not take something, once there is room, until ctx ends.
// Who sends keeps meanwhile what the hub does not take, and sees it go and come.
func (h *Hub) restartOnDiskError(ctx context.Context) {
	defer close(h.healed)
	pause, since := minHealPause, time.Time{} // since when there is room
	for {
		select {
		case <-ctx.Done():
			return
		case why := <-h.log.stuck:
			h.log.say("hub: nothing more is kept: " + why + "; what machines send waits there until there is room here")
		}
		if time.Since(since) > maxHealPause {
			pause = minHealPause
		}
		for err := errFull; err != nil; pause = min(2*pause, maxHealPause) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if err = record.HasRoom(h.o.Store, minHealRoom); err != nil {
				continue
			}
			if err = h.restart(ctx); err != nil && ctx.Err() == nil {
				h.log.say("hub: it does not start again: " + plainReason(err).Error())
			}
		}
		since = time.Now()
		h.log.say("hub: there is room again, and what comes is kept")
	}
}

// restart ends the server and starts another one, at the same address.
func (h *Hub) restart(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server.Shutdown()
	h.server.WaitForShutdown()
	for len(h.log.stuck) > 0 {
		<-h.log.stuck // of the one that has ended
	}
	return h.startServer(ctx)
}
